//! A part of what a tool call shows, to be read in passing: the beginning of its changes, the end
//! of its output, or what it was given.

use serde_json::Value;

use super::{Block, Line, Scene, words};
use crate::session::content::Content;
use crate::session::diff::{Change, DiffLine, FileDiff};
use crate::session::tool_call::{ToolCall, ToolContent};
use crate::view::model::Group;

/// How many rows are shown.
const ROWS: usize = 12;

/// Rows to show, and how many more there are.
#[derive(Default)]
struct Part {
    lines: Vec<Line>,
    more: usize,
}

pub(super) fn rows(scene: &Scene, (index, tool_call): (usize, &ToolCall), indent: &str) -> Block {
    let marks = scene.marks();
    let finders = [changes, output, input];
    let part = finders.iter().map(|find| find(scene, tool_call)).find(|it| !it.lines.is_empty());
    let nothing = || Part { lines: vec![Line::of("nothing to show", Group::Muted)], more: 0 };
    let Part { lines, more } = part.unwrap_or_else(nothing);
    let mut block = Block::default();
    for line in lines {
        block.push(barred(&format!("{indent}{}", marks.bar), line), index);
    }
    if more > 0 {
        let words = format!("{indent}{} {more} more, <CR> opens", marks.dots);
        block.push(Line::of(words, Group::Hint), index);
    }
    block
}

/// A line with something before it.
fn barred(before: &str, line: Line) -> Line {
    let mut row = Line::default();
    // What goes to the edge of the window does so from the first column.
    let (whole, within): (Vec<_>, Vec<_>) =
        line.spans.into_iter().partition(|(_, group)| is_whole(*group));
    let start = before.len();
    row.spans.extend(whole.into_iter().map(|(_, group)| (0..start + line.text.len(), group)));
    row.add(before, Group::Muted);
    row.plain(&line.text);
    let within = within.into_iter().map(|(at, group)| (at.start + start..at.end + start, group));
    row.spans.extend(within);
    row
}

fn is_whole(group: Group) -> bool {
    matches!(group, Group::Added | Group::Removed | Group::Hunk)
}

/// The beginning of what it changes in files.
fn changes(scene: &Scene, tool_call: &ToolCall) -> Part {
    let mut part = Part::default();
    if tool_call.diffs.is_empty() {
        // They are not known yet; their files are.
        let files = tool_call.content.iter().filter_map(|it| match it {
            ToolContent::Diff { path, .. } => Some(words::short_line(path, scene.marks())),
            ToolContent::Block(_) | ToolContent::Terminal(_) => None,
        });
        part.lines.extend(files.take(ROWS).map(|it| Line::of(it, Group::File)));
    }
    for diff in &tool_call.diffs {
        let lines: usize = diff.hunks.iter().map(|it| it.lines.len()).sum();
        let several = tool_call.diffs.len() > 1;
        if several && part.lines.len() < ROWS {
            part.lines.push(Line::of(words::short_line(&diff.path, scene.marks()), Group::File));
        }
        let room = ROWS - part.lines.len();
        part.more += lines.saturating_sub(room);
        part.lines.extend(first_lines(scene, diff).take(room));
    }
    part
}

fn first_lines<'a>(scene: &'a Scene, diff: &'a FileDiff) -> impl Iterator<Item = Line> + 'a {
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines.map(|line| diff_line(scene, line))
}

fn diff_line(scene: &Scene, line: &DiffLine) -> Line {
    let (sign, whole, word) = match line.change {
        Change::Kept => ("  ", None, None),
        Change::Added => ("+ ", Some(Group::Added), Some(Group::AddedWord)),
        Change::Removed => ("- ", Some(Group::Removed), Some(Group::RemovedWord)),
    };
    let text = words::short_line(&line.text, scene.marks());
    let mut row = Line::default();
    match whole {
        Some(group) => row.add(&format!("{sign}{text}"), group),
        None => row.plain(&format!("{sign}{text}")),
    }
    // Columns mean something only where nothing was left out.
    if let Some(group) = word
        && line.text.starts_with(&text)
    {
        let ends = |at: usize| (at + sign.len()).min(row.text.len());
        let words = line.words.iter().map(|it| (ends(it.start)..ends(it.end), group));
        let words: Vec<_> = words.filter(|(at, _)| !at.is_empty()).collect();
        row.spans.extend(words);
    }
    row
}

/// The end of what it said.
fn output(scene: &Scene, tool_call: &ToolCall) -> Part {
    let mut part = Part::default();
    for content in tool_call.content.iter().rev() {
        let room = ROWS - part.lines.len();
        let found = match content {
            ToolContent::Terminal(id) => {
                let terminal = scene.session.terminals.get(id);
                terminal.map(|it| last_lines(scene, it.tail().0, room))
            }
            ToolContent::Block(Content::Text(text)) => Some(last_lines(scene, text, room)),
            ToolContent::Block(_) | ToolContent::Diff { .. } => None,
        };
        if let Some(mut found) = found {
            part.more += found.more;
            found.lines.append(&mut part.lines);
            part.lines = found.lines;
        }
    }
    if part.lines.is_empty()
        && let Some(raw) = &tool_call.raw_output
        && let Ok(Value::String(text)) = serde_json::from_str(raw)
    {
        part = last_lines(scene, &text, ROWS);
    }
    part
}

fn last_lines(scene: &Scene, text: &str, room: usize) -> Part {
    let text = unfenced(text.trim_end());
    if text.trim().is_empty() {
        return Part::default();
    }
    let all = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    let last = text.rsplit('\n').take(room);
    let mut lines: Vec<Line> = last
        .map(|line| {
            let mut row = Line::default();
            row.plain(&words::short_line(line, scene.marks()));
            row
        })
        .collect();
    lines.reverse();
    Part { more: all - lines.len(), lines }
}

/// What is in a fence, where that is all there is: some agents put what a tool said into one.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"));
    let inner = inner.and_then(|it| it.split_once('\n')).map(|(_, inner)| inner.trim_end());
    inner.filter(|it| !it.contains("```")).unwrap_or(text)
}

/// What it was given.
fn input(scene: &Scene, tool_call: &ToolCall) -> Part {
    let mut part = Part::default();
    let raw = tool_call.raw_input.as_deref().unwrap_or_default();
    let fields = match serde_json::from_str(raw) {
        Ok(Value::Object(fields)) => fields,
        _ => return part,
    };
    part.more = fields.len().saturating_sub(ROWS);
    for (key, value) in fields.iter().take(ROWS) {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut line = Line::default();
        line.add(&words::one_line(key, scene.marks()), Group::Key);
        line.plain(": ");
        line.plain(&words::one_line(&value, scene.marks()));
        part.lines.push(line);
    }
    part
}
