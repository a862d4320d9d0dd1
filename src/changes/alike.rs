//! Which lines became which others.

use std::collections::VecDeque;

use super::tokens::{common_end, common_start};
use super::words::Tokens;

/// Lines longer than this are looked at as a whole.
pub(super) const LONG: usize = 2000;
/// Of a hundred, how much two lines must have in common for one to have become the other.
const ALIKE: usize = 50;
/// How many lines ahead is looked for what a line became.
const AHEAD: usize = 8;
/// How much likeness it costs to pass over a line on the way.
const PASSING: usize = 8;

/// Which line became which, in order: of all ways to pair them, one that has most in common.
pub(super) fn weighed_pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    best_pairs(&Line::all(old), &Line::all(new), Line::value)
}

/// Which items belong together, in order, so that what the pairs are worth is most in all. What is
/// worth nothing is no pair.
pub(super) fn best_pairs<T>(
    old: &[T],
    new: &[T],
    value: impl Fn(&T, &T) -> usize,
) -> Vec<(usize, usize)> {
    // For each pair of items, what the best pairs from there on are worth.
    let columns = new.len() + 1;
    let mut table = vec![0; (old.len() + 1) * columns];
    let best = |table: &[usize], row: usize, column: usize| {
        table.get(row * columns + column).copied().unwrap_or(0)
    };
    for (row, one) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let skip = best(&table, row + 1, column).max(best(&table, row, column + 1));
            let pair = match value(one, other) {
                0 => 0,
                value => value + best(&table, row + 1, column + 1),
            };
            if let Some(cell) = table.get_mut(row * columns + column) {
                *cell = pair.max(skip);
            }
        }
    }
    let mut pairs = Vec::new();
    let (mut row, mut column) = (0, 0);
    while let (Some(one), Some(other)) = (old.get(row), new.get(column)) {
        let here = best(&table, row, column);
        let value = value(one, other);
        // As early as can be: then what is added comes as late as can be.
        if value > 0 && value + best(&table, row + 1, column + 1) == here {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if best(&table, row + 1, column) == here {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Which line became which, in order, in linear time: each is looked for near its place.
pub(super) fn nearest_pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut lines = new.iter().map(|it| Line::of(it));
    let mut ahead: VecDeque<Line<'_>> = VecDeque::with_capacity(AHEAD);
    let mut next = 0;
    let pair = |(row, line): (usize, &&str)| {
        ahead.extend(lines.by_ref().take(AHEAD - ahead.len()));
        let passed = nearest(&Line::of(line), &ahead)?;
        ahead.drain(..=passed);
        next += passed + 1;
        Some((row, next - 1))
    };
    old.iter().enumerate().filter_map(pair).collect()
}

/// Which of the next lines a line became: the one most like it, or a nearer one.
fn nearest(line: &Line<'_>, ahead: &VecDeque<Line<'_>>) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    for (passed, other) in ahead.iter().enumerate() {
        let cost = passed * PASSING;
        let most = best.map_or(0, |(_, score)| score);
        if most >= 100 - cost {
            break;
        }
        let likeness = line.likeness(other);
        if likeness >= ALIKE && likeness.saturating_sub(cost) > most {
            best = Some((passed, likeness - cost));
        }
    }
    best.map(|(passed, _)| passed)
}

/// A line, ready to be compared with others.
#[derive(Debug)]
struct Line<'a> {
    text: &'a str,
    tokens: Tokens<'a>,
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Line<'a> {
        Line { text, tokens: Tokens::of(if text.len() > LONG { "" } else { text }) }
    }

    fn all(lines: &[&'a str]) -> Vec<Line<'a>> {
        lines.iter().map(|it| Line::of(it)).collect()
    }

    /// What it is worth that one line became the other; nothing if it did not.
    fn value(&self, other: &Line<'_>) -> usize {
        let likeness = self.likeness(other);
        let weight = self.tokens.weight + other.tokens.weight;
        if likeness >= ALIKE { 1 + likeness * weight / 200 } else { 0 }
    }

    /// How much two lines have in common, of a hundred. Blanks don't count, but blank lines are
    /// alike.
    fn likeness(&self, other: &Line<'_>) -> usize {
        if self.text == other.text {
            return 100;
        }
        if self.text.len().max(other.text.len()) > LONG {
            let start = common_start(self.text, other.text);
            let rest = |text: &'a str| text.get(start..).unwrap_or_default();
            let end = other.text.get(start..).map_or(0, |it| common_end(rest(self.text), it));
            return 200 * (start + end) / (self.text.len() + other.text.len());
        }
        match self.tokens.weight + other.tokens.weight {
            0 => 100,
            all => 200 * self.tokens.shared(&other.tokens) / all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_alike_when_most_words_are() {
        let likeness = |one, other| Line::of(one).likeness(&Line::of(other));
        assert_eq!(likeness("  x", "x"), 100);
        assert_eq!(likeness("", "   "), 100);
        assert_eq!(likeness("", "x"), 0);
        assert!(likeness("let width = 1;", "let width = 2;") > 80);
        assert!(likeness("let width = 1;", "return None;") < 30);
        let long = "x".repeat(LONG);
        assert!(likeness(&format!("{long}a"), &format!("{long}bb")) > 90);
    }

    #[test]
    fn a_line_finds_the_one_it_became() {
        let old = ["let width = 1;", "gone", "let height = 2;"];
        let new = ["// new", "let width = 10;", "draw();", "let height = 20;"];
        assert_eq!(nearest_pairs(&old, &new), [(0, 1), (2, 3)]);
        assert_eq!(weighed_pairs(&old, &new), [(0, 1), (2, 3)]);
        assert_eq!(nearest_pairs(&old, &[]), []);
        assert_eq!(weighed_pairs(&[], &new), []);
    }

    #[test]
    fn a_near_line_is_as_good_as_one_more_alike() {
        let (old, new) = (["f(a, b, c)"], ["f(a, b, d)", "", "f(a, b, c)"]);
        assert_eq!(nearest_pairs(&old, &new), [(0, 0)]);
        let far: Vec<&str> = std::iter::repeat_n("x", 20).chain(["let width = 1;"]).collect();
        assert_eq!(nearest_pairs(&["let width = 2;"], &far), []);
    }

    #[test]
    fn a_heavy_line_outweighs_blank_ones() {
        let (old, new) = (["", "", "let x = 1;"], ["", "let x = 2;", "", ""]);
        assert_eq!(weighed_pairs(&old, &new), [(0, 0), (2, 1)]);
    }
}
