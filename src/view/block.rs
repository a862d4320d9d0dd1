//! One entry of the chat to its rows.
//!
//! What an entry looks like depends on the session, on the look and on what the user has opened,
//! and on nothing else. Only messages and thoughts grow (`message`, `thought`); the others are
//! rendered anew when they change.

mod breaks;
pub(super) mod failure;
mod marks;
pub(super) mod message;
pub(super) mod note;
mod pending;
mod preview;
pub(super) mod thought;
pub(super) mod tool_call;
mod words;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use self::marks::Marks;
use super::model::{Code, Group, Look, Row, Span};
use super::opened::Opened;
use crate::session::entry::{Entry, Role};
use crate::session::state::{Session, Turn};

/// What an entry's rows depend on.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) session: &'a Session,
    pub(super) look: Look,
    pub(super) opened: &'a Opened,
}

/// The rows of one entry, or of a part of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) lines: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) spans: Vec<Span>,
    pub(super) code: Vec<Code>,
}

/// A row in the making.
#[derive(Debug, Default)]
struct Line {
    text: String,
    spans: Vec<(Range<usize>, Group)>,
}

impl Line {
    /// A row that is all the same.
    fn of(text: impl Into<String>, group: Group) -> Line {
        let mut line = Line::default();
        line.add(&text.into(), group);
        line
    }

    fn add(&mut self, text: &str, group: Group) {
        let start = self.text.len();
        self.text.push_str(text);
        if !text.is_empty() {
            self.spans.push((start..self.text.len(), group));
        }
    }

    fn plain(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

impl Block {
    fn push(&mut self, line: Line, index: usize) {
        let row = self.lines.len();
        let spans = line.spans.into_iter();
        self.spans.extend(spans.map(|(at, group)| Span {
            row,
            start: at.start,
            end: at.end,
            group,
        }));
        self.lines.push(line.text);
        self.rows.push(Row { owner: owner(index), ..Row::default() });
    }

    /// Takes off the rows from one on, without their text; what is known of code goes with them.
    fn split_off(&mut self, row: usize) -> Block {
        let at = self.spans.partition_point(|it| it.row < row);
        let spans = self.spans.split_off(at).into_iter();
        Block {
            lines: Vec::new(),
            rows: self.rows.split_off(row.min(self.rows.len())),
            spans: spans.map(|it| Span { row: it.row - row, ..it }).collect(),
            code: std::mem::take(&mut self.code),
        }
    }

    /// What tells it from other blocks.
    pub(super) fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.lines.hash(&mut hasher);
        for Span { row, start, end, group } in &self.spans {
            (row, start, end, *group as u8).hash(&mut hasher);
        }
        for row in &self.rows {
            row.owner.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Adds rows below.
    pub(super) fn append(&mut self, below: Block) {
        let above = self.lines.len();
        self.spans.extend(below.spans.into_iter().map(|it| Span { row: it.row + above, ..it }));
        self.lines.extend(below.lines);
        self.rows.extend(below.rows);
        self.code.extend(below.code);
    }
}

impl Scene<'_> {
    fn marks(&self) -> &'static Marks {
        Marks::of(self.look)
    }

    fn entry(&self, index: usize) -> Option<&Entry> {
        self.session.entries.get(index)
    }

    /// Whether nothing more is expected of an entry that grows.
    pub(super) fn is_over(&self, index: usize) -> bool {
        index + 1 < self.session.entries.len() || self.session.turn == Turn::Idle
    }

    /// Whether a tool call is under way.
    fn is_live(&self, index: usize) -> bool {
        self.session.turn != Turn::Idle && self.session.live().any(|it| it == index)
    }

    /// Whether a question waits for the user at an entry.
    fn waits_for_user(&self, index: usize) -> bool {
        self.session.pending.at(index).next().is_some()
    }

    /// The rows above an entry's own: a gap, and who speaks.
    pub(super) fn head(&self, index: usize) -> Block {
        let mut block = Block::default();
        let Some(entry) = self.entry(index) else { return block };
        let mut above =
            (0..index).rev().filter(|it| tool_call::parent(self.session, *it).is_none());
        let before = above.clone().next().and_then(|it| self.entry(it));
        let spoke = above.find_map(|it| self.entry(it).and_then(speaker));
        let heading = speaker(entry).filter(|it| spoke != Some(*it));
        if before.is_some_and(|it| heading.is_some() || !stand_together(it, entry)) {
            block.push(Line::default(), index);
            block.rows = vec![Row::default()];
        }
        if let Some(role) = heading {
            block.push(self.heading(role), index);
        }
        block
    }

    fn heading(&self, role: Role) -> Line {
        let mark = self.marks().heading;
        match role {
            Role::User => Line::of(format!("{mark}You"), Group::User),
            Role::Agent | Role::Thought => {
                let agent = words::one_line(&self.session.launch.agent, self.marks());
                Line::of(format!("{mark}{agent}"), Group::Agent)
            }
        }
    }

    /// The rows of an entry that does not grow.
    pub(super) fn body(&self, index: usize) -> Block {
        match self.entry(index) {
            Some(Entry::ToolCall(_)) => tool_call::rows(self, index),
            Some(Entry::Failure(failure)) => failure::rows(self, failure, index),
            Some(Entry::Note(note)) => note::rows(self, note, index),
            Some(Entry::Message(_)) | None => Block::default(),
        }
    }
}

/// How a row names the entry it belongs to.
pub(super) fn owner(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or_default()
}

/// Who speaks in this entry; an agent thinks as itself.
fn speaker(entry: &Entry) -> Option<Role> {
    match entry {
        Entry::Message(message) if message.role == Role::User => Some(Role::User),
        Entry::Message(_) | Entry::ToolCall(_) => Some(Role::Agent),
        Entry::Failure(_) | Entry::Note(_) => None,
    }
}

/// Whether there is no gap between two entries: what the agent does along the way stands together,
/// and so do notes.
fn stand_together(above: &Entry, below: &Entry) -> bool {
    let along = |entry: &Entry| match entry {
        Entry::ToolCall(_) => true,
        Entry::Message(message) => message.role == Role::Thought,
        Entry::Failure(_) | Entry::Note(_) => false,
    };
    let note = |entry: &Entry| matches!(entry, Entry::Note(_));
    (along(above) && along(below)) || (note(above) && note(below))
}
