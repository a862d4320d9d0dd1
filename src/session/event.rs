//! Everything that can happen. A closed enum: what is not here cannot start any work.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::agent::AgentInfo;
use super::command_line;
use super::content::Content;
use super::diff::FileDiff;
use super::effect::Timer;
use super::entry::{Chunk, LeftOut, Note, StopReason};
use super::failure::{Exit, RpcError, SpawnError};
use super::ids::{AskId, ConnectionId, RemoteId, ReplyTo, SessionId, Tag, TurnId};
use super::question::{Elicitation, PermissionOption};
use super::settings::{Choice, Command, ConfigOption, Plan, Usage};
use super::terminal::TerminalKey;
use super::tool_call::{TerminalExit, TerminalId, ToolCallId, ToolCallUpdate};

pub use super::wish::{Ask, Origin, QueueChange, Wish};

/// Something happened.
#[derive(Debug)]
pub enum Event {
    /// The user or a program wants something.
    User(Wish),
    /// Something came from, or happened to, one run of an agent.
    Agent {
        /// Which run.
        connection: ConnectionId,
        /// What happened.
        happened: Happened,
    },
    /// The disk has been read or written for an agent.
    Disk {
        /// For which question.
        ask: AskId,
        /// The text (empty for a write), or why not.
        result: Result<String, DiskError>,
    },
    /// Where a path leads, links followed.
    Resolved {
        /// For which question.
        ask: AskId,
        /// Where it leads.
        real: RealPath,
    },
    /// Where the paths of a permission lead, links followed: by path. What leads into a session's
    /// folder is told by that folder's own name.
    PathsResolved {
        /// For which question.
        ask: AskId,
        /// Where each path leads, as far as that is known.
        real: HashMap<String, String>,
    },
    /// What the files of a session's project are is recorded, or will not be in time: the turn may
    /// begin.
    Recorded(SessionId, TurnId),
    /// The whole text of a file of which some lines are about to be read for an agent.
    Whole(AskId, Arc<str>),
    /// Something has been saved for the user, or not.
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
    /// A command we run for an agent said something.
    TerminalOutput(TerminalKey, String),
    /// A command we run for an agent has ended, or could not be started.
    TerminalExited(TerminalKey, Result<TerminalExit, String>),
    /// What a tool call's changes to files look like.
    DiffsFound {
        /// Of which session.
        session: SessionId,
        /// Of which tool call.
        tool_call: ToolCallId,
        /// Of which state of it.
        revision: u32,
        /// One for each change.
        diffs: Vec<Arc<FileDiff>>,
    },
    /// How late it is, since some moment. Comes before what happens then.
    Clock(Duration),
    /// A timer asked for by [`super::effect::Effect::SetTimer`] has run out.
    TimerFired(Timer),
    /// Neovim is going: answer what is open, start nothing.
    Shutdown,
}

/// Where a path leads, with no symbolic link left in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RealPath {
    /// The file, which may not be there yet.
    pub path: String,
    /// Whether it is in one of the session's folders.
    pub inside: bool,
    /// Whether it is in a folder that looks like git's own, whatever its name.
    pub repository: bool,
}

/// Why the disk could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskError {
    /// There is no such file.
    NotFound,
    /// Something else.
    Other(String),
}

/// What one run of an agent did, or what became of it.
#[derive(Debug)]
pub enum Happened {
    /// The process runs, or the pipe is there.
    Started,
    /// It could not be started.
    NotStarted(SpawnError),
    /// It is gone.
    Exited {
        /// How it ended.
        exit: Exit,
        /// The last lines it wrote to stderr.
        stderr: Vec<String>,
    },
    /// It answered one of our requests.
    Answered(Answer),
    /// It said something about a session.
    Updated {
        /// The agent's name for the session.
        remote: RemoteId,
        /// What it said.
        update: Update,
    },
    /// It wants something of us, and waits for the answer.
    Requested {
        /// The duty to answer.
        reply: ReplyTo,
        /// What it wants.
        request: Request,
    },
    /// It does not want the answer to one of its requests any more: the request's id as it wrote it.
    Withdrawn(Box<str>),
    /// A visit to an address that an elicitation asked for has done its work.
    ElicitationComplete(String),
    /// A login in the browser has done its work (a dialect's way to say so).
    AuthComplete,
    /// A turn has ended without an answer to the prompt (a dialect's way to say so).
    TurnEnded {
        /// The agent's name for the session.
        remote: RemoteId,
        /// Why.
        reason: StopReason,
    },
    /// A message that was understood and needs nothing done, or could not be understood; logged
    /// where it was read.
    Unrecognized,
    /// It wrote a line that is no message: the beginning of it.
    Printed(String),
}

/// The answer to one of our requests, with what the request was about.
#[derive(Debug)]
pub enum Answer {
    /// To `initialize`.
    Initialize(Result<AgentInfo, RpcError>),
    /// To `session/new`, `session/load`, `session/resume` or `session/fork`.
    Session {
        /// Which session asked.
        session: SessionId,
        /// What the agent made of it.
        result: Result<Made, RpcError>,
    },
    /// To `session/prompt`: the turn has ended.
    Prompt {
        /// Which session.
        session: SessionId,
        /// Which turn.
        turn: TurnId,
        /// Why it ended.
        result: Result<StopReason, RpcError>,
    },
    /// To `authenticate`.
    Authenticate {
        /// Which session asked.
        session: SessionId,
        /// An address to open, if the agent gives one.
        result: Result<Option<String>, RpcError>,
    },
    /// To an [`Ask`].
    Asked {
        /// Which session.
        session: SessionId,
        /// What was asked.
        ask: Ask,
        /// The caller's tag.
        tag: Tag,
        /// What came of it.
        result: Result<Told, RpcError>,
    },
    /// To `_session/steering`.
    Steered {
        /// Which session.
        session: SessionId,
        /// Whether it was taken.
        result: Result<(), RpcError>,
    },
    /// To something whose answer changes nothing.
    Other,
}

/// A session as the agent made or found it.
#[derive(Debug, Default)]
pub struct Made {
    /// Its name; none where the request named it.
    pub remote: Option<RemoteId>,
    /// The older kind of modes.
    pub modes: Option<Choice>,
    /// The older kind of models.
    pub models: Option<Choice>,
    /// Options.
    pub options: Option<Vec<ConfigOption>>,
    /// The agent takes words into a running turn.
    pub steering: bool,
    /// What there was too much of.
    pub left_out: Vec<LeftOut>,
}

/// What came of an [`Ask`].
#[derive(Debug)]
pub enum Told {
    /// It is done.
    Done,
    /// The options as they are now; none when the agent did not say.
    Options(Option<Vec<ConfigOption>>),
    /// The session's name as it is now.
    Title(String),
    /// One page of kept sessions, and where the next begins.
    Sessions(Vec<Kept>, Option<String>),
}

/// A session that the agent keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub remote: RemoteId,
    /// Its project.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// When it was last used, in the agent's words.
    pub updated: Option<String>,
}

/// A `session/update`.
#[derive(Debug, PartialEq)]
pub enum Update {
    /// A piece of a message.
    Chunk(Chunk),
    /// A tool call, new or changed: agents do not always say which.
    ToolCall(ToolCallId, Box<ToolCallUpdate>),
    /// The plan, whole.
    Plan(Plan),
    /// A plan is no more.
    PlanRemoved(String),
    /// The slash commands, all of them.
    Commands(Vec<Command>),
    /// The mode is this now.
    Mode(String),
    /// Options. `partial`: those not named stay.
    Options {
        /// The options.
        options: Vec<ConfigOption>,
        /// Whether this is not all of them.
        partial: bool,
    },
    /// The session has a name now, or none any more.
    Title(Option<String>),
    /// How full the context is.
    Usage(Usage),
    /// Something for the chat: notice, compaction, subagent, or a kind we do not know.
    Note(Note),
    /// More of a compaction's summary.
    CompactionSummary {
        /// Which compaction.
        id: String,
        /// The piece.
        content: Content,
    },
    /// Understood, and nothing to do about it.
    Nothing,
}

impl Update {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        /// What is bounded when it is read.
        const BOUNDED: usize = 16 << 10;
        match self {
            Update::Chunk(chunk) => chunk.content.weight(),
            Update::CompactionSummary { content, .. } => content.weight(),
            Update::ToolCall(_, update) => update.weight(),
            Update::Note(Note::Unknown { raw, .. }) => raw.len(),
            _ => BOUNDED,
        }
    }
}

/// A request of the agent. Paths are absolute already.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// Whether it may do something.
    Permission {
        /// The session's name.
        remote: RemoteId,
        /// The tool call it is about.
        tool_call: ToolCallId,
        /// What the request tells of that tool call.
        update: Box<ToolCallUpdate>,
        /// The possible answers.
        options: Vec<PermissionOption>,
    },
    /// The text of a file.
    ReadFile {
        /// The session's name.
        remote: RemoteId,
        /// The file, as the agent wrote it.
        path: String,
        /// The first line, from 1.
        line: Option<u32>,
        /// How many lines.
        limit: Option<u32>,
    },
    /// To change a file.
    WriteFile {
        /// The session's name.
        remote: RemoteId,
        /// The file, as the agent wrote it.
        path: String,
        /// Its new text.
        text: String,
    },
    /// What is in a folder (a dialect).
    ListDirectory {
        /// The session's name.
        remote: RemoteId,
        /// The folder, as the agent wrote it.
        path: String,
    },
    /// To run a command.
    Run {
        /// The session's name.
        remote: RemoteId,
        /// What to run.
        command: CommandLine,
        /// Answer when it has ended, with everything (a dialect); else at once, with its id.
        to_the_end: bool,
    },
    /// About a command that was run.
    Terminal {
        /// The session's name.
        remote: RemoteId,
        /// Which.
        terminal: TerminalId,
        /// What about it.
        verb: TerminalVerb,
    },
    /// To fill in a form or visit an address.
    Elicit {
        /// The session's name; none when it is about one of our requests.
        remote: Option<RemoteId>,
        /// What is wanted.
        elicitation: Elicitation,
    },
    /// A method this client does not offer.
    Unknown {
        /// Its name.
        method: String,
    },
    /// A method this client offers, with parameters that can't be read or allowed.
    Invalid {
        /// Its name.
        method: String,
        /// What is wrong.
        why: String,
    },
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program, or a line for the shell when there are no arguments.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// Where; the session's project if none is named.
    pub cwd: Option<String>,
    /// How much of the output is wanted.
    pub limit: Option<u64>,
}

impl CommandLine {
    /// Whether it is a line for the shell: many agents give one as the program.
    pub fn is_line(&self) -> bool {
        let special = |c: char| c.is_whitespace() || "|&;<>()$`\\\"'*?[]{}#~=!".contains(c);
        self.args.is_empty() && self.command.contains(special)
    }

    /// How long it is, all in all.
    pub fn bytes(&self) -> usize {
        let args = self.args.iter().map(|it| it.len() + 1);
        let env = self.env.iter().map(|(name, value)| name.len() + value.len() + 2);
        self.command.len() + args.sum::<usize>() + env.sum::<usize>()
    }

    /// What is run, as rules read it.
    pub fn as_command(&self) -> command_line::Command {
        use command_line::Command;
        match self.is_line() {
            true => Command::Line(self.command.clone()),
            false => {
                let words = std::iter::once(&self.command).chain(&self.args);
                Command::Words(words.cloned().collect())
            }
        }
    }
}

/// What an agent wants of a command it runs with us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalVerb {
    /// What it has said.
    Output,
    /// To hear when it has ended.
    Wait,
    /// To end it.
    Kill,
    /// To end and forget it.
    Release,
}
