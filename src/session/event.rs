//! Everything that can happen. A closed enum: what is not here cannot start any work.

use super::effect::Timer;
use super::failure::{Exit, RpcError, SpawnError};
use super::ids::{ConnectionId, RemoteId, ReplyTo, SessionId, Tag, TurnId};
use super::state::{AgentInfo, Content, Launch, Role, StopReason};

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
    /// A timer asked for by [`super::effect::Effect::SetTimer`] has run out.
    TimerFired(Timer),
    /// Neovim is going: answer what is open, start nothing.
    Shutdown,
}

/// What the user or a program on the Lua side asks for.
#[derive(Debug)]
pub enum Wish {
    /// Make a session, starting or reusing the agent.
    Open {
        /// Its id, chosen by the caller so that it is known at once.
        session: SessionId,
        /// The agent to run.
        launch: Launch,
    },
    /// Say something. Waits in the queue while the agent is starting or busy.
    Prompt {
        /// To which session.
        session: SessionId,
        /// What to say.
        content: Vec<Content>,
        /// Comes back when the turn ends.
        tag: Tag,
    },
    /// Stop the running turn.
    Cancel(SessionId),
    /// End the session, and the agent when nobody else uses it.
    Close(SessionId),
    /// Kill the agent and start it again.
    Restart(SessionId),
    /// Kill the agent; the next prompt starts it again.
    Kill(SessionId),
    /// Give a silent agent more time.
    Wait(SessionId),
    /// Start an agent only to hear who it is.
    Probe {
        /// Comes back with the finding.
        tag: Tag,
        /// The agent to try.
        launch: Launch,
    },
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
    /// A message that could not be understood; logged where it was read.
    Unrecognized,
}

/// The answer to one of our requests, with what the request was about.
#[derive(Debug)]
pub enum Answer {
    /// To `initialize`.
    Initialize(Result<AgentInfo, RpcError>),
    /// To `session/new`.
    NewSession {
        /// Which session asked.
        session: SessionId,
        /// The agent's name for it.
        result: Result<RemoteId, RpcError>,
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
}

/// A `session/update`.
#[derive(Debug, PartialEq)]
pub enum Update {
    /// A piece of a message.
    Chunk(Chunk),
    /// The session has a name now, or none any more.
    Title(Option<String>),
    /// A kind of update that is not acted upon.
    Other,
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

/// A request of the agent.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// A method this client does not offer.
    Unknown {
        /// Its name.
        method: String,
    },
}
