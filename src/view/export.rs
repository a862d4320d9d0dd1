//! The chat as a Markdown document, entry by entry.

use super::block::message::CODES;
use super::block::{failure, note, owner, tool_call};
use super::markdown::Markdown;
use crate::session::entry::{Entry, Role};
use crate::session::failure::Failure;
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
        Entry::ToolCall(tool_call) => text.push_str(&tool_call::words(session, tool_call)),
        Entry::Failure(failure) => {
            text.push_str(&format!("> **{}**", failure.message()));
            for line in last_words(failure) {
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

/// A block of code in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeText {
    /// Its number in the chat, as rows of it have it.
    pub id: u32,
    /// The word at its fence.
    pub lang: String,
    /// What a line around it names that could be its file.
    pub path: Option<String>,
    /// The code.
    pub text: String,
}

/// The entry that a block of code is in, and which of its blocks it is, by its number.
pub fn code_place(id: u32) -> Option<(usize, usize)> {
    let entry = usize::try_from(id / CODES).ok()?.checked_sub(1)?;
    Some((entry, usize::try_from(id % CODES).ok()?))
}

/// A block of code in the text of a message: which one, or the last.
pub fn code(entry: usize, text: &str, which: Option<usize>) -> Option<CodeText> {
    let painting = Markdown::new(false).grow(text, true)?.painting;
    let mut blocks = painting.code.iter();
    let block = match which {
        Some(ordinal) => blocks.find(|it| it.ordinal == ordinal)?,
        None => blocks.next_back()?,
    };
    let lines: Vec<&str> = text.lines().collect();
    let rows = lines.get(block.rows.clone())?;
    let inner = |line: &&str| {
        let marks = line.bytes().take(block.col).take_while(|it| matches!(it, b' ' | b'\t' | b'>'));
        line.get(marks.count()..).unwrap_or_default().to_owned() + "\n"
    };
    let above = lines.get(..block.rows.start).unwrap_or_default();
    let ordinal = u32::try_from(block.ordinal).ok()?;
    Some(CodeText {
        id: owner(entry).checked_mul(CODES)? | ordinal,
        lang: block.lang.to_string(),
        path: named(above),
        text: rows.iter().map(inner).collect(),
    })
}

/// A file that the fence, or the line above it, names.
fn named(above: &[&str]) -> Option<String> {
    let is_path = |it: &&str| {
        let (name, ending) = it.rsplit_once('.').unwrap_or((it, ""));
        !name.is_empty()
            && !ending.is_empty()
            && ending.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    let (fence, above) = above.split_last()?;
    let apart =
        |it: char| it.is_whitespace() || matches!(it, ':' | '=' | '"' | ',' | '{' | '}' | '`');
    if let Some(path) = fence.split(apart).find(is_path) {
        return Some(path.to_owned());
    }
    let line = above.iter().rev().find(|it| !it.trim().is_empty())?;
    let words = line.trim_matches([' ', '*', '`', ':', '#', '_', '>']);
    (is_path(&words) && !words.contains(char::is_whitespace)).then(|| words.to_owned())
}

/// A dead agent's last words, for other places than the chat.
pub fn last_words(failure: &Failure) -> Vec<String> {
    failure::last_words(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_by_its_number() {
        let text = "See\n\n**`src/a.rs`**:\n```rust\nfn a() {\n}\n```\n\n- item\n  ```lua x.lua\n  b()\n\n  ```\n\n```\nopen";
        let first = code(4, text, Some(0)).expect("the first block");
        assert_eq!((first.lang.as_str(), first.text.as_str()), ("rust", "fn a() {\n}\n"));
        assert_eq!(first.path.as_deref(), Some("src/a.rs"));
        assert_eq!(code_place(first.id), Some((4, 0)));
        let second = code(4, text, Some(1)).expect("the second block");
        assert_eq!((second.text.as_str(), second.path.as_deref()), ("b()\n\n", Some("x.lua")));
        assert_eq!(code(4, text, None).expect("the last block").text, "open\n");
        assert_eq!(code(4, "no code", None), None);
    }
}
