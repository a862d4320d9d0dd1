//! What agents changed in a file and nobody has looked at yet.
//!
//! There are two texts: the one there was before (`base`), and the one there is (`now`). Where they
//! differ is a hunk, and there is a hunk wherever they differ. What the user types elsewhere is
//! typed into both, so that it never looks like an agent's. A hunk is accepted by giving its lines
//! to `base`, and rejected by taking them back from it.
//!
//! Knows lines, and a number for whoever wrote them. Must not know where the texts come from, what
//! the numbers stand for, or how a hunk is shown.

mod choose;
mod find;
mod hunks;
mod moments;
pub mod news;
mod place;
pub mod shown;

use std::ops::Range;

use self::moments::{Moment, Moments};
use super::mirror::{Mirror, OutOfStep};

/// Who changes a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user, by whatever means: typing, undoing, a formatter.
    User,
    /// An agent, by its number.
    Agent(u64),
    /// Whoever makes the edits of [`Review::rejection`].
    Review,
}

/// Lines of the base that an agent made others of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Stays the same while it is moved and edited.
    pub id: u64,
    /// Which lines of the base.
    pub base: Range<usize>,
    /// What they became.
    pub now: Range<usize>,
    /// Whose it is.
    pub who: u64,
    /// Whether the user has changed something in it.
    pub edited: bool,
    /// Another one whenever it is to be shown anew, for whatever reason but being moved.
    pub revision: u64,
}

/// Some of the hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Each.
    All,
    /// By their ids.
    Ids(Vec<u64>),
    /// Those of one agent.
    Of(u64),
    /// Those in some rows of `now`. Of a hunk that is there in part, that part.
    Rows(Range<usize>),
}

/// A file under review.
///
/// Outside of its hunks both texts have the same lines. Hunks are in order, do not touch each other,
/// and have not the same lines on both sides.
#[derive(Debug, Clone)]
pub struct Review {
    base: Mirror,
    now: Mirror,
    hunks: Vec<Hunk>,
    moments: Moments,
    /// The ids of hunks of which something has been rejected: the next edit of the same rejection
    /// must still find them where they were.
    loose: Vec<u64>,
    /// How many ids and revisions have been given away.
    ids: u64,
    revisions: u64,
}

impl Review {
    /// Begins with what an agent made of `base`.
    pub fn new(base: Mirror, now: Mirror, who: u64) -> Review {
        let before = Moment { base: base.clone(), now: base.clone(), hunks: Vec::new() };
        let moments = Moments::new(before, Author::Agent(who));
        let mut review = Review {
            base,
            now,
            hunks: Vec::new(),
            moments,
            loose: Vec::new(),
            ids: 0,
            revisions: 0,
        };
        let found = review.differing(0..review.base.len(), 0..review.now.len());
        let hunk = |(base, now)| review_hunk(base, now, who);
        let mut hunks: Vec<Hunk> = found.into_iter().map(hunk).collect();
        hunks.iter_mut().for_each(|it| review.name(it));
        review.hunks = hunks;
        review
    }

    /// Goes on with `base` and what it had become back `then`. What has happened to the file since
    /// is the user's doing.
    pub fn restore(base: Mirror, then: Mirror, now: Mirror, who: u64) -> Review {
        let mut review = Review::new(base, then, who);
        review.replace(now, Author::User);
        review
    }

    /// The hunks, in order.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The text without what is under review.
    pub fn base(&self) -> &Mirror {
        &self.base
    }

    /// The text there is.
    pub fn now(&self) -> &Mirror {
        &self.now
    }

    /// Whether there is nothing to review, and nothing that an undo or a redo could bring back.
    pub fn is_over(&self) -> bool {
        self.hunks.is_empty() && self.moments.is_empty()
    }

    /// Takes a change of the text, as [`Mirror::splice`] does.
    ///
    /// # Errors
    /// There are no such rows. Nothing has changed; [`Review::replace`] helps.
    #[expect(clippy::too_many_arguments, reason = "those of a mirror, and who it was")]
    pub fn splice(
        &mut self,
        version: u64,
        rows: Range<usize>,
        lines: &[&str],
        by: Author,
    ) -> Result<(), OutOfStep> {
        if rows.start > rows.end || rows.end > self.now.len().max(1) {
            return Err(OutOfStep);
        }
        self.remember(by);
        if self.now.is_empty() {
            // The line that the editor shows counts for the editor.
            let mut all = vec![""];
            all.splice(rows, lines.iter().copied());
            self.take(0..0, &all, by);
        } else {
            self.take(rows, lines, by);
        }
        self.arrive(version, by);
        Ok(())
    }

    /// Takes a whole new text: the file was read again, or written while nobody had it open.
    pub fn replace(&mut self, now: Mirror, by: Author) {
        self.remember(by);
        let lines: Vec<&str> = now.lines().collect();
        for (rows, new) in self.least(0..self.now.len(), &lines).into_iter().rev() {
            self.take(rows, lines.get(new).unwrap_or_default(), by);
        }
        self.arrive(now.version(), by);
    }

    /// Takes a version that has the same lines.
    pub fn reach(&mut self, version: u64) {
        self.now.reach(version);
    }

    /// Says that the last write, or the last rejection, is complete: the next one can be undone by
    /// itself, even if it is by the same author. Says whether hunks are others for that.
    pub fn written(&mut self) -> bool {
        let loose = !self.loose.is_empty();
        self.tidy();
        self.moments.part();
        loose
    }

    fn remember(&mut self, by: Author) {
        if by != Author::Review {
            self.tidy();
        }
        let Review { base, now, hunks, .. } = self;
        let moment = || Moment { base: base.clone(), now: now.clone(), hunks: hunks.clone() };
        self.moments.before(by, moment);
    }

    /// Whoever undoes or redoes what an agent wrote comes back to a text that there was: then
    /// everything else is as it was, too.
    fn arrive(&mut self, version: u64, by: Author) {
        self.now.reach(version);
        if by != Author::User {
            return;
        }
        let Some(Moment { base, mut now, mut hunks }) = self.moments.recall(&self.now) else {
            return;
        };
        now.reach(version);
        for hunk in &mut hunks {
            // Whoever shows it may have seen it change.
            if !self.hunks.iter().any(|it| (it.id, it.revision) == (hunk.id, hunk.revision)) {
                hunk.revision = self.revision();
            }
        }
        (self.base, self.now, self.hunks) = (base, now, hunks);
    }

    /// Gives a hunk an id and a revision.
    fn name(&mut self, hunk: &mut Hunk) {
        self.ids += 1;
        hunk.id = self.ids;
        hunk.revision = self.revision();
    }

    fn revision(&mut self) -> u64 {
        self.revisions += 1;
        self.revisions
    }
}

/// A hunk that has no id yet.
fn review_hunk(base: Range<usize>, now: Range<usize>, who: u64) -> Hunk {
    Hunk { id: 0, base, now, who, edited: false, revision: 0 }
}

/// Replaces lines of a list of lines, which has none when it has none.
fn put(text: &mut Mirror, rows: Range<usize>, lines: &[&str]) {
    let rows = if text.is_empty() { 0..1 } else { rows };
    let version = text.version();
    if text.splice(version, rows, lines.iter().copied()).is_err() {
        debug_assert!(false, "rows outside of the text");
    }
}
