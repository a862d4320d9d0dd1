//! Two lists of lines to the pieces that differ, each with what to compare no further than.
//!
//! Most changes are small and far apart. Whoever walks along both lists sees where they part, and
//! soon where they meet again: only what lies between needs a closer look. Where they do not meet
//! again soon, the rest is one piece.

use std::ops::Range;

/// How far is looked for the place where the lists meet again, in lines of both.
const WINDOW: usize = 80;
/// How many equal lines make such a place; fewer could be equal by chance.
const MEETING: usize = 16;

/// The pieces in which two lists differ.
pub(super) fn pieces<T: PartialEq>(old: &[T], new: &[T]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut pieces = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    loop {
        let (old_rest, new_rest) = (rest(old, old_at), rest(new, new_at));
        let equal = old_rest.iter().zip(new_rest).take_while(|(one, other)| one == other).count();
        (old_at, new_at) = (old_at + equal, new_at + equal);
        if old_at == old.len() && new_at == new.len() {
            return pieces;
        }
        let Some((removed, added)) = meeting(rest(old, old_at), rest(new, new_at)) else {
            pieces.push((old_at..old.len(), new_at..new.len()));
            return pieces;
        };
        pieces.push((old_at..old_at + removed, new_at..new_at + added));
        (old_at, new_at) = (old_at + removed, new_at + added);
    }
}

/// How many lines of each list lie before the nearest place where they meet again.
fn meeting<T: PartialEq>(old: &[T], new: &[T]) -> Option<(usize, usize)> {
    let most = (old.len().checked_sub(MEETING)?, new.len().checked_sub(MEETING)?);
    (1..=WINDOW.min(most.0 + most.1)).find_map(|both| {
        let meets = |removed: &usize| {
            let added = both - *removed;
            old.get(*removed..*removed + MEETING) == new.get(added..added + MEETING)
        };
        (both.saturating_sub(most.1)..=both.min(most.0)).find(meets).map(|it| (it, both - it))
    })
}

fn rest<T>(lines: &[T], at: usize) -> &[T] {
    lines.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_are_far_apart_are_pieces_of_their_own() {
        let old: Vec<usize> = (0..200).collect();
        let mut new = old.clone();
        new.splice(150..152, [1000, 1001, 1002]);
        new.remove(50);
        assert_eq!(pieces(&old, &new), [(50..51, 50..50), (150..152, 149..152)]);
    }

    #[test]
    fn the_rest_is_one_piece() {
        let old: Vec<usize> = (0..200).collect();
        let new: Vec<usize> = (0..400).filter(|it| it % 10 != 5).collect();
        assert_eq!(pieces(&old, &new), [(5..200, 5..360)]);
        assert_eq!(pieces(&old, &old), []);
        assert_eq!(pieces(&old, &[]), [(0..200, 0..0)]);
    }
}
