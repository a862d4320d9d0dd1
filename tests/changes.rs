//! What is said of two texts is true of them.

#![expect(clippy::indexing_slicing, reason = "a test stops at the first surprise")]

use acp_nvim::changes::diff::{file_diff, file_diffs};
use acp_nvim::session::diff::{Change, Ending, FileDiff};
use acp_nvim::session::effect::Texts;
use proptest::prelude::*;

/// A text as lines, each with its ending.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn bare(line: &str, crlf: bool) -> &str {
    let Some(line) = line.strip_suffix('\n') else { return line };
    if crlf { line.strip_suffix('\r').unwrap_or(line) } else { line }
}

/// Whether every line that ends, ends in CRLF, and whether that is so for LF alone.
fn endings(text: &str) -> (bool, bool) {
    let ended: Vec<&str> = lines(text).into_iter().filter(|it| it.ends_with('\n')).collect();
    (ended.iter().all(|it| it.ends_with("\r\n")), !ended.iter().any(|it| it.ends_with("\r\n")))
}

/// The new text: the old one with the hunks put in.
fn applied(old: &str, new: &str, diff: &FileDiff) -> String {
    let (old_ends, new_ends) = (endings(old), endings(new));
    let pure = (old_ends.0 || old_ends.1) && (new_ends.0 || new_ends.1);
    let old_crlf = pure && !old_ends.1;
    let ending = match (diff.endings, pure && !new_ends.1) {
        (Some((_, Ending::CrLf)), _) | (None, true) => "\r\n",
        _ => "\n",
    };
    let old_lines: Vec<&str> = lines(old).into_iter().map(|it| bare(it, old_crlf)).collect();
    let mut text: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut turned = false;
    for hunk in &diff.hunks {
        let start = if hunk.old.1 == 0 { hunk.old.0 } else { hunk.old.0 - 1 };
        text.extend(&old_lines[at..start]);
        at = start;
        for line in &hunk.lines {
            turned |= line.unended;
            match line.change {
                Change::Kept => {
                    assert_eq!(old_lines[at], &*line.text);
                    text.push(&line.text);
                    at += 1;
                }
                Change::Removed => {
                    assert_eq!(old_lines[at], &*line.text);
                    at += 1;
                }
                Change::Added => text.push(&line.text),
            }
        }
    }
    text.extend(&old_lines[at..]);
    let unended = |text: &str| !text.is_empty() && !text.ends_with('\n');
    let mut joined: String = text.iter().map(|line| format!("{line}{ending}")).collect();
    if unended(old) != turned {
        joined.truncate(joined.len().saturating_sub(ending.len()));
    }
    joined
}

fn check(old: &str, new: &str) {
    let diff = file_diff("a", Some(old), new, (1, 1));
    assert_eq!(applied(old, new, &diff), new, "{diff:#?}");
    let (mut added, mut removed) = (0, 0);
    let mut last = (0, 0);
    for hunk in &diff.hunks {
        let of = |change: Change| hunk.lines.iter().filter(|it| it.change == change).count();
        let kept = of(Change::Kept);
        added += of(Change::Added);
        removed += of(Change::Removed);
        assert_eq!(hunk.old.1, kept + of(Change::Removed));
        assert_eq!(hunk.new.1, kept + of(Change::Added));
        assert!(hunk.lines.iter().any(|it| it.change != Change::Kept));
        let start = |(start, count): (usize, usize)| if count == 0 { start + 1 } else { start };
        assert!(start(hunk.old) > last.0 && start(hunk.new) > last.1, "hunks don't meet");
        let numbers = hunk.lines.iter().filter_map(|it| it.old);
        assert!(numbers.eq(start(hunk.old)..start(hunk.old) + hunk.old.1));
        let numbers = hunk.lines.iter().filter_map(|it| it.new);
        assert!(numbers.eq(start(hunk.new)..start(hunk.new) + hunk.new.1));
        last = (start(hunk.old) + hunk.old.1, start(hunk.new) + hunk.new.1);
        for line in &hunk.lines {
            let mut end = 0;
            for (number, words) in line.words.iter().enumerate() {
                assert!(number == 0 || words.start > end, "words don't meet: {line:?}");
                assert!(words.start < words.end, "{line:?}");
                assert!(line.text.get(words.clone()).is_some(), "{line:?}");
                assert!(line.change != Change::Kept);
                end = words.end;
            }
        }
    }
    assert_eq!((diff.added, diff.removed), (added, removed));
    assert_eq!(diff.hunks.is_empty() && diff.endings.is_none(), old == new);
}

fn text(pieces: &'static [&'static str], count: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..count).prop_map(|it| it.concat())
}

/// A few lines, so that there is something to find in common.
const LINES: &[&str] = &[
    "}\n",
    "\n",
    "fn a() {\n",
    "    let b = 1;\n",
    "    let b = 2;\n",
    "\u{e9}\u{301} \u{65e5}\n",
];
/// Whatever a text may be made of.
const PIECES: &[&str] =
    &["a", "\u{e9}", "\u{65e5}\u{672c}", "\n", "\r\n", "\r", " ", "(", "\t", "b"];

/// A text, and one that was made from it.
fn edited() -> impl Strategy<Value = (String, String)> {
    (
        text(LINES, 60),
        prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, 0usize..6), 0..6),
    )
        .prop_map(|(old, edits)| {
            let mut new: Vec<&str> = lines(&old);
            for (place, count, line) in edits {
                let at = place.index(new.len() + 1);
                let end = (at + count).min(new.len());
                new.splice(at..end, [LINES[line]]);
            }
            let new = new.concat();
            (old, new)
        })
}

proptest! {
    #[test]
    fn an_edit_is_found((old, new) in edited()) {
        check(&old, &new);
        check(&old.replace('\n', "\r\n"), &new);
        check(&old, &new.replace('\n', "\r\n"));
        check(old.trim_end(), &new);
        check(old.trim_end(), new.trim_end());
    }

    #[test]
    fn any_two_texts_are_compared(old in text(PIECES, 30), new in text(PIECES, 30)) {
        check(&old, &new);
    }
}

fn shown(diff: &FileDiff) -> String {
    let mut text = String::new();
    for hunk in &diff.hunks {
        let ((old, removed), (new, added)) = (hunk.old, hunk.new);
        text.push_str(&format!("@@ -{old},{removed} +{new},{added} @@\n"));
        for line in &hunk.lines {
            let sign = match line.change {
                Change::Kept => ' ',
                Change::Removed => '-',
                Change::Added => '+',
            };
            let unended = if line.unended { "$" } else { "" };
            text.push_str(&format!("{sign}{}{unended}\n", line.text));
        }
    }
    text
}

#[test]
fn a_new_file_is_all_added() {
    let diff = file_diff("new", None, "a\nb\n", (1, 1));
    assert_eq!(shown(&diff), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert_eq!((diff.added, diff.removed), (2, 0));
    assert_eq!(file_diff("new", None, "", (1, 1)).hunks, []);
}

#[test]
fn a_deleted_file_is_all_removed() {
    assert_eq!(shown(&file_diff("gone", Some("a\nb\n"), "", (1, 1))), "@@ -1,2 +0,0 @@\n-a\n-b\n");
}

#[test]
fn a_missing_ending_is_a_change_where_it_changes() {
    assert_eq!(shown(&file_diff("a", Some("a"), "a\n", (1, 1))), "@@ -1,1 +1,1 @@\n-a$\n+a\n");
    assert_eq!(shown(&file_diff("a", Some("a\n"), "a", (1, 1))), "@@ -1,1 +1,1 @@\n-a\n+a$\n");
    // Pieces of files have no ending in either text, and nothing happens to it.
    assert_eq!(shown(&file_diff("a", Some("a"), "a\nb", (1, 1))), "@@ -1,1 +1,2 @@\n a\n+b\n");
}

#[test]
fn far_changes_are_hunks_of_their_own() {
    let old: String = (1..=20).map(|it| format!("{it}\n")).collect();
    let new = old.replacen("3\n", "three\n", 1).replacen("18\n", "", 1);
    let diff = file_diff("a", Some(&old), &new, (1, 1));
    let first = " 1\n 2\n-3\n+three\n 4\n 5\n 6\n";
    let second = " 15\n 16\n 17\n-18\n 19\n 20\n";
    assert_eq!(shown(&diff), format!("@@ -1,6 +1,6 @@\n{first}@@ -15,6 +15,5 @@\n{second}"));
}

#[test]
fn a_piece_of_a_file_is_numbered_from_where_it_is() {
    let diff = file_diff("a", Some("a\nb"), "a\nc", (40, 41));
    assert_eq!(shown(&diff), "@@ -40,2 +41,2 @@\n a\n-b\n+c\n");
    assert_eq!(diff.hunks[0].lines[2].new, Some(42));
}

#[test]
fn pieces_of_a_file_know_of_each_other() {
    let piece = |old: &str, new: &str, first| Texts {
        path: "a".into(),
        old: Some(old.into()),
        new: new.into(),
        first,
    };
    let diffs = file_diffs(&[piece("a", "a\nb\nc", 10), piece("x", "y", 32)]);
    assert_eq!((diffs[0].hunks[0].old, diffs[0].hunks[0].new), ((10, 1), (10, 3)));
    assert_eq!((diffs[1].hunks[0].old, diffs[1].hunks[0].new), ((30, 1), (32, 1)));
}

#[test]
fn another_ending_is_no_change_of_every_line() {
    let diff = file_diff("a", Some("a\r\nb\r\n"), "a\nc\n", (1, 1));
    assert_eq!(shown(&diff), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(diff.endings, Some((Ending::CrLf, Ending::Lf)));
}

#[test]
fn an_added_function_reads_as_one() {
    let old = "fn a() {\n    one();\n}\n\nfn c() {\n    one();\n}\n";
    let new = "fn a() {\n    one();\n}\n\nfn b() {\n    one();\n}\n\nfn c() {\n    one();\n}\n";
    let diff = file_diff("a", Some(old), new, (1, 1));
    let added = "+fn b() {\n+    one();\n+}\n+\n";
    assert!(shown(&diff).contains(&format!(" \n{added} fn c() {{\n")), "{}", shown(&diff));
}

#[test]
fn what_nobody_reads_is_counted_and_not_kept() {
    let new = "\n".repeat(3_000_000);
    let diff = file_diff("a", None, &new, (1, 1));
    let kept = diff.hunks[0].lines.len();
    assert!(kept <= 100_000);
    assert_eq!((diff.added, kept + diff.left_out), (3_000_000, 3_000_000));
    assert_eq!(diff.hunks[0].new, (1, 3_000_000));
}

#[test]
fn words_that_differ_are_pointed_out() {
    let diff = file_diff("a", Some("let width = 1;\n"), "let width = compute(1);\n", (1, 1));
    let words: Vec<&str> = diff.hunks[0].lines[1]
        .words
        .iter()
        .map(|it| &diff.hunks[0].lines[1].text[it.clone()])
        .collect();
    assert_eq!(words, ["compute(", ")"]);
}
