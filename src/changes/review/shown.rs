//! What there is to see of a hunk.

use std::ops::Range;

use super::{Hunk, Review};
use crate::changes::pairs::{Became, Budget, became};
use crate::changes::tokens::common_start;

/// What there is to see of a hunk. Columns are bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The lines that are gone.
    pub removed: Vec<Removed>,
    /// What is new in lines that took the place of others. A row of the hunk that has none is new
    /// as a whole. Where something was only taken out of a line, there is an empty one.
    pub words: Vec<Word>,
}

/// A line that is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// What it was.
    pub text: String,
    /// Which parts of it are not in the line that took its place. Empty when no line did.
    pub spans: Vec<Range<usize>>,
}

/// A part of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The row of `now`.
    pub row: usize,
    /// Which part.
    pub columns: Range<usize>,
}

impl Review {
    /// What there is to see of a hunk.
    pub fn shown(&self, hunk: &Hunk) -> Shown {
        let old: Vec<&str> = self.base.rows(hunk.base.clone()).collect();
        let new: Vec<&str> = self.now.rows(hunk.now.clone()).collect();
        let removed = old.iter().map(|it| Removed { text: (*it).to_owned(), spans: Vec::new() });
        let mut shown = Shown { removed: removed.collect(), words: Vec::new() };
        let pairs = became(&old, &new, &mut Budget::default()).unwrap_or_default();
        for Became { old: old_row, new: new_row, removed, mut added } in pairs {
            if added.is_empty()
                && let (Some(one), Some(other)) = (old.get(old_row), new.get(new_row))
            {
                let at = common_start(one, other);
                added.push(at..at);
            }
            if let Some(it) = shown.removed.get_mut(old_row) {
                it.spans = removed;
            }
            let row = hunk.now.start + new_row;
            shown.words.extend(added.into_iter().map(|columns| Word { row, columns }));
        }
        shown
    }
}
