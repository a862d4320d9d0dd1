//! What we ask of the editor or the user on behalf of an agent, and their answers.

use std::sync::Arc;

use super::command_line::Command;
use super::ids::SessionId;
use super::live::Whole;
use super::rule::Rule;
use super::subject::{LONGEST, Subject};
use super::tool_call::ToolCallId;

/// One open question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The session it is asked for; a login can come before any session.
    pub session: SessionId,
    /// What is asked.
    pub body: Body,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// The text of a file, if the editor has it loaded.
    Read(FileRange),
    /// To change a file, if the editor has it loaded.
    Write {
        /// Which file: an absolute path.
        path: String,
        /// Its new text.
        text: Arc<str>,
    },
    /// What is in a folder: an absolute path. Only the disk knows.
    List(String),
    /// Whether the agent may do something.
    Permission(Box<Permission>),
    /// To fill in a form or visit an address.
    Elicitation(Elicitation),
}

/// Part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRange {
    /// Which file: an absolute path.
    pub path: String,
    /// The first line, from 1.
    pub line: Option<u32>,
    /// How many lines.
    pub limit: Option<u32>,
}

/// Whether the agent may do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// For which tool call.
    pub tool_call: ToolCallId,
    /// What it is about, for people.
    pub title: String,
    /// What sort of thing it is, as a word.
    pub kind: String,
    /// What exactly is asked, as far as it can be told.
    pub subject: Subject,
    /// Where its tool call is in the chat.
    pub entry: Option<usize>,
    /// How many changes to files it shows.
    pub changes: usize,
    /// The rule that would allow exactly this from now on.
    pub rule: Option<Rule>,
    /// What can be answered, in the agent's order and words.
    pub options: Vec<PermissionOption>,
}

impl Permission {
    /// The same for whoever shows it, with no more text than can be shown. What is cut or left out
    /// makes it unreadable, which is to be told wherever it is shown.
    pub fn shown(&self) -> Permission {
        let subject = &self.subject;
        let command = subject.command.as_ref().map(|it| Brief::of(it.text()));
        let title = Brief::of(self.title.clone());
        let cut = title.cut || command.as_ref().is_some_and(|it| it.cut);
        let subject = Subject {
            kind: subject.kind.clone(),
            tool: subject.tool.clone(),
            paths: subject.paths.clone(),
            command: command.map(|it| Command::Line(it.text)),
            cwd: subject.cwd.clone().map(|it| Brief::of(it).text),
            url: subject.url.clone().map(|it| Brief::of(it).text),
            unclear: subject.unclear,
            unreadable: subject.unreadable || cut || !subject.other_urls.is_empty(),
            more: subject.more,
            ..Subject::default()
        };
        Permission {
            tool_call: self.tool_call.clone(),
            title: title.text,
            kind: self.kind.clone(),
            subject,
            entry: self.entry,
            changes: self.changes,
            rule: self.rule.clone(),
            options: self.options.clone(),
        }
    }
}

/// A text that is not too long to be shown.
struct Brief {
    text: String,
    cut: bool,
}

impl Brief {
    fn of(mut text: String) -> Brief {
        let cut = text.len() > LONGEST;
        if cut {
            let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or_default());
            text.push('…');
        }
        Brief { text, cut }
    }
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionOption {
    /// Its id.
    pub id: String,
    /// Its words.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What an answer to a permission means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum PermissionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// The agent gave no kind, or one we do not know. Never answered by itself, never taken for a
    /// yes.
    Unknown,
}

impl PermissionKind {
    /// The word on the wire; empty when there is none.
    pub fn word(self) -> &'static str {
        match self {
            PermissionKind::AllowOnce => "allow_once",
            PermissionKind::AllowAlways => "allow_always",
            PermissionKind::RejectOnce => "reject_once",
            PermissionKind::RejectAlways => "reject_always",
            PermissionKind::Unknown => "",
        }
    }
}

/// A form to fill in or an address to visit.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    /// What the agent says about it.
    pub message: String,
    /// The tool call it belongs to.
    pub tool_call: Option<ToolCallId>,
    /// What is wanted.
    pub mode: ElicitationMode,
}

/// What an elicitation wants.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationMode {
    /// Fields, in the agent's order.
    Form(Vec<Field>),
    /// To visit an address.
    Url {
        /// The agent's name for it, for `elicitation/complete`.
        id: String,
        /// The address: http or https.
        url: String,
    },
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in the answer.
    pub name: String,
    /// What to call it.
    pub title: String,
    /// More words.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
    /// What goes in.
    pub input: FieldInput,
}

/// What goes into a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldInput {
    /// Text.
    Text {
        /// What stands there at first.
        default: Option<String>,
        /// `email`, `uri`, `date`, `date-time`
        format: Option<String>,
        /// The least and the largest length.
        length: (Option<u64>, Option<u64>),
        /// A pattern it must match.
        pattern: Option<String>,
    },
    /// A number.
    Number {
        /// What stands there at first.
        default: Option<f64>,
        /// Whether it must be whole.
        integer: bool,
        /// The least and the largest value.
        range: (Option<f64>, Option<f64>),
    },
    /// Yes or no.
    Boolean {
        /// What stands there at first.
        default: Option<bool>,
    },
    /// One of several.
    Select {
        /// Values and what to call them.
        values: Vec<(String, String)>,
        /// What is chosen at first.
        default: Option<String>,
    },
    /// Some of several.
    MultiSelect {
        /// Values and what to call them.
        values: Vec<(String, String)>,
        /// What is chosen at first.
        default: Vec<String>,
        /// The least and the largest number.
        count: (Option<u64>, Option<u64>),
    },
}

/// What the editor or the user answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Reaction {
    /// To a read: the text.
    Text(String),
    /// To a read of some lines: these.
    Part {
        /// The lines.
        text: String,
        /// The whole text, unless that would take too long.
        whole: Option<Whole>,
    },
    /// To a read or write: the file is not loaded, the disk has the truth.
    NotLoaded,
    /// To a write: done.
    Done,
    /// To a write: the user has changed the same lines and is asked.
    Conflict,
    /// To a permission: this option.
    Option(String),
    /// To a form or address: yes, with the fields' values.
    Accept(Vec<(String, FieldValue)>),
    /// To a form or address: no.
    Decline,
    /// To a permission, form or address: the user looked away.
    Dismiss,
    /// It did not work.
    Failed(String),
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum FieldValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    List(Vec<String>),
}
