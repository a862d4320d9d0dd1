//! A part of what a tool call shows, to be read in passing: the beginning of its changes, the end
//! of its output, or what it was given.

use serde_json::Value;

use super::{Block, Line, Scene, words};
use crate::session::content::Content;
use crate::session::diff::{Change, DiffLine};
use crate::session::tool_call::{ToolCall, ToolContent};
use crate::view::ansi;
use crate::view::model::Group;
use crate::view::text::ending;

/// How many rows are shown.
const ROWS: usize = 12;

/// How much of the output is read for them: a line of it may be very long.
const LONGEST: usize = 16 << 10;

/// Rows to show, and how many more there are.
#[derive(Default)]
struct Part {
    lines: Vec<Line>,
    more: usize,
}

pub(super) fn rows(scene: &Scene, (index, tool_call): (usize, &ToolCall), indent: &str) -> Block {
    found(scene, (index, tool_call), indent).unwrap_or_else(|| {
        let lines = vec![Line::of("nothing to show", Group::Muted)];
        block(scene, index, Part { lines, more: 0 }, indent)
    })
}

/// The same, if there is something to show.
pub(super) fn found(
    scene: &Scene,
    (index, tool_call): (usize, &ToolCall),
    indent: &str,
) -> Option<Block> {
    let finders = [changes, output, input];
    let mut parts = finders.iter().map(|find| find(scene, tool_call));
    let part = parts.find(|it| !it.lines.is_empty())?;
    Some(block(scene, index, part, indent))
}

fn block(scene: &Scene, index: usize, part: Part, indent: &str) -> Block {
    let marks = scene.marks();
    let Part { lines, more } = part;
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
    let several = tool_call.diffs.len() > 1;
    for diff in &tool_call.diffs {
        if several && part.lines.len() < ROWS {
            part.lines.push(Line::of(words::short_line(&diff.path, scene.marks()), Group::File));
        }
        for (number, hunk) in diff.hunks.iter().enumerate() {
            if number > 0 && part.lines.len() + 1 < ROWS {
                part.lines.push(Line::of(scene.marks().dots, Group::Muted));
            }
            let first = hunk.lines.iter().take(ROWS - part.lines.len());
            part.more += hunk.lines.len() - first.len();
            part.lines.extend(first.map(|line| diff_line(scene, line)));
        }
        part.more += diff.left_out;
    }
    part
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
    let ends = || memchr::memchr_iter(b'\n', text.as_bytes());
    let above = (ends().count() + 1).saturating_sub(room);
    // Only what is shown is read: colours that were set before are not known.
    let start = above.checked_sub(1).and_then(|it| ends().nth(it)).map_or(0, |it| it + 1);
    let last = ansi::lines(ending(text.get(start..).unwrap_or_default(), LONGEST));
    let lines = last.into_iter().take(room).map(|line| coloured(scene, line));
    Part { lines: lines.collect(), more: above }
}

/// A line of output, cut to a length that can be read in passing.
fn coloured(scene: &Scene, line: ansi::Line) -> Line {
    let mut row = Line::default();
    row.plain(&words::short_line(&line.text, scene.marks()));
    // Colours mean something only where nothing was left out.
    let same = row.text.bytes().zip(line.text.bytes()).take_while(|(one, two)| one == two).count();
    let spans = line.spans.into_iter().map(|it| (it.start.min(same)..it.end.min(same), it.group));
    row.spans.extend(spans.filter(|(at, _)| !at.is_empty()));
    row
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
