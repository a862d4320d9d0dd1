//! A text to its lines, and in what they end.

use crate::session::diff::Ending;

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    /// The lines, without what all of them end in.
    pub(super) lines: Vec<&'a str>,
    /// Whether the last line has an ending too. A text of no lines lacks nothing.
    pub(super) ended: bool,
}

/// The lines of two texts, ready to be compared.
#[derive(Debug)]
pub(super) struct Both<'a> {
    pub(super) old: Lines<'a>,
    pub(super) new: Lines<'a>,
    /// In what the lines end, where that is all that differs in each of them.
    pub(super) endings: Option<(Ending, Ending)>,
}

/// In what the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// There is one line at most.
    None,
    All(Ending),
    Mixed,
}

/// The lines of both texts. Where each text has one kind of ending, endings are no part of the
/// lines: another ending would else make every line differ, and hide what does. In a text that
/// mixes them, a carriage return stays what it is to most programs, the line's last character.
pub(super) fn both<'a>(old: &'a str, new: &'a str) -> Both<'a> {
    let ends = (ends(old), ends(new));
    if ends.0 == Ends::Mixed || ends.1 == Ends::Mixed {
        return Both { old: split(old, false), new: split(new, false), endings: None };
    }
    let endings = match ends {
        (Ends::All(one), Ends::All(other)) if one != other => Some((one, other)),
        _ => None,
    };
    let crlf = |ends| ends == Ends::All(Ending::CrLf);
    Both { old: split(old, crlf(ends.0)), new: split(new, crlf(ends.1)), endings }
}

fn ends(text: &str) -> Ends {
    let bytes = text.as_bytes();
    let mut found = Ends::None;
    for at in memchr::memchr_iter(b'\n', bytes) {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let ending = if before == Some(&b'\r') { Ending::CrLf } else { Ending::Lf };
        match found {
            Ends::None => found = Ends::All(ending),
            Ends::All(known) if known != ending => return Ends::Mixed,
            _ => {}
        }
    }
    found
}

fn split(text: &str, crlf: bool) -> Lines<'_> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((line, after)) =
        memchr::memchr(b'\n', rest.as_bytes()).and_then(|at| rest.split_at_checked(at))
    {
        lines.push(if crlf { line.strip_suffix('\r').unwrap_or(line) } else { line });
        rest = after.get(1..).unwrap_or_default();
    }
    let ended = rest.is_empty();
    if !ended {
        lines.push(rest);
    }
    Lines { lines, ended }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kind_of_ending_is_no_part_of_a_line() {
        let both = both("a\r\nb\r\n", "a\r\nc");
        assert_eq!((both.old.lines, both.old.ended), (vec!["a", "b"], true));
        assert_eq!((both.new.lines, both.new.ended), (vec!["a", "c"], false));
        assert_eq!(both.endings, None);
    }

    #[test]
    fn another_ending_is_told_once() {
        let both = both("a\r\nb\r\n", "a\nb\n");
        assert_eq!(both.old.lines, both.new.lines);
        assert_eq!(both.endings, Some((Ending::CrLf, Ending::Lf)));
    }

    #[test]
    fn mixed_endings_stay_in_sight() {
        let both = both("a\r\nb\n", "a\nb\n");
        assert_eq!(both.old.lines, ["a\r", "b"]);
        assert_eq!(both.endings, None);
    }

    #[test]
    fn a_return_at_the_end_of_a_text_is_text() {
        assert_eq!(both("a\r\nb\r", "").old.lines, ["a", "b\r"]);
        assert_eq!(both("", "").old.lines, Vec::<&str>::new());
    }
}
