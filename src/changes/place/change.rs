//! Where a change goes that is told by what was there and what comes: of the whole file, or of a
//! piece of it that may begin and end in the middle of a line.

use std::ops::Range;

use super::super::diff::file_diff;
use super::patch::{FilePatch, Hunk, Kind, Mark};
use super::{Found, How, Placing, Why, place_patch, telling};
use crate::session::diff::{Change, Hunk as DiffHunk};
use crate::session::effect::Texts;

/// The most places that are told of.
const PLACES: usize = 10;

/// Finds the places of changes to one file in its text, each on its own.
pub fn place_changes(changes: &[Texts], text: &[&str]) -> Placing {
    let mut placing = Placing::default();
    let mut whole = text.join("\n");
    if !text.is_empty() {
        whole.push('\n');
    }
    let plain = !whole.contains('\r');
    for it in changes {
        // Where lines end is the buffer's business.
        let ended = |text: &str| if plain { text.replace("\r\n", "\n") } else { text.to_owned() };
        let (old, new) = (it.old.as_deref().map(ended).unwrap_or_default(), ended(&it.new));
        let what = telling(new.lines()).to_owned();
        if old.is_empty() {
            let lines: Vec<String> = new.lines().map(str::to_owned).collect();
            match Found::new(text, 0..text.len(), &lines) {
                Some(found) => placing.add(found.by(How::Whole, 100), &what),
                None => placing.miss(&what, Why::Already(0)),
            }
            continue;
        }
        match literally(&whole, (&old, &new), known_line(it)) {
            Some(Ok(piece)) => match Found::new(text, piece.rows.clone(), &piece.lines) {
                Some(found) => placing.add(found, &what),
                None => placing.miss(&what, Why::Already(piece.rows.start)),
            },
            Some(Err(why)) => placing.miss(&what, why),
            None => {
                let placed = place_patch(&patch(it, (&old, &new)), text);
                placed.found.into_iter().for_each(|it| placing.add(it, &what));
                placing.missing.extend(placed.missing);
            }
        }
    }
    placing
}

/// The line a change begins at, from 1, where that is known.
fn known_line(it: &Texts) -> Option<usize> {
    let whole = it.old.as_ref().is_some_and(|old| old.ends_with('\n'));
    (whole || it.first > 1).then_some(it.first)
}

/// Rows that make place for lines.
struct Piece {
    rows: Range<usize>,
    lines: Vec<String>,
}

/// Looks for the very text that was there.
fn literally(
    whole: &str,
    (old, new): (&str, &str),
    line: Option<usize>,
) -> Option<Result<Piece, Why>> {
    let row_of = |at: usize| whole.get(..at).unwrap_or_default().matches('\n').count();
    let places: Vec<usize> = whole.match_indices(old).map(|it| it.0).take(PLACES).collect();
    let nearest = |line: usize| {
        places.iter().copied().min_by_key(|at| row_of(*at).abs_diff(line.saturating_sub(1)))
    };
    let at = match (places.as_slice(), line) {
        ([], _) => return None,
        ([only], _) => *only,
        (_, Some(line)) => nearest(line)?,
        (all, None) => {
            return Some(Err(Why::Ambiguous(all.iter().map(|it| row_of(*it)).collect())));
        }
    };
    Some(Ok(piece(whole, at..at + old.len(), new)))
}

/// The rows that some bytes are in, and what they become.
fn piece(whole: &str, bytes: Range<usize>, new: &str) -> Piece {
    let before = whole.get(..bytes.start).unwrap_or_default();
    let old = whole.get(bytes.clone()).unwrap_or_default();
    let after = whole.get(bytes.end..).unwrap_or_default();
    let head = before.rsplit('\n').next().unwrap_or_default();
    let first = before.matches('\n').count();
    let rows = first..first + old.matches('\n').count();
    let lines = |text: &str| text.split('\n').map(str::to_owned).collect();
    if head.is_empty() && old.ends_with('\n') && (new.is_empty() || new.ends_with('\n')) {
        return Piece { rows, lines: new.lines().map(str::to_owned).collect() };
    }
    let tail = after.split('\n').next().unwrap_or_default();
    Piece { rows: rows.start..rows.end + 1, lines: lines(&format!("{head}{new}{tail}")) }
}

/// The change as a diff.
fn patch(it: &Texts, (old, new): (&str, &str)) -> FilePatch {
    let diff = file_diff(&it.path, Some(old), new, (it.first, it.first));
    let known = known_line(it).is_some();
    let hunk = |hunk: DiffHunk| Hunk {
        line: known.then_some(hunk.old.0),
        heading: String::new(),
        lines: hunk.lines.into_iter().map(|it| (mark(it.change), it.text.to_string())).collect(),
    };
    let hunks = diff.hunks.into_iter().map(hunk).collect();
    FilePatch { path: Some(it.path.clone()), kind: Kind::Changed, hunks }
}

fn mark(change: Change) -> Mark {
    match change {
        Change::Kept => Mark::Kept,
        Change::Removed => Mark::Removed,
        Change::Added => Mark::Added,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str, old: Option<&str>, new: &str) -> Vec<(Range<usize>, String)> {
        let lines: Vec<&str> = text.lines().collect();
        let texts =
            Texts { path: "a".to_owned(), old: old.map(Into::into), new: new.into(), first: 1 };
        let found = place_changes(&[texts], &lines).found;
        let edits = found.into_iter().flat_map(|it| it.lines);
        edits.map(|it| (it.rows, it.lines.join("|"))).collect()
    }

    #[test]
    fn a_whole_text_is_placed_where_others_have_changed_it() {
        let (old, new) = ("a\nb\nc\nd\ne\n", "a\nB\nc\nd\nE\n");
        assert_eq!(placed(old, Some(old), new), [(1..2, "B".into()), (4..5, "E".into())]);
        let mine = "mine\nx\na\nb\nc\nd\ne\n";
        assert_eq!(placed(mine, Some(old), new), [(3..4, "B".into()), (6..7, "E".into())]);
        assert_eq!(
            placed("a\nb\nc\nd\ne", Some(old), new),
            [(1..2, "B".into()), (4..5, "E".into())]
        );
    }

    #[test]
    fn a_piece_may_begin_and_end_within_lines() {
        let text = "fn a() {\n    one(1);\n    two(2);\n}\n";
        assert_eq!(placed(text, Some("one(1)"), "ONE"), [(1..2, "    ONE;".into())]);
        assert_eq!(
            placed(text, Some("1);\n    two"), "x); two"),
            [(1..3, "    one(x); two(2);".into())]
        );
        assert_eq!(placed(text, Some("    one(1);\n"), ""), [(1..2, String::new())]);
        assert_eq!(placed(text, Some("nowhere"), "x"), []);
        assert_eq!(placed("x\nx\n", Some("x"), "y"), [], "it fits in two places");
    }

    #[test]
    fn a_text_without_an_old_one_takes_the_place_of_everything() {
        assert_eq!(placed("", None, "a\nb\n"), [(0..0, "a|b".into())]);
        assert_eq!(placed("a\nb\n", None, "a\nc\n"), [(1..2, "c".into())]);
        assert_eq!(placed("a\nb\n", Some(""), "a\nb\n"), []);
    }
}
