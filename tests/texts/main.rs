//! Texts compared, merged, mirrored and written: what holds for all of them, and tables of cases.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod edits;
mod encoding;
mod format;
mod merge;
mod mirror;
mod place;
mod review;
mod review_cases;

use acp_nvim::changes::edits::Edit;
use proptest::prelude::*;

/// A few lines, so that there is something to find in common.
const LINES: &[&str] =
    &["}", "", "fn a() {", "    let b = 1;", "    let b = 2;", "\u{e9}\u{301} \u{65e5}\u{672c}"];

/// A text of such lines.
fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(LINES).prop_map(str::to_owned), 0..40)
}

/// One line, of whatever a line may be made of.
fn line() -> impl Strategy<Value = String> {
    let pieces = vec!["a", "\u{e9}", "\u{301}", "\u{65e5}", " ", "(", "\t", "b_1", "\r", "\0", ";"];
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|it| it.concat())
}

/// What somebody does to a text: from where, how many lines, and what comes instead.
type Step = (prop::sample::Index, usize, Vec<String>);

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let line = prop_oneof![prop::sample::select(LINES).prop_map(str::to_owned), line()];
    let step = (any::<prop::sample::Index>(), 0usize..4, prop::collection::vec(line, 0..4));
    prop::collection::vec(step, 0..most)
}

fn after(mut lines: Vec<String>, steps: &[Step]) -> Vec<String> {
    for (place, count, with) in steps {
        let start = place.index(lines.len() + 1);
        let end = (start + count).min(lines.len());
        lines.splice(start..end, with.iter().cloned());
    }
    lines
}

fn strs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

/// What the editor's buffer holds after the edits, one by one.
fn applied(old: &[&str], edits: &[Edit]) -> Vec<String> {
    // A buffer always has a line.
    let mut lines: Vec<String> = old.iter().map(|it| (*it).to_owned()).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    for edit in edits {
        match edit {
            Edit::Lines { rows, lines: with } => {
                lines.splice(rows.clone(), with.iter().cloned());
            }
            Edit::Text { row, columns, text } => {
                assert!(!text.contains('\n'));
                lines[*row].replace_range(columns.clone(), text);
            }
        }
    }
    lines
}

/// The same, for a text that may have no lines: a buffer can't tell that from an empty line.
fn shown(lines: &[&str]) -> Vec<String> {
    if lines.is_empty() { vec![String::new()] } else { lines.iter().map(|&it| it.into()).collect() }
}
