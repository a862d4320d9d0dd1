//! What follows from an event.

use super::effect::{Effect, Tell};
use super::ids::SessionId;

/// What follows from an event.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What has to be done, in order.
    pub effects: Vec<Effect>,
    /// Entries that are new or have changed: a session and an index in its `entries`.
    pub dirty: Vec<(SessionId, usize)>,
}

impl Outcome {
    pub(super) fn tell(&mut self, tell: Tell) {
        self.effects.push(Effect::Tell(tell));
    }

    /// Streaming marks the same entry again and again; once is enough.
    pub(super) fn touch(&mut self, session: SessionId, entry: usize) {
        if self.dirty.last() != Some(&(session, entry)) {
            self.dirty.push((session, entry));
        }
    }
}
