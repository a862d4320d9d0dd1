//! The chat as a Markdown document, entry by entry.

use super::block::{note, tool_call};
use crate::session::entry::{Entry, Role};
use crate::session::state::Session;

/// The entry at `index` as Markdown. A message comes with its heading; its text stands at the end,
/// so that what streams can be appended.
pub fn markdown(session: &Session, index: usize) -> String {
    let Some(entry) = session.entries.get(index) else { return String::new() };
    let before = index.checked_sub(1).and_then(|index| session.entries.get(index));
    let mut text = if before.is_some() { "\n\n".to_owned() } else { String::new() };
    if let Some(role) = speaker(entry)
        && before.and_then(speaker) != Some(role)
    {
        let who = match role {
            Role::User => "You",
            Role::Agent => &session.launch.agent,
            Role::Thought => "Thinking",
        };
        text.push_str(&format!("## {who}\n\n"));
    }
    match entry {
        Entry::Message(message) => text.push_str(&message.text),
        Entry::ToolCall(tool_call) => text.push_str(&tool_call::words(tool_call)),
        Entry::Failure(failure) => {
            text.push_str(&format!("> **{}**", failure.message()));
            for line in failure.last_words() {
                text.push_str(&format!("\n>     {line}"));
            }
            if let Some(hint) = failure.hint() {
                text.push_str(&format!("\n> {hint}"));
            }
        }
        Entry::Note(note) => text.push_str(&format!("*{}*", note::words(session, note))),
    }
    text
}

/// Who speaks in this entry.
fn speaker(entry: &Entry) -> Option<Role> {
    match entry {
        Entry::Message(message) => Some(message.role),
        Entry::ToolCall(_) => Some(Role::Agent),
        Entry::Failure(_) | Entry::Note(_) => None,
    }
}
