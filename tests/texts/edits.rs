//! The edits that make one text of another.

use acp_nvim::changes::edits::{Edit, edits};
use proptest::prelude::*;

use super::{after, applied, line, lines, shown, steps, strs};

fn check(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let edits = edits(old, new);
    let result = applied(old, &edits);
    if new.is_empty() && !old.is_empty() {
        // Only this way does the editor know that the file has no line, not an empty one.
        assert_eq!(edits, [Edit::Lines { rows: 0..old.len(), lines: vec![] }]);
    } else {
        assert_eq!(result, shown(new), "{edits:#?}");
    }
    assert_eq!(edits.is_empty(), old == new);
    // From the last to the first, and none meets another but at its border.
    let place = |edit: &Edit| match edit {
        Edit::Lines { rows, .. } => ((rows.start, 0), (rows.end, 0)),
        Edit::Text { row, columns, .. } => ((*row, columns.start), (*row, columns.end)),
    };
    for pair in edits.windows(2) {
        assert!(place(&pair[1]).1 <= place(&pair[0]).0, "{edits:#?}");
    }
    edits
}

proptest! {
    #[test]
    fn edits_make_the_new_text((old, steps) in (lines(), steps(5))) {
        let new = after(old.clone(), &steps);
        check(&strs(&old), &strs(&new));
        check(&strs(&new), &strs(&old));
    }

    #[test]
    fn any_line_becomes_any_other(old in line(), new in line(), around in line()) {
        check(&[&old], &[&new]);
        check(&[&around, &old], &[&new, &around]);
        let (old, new) = (format!("{around}{old}{around}"), format!("{around}{new}{around}"));
        check(&[&old], &[&new]);
    }

    /// Nothing outside the stretch between the first and the last difference is touched.
    #[test]
    fn what_stays_is_not_touched((old, at, with) in (lines(), any::<prop::sample::Index>(), line())) {
        let at = at.index(old.len() + 1);
        let before: Vec<String> = (0..20).map(|it| format!("before {it}")).collect();
        let behind: Vec<String> = (0..20).map(|it| format!("behind {it}")).collect();
        let new = [&old[..at], &[with], &old[at..]].concat();
        let old = [&before[..], &old, &behind].concat();
        let new = [&before[..], &new, &behind].concat();
        for edit in check(&strs(&old), &strs(&new)) {
            let rows = match edit {
                Edit::Lines { rows, .. } => rows,
                Edit::Text { row, .. } => row..row + 1,
            };
            assert!(rows.start >= 20 && rows.end <= old.len() - 20, "{rows:?}");
        }
    }
}

fn text(row: usize, columns: std::ops::Range<usize>, text: &str) -> Edit {
    Edit::Text { row, columns, text: text.into() }
}

fn rows(rows: std::ops::Range<usize>, lines: &[&str]) -> Edit {
    Edit::Lines { rows, lines: lines.iter().map(|&it| it.into()).collect() }
}

#[test]
fn a_changed_word_is_a_changed_word() {
    let found = check(&["a", "let width = 1;", "b"], &["a", "let breadth = 1;", "b"]);
    assert_eq!(found, [text(1, 4..6, "brea")], "what is the same in both words stays");
    assert_eq!(check(&["f(a, b)"], &["f(a, b, c)"]), [text(0, 6..6, ", c")]);
    assert_eq!(check(&["né 日本"], &["né 日木"]), [text(0, 7..10, "木")]);
    let found = check(&["let one = first(1);"], &["let two = first(2);"]);
    assert_eq!(found, [text(0, 16..17, "2"), text(0, 4..7, "two")]);
    // Too near to each other.
    assert_eq!(check(&["x(1, 2) or nothing"], &["x(3, 4) or nothing"]), [text(0, 2..6, "3, 4")]);
}

#[test]
fn added_and_removed_lines_leave_their_neighbours_alone() {
    assert_eq!(check(&["a", "b"], &["a", "x", "y", "b"]), [rows(1..1, &["x", "y"])]);
    assert_eq!(check(&["a", "b"], &["a", "b", "c"]), [rows(2..2, &["c"])]);
    assert_eq!(check(&["a", "b", "c"], &["a"]), [rows(1..3, &[])]);
    assert_eq!(check(&["a"], &[]), [rows(0..1, &[])]);
}

#[test]
fn an_empty_buffer_has_a_line_to_replace() {
    assert_eq!(check(&[], &["a", "b"]), [rows(0..1, &["a", "b"])]);
    assert_eq!(check(&[], &[""]), [rows(0..1, &[""])]);
    assert_eq!(check(&[""], &["a"]), [rows(0..1, &["a"])]);
}

#[test]
fn a_line_is_found_among_new_ones() {
    let old = ["    let width = 1;", "    let height = 2;"];
    let new = ["    // Measured.", "    let width = 10;", "    draw();", "    let height = 20;"];
    assert_eq!(
        check(&old, &new),
        [
            text(1, 18..18, "0"),
            rows(1..1, &["    draw();"]),
            text(0, 17..17, "0"),
            rows(0..0, &["    // Measured."]),
        ]
    );
}

#[test]
fn a_line_that_is_another_is_replaced() {
    let found = check(&["return None;"], &["let width = measure(text);"]);
    assert_eq!(found, [rows(0..1, &["let width = measure(text);"])]);
}

#[test]
fn a_long_line_is_changed_in_one_place() {
    let (start, end) = ("ab ".repeat(200_000), "cd ".repeat(200_000));
    let (old, new) = (format!("{start}x y{end}"), format!("{start}1 y 2{end}"));
    assert_eq!(check(&[&old], &[&new]), [text(0, 600_000..600_003, "1 y 2")]);
}

#[test]
fn there_are_never_too_many() {
    let numbered = |word: &str, every: usize| -> Vec<String> {
        let line =
            |it| if it % every == 0 { format!("let {word} = {it};") } else { format!("{it}") };
        (0..20_000).map(line).collect()
    };
    for (every, most) in [(1, 1), (2, 1000), (5, 1000), (20, 1000)] {
        let (old, new) = (numbered("one", every), numbered("two", every));
        let found = check(&strs(&old), &strs(&new));
        assert!(found.len() <= most, "{} edits for one line of {every}", found.len());
    }
    let in_place = check(&strs(&numbered("one", 20)), &strs(&numbered("two", 20)));
    assert!(in_place.iter().all(|it| matches!(it, Edit::Text { .. })));
}
