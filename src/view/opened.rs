//! What the user has opened in a transcript.

use std::collections::HashSet;

/// Which entries are open. What comes later is as everything was last set.
#[derive(Debug, Default)]
pub(super) struct Opened {
    all: bool,
    others: HashSet<usize>,
}

impl Opened {
    /// Whether an entry is open.
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.all != self.others.contains(&index)
    }

    /// Opens or closes an entry; without a wish, the other way. Whether that changed anything.
    pub(super) fn set(&mut self, index: usize, open: Option<bool>) -> bool {
        let is_open = self.is_open(index);
        if open == Some(is_open) {
            return false;
        }
        if !self.others.remove(&index) {
            self.others.insert(index);
        }
        true
    }

    /// Opens or closes everything.
    pub(super) fn set_all(&mut self, open: bool) {
        self.all = open;
        self.others.clear();
    }
}
