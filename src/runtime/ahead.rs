//! Writes of agents that are put together with buffers before the editor asks for it: when it does,
//! what to do is there, or on its way.
//!
//! Knows what the copies of buffers tell. Must not know whether it is of use: it is good for one
//! state of a buffer, and the editor knows whether that is still the present one.

use super::buffers::{BufferId, Buffers, Ending};
use super::merging::{Of, Wanted};
use super::outbox::{Item, Outbox};
use crate::session::effect::Tell;
use crate::session::ids::{AskId, Tag};
use crate::session::live::Live;
use crate::session::state::State;

/// Tags from here on are ours; the editor counts from 1.
const FIRST: Tag = 1 << 52;

/// A merge that was begun unasked.
#[derive(Debug)]
pub struct Ahead {
    /// The write it is for.
    pub ask: AskId,
    /// Its name.
    pub tag: Tag,
    /// The buffer it is for.
    pub buffer: BufferId,
    /// And the state of that, without the text.
    pub live: Live,
}

/// What to put together for a write that the editor is about to be asked for, where the text of its
/// buffer is known.
pub(super) fn of(ask: AskId, state: &State, buffers: &Buffers) -> Option<(Ahead, Wanted)> {
    let write = state.write_of(ask)?;
    let (buffer, known, copy) = buffers.copy_of(&write.path)?;
    let ending = match known.format.ending {
        Ending::Lf => "unix",
        Ending::CrLf => "dos",
        Ending::Cr => "mac",
    };
    let live = Live {
        ending: ending.to_owned(),
        final_eol: known.format.final_eol,
        bom: known.format.bom,
        modified: known.modified,
        tick: copy.version(),
        ..Live::default()
    };
    let tag = FIRST + ask.0;
    let wanted = Wanted::new(tag, Of::Write(ask, known.name.clone()), live.clone(), Some(buffer));
    Some((Ahead { ask, tag, buffer, live }, wanted))
}

/// Asks the editor, which gets to know that the merge is under way. That is to be begun afterwards:
/// what comes of it must not arrive first.
pub(super) fn tell(ahead: Ahead, asked: Tell, outbox: &Outbox) {
    outbox.push([Item::Ahead(ahead), Item::Tell(asked)]);
}
