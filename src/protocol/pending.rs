//! Our open requests, as data: what was asked, and about what. Never closures, so that the state
//! of a connection prints and compares.

use std::collections::BTreeMap;

use crate::session::event::Ask;
use crate::session::ids::{RemoteId, SessionId, Tag, TurnId};

/// What an answer will be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expected {
    /// `initialize`
    Initialize {
        /// In the old form.
        old_form: bool,
    },
    /// `session/new`, `session/load`, `session/resume`, `session/fork`
    Session {
        /// Which session asked.
        session: SessionId,
        /// Its name, where the request gave it.
        named: Option<RemoteId>,
    },
    /// `session/prompt`
    Prompt(SessionId, TurnId),
    /// `_session/steering`
    Steer(SessionId),
    /// `authenticate`
    Authenticate(SessionId),
    /// Something set or asked.
    Ask {
        /// Which session asked.
        session: SessionId,
        /// What.
        ask: Ask,
        /// The caller's tag.
        tag: Tag,
    },
    /// Something whose answer changes nothing; its method, for the log.
    Nothing(&'static str),
}

/// The requests we have sent and not had answered.
#[derive(Debug, Default)]
pub(super) struct Pending {
    last_id: u64,
    open: BTreeMap<u64, Expected>,
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

    /// The number of the `authenticate` that is open, the last one if there are several.
    pub(super) fn login(&self) -> Option<u64> {
        let mut open = self.open.iter().rev();
        open.find_map(|(id, expected)| matches!(expected, Expected::Authenticate(_)).then_some(*id))
    }
}
