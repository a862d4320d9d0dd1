//! Our open requests, as data: what was asked, and about what. Never closures, so that the state
//! of a connection prints and compares.

use std::collections::HashMap;

use crate::session::ids::{SessionId, TurnId};

/// What an answer will be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// `initialize`
    Initialize,
    /// `session/new`
    NewSession(SessionId),
    /// `session/prompt`
    Prompt(SessionId, TurnId),
}

/// The requests we have sent and not had answered.
#[derive(Debug, Default)]
pub(super) struct Pending {
    last_id: u64,
    open: HashMap<u64, Expected>,
}

impl Pending {
    /// Gives the next request its number.
    pub(super) fn open(&mut self, expected: Expected) -> u64 {
        self.last_id += 1;
        self.open.insert(self.last_id, expected);
        self.last_id
    }

    /// What the answer with this number is about; none for an answer nobody asked for, or the
    /// second answer to a request.
    pub(super) fn close(&mut self, id: u64) -> Option<Expected> {
        self.open.remove(&id)
    }
}
