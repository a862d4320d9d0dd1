//! What a change to a file looks like, as data. Found by `changes`, kept with the tool call, shown
//! by `view`.

use std::ops::Range;
use std::sync::Arc;

/// The difference between two texts of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Which file.
    pub path: String,
    /// The stretches that differ, in order, each with some lines around it.
    pub hunks: Vec<Hunk>,
    /// How many lines were added.
    pub added: usize,
    /// How many lines were removed.
    pub removed: usize,
    /// How many lines of the hunks are left out at the end, because there are too many.
    pub left_out: usize,
    /// In what the lines end, before and after, where that changes for all of them.
    pub endings: Option<(Ending, Ending)>,
}

/// In what a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
}

/// One stretch that differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The first line of it in the old text, from 1, and how many there are.
    pub old: (usize, usize),
    /// The first line of it in the new text, from 1, and how many there are.
    pub new: (usize, usize),
    /// Its lines. A replaced stretch has what was removed first.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What becomes of it.
    pub change: Change,
    /// Its number in the old text, from 1; none if it is not there.
    pub old: Option<usize>,
    /// Its number in the new text, from 1; none if it is not there.
    pub new: Option<usize>,
    /// The line, without its ending.
    pub text: Arc<str>,
    /// Which bytes of it differ from the line it replaces or is replaced by.
    pub words: Vec<Range<usize>>,
    /// The line is the last one and has no ending, other than the last one of the other text.
    pub unended: bool,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Change {
    Kept,
    Removed,
    Added,
}
