//! What comes to the core from the world: the one bounded channel that everything outside Neovim
//! goes through, so that a flood waits where it comes from.

use super::buffers::News;
use super::reviews::{Kept, OnDisk, Rejected};
use crate::session::event::{Event, Happened};
use crate::session::ids::{ConnectionId, SessionId};

/// Something from the world.
#[derive(Debug)]
pub enum Input {
    /// Bytes from an agent.
    Bytes(ConnectionId, Vec<u8>),
    /// Something else happened to an agent.
    Happened(ConnectionId, Happened),
    /// Something that is no agent's doing: time, the disk, a command.
    Event(Event),
    /// Something about a buffer.
    Buffer(News),
    /// Agents have changed files that are not open.
    Found(Vec<OnDisk>),
    /// What the disk has of a file under review whose buffer was closed; no text is no file.
    Closed(String, Option<String>),
    /// A rejection in a file that is not open.
    Rejected(Rejected),
    /// What is under review is to be written down.
    Keep,
    /// What was under review the last time, for a session that is ready.
    Kept(SessionId, Vec<Kept>),
}

impl Input {
    /// The run of an agent it is about.
    pub(super) fn connection(&self) -> Option<ConnectionId> {
        match self {
            Input::Bytes(id, _) | Input::Happened(id, _) => Some(*id),
            Input::Event(_)
            | Input::Buffer(_)
            | Input::Found(_)
            | Input::Closed(..)
            | Input::Rejected(_)
            | Input::Keep
            | Input::Kept(..) => None,
        }
    }
}
