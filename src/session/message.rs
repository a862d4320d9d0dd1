//! What somebody said: text that only grows, and what came with it.

use std::time::Duration;

use super::content::{Content, append_plain};
use super::entry::Role;

/// Something somebody says. The text only ever grows at its end.
#[derive(Debug, PartialEq)]
pub struct Message {
    /// Who.
    pub role: Role,
    /// What, in Markdown. What is not text has a line of its own, in brackets.
    pub text: String,
    /// The agent's id of the message, when it gives one.
    pub id: Option<Box<str>>,
    /// What came with it that can be opened or saved.
    pub attachments: Vec<Attachment>,
    /// When its first piece came.
    pub began: Duration,
    /// When its last piece came.
    pub spoke: Duration,
}

/// Something that is not text, in a message.
#[derive(Debug, PartialEq)]
pub struct Attachment {
    /// Where its line begins in the text.
    pub at: usize,
    /// What it is.
    pub content: Content,
}

impl Message {
    /// A message with nothing in it yet.
    pub fn new(role: Role, now: Duration) -> Message {
        Message {
            role,
            text: String::new(),
            id: None,
            attachments: Vec::new(),
            began: now,
            spoke: now,
        }
    }

    /// A message that is said at once. Its parts stand on lines of their own.
    pub fn said(role: Role, content: Vec<Content>, now: Duration) -> Message {
        let mut message = Message::new(role, now);
        for part in content {
            message.end_line();
            message.append(part, now);
        }
        message
    }

    /// Adds a piece.
    pub fn append(&mut self, content: Content, now: Duration) {
        self.spoke = now;
        let after_attachment = self.attachments.last().is_some_and(|it| {
            let line = self.text.get(it.at..).unwrap_or_default();
            !line.contains('\n')
        });
        if after_attachment || !matches!(content, Content::Text(_) | Content::Link { .. }) {
            self.end_line();
        }
        match content {
            // Line endings before the first word would only be empty rows.
            Content::Text(more) if self.text.is_empty() => {
                self.text.push_str(more.trim_start_matches(['\r', '\n']));
            }
            Content::Text(more) => self.text.push_str(&more),
            content => {
                let at = self.text.len();
                append_plain(&mut self.text, &content);
                if content.is_attachment() {
                    self.attachments.push(Attachment { at, content });
                }
            }
        }
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Content {
        Content::Image { mime: "image/png".into(), data: "AAAA".into() }
    }

    #[test]
    fn what_is_not_text_has_a_line_of_its_own() {
        let mut message = Message::new(Role::Agent, Duration::ZERO);
        for content in [Content::Text("\nHere".into()), image(), Content::Text("and".into())] {
            message.append(content, Duration::ZERO);
        }
        message.append(Content::Text(" more".into()), Duration::from_secs(1));
        assert_eq!(message.text, "Here\n[image: image/png, 3 B]\nand more");
        assert_eq!(message.attachments, [Attachment { at: 5, content: image() }]);
        assert_eq!(message.spoke, Duration::from_secs(1));
    }

    #[test]
    fn parts_said_at_once_stand_on_lines_of_their_own() {
        let parts = ["a", "b\n", "c"].map(|it| Content::Text(it.into())).to_vec();
        assert_eq!(Message::said(Role::User, parts, Duration::ZERO).text, "a\nb\nc");
    }
}
