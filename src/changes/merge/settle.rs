//! A region that both sides changed: what can be settled, and what can't.

use std::borrow::Cow;
use std::ops::Range;

use super::words::merge_words;

/// What becomes of the lines of a region.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled<'a> {
    /// They are as they should be on our side.
    Ours,
    /// They become these.
    Lines(Vec<Cow<'a, str>>),
    /// Both changed them differently. These lines of each side, counted from the region's start,
    /// are what they don't agree on.
    Conflict { ours: Range<usize>, theirs: Range<usize> },
}

/// What becomes of the lines that `base` was, here and there.
pub(super) fn settle<'a>(base: &[&'a str], ours: &[&'a str], theirs: &[&'a str]) -> Settled<'a> {
    if ours == theirs || includes(base, ours, theirs) {
        return Settled::Ours;
    }
    if includes(base, theirs, ours) {
        return Settled::Lines(theirs.iter().map(|it| Cow::Borrowed(*it)).collect());
    }
    // No lines are not the same as an empty one.
    if base.is_empty() || ours.is_empty() || theirs.is_empty() {
        return conflict(ours, theirs);
    }
    match merge_words(&base.join("\n"), &ours.join("\n"), &theirs.join("\n")) {
        Some(text) => {
            Settled::Lines(text.split('\n').map(|it| Cow::Owned(it.to_owned())).collect())
        }
        None => conflict(ours, theirs),
    }
}

/// Whether all that one side did is to add lines at an end of the region, and the other side has
/// added these there too.
fn includes(base: &[&str], more: &[&str], less: &[&str]) -> bool {
    let at_start = less.strip_suffix(base).is_some_and(|added| more.starts_with(added));
    let at_end = less.strip_prefix(base).is_some_and(|added| more.ends_with(added));
    less.len() > base.len() && (at_start || at_end)
}

/// What both made the same at the start and the end is no part of it.
fn conflict<'a>(ours: &[&str], theirs: &[&str]) -> Settled<'a> {
    let pairs = ours.iter().zip(theirs);
    let start = pairs.take_while(|(our, their)| our == their).count();
    let left = ours.len().min(theirs.len()) - start;
    let pairs = ours.iter().rev().zip(theirs.iter().rev()).take(left);
    let end = pairs.take_while(|(our, their)| our == their).count();
    Settled::Conflict { ours: start..ours.len() - end, theirs: start..theirs.len() - end }
}
