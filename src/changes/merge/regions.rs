//! The changes of two sides to one sequence, sorted into those of one and those of both.

use std::ops::Range;

use crate::changes::script::Stretch;

/// Who changed a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Ours,
    Theirs,
    Both,
}

/// Where a part of the sequence is in each of the three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) base: Range<usize>,
    pub(super) ours: Range<usize>,
    pub(super) theirs: Range<usize>,
}

/// The regions that somebody changed, in order. Changes of two sides that overlap are in one; of
/// those that only touch each other `together` says whether they are.
pub(super) fn regions(
    ours: &[Stretch],
    theirs: &[Stretch],
    together: impl Fn(&Stretch, &Stretch) -> bool,
) -> Vec<(Who, Region)> {
    let mut regions = Vec::new();
    let (mut ours, mut theirs) = (Side::of(ours), Side::of(theirs));
    loop {
        let key = |it: &&Stretch| (it.old.start, it.old.end);
        let first = match (ours.next(), theirs.next()) {
            (Some(our), Some(their)) if key(&their) < key(&our) => theirs.take(),
            (Some(_), _) => ours.take(),
            (None, Some(_)) => theirs.take(),
            (None, None) => return regions,
        };
        let mut base = first.map_or(0..0, |it| it.old.clone());
        // Each change that joins may reach the next one of the other side.
        loop {
            let joins = |it: &Stretch, touches: bool| {
                it.old.start < base.end || (it.old.start == base.end && touches)
            };
            let touches = |our: &Stretch, their: &Stretch, end: usize| {
                end == base.end && together(our, their)
            };
            let our = ours.next().filter(|our| {
                let touches = theirs.last.is_some_and(|their| touches(our, their, their.old.end));
                joins(our, touches)
            });
            let their = theirs.next().filter(|their| {
                let touches = ours.last.is_some_and(|our| touches(our, their, our.old.end));
                joins(their, touches)
            });
            let joined = match (our, their) {
                (Some(_), _) => ours.take(),
                (None, Some(_)) => theirs.take(),
                (None, None) => break,
            };
            base.end = joined.map_or(base.end, |it| it.old.end.max(base.end));
        }
        let who = match (ours.last.is_some(), theirs.last.is_some()) {
            (true, true) => Who::Both,
            (true, false) => Who::Ours,
            _ => Who::Theirs,
        };
        let (ours, theirs) = (ours.finish(&base), theirs.finish(&base));
        regions.push((who, Region { base, ours, theirs }));
    }
}

/// The changes of one side, from the first to the last.
struct Side<'a> {
    rest: &'a [Stretch],
    /// The last one taken into the region.
    last: Option<&'a Stretch>,
    /// How far the side's items are behind or ahead of the base's, before the region.
    shift: isize,
}

impl<'a> Side<'a> {
    fn of(rest: &'a [Stretch]) -> Side<'a> {
        Side { rest, last: None, shift: 0 }
    }

    fn next(&self) -> Option<&'a Stretch> {
        self.rest.first()
    }

    fn take(&mut self) -> Option<&'a Stretch> {
        let (first, rest) = self.rest.split_first()?;
        (self.rest, self.last) = (rest, Some(first));
        self.last
    }

    /// Where the region is on this side. The next one begins.
    fn finish(&mut self, base: &Range<usize>) -> Range<usize> {
        let start = base.start.saturating_add_signed(self.shift);
        if let Some(last) = self.last.take() {
            self.shift = last.new.end.cast_signed() - last.old.end.cast_signed();
        }
        start..base.end.saturating_add_signed(self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        ours: &[(Range<usize>, Range<usize>)],
        theirs: &[(Range<usize>, Range<usize>)],
        together: bool,
    ) -> Vec<(Who, [Range<usize>; 3])> {
        let stretches = |it: &[(Range<usize>, Range<usize>)]| -> Vec<Stretch> {
            it.iter().map(|(old, new)| Stretch { old: old.clone(), new: new.clone() }).collect()
        };
        let found = regions(&stretches(ours), &stretches(theirs), |_, _| together);
        found.into_iter().map(|(who, it)| (who, [it.base, it.ours, it.theirs])).collect()
    }

    #[test]
    fn each_region_is_found_in_all_three() {
        // We add two before 1 and change 5; they remove 2..4.
        let found = found(&[(1..1, 1..3), (5..6, 7..8)], &[(2..4, 2..2)], false);
        assert_eq!(
            found,
            [
                (Who::Ours, [1..1, 1..3, 1..1]),
                (Who::Theirs, [2..4, 4..6, 2..2]),
                (Who::Ours, [5..6, 7..8, 3..4]),
            ]
        );
    }

    #[test]
    fn what_overlaps_is_one_through_others() {
        let found = found(&[(1..4, 1..4), (6..9, 6..9)], &[(3..7, 3..4)], false);
        assert_eq!(found, [(Who::Both, [1..9, 1..9, 1..6])]);
    }

    #[test]
    fn what_touches_is_one_if_wanted() {
        let (ours, theirs) = ([(1..2, 1..2)], [(2..2, 2..3), (4..5, 5..6)]);
        assert_eq!(
            found(&ours, &theirs, true),
            [(Who::Both, [1..2, 1..2, 1..3]), (Who::Theirs, [4..5, 4..5, 5..6]),]
        );
        assert_eq!(
            found(&ours, &theirs, false)[..2],
            [(Who::Ours, [1..2, 1..2, 1..2]), (Who::Theirs, [2..2, 2..2, 2..3]),]
        );
    }
}
