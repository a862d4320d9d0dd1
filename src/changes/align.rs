//! The lines of two texts, side by side: which were added, which removed, which became others.

use std::ops::Range;

use super::alike::{nearest_pairs, weighed_pairs};
use super::script::{Slide, Stretch, script};

/// How many pairs of lines of a stretch are weighed against each other. In a larger one each line
/// is looked for near its place.
const WEIGHED: usize = 4096;
/// How many there may be in all, so that it takes no longer than it is worth.
const BUDGET: usize = 200_000;
/// A line of no more bytes than these can stay anywhere by chance.
const LIGHT: usize = 2;
/// How many of them in a row can.
const LIGHT_LINES: usize = 4;

/// Lines that make place for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) lines: Stretch,
    /// Whether it is one line that became another.
    pub(super) became: bool,
}

/// What changed between two texts, in order. Changes may touch each other.
pub(super) fn align(old: &[&str], new: &[&str]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut budget = BUDGET;
    let mut stretches = script(old, new, Slide::Down).into_iter().peekable();
    while let Some(mut stretch) = stretches.next() {
        // Brackets and blank lines in between may not belong together at all.
        while let Some(next) = stretches.next_if(|next| {
            let between = old.get(stretch.old.end..next.old.start).unwrap_or_default();
            let size = (next.old.end - stretch.old.start) * (next.new.end - stretch.new.start);
            size <= WEIGHED.min(budget)
                && between.len() <= LIGHT_LINES
                && between.iter().all(|it| it.trim_ascii().len() <= LIGHT)
        }) {
            (stretch.old.end, stretch.new.end) = (next.old.end, next.new.end);
        }
        let old_lines = old.get(stretch.old.clone()).unwrap_or_default();
        let new_lines = new.get(stretch.new.clone()).unwrap_or_default();
        let size = old_lines.len() * new_lines.len();
        let pairs = if size <= WEIGHED.min(budget) {
            budget -= size;
            weighed_pairs(old_lines, new_lines)
        } else {
            nearest_pairs(old_lines, new_lines)
        };
        let (mut old_at, mut new_at) = (0, 0);
        let mut push = |old_rows: Range<usize>, new_rows: Range<usize>, became: bool| {
            if old_lines.get(old_rows.clone()) != new_lines.get(new_rows.clone()) {
                let old = stretch.old.start + old_rows.start..stretch.old.start + old_rows.end;
                let new = stretch.new.start + new_rows.start..stretch.new.start + new_rows.end;
                changes.push(Change { lines: Stretch { old, new }, became });
            }
        };
        for (old_row, new_row) in pairs {
            push(old_at..old_row, new_at..new_row, false);
            push(old_row..old_row + 1, new_row..new_row + 1, true);
            (old_at, new_at) = (old_row + 1, new_row + 1);
        }
        push(old_at..old_lines.len(), new_at..new_lines.len(), false);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>, bool)> {
        let changes = align(old, new).into_iter();
        changes.map(|it| (it.lines.old, it.lines.new, it.became)).collect()
    }

    #[test]
    fn lines_that_became_others_are_told_from_new_ones() {
        let old = ["a", "let x = 1;", "let y = 2;", "b"];
        let new = ["a", "// two", "let x = 3;", "let y = 4;", "b"];
        let expected = [(1..1, 1..2, false), (1..2, 2..3, true), (2..3, 3..4, true)];
        assert_eq!(found(&old, &new), expected);
        assert_eq!(found(&["x"], &["y"]), [(0..1, 0..1, false)]);
        assert_eq!(found(&old, &old), []);
    }

    #[test]
    fn blank_lines_do_not_come_between() {
        let old = ["", "", "let x = 1;", "", ""];
        let new = ["new", "", "let x = 2;", "", "new", ""];
        let expected = [(0..1, 0..1, false), (2..3, 2..3, true), (4..4, 4..5, false)];
        assert_eq!(found(&old, &new), expected);
    }

    #[test]
    fn the_same_addition_is_found_in_the_same_place() {
        let found_in = |old: &[&str], new: &[&str]| found(old, new)[0].0.clone();
        let (old, new) = (["{", "}", "end"], ["{", "}", "{", "}", "end"]);
        let other = ["{", "}", "{", "}", "other"];
        assert_eq!((found_in(&old, &new), found_in(&old, &other)), (2..2, 2..3));
        let (old, new) = (["{", "}", "", "end"], ["{", "}", "{", "}", "", "end"]);
        let other = ["{", "}", "{", "}", "", "other"];
        assert_eq!((found_in(&old, &new), found_in(&old, &other)), (2..2, 2..2));
    }
}
