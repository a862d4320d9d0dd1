//! What a program writes to a terminal, as rows with highlights.
//!
//! Knows the colours and the few movements that programs without a screen of their own use. What
//! else a terminal can be told is swallowed whole: nothing of it may reach one. No row has a control
//! character in it, but for tabs.

mod colour;
mod sequence;

use std::mem;

use self::colour::Pen;
use self::sequence::{Heard, Sequence};
use super::model::{Group, Span};

/// How far to the right a program can move or erase without writing: about as wide as windows get. A
/// few bytes must not make megabytes of blanks, nor go over a long row again and again.
const WIDEST: usize = 250;

/// One row of output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// Its highlights, as if it were row 0.
    pub(super) spans: Vec<Span>,
}

/// A terminal that has been written to; more can be written.
#[derive(Debug, Default)]
pub(super) struct Ansi {
    /// The rows that are finished.
    lines: Vec<Line>,
    /// The row being written.
    cells: Vec<(char, Pen)>,
    /// Where in it the next character goes.
    at: usize,
    pen: Pen,
    sequence: Sequence,
}

/// A text as rows.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut ansi = Ansi::default();
    ansi.write(text);
    let mut lines = ansi.take_lines();
    lines.extend(ansi.last_line());
    lines
}

impl Ansi {
    /// Takes in what a program writes; it may stop in the middle of anything but a character.
    pub(super) fn write(&mut self, text: &str) {
        for it in text.chars() {
            match self.sequence.hear(it) {
                Heard::Text => self.put(it),
                Heard::Control => self.control(it),
                Heard::Nothing => {}
                Heard::Csi => self.obey(it),
            }
        }
    }

    /// The rows that have been finished since the last time.
    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        mem::take(&mut self.lines)
    }

    /// The row that is being written, if there is something in it.
    pub(super) fn last_line(&self) -> Option<Line> {
        (!self.cells.is_empty()).then(|| line(&self.cells))
    }

    fn put(&mut self, it: char) {
        let cell = (it, self.pen);
        match self.cells.get_mut(self.at) {
            Some(place) => *place = cell,
            None => {
                self.cells.resize(self.at, (' ', Pen::default()));
                self.cells.push(cell);
            }
        }
        self.at += 1;
    }

    fn control(&mut self, it: char) {
        match it {
            '\n' => self.end_line(),
            '\r' => self.at = 0,
            '\u{8}' => self.at = self.at.saturating_sub(1),
            '\t' => self.put(it),
            _ => {}
        }
    }

    /// Does what a control sequence with this last character wants.
    fn obey(&mut self, last: char) {
        let numbers = self.sequence.numbers();
        let first = numbers.first().map_or(0, |it| it.value as usize);
        match last {
            'm' => self.pen.set(numbers),
            'K' => self.erase(first),
            'G' | '`' => self.at = first.saturating_sub(1).min(WIDEST.max(self.cells.len())),
            'C' => {
                let limit = WIDEST.max(self.cells.len());
                self.at = self.at.saturating_add(first.max(1)).min(limit);
            }
            'D' => self.at = self.at.saturating_sub(first.max(1)),
            _ => {}
        }
    }

    fn erase(&mut self, what: usize) {
        match what {
            0 => self.cells.truncate(self.at),
            1 => {
                let blank = (' ', Pen::default());
                self.cells
                    .iter_mut()
                    .take((self.at + 1).min(WIDEST))
                    .for_each(|cell| *cell = blank);
            }
            _ => self.cells.clear(),
        }
    }

    fn end_line(&mut self) {
        self.lines.push(line(&self.cells));
        self.cells.clear();
        self.at = 0;
    }
}

fn line(cells: &[(char, Pen)]) -> Line {
    let mut line = Line::default();
    let mut since = (0, Pen::default());
    for (it, pen) in cells {
        if *pen != since.1 {
            line.mark(since);
            since = (line.text.len(), *pen);
        }
        line.text.push(*it);
    }
    line.mark(since);
    line
}

impl Line {
    /// Highlights what was written with a pen, up to here.
    fn mark(&mut self, (start, pen): (usize, Pen)) {
        let end = self.text.len();
        if start < end {
            let span = |group: Group| Span { row: 0, start, end, group };
            self.spans.extend(pen.groups().map(span));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|it| it.text).collect()
    }

    fn marked(text: &str) -> Vec<(String, Group)> {
        let mut found = Vec::new();
        for line in lines(text) {
            for span in &line.spans {
                found.push((line.text[span.start..span.end].to_owned(), span.group));
            }
        }
        found
    }

    #[test]
    fn lines_end_in_every_way() {
        assert_eq!(texts("a\nb\r\nc"), ["a", "b", "c"]);
        assert_eq!(texts("a\n\nb\n"), ["a", "", "b"]);
        assert_eq!(texts(""), Vec::<String>::new());
    }

    #[test]
    fn what_is_written_over_is_gone() {
        assert_eq!(texts("10%\r20%\r100%\n"), ["100%"]);
        assert_eq!(texts("long line\rshort"), ["shortline"]);
        assert_eq!(texts("long line\r\x1b[Kshort"), ["short"]);
        assert_eq!(texts("ab\u{8}c"), ["ac"]);
        assert_eq!(texts("abc\x1b[2K\rd"), ["d"]);
        assert_eq!(texts("a\x1b[3Cb\x1b[Gc"), ["c   b"]);
    }

    #[test]
    fn colours_are_groups() {
        let red = ("red".to_owned(), Group::Ansi1);
        assert_eq!(marked("a \x1b[31mred\x1b[0m b"), std::slice::from_ref(&red));
        assert_eq!(marked("\x1b[38;5;1mred\x1b[39m"), std::slice::from_ref(&red));
        assert_eq!(marked("\x1b[38;2;200;0;0mred"), std::slice::from_ref(&red));
        assert_eq!(marked("\x1b[38:2::200:0:0mred"), std::slice::from_ref(&red));
        let green = ("green".to_owned(), Group::Ansi2);
        assert_eq!(marked("\x1b[38;2;0;200;0;39;32mgreen"), [green]);
        let curly = ("curly".to_owned(), Group::Underline);
        assert_eq!(marked("\x1b[4:3mcurly\x1b[4:0mplain"), [curly]);
        let bold = ("red".to_owned(), Group::Bold);
        assert_eq!(marked("\x1b[1;31mred\x1b[m x"), [red.clone(), bold]);
        assert_eq!(marked("\x1b[31m\nred"), [red]);
    }

    #[test]
    fn a_coloured_ground_is_shown_by_exchanged_colours() {
        let badge = |group| (" FAIL ".to_owned(), group);
        assert_eq!(
            marked("\x1b[30;41m FAIL \x1b[0m"),
            [badge(Group::Ansi1), badge(Group::Reverse)]
        );
    }

    #[test]
    fn sequences_are_swallowed_whole() {
        assert_eq!(texts("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c"), ["abc"]);
        assert_eq!(texts("a\x1bPq#0;2;0\nmore\x1b\\b\x1b_Gf=1;AAAA\x1b\\c"), ["abc"]);
        assert_eq!(texts("a\x1b[?25lb\x1b[2;3Hc\x1b(Bd\x1b7e\x1b[1 qf"), ["abcdef"]);
        assert_eq!(texts("a\u{9b}31mb\u{9d}0;t\u{9c}c\u{90}x\u{9c}d"), ["abcd"]);
        for cut in ["\x1b", "\x1b[", "\x1b[31;", "\x1b]0;ti", "\x1bPq", "\x1b_G", "\x1b]0;t\x1b"] {
            assert_eq!(texts(&format!("a{cut}")), ["a"], "{cut:?}");
        }
        let long = format!("a\x1bP{}\x1b\\b", "x".repeat(1 << 20));
        assert_eq!(texts(&long), ["ab"]);
    }

    #[test]
    fn a_title_that_never_ends_hides_one_line() {
        assert_eq!(texts("a\x1b]0;title\nb"), ["a", "b"]);
    }

    fn pieces() -> impl Strategy<Value = Vec<String>> {
        let piece = prop_oneof![
            any::<String>(),
            prop::sample::select(vec![
                "\x1b[",
                "\x1b]",
                "\x1bP",
                "\x1b_",
                "\x1b\\",
                "\x1b",
                "\u{9b}",
                "\u{9d}",
                "\u{9c}",
                "31m",
                "1;38;5;",
                "38;2;1;2",
                "m",
                "K",
                "99999999999C",
                "\r",
                "\n",
                "\u{8}",
                "\t",
                "\x07",
                "\x18",
                "text",
                "\u{65e5}",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..30)
    }

    proptest! {
        #[test]
        fn no_control_character_gets_through(pieces in pieces()) {
            for line in lines(&pieces.concat()) {
                prop_assert!(!line.text.contains(|it: char| it.is_control() && it != '\t'));
                for span in &line.spans {
                    prop_assert!(span.start < span.end);
                    prop_assert!(line.text.get(span.start..span.end).is_some());
                }
            }
        }

        #[test]
        fn it_may_come_in_pieces(pieces in pieces()) {
            let mut ansi = Ansi::default();
            let mut found = Vec::new();
            for piece in &pieces {
                ansi.write(piece);
                found.extend(ansi.take_lines());
            }
            found.extend(ansi.last_line());
            prop_assert_eq!(found, lines(&pieces.concat()));
        }
    }
}
