//! Hunks accepted and rejected, whole or in part.

use std::ops::Range;

use super::find::Pair;
use super::hunks::shifted;
use super::{Author, Hunk, Review, Which, put};
use crate::changes::align::align;
use crate::changes::edits::{Edit, refined, swaps};

/// Which of the texts takes over what the other one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Base,
    Now,
}

/// A part of a hunk. All of them together are the hunk.
#[derive(Debug)]
struct Part {
    base: Range<usize>,
    now: Range<usize>,
    chosen: bool,
}

impl Review {
    /// Accepts: the base takes over what there is now. Says whether there was anything to accept.
    ///
    /// What was before is forgotten: accepted text is the user's, and so is undoing it.
    pub fn accept(&mut self, which: &Which) -> bool {
        self.tidy();
        if !self.settle(which, Side::Base) {
            return false;
        }
        self.moments.forget();
        true
    }

    /// Rejects at once: the text takes over what the base has. For a file that is not open;
    /// an open one is changed by [`Review::rejection`].
    pub fn reject(&mut self, which: &Which) {
        self.written();
        self.remember(Author::Review);
        self.settle(which, Side::Now);
        self.written();
    }

    /// The edits that reject: from the last to the first, and to be made in this order. They come
    /// back as changes by [`Author::Review`].
    pub fn rejection(&self, which: &Which) -> Vec<Edit> {
        let now: Vec<&str> = self.now.lines().collect();
        let base: Vec<&str> = self.base.lines().collect();
        let mut all = Vec::new();
        for part in self.hunks.iter().flat_map(|it| self.parts(it, which)).filter(|it| it.chosen) {
            let old = now.get(part.now.clone()).unwrap_or_default();
            let new = base.get(part.base).unwrap_or_default();
            all.extend(swaps(old, new, part.now.start));
        }
        refined(&now, all)
    }

    /// Makes both texts the same where something is chosen. Says whether there is any.
    fn settle(&mut self, which: &Which, side: Side) -> bool {
        let parts: Vec<Vec<Part>> = self.hunks.iter().map(|it| self.parts(it, which)).collect();
        let chosen: Vec<&Part> = parts.iter().flatten().filter(|it| it.chosen).collect();
        if chosen.is_empty() {
            return false;
        }
        let (from, into) = match side {
            Side::Base => (&self.now, &mut self.base),
            Side::Now => (&self.base, &mut self.now),
        };
        for part in chosen.into_iter().rev() {
            let (source, rows) = match side {
                Side::Base => (part.now.clone(), part.base.clone()),
                Side::Now => (part.base.clone(), part.now.clone()),
            };
            let lines: Vec<&str> = from.rows(source).collect();
            put(into, rows, &lines);
        }
        self.leave(parts, side);
        true
    }

    /// Leaves the hunks, and parts of hunks, that are not chosen.
    fn leave(&mut self, parts: Vec<Vec<Part>>, side: Side) {
        let hunks = std::mem::take(&mut self.hunks);
        // By how much the text has shrunk and grown so far.
        let (mut removed, mut added) = (0, 0);
        for (hunk, parts) in hunks.into_iter().zip(parts) {
            let whole = parts.len() == 1;
            let mut id = Some(hunk.id);
            for Part { mut base, mut now, chosen } in parts {
                match (chosen, side) {
                    (true, Side::Base) => {
                        (removed, added) = (removed + base.len(), added + now.len())
                    }
                    (true, Side::Now) => {
                        (removed, added) = (removed + now.len(), added + base.len())
                    }
                    (false, Side::Base) => base = shifted(&base, removed, added),
                    (false, Side::Now) => now = shifted(&now, removed, added),
                }
                if chosen {
                    continue;
                }
                let mut left = Hunk { base, now, ..hunk.clone() };
                if !whole {
                    match self.trimmed(left) {
                        Some(it) => left = it,
                        None => continue,
                    }
                    self.name(&mut left);
                    left.id = id.take().unwrap_or(left.id);
                }
                self.hunks.push(left);
                // Nothing may be left of what was chosen in between.
                self.join(self.hunks.len() - 1);
            }
        }
    }

    /// The parts of a hunk.
    fn parts(&self, hunk: &Hunk, which: &Which) -> Vec<Part> {
        let whole = |chosen| vec![Part { base: hunk.base.clone(), now: hunk.now.clone(), chosen }];
        match which {
            Which::All => whole(true),
            Which::Ids(ids) => whole(ids.contains(&hunk.id)),
            Which::Of(who) => whole(hunk.who == *who),
            Which::Rows(rows) if hunk.now.is_empty() => whole(self.is_at(hunk.now.start, rows)),
            Which::Rows(rows) if rows.start <= hunk.now.start && hunk.now.end <= rows.end => {
                whole(true)
            }
            Which::Rows(rows) if rows.end <= hunk.now.start || hunk.now.end <= rows.start => {
                whole(false)
            }
            Which::Rows(rows) => between(hunk, self.chosen(hunk, rows)),
        }
    }

    /// Whether what was removed before a row is in some rows. What was removed at the end of the
    /// text belongs to the last row.
    fn is_at(&self, row: usize, rows: &Range<usize>) -> bool {
        let last = row == self.now.len() && row == rows.end;
        rows.contains(&row) || row == rows.start || last
    }

    /// What of a hunk is in some rows.
    fn chosen(&self, hunk: &Hunk, rows: &Range<usize>) -> Vec<Pair> {
        let old: Vec<&str> = self.base.rows(hunk.base.clone()).collect();
        let new: Vec<&str> = self.now.rows(hunk.now.clone()).collect();
        let mut found = Vec::new();
        for change in align(&old, &new) {
            let base = shifted(&change.lines.old, 0, hunk.base.start);
            let now = shifted(&change.lines.new, 0, hunk.now.start);
            if now.is_empty() {
                if rows.contains(&now.start) {
                    found.push((base, now));
                }
                continue;
            }
            let start = rows.start.clamp(now.start, now.end);
            let end = rows.end.clamp(now.start, now.end);
            if start == end {
                continue;
            }
            // Line for line, and what is left with the last one.
            let nth = |row: usize| (base.start + row - now.start).min(base.end);
            let base_end = if end == now.end { base.end } else { nth(end) };
            found.push((nth(start)..base_end, start..end));
        }
        found
    }
}

/// A hunk cut into what is chosen and what lies between.
fn between(hunk: &Hunk, chosen: Vec<Pair>) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut base_at, mut now_at) = (hunk.base.start, hunk.now.start);
    let end = (hunk.base.end..hunk.base.end, hunk.now.end..hunk.now.end);
    for (base, now) in chosen.into_iter().chain([end]) {
        if base_at < base.start || now_at < now.start {
            let (base, now) = (base_at..base.start, now_at..now.start);
            parts.push(Part { base, now, chosen: false });
        }
        (base_at, now_at) = (base.end, now.end);
        if !base.is_empty() || !now.is_empty() {
            parts.push(Part { base, now, chosen: true });
        }
    }
    parts
}
