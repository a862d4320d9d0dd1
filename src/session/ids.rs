//! Names of things, as types, so that one cannot be taken for another.

use std::fmt;
use std::sync::Arc;

/// A chat, as the user and Lua know it. Lives longer than any agent process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// One run of one agent: a process, a socket or the embedded tutor. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// One prompt and everything the agent does about it. Counts from 1 within a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub u64);

/// A question to the editor or the user that is open. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(pub u64);

/// The agent's own name for a session. Cheap to clone: it comes with every streamed chunk.
pub type RemoteId = Arc<str>;

/// What the caller of a prompt wants to see again when the turn ends.
pub type Tag = u64;

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The duty to answer one request of the agent.
///
/// Neither `Clone` nor `Copy`, and replying consumes it, so that a request can't be answered
/// twice; whoever drops one unanswered has a bug.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an agent's request must be answered exactly once"]
pub struct ReplyTo {
    /// Where the answer goes.
    pub connection: ConnectionId,
    /// The request's id as the agent wrote it: any JSON, echoed verbatim.
    pub id: Box<str>,
}
