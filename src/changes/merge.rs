//! What two made of one text, put together: nobody's change is lost, and nothing is settled that
//! is not ours to settle.
//!
//! Changes to different lines go together, even when the lines are neighbours; so do changes to
//! different words of a line. Where both changed the same thing differently there is a conflict,
//! and ours stays until somebody has chosen. Knows lines and words; must not know who "we" are.

mod regions;
mod settle;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use self::regions::{Region, Who, regions};
use self::settle::{Settled, settle};
use super::align::align;
use super::edits::{Edit, Swap, refined, swaps};
use super::script::Stretch;

/// Two texts made of one, put together.
#[derive(Debug)]
pub struct Merged<'a> {
    ours: &'a [&'a str],
    theirs: &'a [&'a str],
    /// In order.
    pieces: Vec<Piece<'a>>,
    /// Where both changed the same thing differently, in order.
    pub conflicts: Vec<Conflict>,
}

/// Lines that both changed differently. Each range is of lines of the text it is named after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What the lines were.
    pub base: Range<usize>,
    /// What we made of them.
    pub ours: Range<usize>,
    /// What they made of them.
    pub theirs: Range<usize>,
}

/// How a conflict is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Our lines stay.
    Ours,
    /// Their lines take the place of ours.
    Theirs,
    /// Their lines come after ours.
    Both,
    /// Neither, but these.
    Edited(Vec<String>),
}

/// What becomes of some of our lines.
#[derive(Debug)]
enum Piece<'a> {
    Change {
        ours: Range<usize>,
        lines: Vec<Cow<'a, str>>,
    },
    /// By its number.
    Conflict(usize),
}

/// Puts together what we and they made of `base`.
pub fn merge<'a>(base: &'a [&'a str], ours: &'a [&'a str], theirs: &'a [&'a str]) -> Merged<'a> {
    let mut merged = Merged { ours, theirs, pieces: Vec::new(), conflicts: Vec::new() };
    // Each line that became another is a change of its own.
    let lines = |side| align(base, side).into_iter().map(|it| it.lines).collect::<Vec<Stretch>>();
    let (our_script, their_script) = (lines(ours), lines(theirs));
    let together = |our: &Stretch, their: &Stretch| {
        if our.old.is_empty() && their.old.is_empty() {
            return true;
        }
        let (our_lines, their_lines) = (of(ours, &our.new), of(theirs, &their.new));
        match (our.old.start, our.old.end) < (their.old.start, their.old.end) {
            true => share_border(our_lines, their_lines),
            false => share_border(their_lines, our_lines),
        }
    };
    for (who, region) in regions(&our_script, &their_script, together) {
        match who {
            Who::Ours => {}
            Who::Theirs => {
                let lines = of(theirs, &region.theirs).iter().map(|it| Cow::Borrowed(*it));
                let lines = lines.collect();
                merged.pieces.push(Piece::Change { ours: region.ours, lines });
            }
            Who::Both => merged.take(base, region),
        }
    }
    merged
}

/// What becomes of a property of a text, such as whether its last line has an ending: what they
/// made of it when we left it alone.
pub fn merge_value<T: PartialEq>(base: &T, ours: T, theirs: T) -> T {
    if ours == *base { theirs } else { ours }
}

impl<'a> Merged<'a> {
    fn take(&mut self, base: &'a [&'a str], region: Region) {
        let (ours, theirs) = (of(self.ours, &region.ours), of(self.theirs, &region.theirs));
        match settle(of(base, &region.base), ours, theirs) {
            Settled::Ours => {}
            Settled::Lines(lines) => self.pieces.push(Piece::Change { ours: region.ours, lines }),
            Settled::Conflict { ours, theirs } => self.disagree(Conflict {
                base: region.base,
                ours: region.ours.start + ours.start..region.ours.start + ours.end,
                theirs: region.theirs.start + theirs.start..region.theirs.start + theirs.end,
            }),
        }
    }

    fn disagree(&mut self, conflict: Conflict) {
        if let (Some(Piece::Conflict(_)), Some(last)) =
            (self.pieces.last(), self.conflicts.last_mut())
            && last.base.end == conflict.base.start
            && last.ours.end == conflict.ours.start
            && last.theirs.end == conflict.theirs.start
        {
            // One line after another: one thing to decide.
            last.base.end = conflict.base.end;
            last.ours.end = conflict.ours.end;
            last.theirs.end = conflict.theirs.end;
            return;
        }
        self.pieces.push(Piece::Conflict(self.conflicts.len()));
        self.conflicts.push(conflict);
    }

    /// The lines of both together. The conflicts are settled by `choices`, in order; where there
    /// is none, ours stays.
    pub fn resolve<'s>(&'s self, choices: &'s [Choice]) -> Vec<&'s str> {
        let mut lines: Vec<&str> = Vec::with_capacity(self.ours.len());
        let mut at = 0;
        for (ours, instead) in self.instead(choices) {
            lines.extend(of(self.ours, &(at..ours.start)));
            lines.extend(instead);
            at = ours.end;
        }
        lines.extend(of(self.ours, &(at..self.ours.len())));
        lines
    }

    /// The edits that make of our text what [`Merged::resolve`] says, from the last to the first.
    pub fn edits(&self, choices: &[Choice]) -> Vec<Edit> {
        let mut all: Vec<Swap<'_>> = Vec::new();
        for (ours, instead) in self.instead(choices) {
            all.extend(swaps(of(self.ours, &ours), &instead, ours.start));
        }
        refined(self.ours, all)
    }

    /// Which of our lines make place for which others, in order.
    fn instead<'s>(
        &'s self,
        choices: &'s [Choice],
    ) -> impl Iterator<Item = (Range<usize>, Vec<&'s str>)> {
        let of_conflict = |number: usize| {
            let Conflict { ours, theirs, .. } = self.conflicts.get(number)?;
            match choices.get(number)? {
                Choice::Ours => None,
                Choice::Theirs => Some((ours.clone(), of(self.theirs, theirs).to_vec())),
                Choice::Both => Some((ours.end..ours.end, of(self.theirs, theirs).to_vec())),
                Choice::Edited(lines) => {
                    Some((ours.clone(), lines.iter().map(|it| it.as_str()).collect()))
                }
            }
        };
        self.pieces.iter().filter_map(move |piece| match piece {
            Piece::Change { ours, lines } => {
                Some((ours.clone(), lines.iter().map(|it| it.as_ref()).collect()))
            }
            Piece::Conflict(number) => of_conflict(*number),
        })
    }
}

fn of<'a, 'b>(lines: &'b [&'a str], range: &Range<usize>) -> &'b [&'a str] {
    lines.get(range.clone()).unwrap_or_default()
}

/// Whether lines that come one after the other begin as they end: then both sides may have added
/// the same, and each something of its own besides.
fn share_border(first: &[&str], second: &[&str]) -> bool {
    let longest = first.len().min(second.len());
    (1..=longest).any(|count| {
        let start = first.len() - count;
        first.get(start) == second.first() && first.get(start..) == second.get(..count)
    })
}
