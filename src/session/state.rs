//! What is true, as data. Changed only by [`State::apply`] (in `reduce`).

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::agent::{AgentInfo, Launch};
use super::content::Content;
use super::effect::Make;
use super::entry::{Entry, Role};
use super::event::{CommandLine, Kept, Origin, Update};
use super::failure::Failure;
use super::ids::{AskId, ConnectionId, RemoteId, ReplyTo, SessionId, Tag, TurnId};
use super::live::{Seen, Whole};
use super::parts::Parts;
use super::pending::Pending;
use super::question::Body;
use super::rule::Rule;
use super::settings::Settings;
use super::subject::Subject;
use super::terminal::Terminals;
use super::tool_call::{TerminalExit, ToolCall, ToolCallId, ToolStatus};

/// How many entries are drawn again as time goes by.
const LIVE: usize = 200;

/// All sessions, all runs of agents they use, and what is still to be answered.
#[derive(Debug, Default)]
pub struct State {
    pub(super) connections: BTreeMap<ConnectionId, Connection>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    /// Questions to the editor and the user, with the duty that each answer fulfils.
    pub(super) asks: BTreeMap<AskId, OpenAsk>,
    /// Lists of kept sessions that have more pages to come, by the caller's tag.
    pub(super) lists: BTreeMap<Tag, Vec<Kept>>,
    /// What is answered without the user.
    pub(super) rules: Vec<Rule>,
    /// Files that are not read unasked, by patterns.
    pub(super) private: Vec<String>,
    /// What files are is recorded before each turn.
    pub(super) rewind: bool,
    pub(super) now: Duration,
    pub(super) next_connection: u64,
    pub(super) next_ask: u64,
    pub(super) next_terminal: u64,
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

    /// Who a session's agent says it is, once it has said so.
    pub fn agent_of(&self, session: &Session) -> Option<&AgentInfo> {
        let connection = self.connections.get(&session.link.connection()?)?;
        match &connection.phase {
            Phase::Ready(info) => Some(info),
            _ => None,
        }
    }

    /// What a write that waits is about.
    pub fn write_of(&self, ask: AskId) -> Option<Write> {
        let OpenAsk { session, body: Body::Write { path, text }, .. } = self.asks.get(&ask)? else {
            return None;
        };
        let seen = self.sessions.get(session)?.seen.get(path);
        Some(Write { session: *session, path: path.clone(), seen, text: text.clone() })
    }

    /// Of which session a question is that waits.
    pub fn session_of(&self, ask: AskId) -> Option<SessionId> {
        self.asks.get(&ask).map(|it| it.session)
    }

    /// The questions that wait for an answer, oldest first, but for those that nobody has heard of.
    pub fn asks(&self) -> impl Iterator<Item = (AskId, &OpenAsk)> {
        self.asks.iter().filter(|(_, it)| !it.is_looked_at()).map(|(id, ask)| (*id, ask))
    }
}

/// A write of an agent that waits.
#[derive(Debug)]
pub struct Write {
    /// Of which session.
    pub session: SessionId,
    /// The file.
    pub path: String,
    /// What the agent has seen of it, if anything.
    pub seen: Option<Whole>,
    /// What the agent makes of it.
    pub text: Arc<str>,
}

/// A question that waits for an answer.
#[derive(Debug)]
pub struct OpenAsk {
    /// For which session.
    pub session: SessionId,
    /// What is asked.
    pub body: Body,
    /// The duty its answer fulfils.
    pub reply: ReplyTo,
    /// Who has it now.
    pub with: With,
    /// What is done once the user allows it.
    pub then: Option<AllowedAction>,
}

impl OpenAsk {
    /// Whether it is a permission of which nobody has heard yet: the disk tells where its paths lead,
    /// or those of one before it.
    pub fn is_looked_at(&self) -> bool {
        let with = matches!(self.with, With::Disk | With::Nobody);
        with && matches!(self.body, Body::Permission(_))
    }
}

/// What is done once the user allows it.
#[derive(Debug)]
pub enum AllowedAction {
    /// A file is read or written: the question to the editor.
    File(Body),
    /// A command is run.
    Run {
        /// What to run, with an absolute folder.
        command: CommandLine,
        /// Whether its end is the answer.
        to_the_end: bool,
    },
}

/// A command that the user has allowed for a tool call, and that has not been run yet.
#[derive(Debug)]
pub struct AllowedCommand {
    /// The tool call.
    pub tool_call: ToolCallId,
    /// What was allowed.
    pub subject: Subject,
}

/// Who has a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    /// The editor or the user.
    Editor,
    /// The disk: a file that is not loaded, a folder, or where a path leads.
    Disk,
    /// The user, who has changed the same lines of a file as the agent.
    User,
    /// It waits until those before it can be asked.
    Nobody,
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
    /// How much that is.
    pub held_bytes: usize,
    /// The sessions it served when it was told to end.
    pub served: Vec<SessionId>,
    /// The last lines it printed before it spoke the protocol.
    pub printed: VecDeque<String>,
}

/// How far a run of an agent is.
#[derive(Debug, PartialEq)]
pub enum Phase {
    /// Being started.
    Starting,
    /// Asked who it is.
    Initializing {
        /// In the old form, after it refused the new one.
        old_form: bool,
    },
    /// Can make sessions.
    Ready(AgentInfo),
    /// Told to end; nothing it says matters any more.
    Ending,
}

/// A chat.
#[derive(Debug)]
pub struct Session {
    /// Its name on our side.
    pub id: SessionId,
    /// The agent it talks to.
    pub launch: Launch,
    /// Where it came from.
    pub origin: Origin,
    /// The agent's last known name for it, kept when the agent is lost.
    pub remote: Option<RemoteId>,
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
    /// Modes, options, commands, usage, plan.
    pub settings: Settings,
    /// Commands that run or ran for it, ours and the agent's own.
    pub terminals: Terminals,
    /// Commands that the user has allowed in this turn, and that have not been run yet.
    pub allowed: Vec<AllowedCommand>,
    /// The agent takes words into a running turn.
    pub steering: bool,
    /// The questions of it that wait for the user.
    pub pending: Pending,
    /// It had an agent before: what the agent tells of the past is known already.
    pub reattaching: bool,
    /// How often a lost agent has been sought.
    pub attempts: u32,
    /// Where each tool call is in the chat.
    pub tool_calls: HashMap<ToolCallId, usize>,
    /// Which tool calls are parts of others.
    pub parts: Parts,
    /// The tool call that set a subagent to work last, by the subagent's name.
    pub tasks: HashMap<String, usize>,
    /// Where each subagent and each compaction is in the chat, by the agent's names for them.
    pub subagents: HashMap<String, usize>,
    /// See [`Session::subagents`].
    pub compactions: HashMap<String, usize>,
    /// What was asked of the agent and not answered yet.
    pub asked: Vec<Tag>,
    /// What its agent has seen of files.
    pub seen: Seen,
    /// What the agent shall know with the next prompt.
    pub note: Option<String>,
    /// How late it is.
    pub now: Duration,
    /// Of what the user was told that there are too many.
    pub too_many: HashSet<String>,
    /// Updates of kinds this client does not know, as they came; the last few.
    pub unknown: VecDeque<(String, Box<str>)>,
}

/// A session's tie to a run of its agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// The agent is starting.
    Connecting(ConnectionId),
    /// The agent was asked for the session.
    Creating(ConnectionId, Make),
    /// The agent wants a login first; the user is asked how. It may know the session already.
    LoggedOut(ConnectionId, Option<RemoteId>),
    /// The user logs in.
    LoggingIn(ConnectionId, Option<RemoteId>),
    /// The agent knows the session.
    Ready(ConnectionId, RemoteId),
    /// The way to the agent was lost; it is being sought again.
    Lost {
        /// The attempt that comes next.
        attempt: u32,
    },
    /// There is no agent, and why. The next prompt tries again.
    Failed(Failure),
}

impl Link {
    /// The run of the agent this session depends on.
    pub fn connection(&self) -> Option<ConnectionId> {
        match self {
            Link::Connecting(connection)
            | Link::Creating(connection, _)
            | Link::LoggedOut(connection, _)
            | Link::LoggingIn(connection, _)
            | Link::Ready(connection, _) => Some(*connection),
            Link::Lost { .. } | Link::Failed(_) => None,
        }
    }

    /// Why it has failed, if it has.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Link::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// The agent's name for the session, if it knows it.
    pub fn remote(&self) -> Option<(ConnectionId, &RemoteId)> {
        match self {
            Link::Ready(connection, remote) => Some((*connection, remote)),
            Link::Creating(connection, Make::Load(remote) | Make::Resume(remote)) => {
                Some((*connection, remote))
            }
            _ => None,
        }
    }
}

/// What the agent is doing for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    Idle,
    /// Nothing yet: the prompt is sent when what the files are is recorded.
    Preparing(Running),
    /// Working on a prompt.
    Running(Running),
    /// Told to stop, and not stopped yet.
    Cancelling(Running),
}

/// A turn that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub turn: TurnId,
    /// The caller's tag.
    pub tag: Tag,
    /// What was said, to say it again after a login.
    pub content: Vec<Content>,
    /// Tags of words that were said into the turn.
    pub steered: Vec<Tag>,
    /// How often the user has waited for it to stop.
    pub waits: u32,
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
    /// Whether the editor was told that it waits.
    pub listed: bool,
}

impl Session {
    /// A session with nothing in it yet.
    pub fn new(id: SessionId, launch: Launch, origin: Origin) -> Session {
        let remote = match &origin {
            Origin::Kept(remote) => Some(remote.clone()),
            Origin::New | Origin::Fork(_) => None,
        };
        Session {
            id,
            launch,
            origin,
            remote,
            link: Link::Lost { attempt: 0 },
            turn: Turn::Idle,
            queue: VecDeque::new(),
            entries: Vec::new(),
            title: None,
            turns: 0,
            settings: Settings::default(),
            terminals: Terminals::default(),
            allowed: Vec::new(),
            steering: false,
            pending: Pending::default(),
            reattaching: false,
            attempts: 0,
            tool_calls: HashMap::new(),
            parts: Parts::default(),
            tasks: HashMap::new(),
            subagents: HashMap::new(),
            compactions: HashMap::new(),
            asked: Vec::new(),
            seen: Seen::default(),
            note: None,
            now: Duration::ZERO,
            too_many: HashSet::new(),
            unknown: VecDeque::new(),
        }
    }

    /// How the command of a tool call ended, as far as anybody has told.
    pub fn exit_of<'a>(&'a self, tool_call: &'a ToolCall) -> Option<&'a TerminalExit> {
        let terminals =
            tool_call.terminals().filter_map(|id| self.terminals.get(id)?.exit.as_ref());
        tool_call.exit.as_ref().or(terminals.last())
    }

    /// How a tool call stands, for people: the agent may call done what has failed, and failed what
    /// was not allowed.
    pub fn shown_status(&self, tool_call: &ToolCall) -> ToolStatus {
        match tool_call.status {
            ToolStatus::Completed if self.exit_of(tool_call).is_some_and(TerminalExit::failed) => {
                ToolStatus::Failed
            }
            ToolStatus::Completed => ToolStatus::Completed,
            _ if tool_call.rejected_by.is_some() => ToolStatus::Rejected,
            status => status,
        }
    }

    /// The entries that say how long they take and are not finished: of the last turn, and the last
    /// of them, at most. They are drawn again every second.
    pub fn live(&self) -> impl Iterator<Item = usize> {
        let is_prompt =
            |entry: &Entry| matches!(entry, Entry::Message(it) if it.role == Role::User);
        let turn = self.entries.iter().enumerate().rev().take_while(move |(_, it)| !is_prompt(it));
        let last = self.entries.len().wrapping_sub(1);
        let live = turn.filter(move |(index, entry)| match entry {
            Entry::ToolCall(tool_call) => !tool_call.status.is_final(),
            Entry::Message(message) => message.role == Role::Thought && *index == last,
            Entry::Failure(_) | Entry::Note(_) => false,
        });
        live.map(|(index, _)| index).take(LIVE)
    }

    /// The state in one word, as the public API names it.
    pub fn word(&self) -> &'static str {
        match (&self.link, &self.turn) {
            (Link::Failed(_), _) => "failed",
            (Link::LoggedOut(..) | Link::LoggingIn(..), _) => "waiting",
            (Link::Connecting(_) | Link::Creating(..) | Link::Lost { .. }, _) => "starting",
            (Link::Ready(..), Turn::Idle) => "ready",
            (Link::Ready(..), Turn::Running(_)) if !self.pending.is_empty() => "waiting",
            (Link::Ready(..), Turn::Preparing(_) | Turn::Running(_)) => "running",
            (Link::Ready(..), Turn::Cancelling(_)) => "cancelling",
        }
    }
}
