//! Where diffs and code from elsewhere go.

use acp_nvim::changes::diff::file_diff;
use acp_nvim::changes::place::{At, How, Placing, Snippet, Why, place_code, place_patch};
use acp_nvim::session::diff::Change;
use proptest::prelude::*;

use super::{applied, shown, strs};

/// What the changes make of a text, all at once.
fn done(text: &[&str], placing: &Placing) -> Vec<String> {
    let edits: Vec<_> = placing.found.iter().rev().flat_map(|it| it.edits.clone()).collect();
    let by_edits = applied(text, &edits);
    let mut by_lines: Vec<String> = text.iter().map(|&it| it.to_owned()).collect();
    for edit in placing.found.iter().flat_map(|it| &it.lines).rev() {
        by_lines.splice(edit.rows.clone(), edit.lines.clone());
    }
    assert_eq!(by_edits, shown(&strs(&by_lines)), "what is shown is done: {placing:#?}");
    by_lines
}

fn placed(diff: &str, text: &str) -> Placing {
    let lines: Vec<&str> = text.lines().collect();
    match Snippet::read(diff, "diff") {
        Snippet::Diff(files) => place_patch(&files[0], &lines),
        Snippet::Code(_) => panic!("no diff: {diff}"),
    }
}

fn patched(diff: &str, text: &str) -> String {
    let placing = placed(diff, text);
    assert!(placing.missing.is_empty(), "{placing:#?}");
    done(&text.lines().collect::<Vec<_>>(), &placing).join("\n")
}

fn code(code: &str, text: &str, row: usize) -> (String, Placing) {
    let (code, text): (Vec<&str>, Vec<&str>) = (code.lines().collect(), text.lines().collect());
    let placing = place_code(&code, &text, &At::Row(row));
    (done(&text, &placing).join("\n"), placing)
}

const TEXT: &str = "\
fn one() {
    let a = 1;
    call(a);
}

fn two() {
    let b = 2;
    call(b);
}

fn three() {
    let c = 3;
    call(c);
}";

/// A diff in the usual form.
fn unified(old: &[String], new: &[String]) -> String {
    let text = |lines: &[String]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
    let diff = file_diff("a.rs", Some(&text(old)), &text(new), (1, 1));
    let mut out = "--- a/a.rs\n+++ b/a.rs\n".to_owned();
    for hunk in &diff.hunks {
        let (old, new) = (hunk.old, hunk.new);
        out.push_str(&format!("@@ -{},{} +{},{} @@\n", old.0, old.1, new.0, new.1));
        for line in &hunk.lines {
            let mark = match line.change {
                Change::Kept => ' ',
                Change::Removed => '-',
                Change::Added => '+',
            };
            out.push_str(&format!("{mark}{}\n", line.text));
        }
    }
    out
}

/// A text of lines that differ, and another made of it.
fn two_texts() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let steps = prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, 1..4usize), 1..5);
    (12..60usize, steps).prop_map(|(count, steps)| {
        let old: Vec<String> =
            (0..count).map(|it| format!("    line {it} of {}", it * 7)).collect();
        let mut new = old.clone();
        for (number, (at, what, many)) in steps.into_iter().enumerate() {
            let at = at.index(new.len());
            let end = if what == 0 { at } else { (at + many).min(new.len()) };
            let lines = (0..many).map(|it| format!("    new {number} and {it}"));
            let lines: Vec<String> = if what == 1 { Vec::new() } else { lines.collect() };
            new.splice(at..end, lines);
            if new.len() < 6 {
                break;
            }
        }
        (old, new)
    })
}

proptest! {
    #[test]
    fn a_diff_makes_the_new_text((old, new) in two_texts(), above in 0..30usize) {
        prop_assume!(old != new && !new.is_empty());
        let diff = unified(&old, &new);
        let above: Vec<String> = (0..above).map(|it| format!("above {it}")).collect();
        let (from, to) = ([&above[..], &old].concat(), [&above[..], &new].concat());
        let Snippet::Diff(files) = Snippet::read(&diff, "") else { panic!("{diff}") };
        let placing = place_patch(&files[0], &strs(&from));
        assert!(placing.missing.is_empty(), "{placing:#?}\n{diff}");
        assert_eq!(done(&strs(&from), &placing), to, "{diff}");
        // And once more.
        let again = place_patch(&files[0], &strs(&to));
        assert!(again.found.is_empty(), "{again:#?}\n{diff}");
        let is_done = |why: &Why| matches!(why, Why::Already(_));
        assert!(again.missing.iter().all(|it| is_done(&it.why)), "{again:#?}\n{diff}");
    }

    #[test]
    fn nothing_is_too_odd(diff in "([ +@-]{0,3}[a-c*. ]{0,4}\n){0,20}", text in "([a-c ]{0,4}\n){0,20}") {
        let lines: Vec<&str> = text.lines().collect();
        for lang in ["diff", ""] {
            match Snippet::read(&diff, lang) {
                Snippet::Diff(files) => {
                    for file in files {
                        done(&lines, &place_patch(&file, &lines));
                    }
                }
                Snippet::Code(code) => {
                    done(&lines, &place_code(&strs(&code), &lines, &At::Row(0)));
                }
            }
        }
    }
}

#[test]
fn what_is_at_the_very_beginning_is_known_again() {
    let diff = "--- a\n+++ b\n@@ -1,2 +1,3 @@\n+new\n one\n two\n";
    assert_eq!(placed(diff, "above\nnew\none\ntwo").missing[0].why, Why::Already(1));
}

#[test]
fn line_numbers_may_be_wrong_or_missing() {
    let body = " fn two() {\n-    let b = 2;\n+    let b = 22;\n     call(b);\n";
    let new = TEXT.replace("let b = 2;", "let b = 22;");
    for head in [
        "--- a/x.rs\n+++ b/x.rs\n@@ -6,3 +6,3 @@\n",
        "diff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -900,7 +1,1 @@ fn two()\n",
        "@@ ... @@\n",
        "@@\n",
        "@@ @@\n",
        "",
        "--- x.rs\n+++ x.rs\n",
        "*** Begin Patch\n*** Update File: x.rs\n@@ fn two() {\n",
        "*** Begin Patch\n*** Update File: x.rs\n",
    ] {
        let end = if head.starts_with("***") {
            "*** End Patch\n"
        } else {
            "\\ No newline at end of file\n"
        };
        let diff = format!("{head}{body}{end}");
        assert_eq!(patched(&diff, TEXT), new, "{diff}");
        assert_eq!(patched(&diff.replace('\n', "\r\n"), TEXT), new, "{diff}");
    }
}

#[test]
fn files_are_told_apart() {
    let diff = "diff --git a/x.lua b/x.lua\n--- a/x.lua\n+++ b/x.lua\n@@ -1,2 +1,1 @@\n a\n--- a comment\n\n\
                --- /dev/null\n+++ b/made.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\
                diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    let Snippet::Diff(files) = Snippet::read(diff, "") else { panic!() };
    let told: Vec<String> =
        files.iter().map(|it| format!("{:?} {:?} {}", it.path, it.kind, it.hunks.len())).collect();
    assert_eq!(
        told,
        ["Some(\"x.lua\") Changed 1", "Some(\"made.txt\") Made 1", "Some(\"gone\") Deleted 1"]
    );
    assert_eq!(files[0].hunks[0].old_lines(), ["a", "-- a comment"]);
    let placing = place_patch(&files[1], &[]);
    assert_eq!(done(&[], &placing), ["one", "two"]);

    let patch = "*** Begin Patch\n*** Add File: n.txt\n+one\n*** Delete File: d.txt\n*** Update File: u.txt\n@@\n-a\n+b\n*** End Patch";
    let Snippet::Diff(files) = Snippet::read(patch, "") else { panic!() };
    let paths: Vec<_> = files.iter().map(|it| it.path.as_deref().unwrap()).collect();
    assert_eq!(paths, ["n.txt", "d.txt", "u.txt"]);
}

#[test]
fn what_to_look_for_and_what_to_put_there() {
    let diff = "x.rs\n<<<<<<< SEARCH\n    let b = 2;\n    call(b);\n=======\n    call(2);\n>>>>>>> REPLACE\n";
    assert_eq!(patched(diff, TEXT), TEXT.replace("    let b = 2;\n    call(b);", "    call(2);"));
}

#[test]
fn blanks_are_taken_as_the_text_has_them() {
    let diff = "@@ -1 +1 @@\n fn two() {\n   let b = 2;\n-  call(b);\n+  if b {\n+    call(b);\n+  }\n }\n";
    let new = "    if b {\n        call(b);\n    }\n";
    assert_eq!(patched(diff, TEXT), TEXT.replace("    call(b);\n", new));
    assert_eq!(placed(diff, TEXT).found[0].how, How::Spaces);
    let tabs = TEXT.replace("    ", "\t");
    assert_eq!(patched(diff, &tabs), tabs.replace("\tcall(b);\n", &new.replace("    ", "\t")));
}

#[test]
fn the_blanks_before_lines_may_be_lost() {
    let diff = "@@ -6,3 +6,3 @@\nfn two() {\n-    let b = 2;\n+    let b = 22;\n    call(b);\n}\n";
    assert_eq!(patched(diff, TEXT), TEXT.replace("let b = 2;", "let b = 22;"));
    assert_eq!(placed(diff, TEXT).found[0].how, How::Exact);
}

#[test]
fn some_lines_may_be_others() {
    let diff = "@@\n fn two() {\n     // says what it is\n-    let b = 2; // two\n+    let b = 22;\n     call(b);\n }\n";
    let placing = placed(diff, TEXT);
    assert_eq!(placing.found.len(), 1, "{placing:#?}");
    assert_eq!(placing.found[0].how, How::Fuzzy);
    assert_eq!(patched(diff, TEXT), TEXT.replace("let b = 2;", "let b = 22;"));
}

#[test]
fn nothing_is_guessed() {
    let text = "start\n  same\nend\nother\nstart\n  same\nend";
    let placing = placed("@@\n start\n-  same\n+  changed\n end\n", text);
    assert!(placing.found.is_empty());
    assert_eq!(placing.missing[0].why, Why::Ambiguous(vec![0, 4]));
    let placing = placed("@@ -6,3 +6,3 @@\n start\n-  same\n+  changed\n end\n", text);
    assert_eq!(placing.found[0].lines[0].rows, 5..6);
    let placing = placed("@@\n nothing like it\n-is in there\n+at all\n", text);
    assert!(matches!(placing.missing[0].why, Why::Nowhere(_)), "{placing:#?}");
    let placing = placed("+one line\n", text);
    assert_eq!(placing.missing[0].why, Why::NoContext);
}

#[test]
fn two_hunks_that_change_the_same_are_not_both_done() {
    let hunk = "@@ -7,1 +7,1 @@\n-    let b = 2;\n+    let b = 22;\n";
    let placing = placed(&format!("{hunk}{hunk}"), TEXT);
    assert_eq!(placing.found.len(), 1, "{placing:#?}");
    assert!(matches!(placing.missing[0].why, Why::Overlaps(_)), "{placing:#?}");
}

#[test]
fn a_function_takes_the_place_of_its_old_self() {
    let (new, placing) = code("fn two(x: u8) {\n    let b = x;\n    call(b);\n}\n", TEXT, 0);
    assert_eq!(new, TEXT.replace("two() {\n    let b = 2;", "two(x: u8) {\n    let b = x;"));
    assert_eq!(placing.found[0].how, How::Region);
    // Indented otherwise, and with one that is new after it.
    let block = "  fn two() {\n    other();\n  }\n\n  fn four() {\n    call(4);\n  }";
    let (new, _) = code(block, TEXT, 0);
    let expected = "fn two() {\n    other();\n}\n\nfn four() {\n    call(4);\n}\n";
    assert_eq!(new, TEXT.replace("fn two() {\n    let b = 2;\n    call(b);\n}\n", expected));
}

#[test]
fn code_is_indented_as_the_text_is() {
    let block = "fn two() {\n  let b = 2;\n  if b {\n    call(b);\n  }\n}";
    let new = "    if b {\n        call(b);\n    }\n";
    assert_eq!(code(block, TEXT, 0).0, TEXT.replace("    call(b);\n", new));
    let method = "impl A {\n\tfn two(&self) {\n\t\told();\n\t}\n\n\tfn three() {\n\t}\n}";
    let (text, _) = code("fn two(&self) {\n    if x {\n        new();\n    }\n}", method, 0);
    assert_eq!(text, method.replace("\t\told();", "\t\tif x {\n\t\t\tnew();\n\t\t}"));
}

#[test]
fn a_function_without_an_end_ends_with_its_block() {
    let text = "import os\n\ndef one():\n    a = 1\n    return a\n\n\ndef two():\n    return 2\n";
    let (new, _) = code("def one():\n    return 1", text, 0);
    assert_eq!(new, "import os\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2");
    let text = "int one()\n{\n  return 1;\n}\n\nint two()\n{\n  return 2;\n}";
    let (new, _) = code("int two()\n{\n  return 22;\n}", text, 0);
    assert_eq!(new, text.replace("return 2;", "return 22;"));
}

#[test]
fn code_that_is_most_of_a_text_is_the_text() {
    let block = TEXT.replace("call(a)", "call(a, a)").replace("let c = 3;", "let c = 33;");
    let (new, placing) = code(&block, TEXT, 0);
    assert_eq!(new, block);
    assert_eq!(placing.found[0].how, How::Whole);
    // What stands around it stays.
    let text = format!("use a::b;\n\n{TEXT}\n\n// end");
    let (new, _) = code("fn one() {\n    one();\n}", &text, 0);
    assert!(new.starts_with("use a::b;") && new.ends_with("// end"), "{new}");
}

#[test]
fn what_was_left_out_stays() {
    let block =
        "fn one() {\n    first();\n}\n\n// ... the rest stays\n\nfn three() {\n    third();\n}";
    let (new, placing) = code(block, TEXT, 0);
    assert_eq!(placing.found.len(), 2, "{placing:#?}");
    assert!(
        new.contains("first();") && new.contains("call(b);") && new.contains("third();"),
        "{new}"
    );
    assert!(!new.contains("..."), "{new}");
}

#[test]
fn code_from_nowhere_goes_to_the_cursor() {
    let (new, placing) = code("print(1)\n", TEXT, 1);
    assert_eq!(new, TEXT.replace("let a = 1;\n", "let a = 1;\n    print(1)\n"));
    assert_eq!(placing.found[0].how, How::Cursor);
    let lines: Vec<&str> = TEXT.lines().collect();
    let placing = place_code(&["x();"], &lines, &At::Rows(1..3));
    assert_eq!(
        done(&lines, &placing).join("\n"),
        TEXT.replacen("let a = 1;\n    call(a);", "x();", 1)
    );
    let (_, placing) = code("fn two() {\n    let b = 2;\n    call(b);\n}", TEXT, 0);
    assert_eq!(placing.missing[0].why, Why::Already(5));
}
