//! What files have been since a turn began without anything to review in them: what the user has
//! saved or accepted, and what buffers had when they were read.
//!
//! Files are compared with what they were when a turn began, and who looks may be late: what is
//! newer than that beginning is nearer to the truth. Must not know of hunks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::changes::mirror::Mirror;
use crate::session::ids::SessionId;

/// The text of a file, none if there is no file, or what became of it.
type Text = Option<Arc<str>>;

/// What files have been, by their names with links resolved.
#[derive(Debug, Default)]
pub(super) struct Settled {
    texts: BTreeMap<String, (Instant, Text)>,
    read: BTreeMap<String, (Instant, Mirror)>,
    /// When something of ours last changed a file, or found it changed by the user.
    touched: BTreeMap<String, Instant>,
    /// When the last two turns of each session began.
    turns: BTreeMap<SessionId, (Instant, Instant)>,
}

impl Settled {
    /// A file is as the user wants it.
    pub(super) fn settle(&mut self, path: &str, text: Text) {
        self.touch(path);
        self.texts.insert(path.to_owned(), (Instant::now(), text));
    }

    /// A file is another since now, and not by an agent.
    pub(super) fn touch(&mut self, path: &str) {
        self.touched.insert(path.to_owned(), Instant::now());
    }

    /// Whether somebody who looked at a file back then could not know what it is.
    pub(super) fn is_stale(&self, path: &str, seen: Option<Instant>) -> bool {
        self.touched.get(path).is_some_and(|it| seen.is_none_or(|seen| *it >= seen))
    }

    /// A buffer has read its file.
    pub(super) fn read(&mut self, path: &str, mirror: &Mirror) {
        self.read.insert(path.to_owned(), (Instant::now(), mirror.clone()));
    }

    /// What a file was before an agent changed it, which at some time was `before`.
    pub(super) fn before(&self, path: &str, since: Instant, before: Text) -> Text {
        self.texts.get(path).filter(|it| it.0 >= since).map_or(before, |it| it.1.clone())
    }

    /// The same for a file that was opened when it had been changed already, with what it was then.
    pub(super) fn opened(
        &self,
        path: &str,
        since: Instant,
        before: Text,
    ) -> Option<(Text, &Mirror)> {
        let (at, mirror) = self.read.get(path).filter(|it| it.0 >= since)?;
        let settled = self.texts.get(path).filter(|it| it.0 >= since && it.0 <= *at);
        Some((settled.map_or(before, |it| it.1.clone()), mirror))
    }

    /// A turn begins. What came of the one before it may not have been looked at yet.
    pub(super) fn turn_begins(&mut self, session: SessionId) {
        let now = Instant::now();
        let turns = self.turns.entry(session).or_insert((now, now));
        *turns = (turns.1, now);
        if let Some(oldest) = self.turns.values().map(|it| it.0).min() {
            self.texts.retain(|_, it| it.0 >= oldest);
            self.read.retain(|_, it| it.0 >= oldest);
            self.touched.retain(|_, it| *it >= oldest);
        }
    }

    /// A session is over.
    pub(super) fn end(&mut self, session: SessionId) {
        self.turns.remove(&session);
    }
}
