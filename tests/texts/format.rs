//! Texts as lines of a buffer and back, held against what Neovim does.

use acp_nvim::changes::format::{Ending, Format, split};
use acp_nvim::changes::mirror::Mirror;
use proptest::prelude::*;

/// A text, the buffer's `fileformat`, and what Neovim shows of it: the lines with `|` between
/// them, `\r` as `^`. Then `noeol` and `bomb`, where they are set, and `!` where saving it would
/// write something else.
const CASES: &[(&str, Ending, &str)] = &[
    ("a\nb\n", Ending::Lf, "a|b"),
    ("a\r\nb\r\n", Ending::Lf, "a^|b^"),
    ("a\r\nb", Ending::Lf, "a^|b noeol"),
    ("a\nb\r\n", Ending::Lf, "a|b^"),
    ("a\rb\r", Ending::Lf, "a^b^ noeol"),
    ("", Ending::Lf, "-"),
    ("\n", Ending::Lf, ""),
    ("\n\n", Ending::Lf, "|"),
    ("a\0b\n", Ending::Lf, "a\0b"),
    ("\u{feff}a\n", Ending::Lf, "a bomb"),
    ("\u{feff}", Ending::Lf, "- bomb"),
    ("\u{feff}\u{feff}x", Ending::Lf, "\u{feff}x noeol bomb"),
    ("a\r\nb\r\n", Ending::CrLf, "a|b"),
    ("a\r\nb", Ending::CrLf, "a|b noeol"),
    ("a\r\nb\r", Ending::CrLf, "a|b^ noeol"),
    ("a\nb\r\n", Ending::CrLf, "a|b !"),
    ("a\r\nb\n", Ending::CrLf, "a|b !"),
    ("a\n", Ending::CrLf, "a !"),
    ("a\rb\r", Ending::CrLf, "a^b^ noeol"),
    ("a\r\r\n", Ending::CrLf, "a^"),
    ("", Ending::CrLf, "-"),
    ("\r\n", Ending::CrLf, ""),
    ("\r", Ending::CrLf, "^ noeol"),
    ("\n", Ending::CrLf, " !"),
    ("\u{feff}a\r\n", Ending::CrLf, "a bomb"),
    ("a\rb\r", Ending::Cr, "a|b"),
    ("a\rb", Ending::Cr, "a|b noeol"),
    ("a\r\nb\r\n", Ending::Cr, "a|^b|^ noeol"),
    ("a\nb\rc\r", Ending::Cr, "a^b|c"),
    ("\r", Ending::Cr, ""),
    ("\n", Ending::Cr, "^ noeol"),
    ("", Ending::Cr, "-"),
];

#[test]
fn texts_are_read_as_neovim_reads_them() {
    for (text, ending, expected) in CASES {
        let split = split(text, *ending);
        let mut found = match split.lines.is_empty() {
            true => "-".to_owned(),
            false => split.lines.join("|").replace('\r', "^"),
        };
        for (word, set) in
            [(" noeol", !split.format.final_eol), (" bomb", split.format.bom), (" !", !split.exact)]
        {
            found.push_str(if set { word } else { "" });
        }
        assert_eq!(found, *expected, "{text:?} {ending:?}");
        assert_eq!(split.format.ending, *ending);
    }
}

fn written(text: &str, ending: Ending) -> (String, bool) {
    let split = split(text, ending);
    let mirror = Mirror::new(1, split.lines.iter().map(AsRef::as_ref));
    (mirror.slice(1, None, split.format), split.exact)
}

fn check(text: &str, ending: Ending) {
    let (again, exact) = written(text, ending);
    assert_eq!(again == text, exact, "{text:?} {ending:?}: {again:?}");
    if ending != Ending::CrLf {
        assert!(exact, "{text:?} {ending:?}");
    }
    // What has been written once stays as it is.
    assert_eq!(written(&again, ending), (again, true));
}

#[test]
fn texts_are_written_as_they_were_read() {
    for (text, ending, _) in CASES {
        check(text, *ending);
    }
    // Any mixture can be kept in a "unix" buffer.
    let line = |ending| format!("one{ending}two{ending}");
    let mixed: String = ["\r\n", "\n", "\r", "\n\r"].map(line).concat();
    check(&mixed, Ending::Lf);
}

#[test]
fn a_new_text_is_written_as_most_are() {
    let mirror = Mirror::new(1, ["a", "b"]);
    assert_eq!(mirror.slice(1, None, Format::default()), "a\nb\n");
}

proptest! {
    #[test]
    fn any_text_is_written_as_it_was_read(
        pieces in prop::collection::vec(
            prop::sample::select(&["a", "\n", "\r", "\r\n", "\0", "\u{feff}", "\u{65e5}", "\x1a"][..]),
            0..20,
        ),
    ) {
        for ending in [Ending::Lf, Ending::CrLf, Ending::Cr] {
            check(&pieces.concat(), ending);
        }
    }
}
