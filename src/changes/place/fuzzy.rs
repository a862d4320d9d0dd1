//! The stretch of a text that is most like some lines, which may lack some of them and have others
//! in between.

use std::ops::Range;

use super::{likeness, weight};

/// Of how many pairs of lines it is looked at how alike they are: a moment's worth.
const MOST: usize = 40_000_000;
/// From here on lines that are not the same count, by how alike they are.
const ALIKE: usize = 50;
/// What it costs to pass over a line of the text.
const PASSING: usize = 2;

/// A stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) rows: Range<usize>,
    /// How much of the lines is there, of a hundred.
    pub(super) score: usize,
}

/// The best stretch, and the best of those that have no row in common with it. Both texts come
/// without the blanks that don't count.
pub(super) fn best(lines: &[String], text: &[String]) -> Option<(Stretch, Option<Stretch>)> {
    if lines.len().saturating_mul(text.len()) > MOST {
        return None;
    }
    let total: usize = lines.iter().map(|it| weight(it)).sum();
    let ends = ends(lines, text);
    let stretch = |(end, (score, start)): (usize, &(usize, usize))| Stretch {
        rows: *start..end,
        score: (*score * 100).checked_div(total).unwrap_or_default(),
    };
    let all = || ends.iter().enumerate().filter(|(_, (score, _))| *score > 0).map(stretch);
    // The first of equals, which is the shortest one too.
    let first = |one: Option<Stretch>, two: Stretch| match one {
        Some(one) if one.score >= two.score => Some(one),
        _ => Some(two),
    };
    let best = all().fold(None, first)?;
    let apart = |it: &Stretch| it.rows.end <= best.rows.start || it.rows.start >= best.rows.end;
    let second = all().filter(apart).fold(None, first);
    Some((best, second))
}

/// For each place in the text, what the best stretch that ends there is worth, and where it begins.
fn ends(lines: &[String], text: &[String]) -> Vec<(usize, usize)> {
    // Nothing of the lines is worth nothing anywhere.
    let mut row: Vec<(usize, usize)> = (0..=text.len()).map(|at| (0, at)).collect();
    for line in lines {
        let full = weight(line);
        let mut next = Vec::with_capacity(row.len());
        let mut last = row.first().copied().unwrap_or_default();
        next.push(last);
        for ((other, before), above) in text.iter().zip(&row).zip(row.iter().skip(1)) {
            let gain = match likeness(line, other) {
                100 => full,
                alike if alike >= ALIKE => full * alike / 100,
                _ => 0,
            };
            let passed = (last.0.saturating_sub(PASSING), last.1);
            let pair = if gain > 0 { (before.0 + gain, before.1) } else { (0, above.1) };
            // Of equals, the one that needs no line of the text.
            let mut found = *above;
            for other in [passed, pair] {
                if other.0 > found.0 {
                    found = other;
                }
            }
            next.push(found);
            last = found;
        }
        row = next;
    }
    row
}
