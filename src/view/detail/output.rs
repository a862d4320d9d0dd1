//! What a tool call said, and what came with it.

use serde_json::Value;

use super::page::{Page, lines, number, one_line};
use super::terminal::exit_row;
use crate::session::content::{Content, append_plain};
use crate::session::tool_call::{ToolCall, ToolContent};
use crate::view::ansi;
use crate::view::model::{Group, Row};
use crate::view::text::brief;

/// Something that came and is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// What to call it.
    pub label: String,
    /// Its type.
    pub mime: String,
    /// How many bytes it has.
    pub size: usize,
}

fn blocks(tool_call: &ToolCall) -> impl Iterator<Item = &Content> {
    tool_call.content.iter().filter_map(|content| match content {
        ToolContent::Block(content) => Some(content),
        _ => None,
    })
}

/// Whether it said anything.
pub(super) fn has_any(tool_call: &ToolCall) -> bool {
    let said =
        |content: &Content| !matches!(content, Content::Text(text) if text.trim().is_empty());
    blocks(tool_call).any(said) || tool_call.raw_output.as_deref().is_some_and(is_something)
}

/// Whether there is something in a JSON value.
pub(super) fn is_something(raw: &str) -> bool {
    !matches!(raw.trim(), "" | "null" | "{}" | "[]" | "\"\"")
}

/// What it said: its blocks, or what the tool gave.
pub(super) fn render(tool_call: &ToolCall) -> Page {
    let mut page = Page::default();
    let mut parts = 0;
    for content in blocks(tool_call) {
        match content {
            Content::Text(text) => text_rows(text, &mut page),
            content => {
                parts += 1;
                attached_row(content, parts, &mut page);
            }
        }
    }
    if page.is_empty()
        && let Some(raw) = &tool_call.raw_output
    {
        json_rows(raw, &mut page);
    }
    if let Some(exit) = &tool_call.exit {
        exit_row(exit, &mut page);
    }
    page
}

/// Lists what came with something.
pub(super) fn render_attached<'a>(contents: impl Iterator<Item = &'a Content>) -> Page {
    let mut page = Page::default();
    for (index, content) in contents.enumerate() {
        attached_row(content, index + 1, &mut page);
    }
    page
}

/// What came with a tool call, in the order of the rows.
pub(super) fn attached(tool_call: &ToolCall) -> Vec<Attached> {
    attachments(blocks(tool_call).filter(|it| !matches!(it, Content::Text(_))))
}

/// What came, in a few words each.
pub(super) fn attachments<'a>(contents: impl Iterator<Item = &'a Content>) -> Vec<Attached> {
    contents.map(attachment).collect()
}

fn attachment(content: &Content) -> Attached {
    let decoded = |data: &str| data.len() / 4 * 3;
    let (label, mime, size) = match content {
        Content::Image { mime, data } => ("image", mime.as_str(), decoded(data)),
        Content::Audio { mime, data } => ("audio", mime.as_str(), decoded(data)),
        Content::Link { uri, .. } => (uri.as_str(), "", 0),
        Content::Resource { uri, text, mime } => {
            (uri.as_str(), mime.as_deref().unwrap_or("text/plain"), text.len())
        }
        Content::Blob { uri, data, mime } => {
            (uri.as_str(), mime.as_deref().unwrap_or_default(), decoded(data))
        }
        Content::Text(text) => ("text", "text/plain", text.len()),
        Content::Unknown(kind) => (kind.as_str(), "", 0),
    };
    Attached { label: one_line(&brief(label)), mime: one_line(&brief(mime)), size }
}

fn attached_row(content: &Content, part: usize, page: &mut Page) {
    let mut text = String::new();
    append_plain(&mut text, content);
    let row = Row { part: number(part), ..Row::default() };
    page.words(one_line(&text), Group::Attachment, row);
}

/// Text, in Markdown: as it is, with the code in fences known as such.
fn text_rows(text: &str, page: &mut Page) {
    if text.contains('\u{1b}') {
        // What was meant for a terminal is read as one would.
        for line in ansi::lines(text) {
            page.push(line.text, Row::default());
            for span in line.spans {
                page.mark(span.start..span.end, span.group);
            }
        }
        return;
    }
    let mut fence: Option<(&str, u32)> = None;
    for line in lines(text) {
        let trimmed = line.trim_start();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => {
                let (mark, lang) = trimmed.split_at_checked(ticks).unwrap_or_default();
                fence = Some((mark, page.next_code(lang.trim(), 0)));
                page.words(line, Group::Fence, Row::default());
            }
            Some((mark, _)) if trimmed.trim_end() == mark => {
                fence = None;
                page.words(line, Group::Fence, Row::default());
            }
            Some((_, code)) => page.push(line, Row { code, ..Row::default() }),
            None => page.push(line, Row::default()),
        }
    }
}

/// A JSON value for people: a text as it is, all else with two blanks for each level.
pub(super) fn json_rows(raw: &str, page: &mut Page) {
    match serde_json::from_str(raw) {
        Ok(Value::String(text)) => text_rows(&text, page),
        Ok(value) => {
            let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| raw.to_owned());
            let code = page.next_code("json", 0);
            lines(&text).for_each(|line| page.push(line, Row { code, ..Row::default() }));
        }
        Err(_) => text_rows(raw, page),
    }
}
