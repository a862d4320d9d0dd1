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
    if repeats(base, ours, theirs) {
        return Settled::Ours;
    }
    if repeats(base, theirs, ours) {
        return Settled::Lines(theirs.iter().map(|it| Cow::Borrowed(*it)).collect());
    }
    if let Some(lines) = line_by_line(base, ours, theirs) {
        return Settled::Lines(lines);
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

/// Whether all that one side did is to make others of some lines at an end of the region, and the
/// other side has made the same of them, whatever it did to the rest.
fn repeats(base: &[&str], more: &[&str], less: &[&str]) -> bool {
    if less.len() != base.len() {
        return false;
    }
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let start = same(&mut less.iter().zip(more));
    let end = same(&mut less.iter().rev().zip(more.iter().rev()));
    let stays = |rows: Range<usize>| !rows.is_empty() && less.get(rows.clone()) == base.get(rows);
    (start > 0 && stays(start..less.len())) || (end > 0 && stays(0..less.len() - end))
}

/// The lines of both, where neither side has more or fewer of them, and each was changed by one
/// side alone, or by both in the same way.
fn line_by_line<'a>(
    base: &[&'a str],
    ours: &[&'a str],
    theirs: &[&'a str],
) -> Option<Vec<Cow<'a, str>>> {
    if base.len() != ours.len() || base.len() != theirs.len() {
        return None;
    }
    let sides = base.iter().zip(ours).zip(theirs);
    let one = |((base, our), their): ((&&'a str, &&'a str), &&'a str)| match () {
        () if our == their || their == base => Some(Cow::Borrowed(*our)),
        () if our == base => Some(Cow::Borrowed(*their)),
        () => None,
    };
    sides.map(one).collect()
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
