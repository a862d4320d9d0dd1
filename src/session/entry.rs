//! What the chat is made of.

use super::content::Content;
use super::failure::Failure;
use super::message::Message;
use super::tool_call::{ToolCall, ToolContent};

/// One thing in the chat.
#[derive(Debug, PartialEq)]
pub enum Entry {
    /// Somebody says something.
    Message(Message),
    /// The agent does something.
    ToolCall(Box<ToolCall>),
    /// Something failed.
    Failure(Failure),
    /// Something worth a line.
    Note(Note),
}

impl Entry {
    /// What is in it that is not text and can be opened or saved, in order.
    pub fn attachments(&self) -> Box<dyn Iterator<Item = &Content> + '_> {
        match self {
            Entry::Message(message) => Box::new(message.attachments.iter().map(|it| &it.content)),
            Entry::ToolCall(call) => Box::new(call.content.iter().filter_map(|it| match it {
                ToolContent::Block(content) if content.is_attachment() => Some(content),
                _ => None,
            })),
            Entry::Failure(_) | Entry::Note(_) => Box::new(std::iter::empty()),
        }
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The agent, to the user.
    Agent,
    /// The agent, to itself.
    Thought,
}

/// Something worth a line in the chat.
#[derive(Debug, PartialEq, Eq)]
pub enum Note {
    /// The turn ended for another reason than being done.
    Stopped(StopReason),
    /// The turn ended as if it were done, and the agent said and did nothing in it.
    Unanswered,
    /// The user took prompts back before they were sent.
    Withdrawn,
    /// The agent was started again and remembers nothing of the earlier turns.
    StartedAgain,
    /// The agent was started again and took the session up where it was.
    Resumed,
    /// The agent can't take something that was in a prompt or in the options; it was left out.
    LeftOut(String),
    /// A rule has kept a command from being run.
    NotRun {
        /// What was not run, for people.
        command: String,
        /// The rule, for people.
        rule: String,
    },
    /// The turn was cancelled, and a command that it had started was ended.
    CommandStopped(String),
    /// The agent tells something that is not part of the conversation.
    Notice {
        /// `info`, `warning`, `error` or another word.
        severity: String,
        /// In a few words.
        title: String,
        /// In more words.
        description: Option<String>,
    },
    /// The agent makes room in the model's context.
    Compaction {
        /// The agent's id of it.
        id: String,
        /// `in_progress`, `completed`, `failed`, `cancelled` or another word.
        status: String,
        /// What it keeps.
        summary: String,
        /// Why it failed.
        error: Option<String>,
    },
    /// A subagent has been started or has changed.
    Subagent {
        /// Its own session's id.
        remote: String,
        /// What to call it.
        title: String,
        /// What it does or how far it is.
        description: Option<String>,
    },
    /// The agent asks the user something that belongs to no tool call.
    Question(String),
    /// The session's mode has changed by the agent's will.
    Mode(String),
    /// The agent sent more of something than anybody can use; the rest was left out.
    TooMany(LeftOut),
    /// An update of a kind this client does not know, as it came. Kept, not shown.
    Unknown {
        /// The kind.
        kind: String,
        /// The whole update, as JSON.
        raw: Box<str>,
    },
}

/// Items of a list that were too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Of what, in words.
    pub what: String,
    /// How many.
    pub count: usize,
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// The model's limit of tokens was reached.
    MaxTokens,
    /// The agent's limit of requests was reached.
    MaxTurnRequests,
    /// The agent will not go on; it forgets the prompt.
    Refusal,
    /// The user cancelled it.
    Cancelled,
    /// The agent wants a login first (a dialect's way to say so).
    AuthRequired,
    /// A reason this client does not know, in the agent's word.
    Other(String),
}

impl StopReason {
    /// The word on the wire.
    pub fn word(&self) -> &str {
        match self {
            StopReason::EndTurn => "end_turn",
            StopReason::MaxTokens => "max_tokens",
            StopReason::MaxTurnRequests => "max_turn_requests",
            StopReason::Refusal => "refusal",
            StopReason::Cancelled => "cancelled",
            StopReason::AuthRequired => "auth_required",
            StopReason::Other(word) => word,
        }
    }
}

/// A piece of a message.
#[derive(Debug, PartialEq)]
pub struct Chunk {
    /// Whose message.
    pub role: Role,
    /// The piece.
    pub content: Content,
    /// The agent's id of the message, when it gives one: another id means another message.
    pub message: Option<Box<str>>,
}
