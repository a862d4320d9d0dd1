//! What was, for whoever undoes.
//!
//! An undo comes as any other change by the user, in one or more splices. Only the text that it ends
//! in tells it apart: one that there was right before or after an agent wrote.

use std::collections::VecDeque;

use super::{Author, Hunk};
use crate::changes::mirror::Mirror;

/// How many moments are remembered.
const MOST: usize = 128;
/// How many of those in which one author makes one change after the other: each may be a write of
/// its own, unless there are very many.
const MOST_IN_A_ROW: usize = 16;

/// A review at one time.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) base: Mirror,
    pub(super) now: Mirror,
    pub(super) hunks: Vec<Hunk>,
}

/// The moments before and after agents wrote.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    /// The oldest first.
    kept: VecDeque<Moment>,
    /// Who made the last change.
    last: Author,
    /// How many they have made in a row.
    count: usize,
}

impl Moments {
    pub(super) fn new(first: Moment, last: Author) -> Moments {
        Moments { kept: VecDeque::from([first]), last, count: 0 }
    }

    /// Says who makes the next change to what there is now.
    pub(super) fn before(&mut self, by: Author, moment: impl FnOnce() -> Moment) {
        let goes_on = by == self.last && self.count > 0;
        let keep = match goes_on {
            true => by != Author::User && self.count < MOST_IN_A_ROW,
            false => by != Author::User || self.last != Author::User,
        };
        self.count = if goes_on { self.count + 1 } else { 1 };
        self.last = by;
        if keep {
            if self.kept.len() == MOST {
                self.kept.pop_front();
            }
            self.kept.push_back(moment());
        }
    }

    /// The next change is not part of the last one.
    pub(super) fn part(&mut self) {
        self.count = 0;
    }

    /// The last moment that had this text.
    pub(super) fn recall(&self, now: &Mirror) -> Option<Moment> {
        self.kept.iter().rev().find(|it| it.now.same_lines(now)).cloned()
    }

    /// Forgets them all, and begins anew with the next change, whoever makes it.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        (self.last, self.count) = (Author::Review, 0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}
