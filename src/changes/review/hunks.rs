//! Where hunks are, and where they go when lines come and go before them.

use std::ops::Range;

use super::Hunk;

/// The hunks that some rows of `now` meet, at a border at least.
pub(super) fn touching(hunks: &[Hunk], rows: &Range<usize>) -> Range<usize> {
    let first = hunks.partition_point(|it| it.now.end < rows.start);
    let last = hunks.partition_point(|it| it.now.start <= rows.end);
    first..last.max(first)
}

/// The hunks that have something of some rows of `now`, or something was removed between those.
/// Where there are no rows, the hunk that they would part.
pub(super) fn overlapping(hunks: &[Hunk], rows: &Range<usize>) -> Range<usize> {
    let first = hunks.partition_point(|it| it.now.end <= rows.start);
    let last = hunks.partition_point(|it| it.now.start < rows.end);
    first..last.max(first)
}

/// The row of the base for a row of `now` that comes after the first `count` hunks, but before the
/// next one.
pub(super) fn to_base(hunks: &[Hunk], count: usize, row: usize) -> usize {
    match count.checked_sub(1).and_then(|it| hunks.get(it)) {
        Some(before) => (before.base.end + row).saturating_sub(before.now.end),
        None => row,
    }
}

/// Some hunks after a change before them: `removed` lines made place for `added` others.
pub(super) fn shift_now(hunks: &mut [Hunk], removed: usize, added: usize) {
    hunks.iter_mut().for_each(|it| it.now = shifted(&it.now, removed, added));
}

/// The same, for a change of the base.
pub(super) fn shift_base(hunks: &mut [Hunk], removed: usize, added: usize) {
    hunks.iter_mut().for_each(|it| it.base = shifted(&it.base, removed, added));
}

/// A range after such a change.
pub(super) fn shifted(range: &Range<usize>, removed: usize, added: usize) -> Range<usize> {
    (range.start + added).saturating_sub(removed)..(range.end + added).saturating_sub(removed)
}

/// Whether two ranges meet, at a border at least.
pub(super) fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}
