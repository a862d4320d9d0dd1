//! Everything we may ask of the world. A closed enum, interpreted by `runtime`.

use std::sync::Arc;
use std::time::Duration;

use super::agent::{AgentInfo, AuthMethod, Launch, McpServer};
use super::audit::Record;
use super::content::Content;
use super::entry::StopReason;
use super::event::{Ask, CommandLine, Kept};
use super::failure::{Exit, Failure, RpcError};
use super::ids::{AskId, ConnectionId, RemoteId, ReplyTo, SessionId, Tag, TurnId};
use super::question::{FieldValue, FileRange, Question};
use super::rule::Verdict;
use super::terminal::TerminalKey;
use super::tool_call::{TerminalExit, TerminalId, ToolCallId};

/// Something to be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Start the agent, or reach it.
    Spawn {
        /// The name of this run.
        connection: ConnectionId,
        /// What to start.
        launch: Launch,
    },
    /// Send one of our requests; its answer comes back as an event.
    Call {
        /// To which run.
        connection: ConnectionId,
        /// What to ask.
        call: Call,
    },
    /// Tell the agent to stop the session's turn (`session/cancel`).
    CancelTurn {
        /// Which run.
        connection: ConnectionId,
        /// The agent's name for the session.
        remote: RemoteId,
    },
    /// Tell the agent that the answer to `authenticate` is not wanted any more
    /// (`$/cancel_request`).
    CancelLogin(ConnectionId),
    /// Answer a request of the agent.
    Reply {
        /// The duty this fulfils.
        reply: ReplyTo,
        /// The answer.
        answer: Result<Reply, RpcError>,
    },
    /// End this run: close its stdin, then kill it with all its children.
    End(ConnectionId),
    /// Find out where a path leads, and whether that is in one of these folders; comes back as
    /// [`super::event::Event::Resolved`].
    Resolve {
        /// For which question.
        ask: AskId,
        /// The path, absolute.
        path: String,
        /// The folders.
        roots: Vec<String>,
    },
    /// Follow the links of paths; comes back as [`super::event::Event::PathsResolved`].
    ResolvePaths(PathsToResolve),
    /// Read a file from the disk.
    ReadDisk(AskId, FileRange),
    /// Write a file to the disk, making its folder if need be.
    WriteDisk {
        /// For which question.
        ask: AskId,
        /// Which file.
        path: String,
        /// Its new text.
        text: Arc<str>,
    },
    /// List a folder: the answer's text has a line for each entry, `name` or `name/`.
    ListDisk(AskId, String),
    /// Save what came with a message to a new file; comes back as [`super::event::Event::Saved`].
    Save {
        /// Of which session.
        session: SessionId,
        /// The caller's tag.
        tag: Tag,
        /// Where: an absolute path.
        path: String,
        /// What.
        content: Content,
    },
    /// Run a command for an agent.
    RunCommand {
        /// Its terminal.
        key: TerminalKey,
        /// What to run, with an absolute folder.
        command: CommandLine,
    },
    /// End a command, with all its children.
    KillCommand(TerminalKey),
    /// Record what the files of a session's project are, before a turn; comes back as
    /// [`super::event::Event::Recorded`], soon in any case.
    Record {
        /// Of which session.
        session: SessionId,
        /// Before which turn.
        turn: TurnId,
    },
    /// Find what changes to files look like; comes back as [`super::event::Event::DiffsFound`].
    FindDiffs {
        /// Of which session.
        session: SessionId,
        /// Of which tool call.
        tool_call: ToolCallId,
        /// Of which state of it.
        revision: u32,
        /// The files.
        texts: Vec<Texts>,
    },
    /// Raise [`super::event::Event::TimerFired`] after a while.
    SetTimer {
        /// What to raise.
        timer: Timer,
        /// When.
        after: Duration,
    },
    /// Note something about a permission, for good.
    Audit(Box<Record>),
    /// Tell the editor.
    Tell(Tell),
}

/// Paths whose links are to be followed.
#[derive(Debug, PartialEq, Eq)]
pub struct PathsToResolve {
    /// For which question.
    pub ask: AskId,
    /// The paths, absolute.
    pub paths: Vec<String>,
    /// The session's folders.
    pub roots: Vec<String>,
}

/// A file before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// Which file.
    pub path: String,
    /// What it was; none for a new file.
    pub old: Option<Arc<str>>,
    /// What it becomes.
    pub new: Arc<str>,
    /// The number of the first line in the new text: agents often show a piece of a file alone.
    pub first: usize,
}

/// One of our requests.
#[derive(Debug, PartialEq)]
pub enum Call {
    /// `initialize`; once more in an old form when it was refused.
    Initialize {
        /// In the old form.
        old_form: bool,
    },
    /// `session/new`, `session/load`, `session/resume` or `session/fork`.
    Session {
        /// For which session.
        session: SessionId,
        /// Which of them.
        how: Make,
        /// The project and what else the agent must know.
        place: Place,
    },
    /// `session/prompt`
    Prompt {
        /// For which session.
        session: SessionId,
        /// The agent's name for it.
        remote: RemoteId,
        /// The turn this begins.
        turn: TurnId,
        /// What the user says.
        content: Vec<Content>,
    },
    /// `_session/steering`
    Steer {
        /// For which session.
        session: SessionId,
        /// The agent's name for it.
        remote: RemoteId,
        /// What the user says.
        content: Vec<Content>,
    },
    /// `authenticate`
    Authenticate {
        /// For which session.
        session: SessionId,
        /// The method's id.
        method: String,
    },
    /// Something to set or to ask.
    Ask {
        /// For which session.
        session: SessionId,
        /// The agent's name for it.
        remote: RemoteId,
        /// What.
        ask: Ask,
        /// The caller's tag.
        tag: Tag,
        /// The next page of a list.
        cursor: Option<String>,
        /// The project, for a list.
        cwd: String,
    },
    /// `session/close`
    Close(RemoteId),
    /// `shutdown`, for agents of an old dialect.
    Shutdown,
}

/// How a session is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Make {
    /// Anew.
    New,
    /// From what the agent kept, telling the history.
    Load(RemoteId),
    /// From what the agent kept, silently.
    Resume(RemoteId),
    /// From another session.
    Fork(RemoteId),
}

/// Where a session works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The project.
    pub cwd: String,
    /// Further folders.
    pub directories: Vec<String>,
    /// Tool servers the agent can use.
    pub mcp_servers: Vec<McpServer>,
}

/// Answers to the agent's requests.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// Done, nothing to say.
    Empty,
    /// To a permission: this option, or cancelled.
    Permission(Option<String>),
    /// To a read.
    Text(String),
    /// To a list of a folder: names, and whether each is a folder.
    Entries(Vec<(String, bool)>),
    /// To a command: its terminal.
    Terminal(TerminalId),
    /// What a command said.
    Output {
        /// The text.
        output: String,
        /// Whether it is not all.
        truncated: bool,
        /// How the command ended, if it has.
        exit: Option<TerminalExit>,
    },
    /// How a command ended.
    Exit(TerminalExit),
    /// What a command said and how it ended (a dialect's one answer to both).
    Ran {
        /// The text.
        output: String,
        /// Whether it is not all.
        truncated: bool,
        /// How it ended.
        exit: TerminalExit,
    },
    /// To a form or address: accepted, with values.
    Accept(Vec<(String, FieldValue)>),
    /// To a form or address: declined.
    Decline,
    /// To a form or address: the user looked away.
    Dismiss,
}

/// What a timer is for. A timer that has lost its object is ignored when it fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// The agent has not answered while starting. `patience` counts the extensions granted, so
    /// that a timer of an earlier patience is stale.
    NoAnswer {
        /// Which run.
        connection: ConnectionId,
        /// Which extension.
        patience: u32,
    },
    /// The agent was told to stop a turn and has not. `waits` counts the extensions granted.
    NotStopped {
        /// Of which session.
        session: SessionId,
        /// Which turn.
        turn: TurnId,
        /// Which extension.
        waits: u32,
    },
    /// The agent was told to stop a turn, and has had time to end the commands of it.
    StopCommands {
        /// Of which session.
        session: SessionId,
        /// Which turn.
        turn: TurnId,
    },
    /// Neovim has not answered a question about a file: it may be waiting for a key.
    NoEditor(AskId),
    /// It is not known yet where the paths of a permission lead.
    NoPaths(AskId),
    /// It is time to reach a lost agent again. The runtime adds some chance to the delay.
    Reconnect {
        /// For which session.
        session: SessionId,
        /// Which attempt.
        attempt: u32,
    },
}

/// What the editor is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Tell {
    /// Something of the session's summary has changed.
    SessionChanged(SessionId),
    /// Something of the session's settings (modes, options, commands, plan) has changed.
    SettingsChanged(SessionId),
    /// The prompts that wait have changed.
    QueueChanged(SessionId),
    /// The session can be prompted.
    Ready(SessionId),
    /// The session could not be made, or lost its agent.
    Failed {
        /// Which session.
        session: SessionId,
        /// Why.
        failure: Failure,
    },
    /// The agent has begun to work on a prompt.
    TurnStarted {
        /// Which session.
        session: SessionId,
        /// Which turn.
        turn: TurnId,
    },
    /// A prompt is done with, one way or the other. Comes exactly once for each prompt.
    TurnFinished {
        /// Which session.
        session: SessionId,
        /// Which turn; none when the prompt was never sent.
        turn: Option<TurnId>,
        /// The caller's tag.
        tag: Tag,
        /// How it ended.
        result: Result<StopReason, Failure>,
    },
    /// An agent's process is gone.
    AgentExited {
        /// A session that used it.
        session: SessionId,
        /// The agent's name.
        agent: String,
        /// How it ended.
        exit: Exit,
        /// Whether we asked for it.
        expected: bool,
    },
    /// The agent is silent while starting or stopping: the user may wait or kill it.
    NoAnswer {
        /// Which session waits.
        session: SessionId,
        /// For what.
        what: &'static str,
        /// For how long already.
        seconds: u64,
    },
    /// The session is no more.
    Closed(SessionId),
    /// The finding of a probe.
    Probed {
        /// The caller's tag.
        tag: Tag,
        /// Who answered, or why nobody did.
        result: Result<AgentInfo, Failure>,
    },
    /// A question for the editor or the user; the answer is a
    /// [`super::event::Wish::Answer`].
    Asked(AskId, Question),
    /// A question needs no answer any more: it was answered, withdrawn or cancelled.
    Settled {
        /// Which.
        ask: AskId,
        /// Of which session.
        session: SessionId,
        /// For a permission, the option chosen; none when it was cancelled.
        option: Option<String>,
    },
    /// A rule has answered a permission; nobody is asked.
    Ruled {
        /// Of which session.
        session: SessionId,
        /// What it was about, for people.
        title: String,
        /// What the rule says.
        verdict: Verdict,
        /// The rule, for people.
        rule: String,
    },
    /// The agent wants a login: the user may choose one of these.
    LoginRequired {
        /// Which session waits.
        session: SessionId,
        /// The ways.
        methods: Vec<AuthMethod>,
    },
    /// A login is to be done in a terminal; a [`super::event::Wish::LoggedIn`] tells its end.
    LoginInTerminal {
        /// Which session waits.
        session: SessionId,
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables.
        env: Vec<(String, String)>,
        /// Where.
        cwd: String,
    },
    /// An address to be opened, after asking the user.
    OpenUrl {
        /// For which session.
        session: SessionId,
        /// The address.
        url: String,
    },
    /// What came of an [`Ask`].
    AskDone {
        /// Which session.
        session: SessionId,
        /// The caller's tag.
        tag: Tag,
        /// Nothing to tell but that it worked, or what failed. Kept sessions where a list was asked.
        result: Result<Vec<Kept>, Failure>,
    },
    /// The agent works on this file now.
    Touched {
        /// Of which session.
        session: SessionId,
        /// Which file: an absolute path.
        path: String,
        /// The line, from 1.
        line: Option<u32>,
    },
    /// The agent has finished something that may have changed files on the disk.
    Worked(SessionId),
    /// What came of saving something.
    Saved {
        /// Of which session.
        session: SessionId,
        /// The caller's tag.
        tag: Tag,
        /// Where.
        path: String,
        /// Why not, if not.
        result: Result<(), String>,
    },
    /// Something for the user to read.
    Notice {
        /// Of which session.
        session: SessionId,
        /// `info`, `warning`, `error`
        severity: String,
        /// The words.
        message: String,
    },
}

impl Tell {
    /// Whether it is about something that has no place in the chat.
    pub fn is_beside_the_chat(&self) -> bool {
        matches!(
            self,
            Tell::SettingsChanged(_)
                | Tell::QueueChanged(_)
                | Tell::Touched { .. }
                | Tell::Notice { .. }
        )
    }
}
