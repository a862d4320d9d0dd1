//! One text to another by as few and as small changes as can be, in the editor's terms.
//!
//! Whatever sits on text that stays (cursors, marks, folds, signs, diagnostics) stays with it, so
//! a changed word is worth more than a changed line. Knows two ways to change a buffer, because
//! they differ in what becomes of marks; must not know how either is called.

use std::ops::Range;

use super::align::{Change, align};
use super::alike::LONG;
use super::script::{Slide, script};
use super::tokens::{common_end, common_start, tokens};

/// The most edits that are made at once: the editor takes some microseconds for each, and so does
/// everyone who listens to its changes.
const MOST: usize = 1000;
/// The most edits in one line.
const MOST_IN_LINE: usize = 8;
/// Edits in a line with no more bytes than these between them are one.
const NEAR: usize = 3;

/// A change to a buffer. Rows and columns count from 0, columns in bytes; ends are exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Whole lines make place for others (`nvim_buf_set_lines`).
    Lines {
        /// Which.
        rows: Range<usize>,
        /// The others.
        lines: Vec<String>,
    },
    /// A part of a line makes place for another (`nvim_buf_set_text`).
    Text {
        /// In which line.
        row: usize,
        /// Which part, from character to character.
        columns: Range<usize>,
        /// The other, with no line break in it.
        text: String,
    },
}

/// The edits that make `new` of `old`.
///
/// They come from the last to the first and are to be made in this order, so that each may speak
/// of the rows and columns of the old text. There are at most a thousand, however much differs.
pub fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    refined(old, swaps(old, new, 0))
}

/// Whole lines that make place for others.
#[derive(Debug, Clone)]
pub(super) struct Swap<'a> {
    rows: Range<usize>,
    lines: Vec<&'a str>,
    /// Whether it is one line that became another.
    became: bool,
}

/// What to swap to make `new` of `old`, which begins at the row `first`.
pub(super) fn swaps<'a>(old: &[&str], new: &[&'a str], first: usize) -> Vec<Swap<'a>> {
    let swap = |Change { lines, became }: Change| Swap {
        rows: lines.old.start + first..lines.old.end + first,
        lines: new.get(lines.new).unwrap_or_default().to_vec(),
        became,
    };
    align(old, new).into_iter().map(swap).collect()
}

/// The edits for `swaps`, which are in order, on the lines `old`.
pub(super) fn refined<'a>(old: &[&'a str], swaps: Vec<Swap<'a>>) -> Vec<Edit> {
    if old.is_empty() && !swaps.is_empty() {
        // A buffer of no lines has one, and it is empty.
        let lines = swaps.into_iter().flat_map(|it| it.lines).collect();
        return vec![whole(&Swap { rows: 0..1, lines, became: false })];
    }
    let mut edits = Vec::new();
    for swap in &swaps {
        match (swap.became, old.get(swap.rows.start), swap.lines.first()) {
            (true, Some(one), Some(other)) => in_line(swap.rows.start, one, other, &mut edits),
            _ => edits.push(whole(swap)),
        }
        if edits.len() > MOST {
            edits = fewer(old, swaps).iter().map(whole).collect();
            break;
        }
    }
    edits.reverse();
    edits
}

fn whole(swap: &Swap<'_>) -> Edit {
    let lines = swap.lines.iter().map(|&it| it.to_owned()).collect();
    Edit::Lines { rows: swap.rows.clone(), lines }
}

/// As many swaps of whole lines as may be: those closest to each other become one.
fn fewer<'a>(old: &[&'a str], swaps: Vec<Swap<'a>>) -> Vec<Swap<'a>> {
    let ends = swaps.iter().map(|it| it.rows.end);
    let gaps = swaps.iter().skip(1).zip(ends).map(|(swap, end)| swap.rows.start - end);
    let mut gaps: Vec<(usize, usize)> = gaps.zip(1..).collect();
    gaps.sort_unstable();
    let touching = gaps.partition_point(|(gap, _)| *gap == 0);
    gaps.truncate(swaps.len().saturating_sub(MOST).max(touching));
    let mut closed = vec![false; swaps.len()];
    for (_, number) in gaps {
        if let Some(it) = closed.get_mut(number) {
            *it = true;
        }
    }
    let mut joined: Vec<Swap<'a>> = Vec::new();
    for (swap, closed) in swaps.into_iter().zip(closed) {
        match joined.last_mut().filter(|_| closed) {
            Some(last) => {
                let between = last.rows.end..swap.rows.start;
                last.lines.extend(old.get(between).unwrap_or_default());
                last.lines.extend(swap.lines);
                last.rows.end = swap.rows.end;
            }
            None => joined.push(swap),
        }
    }
    joined
}

/// A part of a line that makes place for one of another line, in bytes.
#[derive(Debug, Clone)]
struct Piece {
    old: Range<usize>,
    new: Range<usize>,
}

fn in_line(row: usize, old: &str, new: &str, edits: &mut Vec<Edit>) {
    let Some(all) = trimmed(old, new, &Piece { old: 0..old.len(), new: 0..new.len() }) else {
        return;
    };
    let mut pieces = Vec::new();
    if !all.old.is_empty() && !all.new.is_empty() && all.old.len().max(all.new.len()) <= LONG {
        pieces = words(old, new, &all);
    }
    if pieces.is_empty() || pieces.len() > MOST_IN_LINE {
        pieces = vec![all];
    }
    for piece in pieces {
        let text = new.get(piece.new).unwrap_or_default().to_owned();
        edits.push(Edit::Text { row, columns: piece.old, text });
    }
}

/// The piece without what is the same at its start and its end; none when nothing differs.
fn trimmed(old: &str, new: &str, piece: &Piece) -> Option<Piece> {
    let start = {
        let (old, new) = (old.get(piece.old.clone())?, new.get(piece.new.clone())?);
        common_start(old, new)
    };
    let old_start = piece.old.start + start;
    let new_start = piece.new.start + start;
    let end = common_end(old.get(old_start..piece.old.end)?, new.get(new_start..piece.new.end)?);
    let trimmed =
        Piece { old: old_start..piece.old.end - end, new: new_start..piece.new.end - end };
    (!trimmed.old.is_empty() || !trimmed.new.is_empty()).then_some(trimmed)
}

/// The pieces that differ, word by word, and no closer to each other than is worth it.
fn words(old: &str, new: &str, all: &Piece) -> Vec<Piece> {
    let old_words = tokens(old.get(all.old.clone()).unwrap_or_default());
    let new_words = tokens(new.get(all.new.clone()).unwrap_or_default());
    let ends = |words: &[&str], start: usize| {
        let mut at = start;
        let mut ends = vec![at];
        ends.extend(words.iter().map(|it| {
            at += it.len();
            at
        }));
        ends
    };
    let (old_ends, new_ends) = (ends(&old_words, all.old.start), ends(&new_words, all.new.start));
    let bytes = |ends: &[usize], range: &Range<usize>| {
        Some(ends.get(range.start).copied()?..ends.get(range.end).copied()?)
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for stretch in script(&old_words, &new_words, Slide::Down) {
        let piece = || {
            let old_range = bytes(&old_ends, &stretch.old)?;
            let new_range = bytes(&new_ends, &stretch.new)?;
            trimmed(old, new, &Piece { old: old_range, new: new_range })
        };
        let Some(piece) = piece() else { continue };
        match pieces.last_mut() {
            Some(last) if piece.old.start - last.old.end <= NEAR => {
                (last.old.end, last.new.end) = (piece.old.end, piece.new.end);
            }
            _ => pieces.push(piece),
        }
    }
    pieces
}
