//! Two texts of a file to what differs between them.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;

use super::lines::{Both, Lines, both};
use super::pairs::{Budget, Words, words};
use super::script::{self, Stretch};
use super::slide::settle;
use crate::session::diff::{Change, DiffLine, FileDiff, Hunk};
use crate::session::effect::Texts;

/// How many lines that stay are shown around a change.
const CONTEXT: usize = 3;
/// How many lines of a file are shown: what nobody will read need not be kept.
const MOST_LINES: usize = 100_000;

/// What differs, file by file or piece by piece.
pub fn file_diffs<'a>(texts: &'a [Texts]) -> Vec<FileDiff> {
    // By how much a file has grown up to the piece at hand.
    let mut grown: HashMap<&'a str, isize> = HashMap::new();
    let diff = |texts: &'a Texts| {
        let Texts { path, old, new, first } = texts;
        let grown = grown.entry(path.as_str()).or_default();
        let old_first = first.saturating_add_signed(-*grown).max(1);
        let diff = file_diff(path, old.as_deref(), new, (old_first, *first));
        *grown += diff.added as isize - diff.removed as isize;
        diff
    };
    texts.iter().map(diff).collect()
}

/// What differs between two texts of the file at `path`; without an old one the file is new.
///
/// Lines are numbered from `first`, those of the old text and those of the new one.
pub fn file_diff(path: &str, old: Option<&str>, new: &str, first: (usize, usize)) -> FileDiff {
    let both = both(old.unwrap_or_default(), new);
    let stretches = stretches(&both);
    let mut diff = FileDiff { path: path.to_owned(), endings: both.endings, ..FileDiff::default() };
    let mut writer =
        Writer { both: &both, first, budget: Budget::default(), room: MOST_LINES, left_out: 0 };
    for group in groups(&stretches) {
        let hunk = writer.hunk(group);
        if !hunk.lines.is_empty() {
            diff.hunks.push(hunk);
        }
    }
    diff.left_out = writer.left_out;
    for stretch in &stretches {
        diff.removed += stretch.old.len();
        diff.added += stretch.new.len();
    }
    diff
}

/// The stretches that differ, in order, with at least one line between them.
fn stretches<'a>(both: &Both<'a>) -> Vec<Stretch> {
    let (old, new) = (&both.old, &both.new);
    // With the ending of one text's last line missing, that line equals none.
    let keys = |lines: &Lines<'a>| -> Vec<(&'a str, bool)> {
        let unended = (!lines.ended && old.ended != new.ended).then(|| lines.lines.len() - 1);
        let lines = lines.lines.iter().enumerate();
        lines.map(|(index, line)| (*line, Some(index) == unended)).collect()
    };
    let mut found = script::stretches(&keys(old), &keys(new));
    settle(&mut found, both);
    found
}

/// Stretches that are so close that the lines around them would meet.
fn groups(stretches: &[Stretch]) -> impl Iterator<Item = &[Stretch]> {
    stretches.chunk_by(|one, next| next.old.start - one.old.end <= 2 * CONTEXT)
}

/// Writes hunks.
struct Writer<'a> {
    both: &'a Both<'a>,
    /// The numbers of the first lines.
    first: (usize, usize),
    budget: Budget,
    /// How many lines there is room for.
    room: usize,
    /// How many lines there was no room for.
    left_out: usize,
}

impl Writer<'_> {
    fn hunk(&mut self, group: &[Stretch]) -> Hunk {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            return Hunk::default();
        };
        let before = first.old.start.min(CONTEXT);
        let after = (self.both.old.lines.len() - last.old.end).min(CONTEXT);
        let old = first.old.start - before..last.old.end + after;
        let new = first.new.start - before..last.new.end + after;
        let mut lines = Vec::new();
        let mut at = (old.start, new.start);
        for stretch in group {
            self.kept(at, stretch.old.start, &mut lines);
            self.changed(stretch, &mut lines);
            at = (stretch.old.end, stretch.new.end);
        }
        self.kept(at, old.end, &mut lines);
        Hunk { old: place(self.first.0, &old), new: place(self.first.1, &new), lines }
    }

    /// How many of this many lines there is room for.
    fn take(&mut self, lines: usize) -> usize {
        let taken = lines.min(self.room);
        self.room -= taken;
        self.left_out += lines - taken;
        taken
    }

    fn kept(&mut self, (old, new): (usize, usize), end: usize, lines: &mut Vec<DiffLine>) {
        let end = old + self.take(end - old);
        for (offset, text) in self.both.old.lines.iter().take(end).skip(old).enumerate() {
            lines.push(DiffLine {
                change: Change::Kept,
                old: Some(self.first.0 + old + offset),
                new: Some(self.first.1 + new + offset),
                text: (*text).into(),
                words: Vec::new(),
                unended: false,
            });
        }
    }

    fn changed(&mut self, stretch: &Stretch, lines: &mut Vec<DiffLine>) {
        let old = self.both.old.lines.get(stretch.old.clone()).unwrap_or_default();
        let new = self.both.new.lines.get(stretch.new.clone()).unwrap_or_default();
        let Words { old: old_words, new: new_words } = words(old, new, &mut self.budget);
        self.side((Change::Removed, stretch.old.start), (old, old_words), lines);
        self.side((Change::Added, stretch.new.start), (new, new_words), lines);
    }

    fn side(
        &mut self,
        (change, start): (Change, usize),
        (texts, words): (&[&str], Vec<Vec<Range<usize>>>),
        lines: &mut Vec<DiffLine>,
    ) {
        let Both { old, new, .. } = self.both;
        let (text, first) = match change {
            Change::Removed => (old, self.first.0),
            _ => (new, self.first.1),
        };
        let texts = texts.iter().take(self.take(texts.len()));
        let words = words.into_iter().chain(iter::repeat_with(Vec::new));
        for ((offset, line), words) in texts.enumerate().zip(words) {
            let number = Some(first + start + offset);
            let last = start + offset + 1 == text.lines.len();
            lines.push(DiffLine {
                change,
                old: number.filter(|_| change == Change::Removed),
                new: number.filter(|_| change == Change::Added),
                text: (*line).into(),
                words,
                unended: last && !text.ended && old.ended != new.ended,
            });
        }
    }
}

/// Where a range of lines begins and how long it is, with the first line of all numbered `first`.
/// A range of no lines is named after the line before it, as everywhere.
fn place(first: usize, range: &Range<usize>) -> (usize, usize) {
    let start = first + range.start;
    (if range.is_empty() { start.saturating_sub(1) } else { start }, range.len())
}
