//! One entry of the chat to its rows.

use super::model::{Group, Row, Span};
use crate::session::entry::{Entry, Note, Role, StopReason};
use crate::session::failure::Failure;
use crate::session::state::Session;
use crate::session::tool_call::{ToolCall, ToolStatus};

/// How many of a dead agent's last words are shown.
const LAST_WORDS: usize = 8;

/// The rows of one entry, or of its beginning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) lines: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) spans: Vec<Span>,
}

impl Block {
    fn line(&mut self, text: String, group: Option<Group>) {
        if let Some(group) = group
            && !text.is_empty()
        {
            self.spans.push(Span { row: self.lines.len(), start: 0, end: text.len(), group });
        }
        self.lines.push(text);
        self.rows.push(Row::default());
    }
}

/// The entry at `index` as rows.
pub(super) fn render(session: &Session, index: usize) -> Block {
    let mut block = Block::default();
    let Some(entry) = session.entries.get(index) else { return block };
    let before = index.checked_sub(1).and_then(|index| session.entries.get(index));
    // Tool calls in a row stand together.
    let together = matches!((before, entry), (Some(Entry::ToolCall(_)), Entry::ToolCall(_)));
    if before.is_some() && !together {
        block.line(String::new(), None);
    }
    if let Some(role) = speaker(entry)
        && before.and_then(speaker) != Some(role)
    {
        block.line(heading(session, role), Some(heading_group(role)));
    }
    match entry {
        Entry::Message(message) => {
            for line in whole_lines(&message.text) {
                block.line(line.to_owned(), body_group(message.role));
            }
        }
        Entry::ToolCall(tool_call) => tool_call_line(tool_call, &mut block),
        Entry::Failure(failure) => failure_lines(failure, &mut block),
        Entry::Note(note) => {
            let words = note_words(session, note);
            for (number, line) in whole_lines(&words).enumerate() {
                let mark = if number == 0 { "─" } else { " " };
                block.line(format!("{mark} {line}"), Some(Group::Muted));
            }
        }
    }
    for row in &mut block.rows {
        row.owner = owner(index);
    }
    block
}

/// How a row names the entry it belongs to.
pub(super) fn owner(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or_default()
}

/// Who speaks in this entry.
pub(super) fn speaker(entry: &Entry) -> Option<Role> {
    match entry {
        Entry::Message(message) => Some(message.role),
        Entry::ToolCall(_) => Some(Role::Agent),
        Entry::Failure(_) | Entry::Note(_) => None,
    }
}

/// How the text of a message is highlighted.
pub(super) fn body_group(role: Role) -> Option<Group> {
    match role {
        Role::Thought => Some(Group::Thought),
        Role::User | Role::Agent => None,
    }
}

/// How much of a streamed text is shown: line endings at its end wait for the line they begin, so
/// that there are no empty rows between a message and what comes after it.
pub(super) fn showable(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

/// The lines of a text, whichever way they end.
pub(super) fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    showable(text).split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// A note in words.
pub(super) fn note_words(session: &Session, note: &Note) -> String {
    let agent = &session.launch.agent;
    match note {
        Note::Stopped(StopReason::Cancelled) => "cancelled".into(),
        Note::Stopped(StopReason::MaxTokens) => {
            "stopped: the model's limit of tokens was reached".into()
        }
        Note::Stopped(StopReason::MaxTurnRequests) => {
            format!("stopped: {agent}'s limit of requests in one turn was reached")
        }
        Note::Stopped(StopReason::Refusal) => {
            format!("{agent} refused to go on, and forgets this prompt")
        }
        Note::Stopped(reason) => format!("stopped: {}", reason.word()),
        Note::Withdrawn => "cancelled before it was sent".into(),
        Note::StartedAgain => {
            format!("{agent} was started again and does not remember the earlier turns")
        }
        Note::Resumed => format!("{agent} was started again and took up the session"),
        Note::LeftOut(words) => format!("left out: {words}"),
        Note::Notice { severity, title, description } => match description {
            Some(description) => format!("{severity}: {title}: {description}"),
            None => format!("{severity}: {title}"),
        },
        Note::Compaction { status, error, .. } => match (status.as_str(), error) {
            (_, Some(error)) => format!("compaction of the context failed: {error}"),
            ("in_progress", None) => "the context is being compacted".into(),
            ("completed", None) => "the context was compacted".into(),
            (other, None) => format!("compaction of the context: {other}"),
        },
        Note::Subagent { title, description, .. } => match description {
            Some(description) => format!("subagent {title}: {description}"),
            None => format!("subagent {title}"),
        },
        Note::Mode(name) => format!("mode: {name}"),
        Note::Unknown { kind, .. } => format!("unknown update: {kind}"),
    }
}

/// A tool call in one line.
pub(super) fn tool_call_words(tool_call: &ToolCall) -> String {
    let mark = match tool_call.status {
        ToolStatus::Pending => "○",
        ToolStatus::InProgress => "◐",
        ToolStatus::Completed => "●",
        ToolStatus::Failed => "✗",
        ToolStatus::Cancelled => "⊘",
    };
    // A title is one line here, whatever the agent sent.
    let title: Vec<&str> = tool_call.title.split_whitespace().collect();
    format!("{mark} {}: {}", tool_call.kind.word(), title.join(" "))
}

fn tool_call_line(tool_call: &ToolCall, block: &mut Block) {
    let group = match tool_call.status {
        ToolStatus::Failed => Group::Error,
        ToolStatus::Cancelled => Group::Muted,
        _ => Group::Tool,
    };
    block.line(tool_call_words(tool_call), Some(group));
}

fn heading(session: &Session, role: Role) -> String {
    match role {
        Role::User => "▌ You".into(),
        Role::Agent => format!("▌ {}", session.launch.agent),
        Role::Thought => "▌ Thinking".into(),
    }
}

fn heading_group(role: Role) -> Group {
    match role {
        Role::User => Group::User,
        Role::Agent => Group::Agent,
        Role::Thought => Group::Thought,
    }
}

fn failure_lines(failure: &Failure, block: &mut Block) {
    for (number, line) in failure.message().lines().enumerate() {
        let mark = if number == 0 { "✗" } else { " " };
        block.line(format!("{mark} {line}"), Some(Group::Error));
    }
    let words = failure.last_words();
    for line in words.iter().skip(words.len().saturating_sub(LAST_WORDS)) {
        block.line(format!("  │ {line}"), Some(Group::Muted));
    }
    if let Some(hint) = failure.hint() {
        block.line(format!("  {hint}"), Some(Group::Hint));
    }
}
