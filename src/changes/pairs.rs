//! Which removed line became which added one, and what differs between the two.

use std::ops::Range;

use super::alike::{LONG, best_pairs};
use super::words::{Tokens, changed};

/// How many pairs of lines are weighed against each other; in a larger stretch each line is taken
/// for the one in the same place.
const WEIGHED: usize = 2500;
/// Of a hundred, how much two lines must have in common: else they have nothing to do with each
/// other, and pointing out the brackets they share helps nobody.
const ALIKE: usize = 35;

/// How much is looked at word by word. Whoever changes more than that looks at lines.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes of lines.
    pub(super) bytes: usize,
    /// Pairs of words.
    pub(super) pairs: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { bytes: 1 << 20, pairs: 4 << 20 }
    }
}

/// For each line of a stretch, in order, which bytes of it differ. Empty where nobody looked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) old: Vec<Vec<Range<usize>>>,
    pub(super) new: Vec<Vec<Range<usize>>>,
}

/// Looks at the lines of one stretch, as long as there is something left of the budget.
pub(super) fn words(old: &[&str], new: &[&str], budget: &mut Budget) -> Words {
    let Some(found) = became(old, new, budget) else { return Words::default() };
    let mut words = Words { old: vec![Vec::new(); old.len()], new: vec![Vec::new(); new.len()] };
    for Became { old, new, removed, added } in found {
        if let Some(slot) = words.old.get_mut(old) {
            *slot = removed;
        }
        if let Some(slot) = words.new.get_mut(new) {
            *slot = added;
        }
    }
    words
}

/// A line that became another.
#[derive(Debug)]
pub(super) struct Became {
    /// Which line of the old ones.
    pub(super) old: usize,
    /// Which line of the new ones.
    pub(super) new: usize,
    /// Which bytes of the old line are gone.
    pub(super) removed: Vec<Range<usize>>,
    /// Which bytes of the new line are new.
    pub(super) added: Vec<Range<usize>>,
}

/// Which lines of one stretch became which, in order; none when it would take too long.
pub(super) fn became(old: &[&str], new: &[&str], budget: &mut Budget) -> Option<Vec<Became>> {
    if old.is_empty() || new.is_empty() {
        return None;
    }
    let bytes: usize = old.iter().chain(new).map(|line| line.len().min(LONG) + 1).sum();
    let Some(left) = budget.bytes.checked_sub(bytes) else {
        budget.bytes = 0;
        return None;
    };
    budget.bytes = left;
    let (old, new) = (tokens(old), tokens(new));
    let mut found = Vec::new();
    for (old_index, new_index) in pairs(&old, &new) {
        let (Some(one), Some(other)) = (old.get(old_index), new.get(new_index)) else { continue };
        let (removed, added) = changed(one, other, &mut budget.pairs);
        found.push(Became { old: old_index, new: new_index, removed, added });
    }
    Some(found)
}

fn tokens<'a>(lines: &[&'a str]) -> Vec<Tokens<'a>> {
    lines.iter().map(|line| Tokens::of(if line.len() > LONG { "" } else { line })).collect()
}

/// The pairs of lines that are one line before and after the change, in order.
fn pairs(old: &[Tokens<'_>], new: &[Tokens<'_>]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > WEIGHED {
        let alike = |(index, (one, other)): (usize, (&Tokens<'_>, &Tokens<'_>))| {
            (likeness(one, other) > 0).then_some((index, index))
        };
        return old.iter().zip(new).enumerate().filter_map(alike).collect();
    }
    best_pairs(old, new, likeness)
}

/// How much two lines have in common, of a hundred; 0 if it is too little to matter.
fn likeness(one: &Tokens<'_>, other: &Tokens<'_>) -> usize {
    let all = one.weight + other.weight;
    let shared = 200 * one.shared(other) / all.max(1);
    if shared >= ALIKE { shared } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked_at<'a>(old: &[&'a str], new: &[&'a str]) -> (Vec<Vec<&'a str>>, Vec<Vec<&'a str>>) {
        let found = words(old, new, &mut Budget::default());
        let texts = |lines: &[&'a str], words: Vec<Vec<Range<usize>>>| {
            let pick = |(line, ranges): (&&'a str, Vec<Range<usize>>)| {
                ranges.into_iter().map(|range| &line[range]).collect()
            };
            lines.iter().zip(words).map(pick).collect()
        };
        (texts(old, found.old), texts(new, found.new))
    }

    #[test]
    fn a_line_finds_the_one_it_became() {
        let (old, new) = looked_at(
            &["    let width = 1;", "    let height = 2;"],
            &["    // A comment.", "    let width = 10;", "    draw();", "    let height = 20;"],
        );
        assert_eq!(old, [["1"], ["2"]]);
        assert_eq!(new, [vec![], vec!["10"], vec![], vec!["20"]]);
    }

    #[test]
    fn lines_that_share_nothing_are_not_compared() {
        let (old, new) = looked_at(&["return value;"], &["for (;;) {"]);
        assert_eq!((old, new), (vec![vec![]], vec![vec![]]));
    }

    #[test]
    fn long_lines_and_large_changes_are_left_alone() {
        let long = "word ".repeat(LONG);
        let other = long.replacen("word", "work", 1);
        let found = words(&[&long], &[&other], &mut Budget::default());
        assert_eq!(found, Words { old: vec![vec![]], new: vec![vec![]] });
        let mut budget = Budget { bytes: 10, ..Budget::default() };
        assert_eq!(words(&["let a = 1;"], &["let a = 2;"], &mut budget), Words::default());
        assert_eq!(budget.bytes, 0, "what comes after is not looked at either");
    }
}
