//! What a tool was given: what matters to whoever allows it, then all of it.

use super::output::{is_something, json_rows};
use super::page::{Page, lines, one_line};
use crate::session::tool_call::ToolCall;
use crate::view::model::{Group, Row};

/// Before the first line of a command, and before the others: no line of it can look like ours.
const PROMPT: [&str; 2] = ["$ ", "  "];

/// Whether it was given anything.
pub(super) fn has_any(tool_call: &ToolCall) -> bool {
    let given = &tool_call.given;
    tool_call.raw_input.as_deref().is_some_and(is_something)
        || given.command.is_some()
        || given.url.is_some()
        || !given.paths.is_empty()
}

/// The command, the address, the paths, and the whole of it.
pub(super) fn render(tool_call: &ToolCall) -> Page {
    let mut page = Page::default();
    let given = &tool_call.given;
    if let Some(command) = &given.command {
        let code = page.next_code("sh", 2);
        for (index, line) in lines(&command.text()).enumerate() {
            let before = PROMPT.get(index.min(1)).copied().unwrap_or_default();
            page.push(format!("{before}{line}"), Row { code, ..Row::default() });
            page.mark(0..before.trim_end().len(), Group::Muted);
        }
    }
    let facts = given.cwd.iter().map(|it| ("in", it));
    let facts = facts.chain(given.url.iter().map(|it| ("url", it)));
    for (key, value) in facts.chain(given.paths.iter().map(|it| ("path", it))) {
        page.push(format!("{key} {}", one_line(value)), Row::default());
        page.mark(0..key.len(), Group::Key);
    }
    if let Some(raw) = tool_call.raw_input.as_deref().filter(|it| is_something(it)) {
        if !page.is_empty() {
            page.push("", Row::default());
        }
        json_rows(raw, &mut page);
    }
    page
}
