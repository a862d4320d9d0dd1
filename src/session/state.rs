//! What is true, as data. Changed only by [`State::apply`] (in `reduce`).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::event::Update;
use super::failure::Failure;
use super::ids::{ConnectionId, RemoteId, SessionId, Tag, TurnId};

/// All sessions, and all runs of agents they use.
#[derive(Debug, Default)]
pub struct State {
    pub(super) connections: BTreeMap<ConnectionId, Connection>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) next_connection: u64,
}

impl State {
    /// The sessions there are, in the order they were made.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// One session.
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }
}

/// How to run an agent for a project. Two sessions with equal launches share one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The name the user gave the agent.
    pub agent: String,
    /// What to run.
    pub how: How,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// The project: an absolute path.
    pub cwd: String,
    /// The command that installs the agent, for the message when it is missing.
    pub install: Option<String>,
    /// How long it may be silent while starting before the user is asked.
    pub patience: Duration,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A program and its arguments.
    Program(Vec<String>),
    /// The embedded tutor, at a percentage of its normal pauses (0: none).
    Tutor {
        /// 100 is the normal pace, 0 plays at once.
        pauses: u32,
    },
}

/// One run of an agent.
#[derive(Debug)]
pub struct Connection {
    /// What was started.
    pub launch: Launch,
    /// How far it is.
    pub phase: Phase,
    /// For a probe: whom to tell. Probes serve no session.
    pub probe: Option<Tag>,
    /// How often the user has granted it more time.
    pub patience: u32,
    /// Updates for sessions whose names are not known yet: some agents speak about a session
    /// before the answer that names it.
    pub held: VecDeque<(RemoteId, Update)>,
}

/// How far a run of an agent is.
#[derive(Debug, PartialEq)]
pub enum Phase {
    /// Being started.
    Starting,
    /// Asked who it is.
    Initializing,
    /// Can make sessions.
    Ready(AgentInfo),
    /// Told to end; nothing it says matters any more.
    Ending,
}

/// Who the agent is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentInfo {
    /// Its own name for itself, made for people.
    pub title: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The version of the protocol it chose, in its own words.
    pub protocol: String,
}

/// A chat.
#[derive(Debug)]
pub struct Session {
    /// Its name on our side.
    pub id: SessionId,
    /// The agent it talks to.
    pub launch: Launch,
    /// Its tie to a run of the agent.
    pub link: Link,
    /// What the agent is doing.
    pub turn: Turn,
    /// Prompts that wait.
    pub queue: VecDeque<Prompt>,
    /// The chat so far.
    pub entries: Vec<Entry>,
    /// Its name, when the agent gave one.
    pub title: Option<String>,
    /// How many turns there were.
    pub turns: u64,
}

/// A session's tie to a run of its agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// The agent is starting.
    Connecting(ConnectionId),
    /// The agent was asked for a session.
    Creating(ConnectionId),
    /// The agent knows the session.
    Ready(ConnectionId, RemoteId),
    /// There is no agent, and why. The next prompt tries again.
    Failed(Failure),
}

impl Link {
    /// The run of the agent this session depends on.
    pub fn connection(&self) -> Option<ConnectionId> {
        match self {
            Link::Connecting(connection)
            | Link::Creating(connection)
            | Link::Ready(connection, _) => Some(*connection),
            Link::Failed(_) => None,
        }
    }
}

/// What the agent is doing for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    Idle,
    /// Working on a prompt.
    Running(TurnId, Tag),
    /// Told to stop, and not stopped yet.
    Cancelling(TurnId, Tag),
}

/// A prompt that waits.
#[derive(Debug)]
pub struct Prompt {
    /// What to say.
    pub content: Vec<Content>,
    /// The caller's tag.
    pub tag: Tag,
    /// Whether the chat shows it already.
    pub shown: bool,
}

/// What the user and the agent say to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, in Markdown.
    Text(String),
    /// A picture.
    Image {
        /// Its type, such as `image/png`.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A sound.
    Audio {
        /// Its type.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A pointer to something the agent can read by itself.
    Link {
        /// Where it is.
        uri: String,
        /// What to call it.
        name: String,
    },
    /// Something with its text.
    Resource {
        /// Where it comes from.
        uri: String,
        /// The text.
        text: String,
        /// Its type.
        mime: Option<String>,
    },
    /// A kind of content this client does not know; only its name is kept.
    Unknown(String),
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

/// One thing in the chat.
#[derive(Debug, PartialEq)]
pub enum Entry {
    /// Somebody says something. The text only ever grows at its end.
    Message {
        /// Who.
        role: Role,
        /// What.
        text: String,
        /// The agent's id of the message, when it gives one.
        message: Option<Box<str>>,
    },
    /// Something failed.
    Failure(Failure),
    /// Something worth a line.
    Note(Note),
}

/// Something worth a line in the chat.
#[derive(Debug, PartialEq, Eq)]
pub enum Note {
    /// The turn ended for another reason than being done.
    Stopped(StopReason),
    /// The user took prompts back before they were sent.
    Withdrawn,
    /// The agent was started again and remembers nothing of the earlier turns.
    StartedAgain,
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
            StopReason::Other(word) => word,
        }
    }
}

impl Session {
    /// The state in one word, as the public API names it.
    pub fn word(&self) -> &'static str {
        match (&self.link, self.turn) {
            (Link::Failed(_), _) => "failed",
            (Link::Connecting(_) | Link::Creating(_), _) => "starting",
            (Link::Ready(..), Turn::Idle) => "ready",
            (Link::Ready(..), Turn::Running(..)) => "running",
            (Link::Ready(..), Turn::Cancelling(..)) => "cancelling",
        }
    }
}

/// The text of a message as the chat shows it: what is not text is named in brackets.
pub fn plain_text(content: &[Content]) -> String {
    let mut text = String::new();
    for block in content {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        append_plain(&mut text, block);
    }
    text
}

/// Adds one block to the text of a message.
pub fn append_plain(text: &mut String, content: &Content) {
    match content {
        Content::Text(more) => text.push_str(more),
        Content::Image { mime, data } => text.push_str(&format!("[image: {mime}, {}]", size(data))),
        Content::Audio { mime, data } => text.push_str(&format!("[audio: {mime}, {}]", size(data))),
        Content::Link { uri, name } => text.push_str(&format!("[{name}]({uri})")),
        Content::Resource { uri, .. } => text.push_str(&format!("[{uri}]")),
        Content::Unknown(kind) => text.push_str(&format!("[{kind}]")),
    }
}

/// The size of base64 data, for people.
fn size(base64: &str) -> String {
    let bytes = base64.len() / 4 * 3;
    if bytes < 1024 { format!("{bytes} B") } else { format!("{} kB", bytes / 1024) }
}
