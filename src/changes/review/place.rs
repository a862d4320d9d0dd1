//! Where a change belongs: to a hunk, or to both texts.

use std::ops::Range;

use super::find::{Pair, Region};
use super::hunks::{meet, overlapping, shift_base, shift_now, shifted, to_base, touching};
use super::{Author, Hunk, Review, put};
use crate::changes::align::align;
use crate::changes::script::Stretch;

impl Review {
    /// Takes a change to the lines there are.
    pub(super) fn take(&mut self, rows: Range<usize>, lines: &[&str], by: Author) {
        let (rows, new) = self.without_what_stays(rows, lines);
        let lines = lines.get(new).unwrap_or_default();
        if rows.is_empty() && lines.is_empty() {
            return;
        }
        let changes = match by {
            Author::Agent(_) => self.least(rows, lines),
            Author::User if !self.is_in_one_place(&rows) => self.line_by_line(rows, lines),
            _ => vec![(rows, 0..lines.len())],
        };
        for (rows, new) in changes.into_iter().rev() {
            let lines = lines.get(new).unwrap_or_default();
            match by {
                Author::Agent(_) => self.rewrite(rows, lines, by),
                _ => self.place(rows, lines, by),
            }
        }
    }

    /// A change without the lines that it leaves as they are, at its start and at its end. (Whoever
    /// begins a new line after another changes that one too, as the editor has it.)
    fn without_what_stays(&self, rows: Range<usize>, lines: &[&str]) -> Pair {
        let most = rows.len().min(lines.len());
        let start = self.now.rows(rows.clone()).zip(lines).take_while(|(a, b)| a == *b).count();
        let last: Vec<&str> = self.now.rows(rows.end - (most - start)..rows.end).collect();
        let backwards = last.iter().rev().zip(lines.iter().rev());
        let end = backwards.take_while(|(one, other)| one == other).count();
        (rows.start + start..rows.end - end, start..lines.len() - end)
    }

    /// Whether some rows are outside of all hunks, or inside of one.
    fn is_in_one_place(&self, rows: &Range<usize>) -> bool {
        let over = overlapping(&self.hunks, rows);
        match self.hunks.get(over.clone()).unwrap_or_default() {
            [] => true,
            [one] => one.now.start <= rows.start && rows.end <= one.now.end,
            _ => false,
        }
    }

    /// A change of lines to which hunks belong and others: each line that became another is a
    /// change of its own. (Somebody may have indented the whole file.)
    fn line_by_line(&self, rows: Range<usize>, lines: &[&str]) -> Vec<Pair> {
        let first = rows.start;
        let old: Vec<&str> = self.now.rows(rows).collect();
        let all: Vec<Stretch> = align(&old, lines).into_iter().map(|it| it.lines).collect();
        let touching = |one: &Stretch, next: &Stretch| {
            one.old.end == next.old.start && one.new.end == next.new.start
        };
        let mut found = Vec::new();
        for group in all.chunk_by(touching) {
            let pair = |it: &Stretch| (shifted(&it.old, 0, first), it.new.clone());
            match group {
                // What is gone may have become part of its neighbour, as lines that are joined do.
                [one, .., last] if group.iter().any(|it| it.old.len() != it.new.len()) => {
                    let old = one.old.start + first..last.old.end + first;
                    found.push((old, one.new.start..last.new.end));
                }
                _ => found.extend(group.iter().map(pair)),
            }
        }
        found
    }

    /// Takes a change that is not an agent's.
    fn place(&mut self, rows: Range<usize>, lines: &[&str], by: Author) {
        let over = overlapping(&self.hunks, &rows);
        if over.is_empty() {
            match rows.is_empty() && self.gives_back(rows.start, lines, by) {
                true => self.rewrite(rows, lines, by),
                false => self.carry(&rows, lines),
            }
            return;
        }
        let as_many = lines.len() == rows.len();
        // A rejection gives back what the base has, wherever it is.
        let mixed = by == Author::User && !self.is_in_one_place(&rows);
        if mixed && (as_many || lines.is_empty()) {
            for part in self.cut(&rows, over).into_iter().rev() {
                let new = part.start - rows.start..part.end - rows.start;
                let lines = if as_many { lines.get(new).unwrap_or_default() } else { &[] };
                self.place(part, lines, by);
            }
            return;
        }
        self.rewrite(rows, lines, by);
    }

    /// Cuts some rows where hunks begin and end.
    fn cut(&self, rows: &Range<usize>, over: Range<usize>) -> Vec<Range<usize>> {
        let hunks = self.hunks.get(over).unwrap_or_default();
        let borders = hunks.iter().flat_map(|it| [it.now.start, it.now.end]);
        let borders = borders.filter(|it| rows.start < *it && *it < rows.end);
        let mut parts = Vec::new();
        let mut start = rows.start;
        for end in borders.chain([rows.end]) {
            if start < end {
                parts.push(start..end);
            }
            start = end;
        }
        parts
    }

    /// Whether lines that come in at the border of a hunk are those that are gone there.
    fn gives_back(&self, row: usize, lines: &[&str], by: Author) -> bool {
        let near = touching(&self.hunks, &(row..row));
        let Some(hunk) = self.hunks.get(near.start).filter(|_| !near.is_empty()) else {
            return false;
        };
        let base: Vec<&str> = self.base.rows(hunk.base.clone()).collect();
        let within = || !lines.is_empty() && base.windows(lines.len()).any(|it| it == lines);
        // Everybody adds blank lines.
        let blank = lines.iter().all(|it| it.trim().is_empty());
        match by {
            Author::Review => within(),
            _ if blank => hunk.now.is_empty() && base == lines,
            _ if hunk.now.is_empty() => within(),
            _ if row == hunk.now.start => base.starts_with(lines),
            _ => base.ends_with(lines),
        }
    }

    /// Takes a change outside of all hunks, which is one of both texts.
    fn carry(&mut self, rows: &Range<usize>, lines: &[&str]) {
        // What is added where something was removed comes after it.
        let at = self.hunks.partition_point(|it| it.now.end <= rows.start);
        let start = to_base(&self.hunks, at, rows.start);
        put(&mut self.now, rows.clone(), lines);
        put(&mut self.base, start..start + rows.len(), lines);
        for index in touching(&self.hunks, rows) {
            // It may be shown with the help of a line that is gone.
            let revision = self.revision();
            if let Some(it) = self.hunks.get_mut(index) {
                it.revision = revision;
            }
        }
        let after = self.hunks.get_mut(at..).unwrap_or_default();
        shift_now(after, rows.len(), lines.len());
        shift_base(after, rows.len(), lines.len());
        self.join(at);
    }

    /// Makes one of the hunks before and after a place, when nothing is left between them.
    pub(super) fn join(&mut self, at: usize) {
        let Some(before) = at.checked_sub(1) else { return };
        let Some([one, other]) = self.hunks.get(before..=at) else { return };
        if one.now.end < other.now.start {
            return;
        }
        let joined = Hunk {
            base: one.base.start..other.base.end,
            now: one.now.start..other.now.end,
            edited: one.edited || other.edited,
            ..one.clone()
        };
        let joined = Hunk { revision: self.revision(), ..joined };
        let joined = self.trimmed(joined);
        self.hunks.splice(before..=at, joined);
    }

    /// Takes a change that belongs to the hunks it touches, or makes one.
    fn rewrite(&mut self, rows: Range<usize>, lines: &[&str], by: Author) {
        let over = touching(&self.hunks, &rows);
        let old: Vec<Hunk> = self.hunks.get(over.clone()).unwrap_or_default().to_vec();
        let mut region = Region {
            base: to_base(&self.hunks, over.start, rows.start)
                ..to_base(&self.hunks, over.end, rows.end),
            now: rows.clone(),
            old,
            at: over.start,
            wrote: rows.start..rows.start + lines.len(),
            by,
        };
        if let Some(first) = region.old.first().filter(|it| it.now.start <= rows.start) {
            (region.base.start, region.now.start) = (first.base.start, first.now.start);
        }
        if let Some(last) = region.old.last().filter(|it| it.now.end >= rows.end) {
            (region.base.end, region.now.end) = (last.base.end, last.now.end);
        }
        region.now.end = region.now.end + lines.len() - rows.len();
        put(&mut self.now, rows.clone(), lines);
        self.hunks.drain(over.clone());
        let after = self.hunks.get_mut(over.start..).unwrap_or_default();
        shift_now(after, rows.len(), lines.len());
        debug_assert!(region.old.iter().all(|it| meet(&it.base, &region.base)));
        self.look(region);
    }
}
