//! What one connection remembers of what was said on it, beside the open requests.

use crate::session::ids::RemoteId;

/// What one connection remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The session the agent spoke of last: its name comes with every chunk and is kept once.
    last: Option<RemoteId>,
    /// The session made or prompted last. Some dialects leave the name out of their requests;
    /// they know of one session only, and this is it.
    pub(super) current: Option<RemoteId>,
    /// The agent said of itself, not of each session, that it takes words into a running turn.
    pub(super) steering: bool,
}

impl Memory {
    /// The agent's name for a session, shared with the last one if it is the same.
    pub(super) fn intern(&mut self, name: &str) -> RemoteId {
        match &self.last {
            Some(last) if &**last == name => last.clone(),
            _ => {
                let name: RemoteId = name.into();
                self.last = Some(name.clone());
                name
            }
        }
    }
}
