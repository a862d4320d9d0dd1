//! One file under review.

use std::sync::Arc;

use super::Lost;
use super::told::{Change, HunkText, Hunks, Kind, ShownHunk};
use crate::changes::format::{Ending, Format, split};
use crate::changes::mirror::Mirror;
use crate::changes::review::news::{News, Seen};
use crate::changes::review::{Author, Hunk, Review};
use crate::runtime::buffers::{BufferId, Known};
use crate::session::ids::SessionId;

/// One file under review.
#[derive(Debug)]
pub(super) struct File {
    pub(super) review: Review,
    pub(super) kind: Kind,
    /// As the editor calls it, or with links resolved.
    pub(super) name: String,
    /// The buffer that has it.
    pub(super) buffer: Option<BufferId>,
    /// How it was written before.
    pub(super) was: Format,
    /// How it is written.
    pub(super) format: Format,
    /// What it was before it was deleted.
    pub(super) lost: Option<Lost>,
    /// The review of its buffer before that, if there was something in it.
    left: Option<Box<Review>>,
    /// Whether the editor is to be told all of it.
    pub(super) full: bool,
    /// What the editor was told.
    told: Seen,
    told_kind: Kind,
}

impl File {
    pub(super) fn new(review: Review, kind: Kind, was: Format) -> File {
        let (name, told) = (String::new(), Seen::default());
        File {
            review,
            kind,
            name,
            buffer: None,
            was,
            format: was,
            lost: None,
            left: None,
            full: true,
            told,
            told_kind: kind,
        }
    }

    pub(super) fn opened(mut self, buffer: BufferId, name: &str) -> File {
        (self.buffer, self.name) = (Some(buffer), name.to_owned());
        self
    }

    /// An agent has deleted it under its buffer, which has nothing more to stand for.
    pub(super) fn delete(&mut self, who: u64, lost: Option<Lost>) {
        self.left = Some(Box::new(self.review.clone()));
        self.review.replace(Mirror::default(), Author::Agent(who));
        self.review.written();
        (self.kind, self.lost, self.format) = (Kind::Deleted, lost, self.was);
        (self.buffer, self.full) = (None, true);
    }

    /// It was deleted and is there again, in a buffer with this text: so is what was to be reviewed
    /// there. Says whether something was.
    pub(super) fn restore(&mut self, buffer: BufferId, known: &Known, now: &Mirror) -> bool {
        let Some(left) = self.left.take().filter(|_| !self.exists()) else { return false };
        self.review = *left;
        if !now.lines().eq(self.review.now().lines()) {
            self.review.replace(now.clone(), Author::User);
        }
        self.review.reach(now.version());
        (self.kind, self.lost, self.format) = (Kind::Changed, None, known.format);
        (self.buffer, self.full, self.name) = (Some(buffer), true, known.name.clone());
        true
    }

    /// Lines as the file would have them.
    pub(super) fn text(&self, lines: &Mirror, format: Format) -> String {
        lines.slice(1, None, format)
    }

    /// Whether it should be on the disk.
    pub(super) fn exists(&self) -> bool {
        self.kind != Kind::Deleted
    }

    /// What became of it. What an agent made is the user's as soon as there is a line of theirs.
    pub(super) fn kind(&self) -> Kind {
        match self.kind {
            Kind::Made if !self.review.base().is_empty() => Kind::Changed,
            kind => kind,
        }
    }

    /// What it was, if it was there.
    pub(super) fn before(&self) -> Option<(Mirror, Format)> {
        (self.kind() != Kind::Made).then(|| (self.review.base().clone(), self.was))
    }

    /// All of it is accepted: whatever comes next is compared with this. Its text, if it is there.
    pub(super) fn settle(&mut self) -> Option<Arc<str>> {
        let text = self.exists().then(|| self.text(self.review.now(), self.format).into());
        self.kind = if text.is_some() { Kind::Changed } else { Kind::Made };
        self.was = self.format;
        text
    }

    /// What the editor has not been told yet.
    pub(super) fn tell(&mut self) -> Option<Hunks> {
        let mut full = std::mem::take(&mut self.full);
        if full {
            self.told = Seen::default();
        }
        let News { mut set, mut gone } = self.review.news(&mut self.told);
        let kind = self.kind();
        let known = std::mem::replace(&mut self.told_kind, kind) == kind;
        if !full && known && set.is_empty() && gone.is_empty() {
            return None;
        }
        if !full && self.buffer.is_none() {
            // Where there are no marks, hunks that moved would be looked for where they were.
            (full, set, gone) = (true, self.review.hunks().to_vec(), Vec::new());
        }
        let set: Vec<ShownHunk> = set.iter().map(|it| self.shown(it)).collect();
        let (path, buffer, count) = (self.name.clone(), self.buffer, self.review.hunks().len());
        Some(Hunks { path, buffer, full, kind, set, gone, count })
    }

    fn shown(&self, hunk: &Hunk) -> ShownHunk {
        let shown = self.review.shown(hunk);
        ShownHunk {
            id: hunk.id,
            session: SessionId(hunk.who),
            edited: hunk.edited,
            rows: hunk.now.clone(),
            tick: self.review.now().version(),
            removed: shown.removed,
            words: shown.words,
        }
    }

    /// What programs are told of it; nothing when there is nothing to review.
    pub(super) fn change(&self) -> Option<Change> {
        let hunks: Vec<HunkText> =
            self.review.hunks().iter().map(|it| self.hunk_text(it)).collect();
        let session = hunks.last()?.session;
        let (path, kind) = (self.name.clone(), self.kind());
        Some(Change { path, kind, session, hunks })
    }

    fn hunk_text(&self, hunk: &Hunk) -> HunkText {
        let owned = |lines: &Mirror, rows| lines.rows(rows).map(str::to_owned).collect();
        HunkText {
            id: hunk.id,
            start: hunk.now.start + 1,
            old: owned(self.review.base(), hunk.base.clone()),
            new: owned(self.review.now(), hunk.now.clone()),
            edited: hunk.edited,
            session: SessionId(hunk.who),
        }
    }
}

/// The lines of a file as the editor would have them, and how they are written.
pub(super) fn lines_of(text: &str) -> (Mirror, Format) {
    let dos = text.contains("\r\n").then(|| split(text, Ending::CrLf)).filter(|it| it.exact);
    let split = dos.unwrap_or_else(|| split(text, Ending::Lf));
    (Mirror::new(0, split.lines.iter().map(AsRef::as_ref)), split.format)
}
