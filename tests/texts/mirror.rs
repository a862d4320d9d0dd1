//! A copy of a buffer's text, kept level with it.

use acp_nvim::changes::format::{Ending, Format};
use acp_nvim::changes::mirror::{Mirror, OutOfStep};
use proptest::prelude::*;

use super::{Step, line, steps, strs};

fn format(ending: Ending, final_eol: bool, bom: bool) -> Format {
    Format { ending, final_eol, bom }
}

#[test]
fn a_slice_is_what_the_file_has_there() {
    let mirror = Mirror::new(7, ["one", "", "three"]);
    assert_eq!((mirror.version(), mirror.len()), (7, 3));
    let lf = Format::default();
    for (line, limit, expected) in [
        (1, None, "one\n\nthree\n"),
        (0, None, "one\n\nthree\n"),
        (1, Some(1), "one\n"),
        (2, Some(1), "\n"),
        (3, None, "three\n"),
        (3, Some(9), "three\n"),
        (3, Some(usize::MAX), "three\n"),
        (4, None, ""),
        (usize::MAX, Some(1), ""),
        (1, Some(0), ""),
    ] {
        assert_eq!(mirror.slice(line, limit, lf), expected, "{line} {limit:?}");
    }
    let noeol = format(Ending::CrLf, false, true);
    assert_eq!(mirror.slice(1, None, noeol), "\u{feff}one\r\n\r\nthree");
    assert_eq!(mirror.slice(1, Some(2), noeol), "\u{feff}one\r\n\r\n");
    assert_eq!(mirror.slice(3, Some(1), noeol), "three");
    assert_eq!(mirror.slice(1, Some(0), noeol), "");
    let mac = Mirror::new(1, ["a\rb", "c"]);
    assert_eq!(mac.slice(1, None, format(Ending::Cr, true, false)), "a\nb\rc\r");
}

/// As Neovim tells it, which shows an empty line where there is none.
#[test]
fn a_buffer_may_lose_all_lines_and_get_new_ones() {
    let text = |mirror: &Mirror| mirror.slice(1, None, Format::default());
    let mut mirror = Mirror::new(1, ["a", "b"]);
    mirror.splice(2, 0..2, []).unwrap();
    assert_eq!((mirror.len(), mirror.is_empty(), text(&mirror).as_str()), (0, true, ""));
    let mut other = mirror.clone();
    mirror.splice(3, 0..1, ["x", "y"]).unwrap();
    assert_eq!(text(&mirror), "x\ny\n");
    other.splice(3, 1..1, ["x"]).unwrap();
    assert_eq!(text(&other), "\nx\n");
    other.splice(4, 0..2, [""]).unwrap();
    assert_eq!((other.is_empty(), text(&other).as_str()), (false, "\n"));
}

#[test]
fn a_missed_change_is_noticed() {
    let mut mirror = Mirror::new(1, ["a", "b"]);
    #[expect(clippy::reversed_empty_ranges, reason = "whatever may arrive")]
    for rows in [1..3, 3..3, 2..1] {
        assert_eq!(mirror.splice(9, rows, ["x"]), Err(OutOfStep));
    }
    assert_eq!((mirror.version(), mirror.len()), (1, 2));
    assert_eq!(Mirror::default().splice(1, 2..2, ["x"]), Err(OutOfStep));
}

#[test]
fn what_was_seen_stays_as_it_was() {
    let lines: Vec<String> = (0..1000).map(|it| it.to_string()).collect();
    let mut mirror = Mirror::new(1, strs(&lines));
    let seen = mirror.clone();
    mirror.splice(2, 500..501, ["changed"]).unwrap();
    assert!(seen.lines().eq(strs(&lines)));
    assert_eq!((seen.version(), mirror.version()), (1, 2));
    assert_eq!(mirror.slice(501, Some(1), Format::default()), "changed\n");
}

#[test]
fn a_copy_may_come_in_pieces() {
    let lines: Vec<String> = (0..1000).map(|it| it.to_string()).collect();
    let mut mirror = Mirror::new(1, []);
    for piece in strs(&lines).chunks(300) {
        mirror.extend(piece.iter().copied());
    }
    assert_eq!((mirror.len(), mirror.version()), (1000, 1));
    assert!(mirror.lines().eq(strs(&lines)));
    assert_eq!(mirror.slice(300, Some(2), Format::default()), "299\n300\n");
    mirror.splice(2, 300..301, ["x"]).unwrap();
    assert_eq!(mirror.slice(300, Some(3), Format::default()), "299\nx\n301\n");
}

#[test]
fn the_same_lines_are_the_same_whatever_became_of_them() {
    let lines: Vec<String> = (0..1000).map(|it| (it % 7).to_string()).collect();
    let mirror = Mirror::new(1, strs(&lines));
    let mut other = mirror.clone();
    assert!(mirror.same_lines(&other));
    other.splice(2, 300..301, ["x", "y"]).unwrap();
    assert!(!mirror.same_lines(&other));
    other.splice(3, 300..302, [strs(&lines)[300]]).unwrap();
    assert!(mirror.same_lines(&other) && other.same_lines(&Mirror::new(9, strs(&lines))));
    other.splice(4, 999..1000, ["x"]).unwrap();
    assert!(!mirror.same_lines(&other));
    assert!(!Mirror::new(1, []).same_lines(&Mirror::new(1, [""])));
}

fn follow(mirror: &mut Mirror, lines: &mut Vec<String>, step: (usize, &Step)) {
    let (version, (place, count, with)) = step;
    let start = place.index(lines.len() + 1);
    let end = (start + count).min(lines.len());
    mirror.splice(version as u64, start..end, strs(with)).unwrap();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines.splice(start..end, with.iter().cloned());
}

proptest! {
    /// Chunks are some hundred lines long, so the texts are longer.
    #[test]
    fn it_is_what_the_buffer_is(
        count in 0usize..600,
        wide in any::<bool>(),
        some in prop::collection::vec(line(), 1..20),
        steps in steps(30),
        large in (any::<prop::sample::Index>(), 0usize..600),
        slice in (0usize..700, prop::option::of(0usize..700)),
    ) {
        let width = if wide { 400 } else { 1 };
        let mut lines: Vec<String> =
            some.iter().cycle().take(count).map(|it| it.repeat(width)).collect();
        let mut mirror = Mirror::new(0, strs(&lines));
        for step in steps.iter().enumerate() {
            follow(&mut mirror, &mut lines, step);
        }
        follow(&mut mirror, &mut lines, (99, &(large.0, large.1, some)));
        prop_assert_eq!(mirror.len(), lines.len());
        prop_assert!(mirror.lines().eq(strs(&lines)));
        prop_assert!(mirror.same_lines(&Mirror::new(0, strs(&lines))));
        let rows = slice.0..slice.0 + slice.1.unwrap_or(1);
        prop_assert!(mirror.rows(rows.clone()).eq(strs(&lines).into_iter().take(rows.end).skip(rows.start)));
        let (line, limit) = slice;
        let wanted = lines.iter().skip(line.saturating_sub(1)).take(limit.unwrap_or(usize::MAX));
        let text: String = wanted.map(|it| format!("{it}\r\n")).collect();
        prop_assert_eq!(mirror.slice(line, limit, format(Ending::CrLf, true, false)), text);
    }
}
