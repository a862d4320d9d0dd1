//! What is rendered where: the buffers that show something of a session, brought up to date.

use std::collections::{BTreeMap, BTreeSet};

use super::outbox::{Item, Outbox};
use crate::session::ids::SessionId;
use crate::session::state::{Session, State};
use crate::view::model::{Look, Patch, SurfaceId};
use crate::view::screen::Screen;

/// Every surface there is.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    transcripts: BTreeMap<SurfaceId, (SessionId, Screen)>,
    look: Look,
}

impl Surfaces {
    /// Shows a session's transcript on a surface, from the beginning.
    pub(super) fn show(&mut self, session: &Session, surface: SurfaceId, outbox: &Outbox) {
        let mut screen = Screen::new(self.look);
        send(surface, outbox, |patches| screen.render_all(session, patches));
        self.transcripts.insert(surface, (session.id, screen));
    }

    /// The surface is gone.
    pub(super) fn hide(&mut self, surface: SurfaceId) {
        self.transcripts.remove(&surface);
    }

    /// The session is gone; what is on its surfaces stays as it is.
    pub(super) fn close(&mut self, session: SessionId) {
        self.transcripts.retain(|_, (id, _)| *id != session);
    }

    /// Renders everything another way.
    pub(super) fn set_look(&mut self, look: Look, state: &State, outbox: &Outbox) {
        if self.look == look {
            return;
        }
        self.look = look;
        for (surface, (id, screen)) in &mut self.transcripts {
            if let Some(session) = state.session(*id) {
                send(*surface, outbox, |patches| screen.set_look(look, session, patches));
            }
        }
    }

    /// Opens or closes one entry, or all; without a wish, the other way.
    pub(super) fn toggle(
        &mut self,
        surface: SurfaceId,
        (entry, open): (Option<usize>, Option<bool>),
        state: &State,
        outbox: &Outbox,
    ) {
        let Some((id, screen)) = self.transcripts.get_mut(&surface) else { return };
        let Some(session) = state.session(*id) else { return };
        send(surface, outbox, |patches| match entry {
            Some(entry) => screen.toggle(session, (entry, open), patches),
            None => screen.toggle_all(session, open.unwrap_or(true), patches),
        });
    }

    /// Brings what shows these entries up to date.
    pub(super) fn update(&mut self, session: &Session, entries: &BTreeSet<usize>, outbox: &Outbox) {
        for (surface, (id, screen)) in &mut self.transcripts {
            if *id == session.id {
                send(*surface, outbox, |patches| {
                    for entry in entries {
                        screen.update(session, *entry, patches);
                    }
                });
            }
        }
    }

    /// The sessions something of which is shown.
    pub(super) fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.transcripts.values().map(|(id, _)| *id)
    }
}

fn send(surface: SurfaceId, outbox: &Outbox, render: impl FnOnce(&mut Vec<Patch>)) {
    let mut patches = Vec::new();
    render(&mut patches);
    if !patches.is_empty() {
        outbox.push(patches.into_iter().map(|patch| Item::Patch(surface, patch)));
    }
}
