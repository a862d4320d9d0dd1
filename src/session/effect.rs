//! Everything we may ask of the world. A closed enum, interpreted by `runtime`.

use std::time::Duration;

use super::failure::{Exit, Failure, RpcError};
use super::ids::{ConnectionId, RemoteId, ReplyTo, SessionId, Tag, TurnId};
use super::state::{AgentInfo, Content, Launch, StopReason};

/// Something to be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Start the agent.
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
    /// Answer a request of the agent.
    Reply {
        /// The duty this fulfils.
        reply: ReplyTo,
        /// The answer.
        answer: Result<Reply, RpcError>,
    },
    /// End this run: close its stdin, then kill it with all its children.
    End(ConnectionId),
    /// Raise [`super::event::Event::TimerFired`] after a while.
    SetTimer {
        /// What to raise.
        timer: Timer,
        /// When.
        after: Duration,
    },
    /// Tell the editor.
    Tell(Tell),
}

/// One of our requests.
#[derive(Debug, PartialEq)]
pub enum Call {
    /// `initialize`
    Initialize,
    /// `session/new`
    NewSession {
        /// For which session.
        session: SessionId,
        /// Its project.
        cwd: String,
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
}

/// Answers to the agent's requests.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// Done, nothing to say.
    Empty,
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
}

/// What the editor is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Tell {
    /// Something of the session's summary has changed.
    SessionChanged(SessionId),
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
    /// The agent is silent while starting: the user may wait or kill it.
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
}
