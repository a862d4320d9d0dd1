//! What comes to the core from the world: the one bounded channel that everything outside Neovim
//! goes through, so that a flood waits where it comes from.

use crate::session::event::{Event, Happened};
use crate::session::ids::ConnectionId;

/// Something from the world.
#[derive(Debug)]
pub enum Input {
    /// Bytes from an agent.
    Bytes(ConnectionId, Vec<u8>),
    /// Something else happened to an agent.
    Happened(ConnectionId, Happened),
    /// Something that is no agent's doing: time, the disk, a command.
    Event(Event),
}

impl Input {
    /// The run of an agent it is about.
    pub(super) fn connection(&self) -> Option<ConnectionId> {
        match self {
            Input::Bytes(id, _) | Input::Happened(id, _) => Some(*id),
            Input::Event(_) => None,
        }
    }
}
