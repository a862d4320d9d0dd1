//! One entry of the chat to its rows.

use super::model::{Group, Span};
use crate::session::failure::Failure;
use crate::session::state::{Entry, Note, Role, Session, StopReason};

/// How many of a dead agent's last words are shown.
const LAST_WORDS: usize = 8;

/// The rows of one entry, or of its beginning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) lines: Vec<String>,
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
    }
}

/// The entry at `index` as rows.
pub(super) fn render(session: &Session, index: usize) -> Block {
    let mut block = Block::default();
    let Some(entry) = session.entries.get(index) else { return block };
    let before = index.checked_sub(1).and_then(|index| session.entries.get(index));
    if before.is_some() {
        block.line(String::new(), None);
    }
    match entry {
        Entry::Message { role, text, .. } => {
            if before.and_then(speaker) != Some(*role) {
                block.line(heading(session, *role), Some(heading_group(*role)));
            }
            for line in whole_lines(text) {
                block.line(line.to_owned(), body_group(*role));
            }
        }
        Entry::Failure(failure) => failure_lines(failure, &mut block),
        Entry::Note(note) => {
            block.line(format!("─ {}", note_words(session, note)), Some(Group::Muted))
        }
    }
    block
}

/// Who speaks in this entry.
pub(super) fn speaker(entry: &Entry) -> Option<Role> {
    match entry {
        Entry::Message { role, .. } => Some(*role),
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
    }
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
