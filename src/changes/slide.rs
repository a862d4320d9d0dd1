//! Where among equal places a change is best shown.
//!
//! Lines that are added between lines like themselves could stand in several places: after `}` and
//! a blank line, or before them. One of them reads as a function that was added, the others as
//! parts of two.

use super::lines::Both;
use super::script::Stretch;

/// How far a change is moved.
const REACH: usize = 100;
/// How far is looked for the line that follows blank ones.
const AHEAD: usize = 8;

/// Moves what only adds or only removes to where it reads best.
pub(super) fn settle(stretches: &mut [Stretch], both: &Both<'_>) {
    for index in 0..stretches.len() {
        let before = index.checked_sub(1).and_then(|index| stretches.get(index)).cloned();
        let after = stretches.get(index + 1).cloned();
        let Some(stretch) = stretches.get_mut(index) else { return };
        let adds = match (stretch.old.is_empty(), stretch.new.is_empty()) {
            (true, false) => true,
            (false, true) => false,
            _ => continue,
        };
        let text = if adds { &both.new } else { &both.old };
        let side = |it: &Stretch| if adds { it.new.clone() } else { it.old.clone() };
        // A last line without an ending equals no other: it does not move.
        let end = text.lines.len() - usize::from(!text.ended && both.old.ended != both.new.ended);
        let range = side(stretch);
        if range.end > end {
            continue;
        }
        let room = Room {
            lines: &text.lines,
            // A line stays between two changes.
            first: before.as_ref().map_or(0, |it| side(it).end + 1),
            last: after.as_ref().map_or(end, |it| side(it).start.saturating_sub(1)),
        };
        let best = room.best(range.start, range.len());
        let moved = |at: usize| {
            if best < range.start { at - (range.start - best) } else { at + best - range.start }
        };
        stretch.old = moved(stretch.old.start)..moved(stretch.old.end);
        stretch.new = moved(stretch.new.start)..moved(stretch.new.end);
    }
}

/// The lines among which a change can be moved.
struct Room<'a> {
    lines: &'a [&'a str],
    first: usize,
    last: usize,
}

impl Room<'_> {
    /// The best start for `len` lines that start at `start` now.
    fn best(&self, start: usize, len: usize) -> usize {
        let mut lowest = start;
        while lowest > self.first
            && start - lowest < REACH
            && self.lines.get(lowest - 1) == self.lines.get(lowest - 1 + len)
        {
            lowest -= 1;
        }
        let mut highest = start;
        while highest + len < self.last
            && highest - start < REACH
            && self.lines.get(highest) == self.lines.get(highest + len)
        {
            highest += 1;
        }
        let cost = |at: &usize| self.cost(*at) + self.cost(*at + len);
        // The first of the cheapest from below: what is added goes after what was there.
        (lowest..=highest).rev().min_by_key(cost).unwrap_or(start)
    }

    /// How bad it is to cut before the line at `at`.
    fn cost(&self, at: usize) -> usize {
        let blank = |at: usize| self.lines.get(at).is_none_or(|it| it.trim().is_empty());
        let Some(line) = self.lines.get(at) else { return 0 };
        let next = (at..at + AHEAD).find(|at| !blank(*at)).and_then(|at| self.lines.get(at));
        let indent = next.map_or(0, |it| indent(it)).min(200);
        let closes = line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
        let after_blank = at == 0 || blank(at - 1);
        indent * 10
            + if blank(at) { 6 } else { 0 }
            + if closes { 8 } else { 0 }
            + if after_blank { 0 } else { 5 }
    }
}

fn indent(line: &str) -> usize {
    line.bytes()
        .map_while(|it| match it {
            b' ' => Some(1),
            b'\t' => Some(4),
            _ => None,
        })
        .sum()
}
