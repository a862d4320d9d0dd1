//! What is rendered where: the buffers that show something of a session, brought up to date.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::outbox::{Item, Outbox};
use crate::session::ids::SessionId;
use crate::session::state::{Session, State};
use crate::view::detail::{Detail, Tab, Target};
use crate::view::guard::harmless;
use crate::view::model::{Look, Patch, SurfaceId};
use crate::view::screen::Screen;

/// Every surface there is.
#[derive(Debug)]
pub(super) struct Surfaces {
    outbox: Arc<Outbox>,
    transcripts: BTreeMap<SurfaceId, (SessionId, Screen)>,
    details: BTreeMap<SurfaceId, Shown>,
    look: Look,
}

/// A tool call that is shown on a surface, or on two.
#[derive(Debug)]
struct Shown {
    session: SessionId,
    right: Option<SurfaceId>,
    detail: Detail,
}

/// What of a session is to be shown, and how.
#[derive(Debug)]
pub struct DetailWish {
    /// Of which session.
    pub session: SessionId,
    /// What.
    pub target: Target,
    /// Which side of it.
    pub tab: Option<Tab>,
    /// For the new text, where changes are to be shown side by side.
    pub right: Option<SurfaceId>,
}

impl Surfaces {
    /// None yet; what they show goes to the outbox.
    pub(super) fn new(outbox: Arc<Outbox>) -> Surfaces {
        let (transcripts, details) = (BTreeMap::new(), BTreeMap::new());
        Surfaces { outbox, transcripts, details, look: Look::default() }
    }

    /// Shows a session's transcript on a surface, from the beginning.
    pub(super) fn show(&mut self, session: &Session, surface: SurfaceId) {
        let mut screen = Screen::new(self.look);
        send(surface, &self.outbox, |patches| screen.render_all(session, patches));
        self.transcripts.insert(surface, (session.id, screen));
    }

    /// The surface is gone.
    pub(super) fn hide(&mut self, surface: SurfaceId) {
        self.transcripts.remove(&surface);
        self.details.remove(&surface);
    }

    /// The session is gone; what is on its surfaces stays as it is.
    pub(super) fn close(&mut self, session: SessionId) {
        self.transcripts.retain(|_, (id, _)| *id != session);
        self.details.retain(|_, shown| shown.session != session);
    }

    /// Renders everything another way.
    pub(super) fn set_look(&mut self, look: Look, state: &State) {
        if self.look == look {
            return;
        }
        self.look = look;
        for (surface, (id, screen)) in &mut self.transcripts {
            if let Some(session) = state.session(*id) {
                send(*surface, &self.outbox, |patches| screen.set_look(look, session, patches));
            }
        }
        for (surface, shown) in &mut self.details {
            if let Some(session) = state.session(shown.session) {
                shown.detail.set_look(look);
                shown.update(*surface, session, &self.outbox);
            }
        }
    }

    /// Opens or closes one entry, or all; without a wish, the other way.
    pub(super) fn toggle(
        &mut self,
        surface: SurfaceId,
        (entry, open): (Option<usize>, Option<bool>),
        state: &State,
    ) {
        let Some((id, screen)) = self.transcripts.get_mut(&surface) else { return };
        let Some(session) = state.session(*id) else { return };
        send(surface, &self.outbox, |patches| match entry {
            Some(entry) => screen.toggle(session, (entry, open), patches),
            None => screen.toggle_all(session, open.unwrap_or(true), patches),
        });
    }

    /// Brings what shows these entries up to date.
    pub(super) fn update(&mut self, session: &Session, entries: &BTreeSet<usize>) {
        for (surface, shown) in &mut self.details {
            if shown.session == session.id
                && shown.detail.entry(session).is_none_or(|it| entries.contains(&it))
            {
                shown.update(*surface, session, &self.outbox);
            }
        }
        for (surface, (id, screen)) in &mut self.transcripts {
            if *id == session.id {
                send(*surface, &self.outbox, |patches| {
                    screen.update_all(session, entries.iter().copied(), patches);
                });
            }
        }
    }

    /// Shows a tool call on a surface, from the beginning.
    pub(super) fn detail(&mut self, surface: SurfaceId, wish: DetailWish, state: &State) {
        let Some(session) = state.session(wish.session) else { return };
        let DetailWish { target, tab, right, .. } = wish;
        let detail = Detail::new(target, tab, right.is_some(), self.look);
        let mut shown = Shown { session: session.id, right, detail };
        shown.update(surface, session, &self.outbox);
        self.details.insert(surface, shown);
    }

    /// The sessions something of which is shown.
    pub(super) fn sessions(&self) -> impl Iterator<Item = SessionId> {
        let details = self.details.values().map(|it| it.session);
        self.transcripts.values().map(|(id, _)| *id).chain(details)
    }
}

impl Shown {
    fn update(&mut self, surface: SurfaceId, session: &Session, outbox: &Outbox) {
        let update = self.detail.update(session);
        send(surface, outbox, |patches| patches.extend(update.left));
        if let Some(right) = self.right {
            send(right, outbox, |patches| patches.extend(update.right));
        }
        if let Some(header) = update.header {
            outbox.push([Item::Detail(surface, header)]);
        }
    }
}

fn send(surface: SurfaceId, outbox: &Outbox, render: impl FnOnce(&mut Vec<Patch>)) {
    let mut patches = Vec::new();
    render(&mut patches);
    for line in patches.iter_mut().flat_map(|it| &mut it.lines) {
        if let Cow::Owned(shown) = harmless(line) {
            *line = shown;
        }
    }
    if !patches.is_empty() {
        outbox.push(patches.into_iter().map(|patch| Item::Patch(surface, patch)));
    }
}
