//! What the editor is told of files under review.

use std::ops::Range;

use crate::changes::review::shown::{Removed, Word};
use crate::runtime::buffers::BufferId;
use crate::session::ids::SessionId;

/// What became of a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It has another text.
    Changed,
    /// It was not there before.
    Made,
    /// It is not there any more.
    Deleted,
}

impl Kind {
    pub(super) fn of(before: bool, after: bool) -> Kind {
        match (before, after) {
            (false, _) => Kind::Made,
            (true, false) => Kind::Deleted,
            (true, true) => Kind::Changed,
        }
    }

    /// What it is when the file is changed once more.
    pub(super) fn then(self, exists: bool) -> Kind {
        Kind::of(self != Kind::Made, exists)
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Changed => "changed",
            Kind::Made => "made",
            Kind::Deleted => "deleted",
        }
    }
}

/// What is to be shown of a file.
#[derive(Debug)]
pub struct Hunks {
    /// Which file.
    pub path: String,
    /// The buffer that has it.
    pub buffer: Option<BufferId>,
    /// Whether there is nothing but this: what was told before is void.
    pub full: bool,
    /// What became of it as a whole.
    pub kind: Kind,
    /// Hunks that are new or to be shown anew.
    pub set: Vec<ShownHunk>,
    /// Hunks that are no more.
    pub gone: Vec<u64>,
    /// How many there are.
    pub count: usize,
}

/// A hunk, to be shown in a buffer.
#[derive(Debug)]
pub struct ShownHunk {
    /// Its name.
    pub id: u64,
    /// Whose.
    pub session: SessionId,
    /// Whether the user has changed something in it.
    pub edited: bool,
    /// Where it is.
    pub rows: Range<usize>,
    /// In which state of the buffer.
    pub tick: u64,
    /// The lines that are gone.
    pub removed: Vec<Removed>,
    /// What is new in lines that took the place of others.
    pub words: Vec<Word>,
}

/// A file with something to review, for programs.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which file.
    pub path: String,
    /// What became of it as a whole.
    pub kind: Kind,
    /// Who changed it last.
    pub session: SessionId,
    /// What is to be reviewed.
    pub hunks: Vec<HunkText>,
}

/// A hunk, for programs.
#[derive(Debug, Clone)]
pub struct HunkText {
    /// Its name.
    pub id: u64,
    /// Its first line, from 1.
    pub start: usize,
    /// What was there.
    pub old: Vec<String>,
    /// What is there.
    pub new: Vec<String>,
    /// Whether the user has changed something in it.
    pub edited: bool,
    /// Whose.
    pub session: SessionId,
}
