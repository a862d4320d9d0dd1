//! Two sequences, of lines or of words, to the stretches that differ.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff};

use super::walk::pieces;

/// A stretch of the old sequence that makes place for one of the new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Which way something goes that could as well stand some places on: `}` added after `}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slide {
    /// Towards the start.
    Up,
    /// Towards the end: what is added to code goes after what was there, as a rule.
    Down,
}

/// The stretches that differ, in order, with at least one item that stays between them.
pub(super) fn stretches<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<Stretch> {
    let backwards = old.iter().rev().zip(new.iter().rev());
    let after = backwards.take_while(|(one, other)| one == other).count();
    let old = old.get(..old.len() - after).unwrap_or_default();
    let new = new.get(..new.len() - after).unwrap_or_default();
    let mut found: Vec<Stretch> = Vec::new();
    for (old_piece, new_piece) in pieces(old, new) {
        // Not Histogram, which reads better now and then and takes minutes on some large files.
        for op in capture_diff(Algorithm::Myers, old, old_piece, new, new_piece) {
            let (tag, old, new) = op.as_tag_tuple();
            match found.last_mut() {
                _ if tag == DiffTag::Equal => {}
                Some(it) if it.old.end == old.start && it.new.end == new.start => {
                    (it.old.end, it.new.end) = (old.end, new.end);
                }
                _ => found.push(Stretch { old, new }),
            }
        }
    }
    found
}

/// The stretches, each as far up or down as it can be.
///
/// So the same change is found in the same place again, whatever else differs.
pub(super) fn script<T: Hash + Eq>(old: &[T], new: &[T], slide: Slide) -> Vec<Stretch> {
    let mut stretches = stretches(old, new);
    match slide {
        Slide::Up => slide_up(&mut stretches, old, new),
        Slide::Down => slide_down(&mut stretches, old, new),
    }
    stretches
}

/// The side that has something, of a stretch that only adds or only removes.
fn one_sided<'a, T>(it: &Stretch, old: &'a [T], new: &'a [T]) -> Option<(&'a [T], Range<usize>)> {
    match (it.old.is_empty(), it.new.is_empty()) {
        (true, false) => Some((new, it.new.clone())),
        (false, true) => Some((old, it.old.clone())),
        _ => None,
    }
}

fn slide_down<T: Eq>(stretches: &mut [Stretch], old: &[T], new: &[T]) {
    // Never so far that it meets the next one.
    let mut limit = old.len() + 1;
    for stretch in stretches.iter_mut().rev() {
        if let Some((items, range)) = one_sided(stretch, old, new) {
            let room = limit.saturating_sub(stretch.old.end + 1);
            let pairs = items.iter().skip(range.start).zip(items.iter().skip(range.end));
            let by = pairs.take(room).take_while(|(first, next)| first == next).count();
            stretch.old = stretch.old.start + by..stretch.old.end + by;
            stretch.new = stretch.new.start + by..stretch.new.end + by;
        }
        limit = stretch.old.start;
    }
}

fn slide_up<T: Eq>(stretches: &mut [Stretch], old: &[T], new: &[T]) {
    let mut limit = 0;
    for stretch in stretches {
        if let Some((items, range)) = one_sided(stretch, old, new) {
            let room = stretch.old.start.saturating_sub(limit);
            let backwards = |end: usize| items.iter().take(end).rev();
            let pairs = backwards(range.end).zip(backwards(range.start));
            let by = pairs.take(room).take_while(|(last, previous)| last == previous).count();
            stretch.old = stretch.old.start - by..stretch.old.end - by;
            stretch.new = stretch.new.start - by..stretch.new.end - by;
        }
        limit = stretch.old.end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(old: &str, new: &str, slide: Slide) -> Vec<(Range<usize>, Range<usize>)> {
        let items = |text: &str| text.chars().collect::<Vec<char>>();
        let stretches = script(&items(old), &items(new), slide);
        stretches.into_iter().map(|it| (it.old, it.new)).collect()
    }

    #[test]
    fn what_differs_is_found() {
        assert_eq!(found("abc", "abc", Slide::Down), []);
        assert_eq!(found("", "ab", Slide::Down), [(0..0, 0..2)]);
        assert_eq!(found("abcd", "axcyd", Slide::Down), [(1..2, 1..2), (3..3, 3..4)]);
    }

    #[test]
    fn what_could_stand_elsewhere_goes_where_it_is_told() {
        assert_eq!(found("xaay", "xaaay", Slide::Down), [(3..3, 3..4)]);
        assert_eq!(found("xaay", "xaaay", Slide::Up), [(1..1, 1..2)]);
        assert_eq!(found("xaaay", "xaay", Slide::Up), [(1..2, 1..1)]);
        assert_eq!(found("xaaay", "xaay", Slide::Down), [(3..4, 3..3)]);
        // It does not depend on what differs elsewhere.
        assert_eq!(found("xaayz", "xaaayq", Slide::Up), [(1..1, 1..2), (4..5, 5..6)]);
        assert_eq!(found("zxaay", "qxaaay", Slide::Down), [(0..1, 0..1), (4..4, 4..5)]);
    }

    #[test]
    fn nothing_slides_into_its_neighbour() {
        for (old, new) in [("aab", "aaac"), ("baa", "caaa"), ("aaxa", "aaaya")] {
            for slide in [Slide::Up, Slide::Down] {
                let found = found(old, new, slide);
                let apart = |it: &[(Range<usize>, Range<usize>)]| it[0].0.end < it[1].0.start;
                assert!(found.windows(2).all(apart), "{old} {new} {found:?}");
            }
        }
    }
}
