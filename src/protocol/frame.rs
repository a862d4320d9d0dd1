//! Bytes to lines, however the bytes are cut.
//!
//! A line that is too long is skipped up to its end, so that one runaway message costs itself and
//! not the connection.

/// The longest line taken. Agents send images and whole files in one line; 64 MiB is twice what
/// the largest SDK allows itself.
const CAP: usize = 64 << 20;

/// Cuts a stream of bytes into lines.
#[derive(Debug)]
pub(super) struct Framer {
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// How many bytes of a too long line have been skipped.
    skipped: usize,
    cap: usize,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// Without its line ending.
    Line(&'a [u8]),
    /// It had this many bytes, more than we take.
    TooLong(usize),
}

impl Default for Framer {
    fn default() -> Self {
        Framer::with_cap(CAP)
    }
}

impl Framer {
    fn with_cap(cap: usize) -> Framer {
        Framer { partial: Vec::new(), skipped: 0, cap }
    }

    /// Takes the next bytes and gives each line that is complete now. Blank lines are dropped.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.end_line(bytes.get(start..end).unwrap_or_default(), &mut each);
            start = end + 1;
        }
        self.keep(bytes.get(start..).unwrap_or_default());
    }

    /// The stream has ended: what is left is a line, although nothing ended it.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Frame<'_>)) {
        self.end_line(&[], &mut each);
    }

    fn end_line(&mut self, piece: &[u8], each: &mut impl FnMut(Frame<'_>)) {
        if self.skipped > 0 || self.partial.len() + piece.len() > self.cap {
            each(Frame::TooLong(self.skipped + self.partial.len() + piece.len()));
            self.skipped = 0;
            self.partial = Vec::new();
        } else if self.partial.is_empty() {
            give(piece, each);
        } else {
            self.partial.extend_from_slice(piece);
            give(&self.partial, each);
            self.forget_partial();
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.skipped > 0 || self.partial.len() + piece.len() > self.cap {
            self.skipped += self.partial.len() + piece.len();
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(piece);
        }
    }

    /// Keeps the memory for the next partial line unless it is large: one line of 10 MB must not
    /// hold 10 MB for ever.
    fn forget_partial(&mut self) {
        if self.partial.capacity() > 1 << 20 {
            self.partial = Vec::new();
        } else {
            self.partial.clear();
        }
    }
}

fn give(line: &[u8], each: &mut impl FnMut(Frame<'_>)) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        each(Frame::Line(line));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(framer: &mut Framer, chunks: &[&[u8]]) -> Vec<String> {
        let mut all = Vec::new();
        let mut each = |frame: Frame<'_>| match frame {
            Frame::Line(line) => all.push(String::from_utf8_lossy(line).into_owned()),
            Frame::TooLong(bytes) => all.push(format!("<{bytes}>")),
        };
        for chunk in chunks {
            framer.feed(chunk, &mut each);
        }
        framer.finish(&mut each);
        all
    }

    #[test]
    fn line_endings_and_blank_lines() {
        let bytes = b"a\r\n\n  \nb\nc";
        assert_eq!(lines(&mut Framer::default(), &[bytes]), ["a", "b", "c"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let mut framer = Framer::with_cap(4);
        assert_eq!(
            lines(&mut framer, &[b"abc", b"def", b"gh\nok\n12345\nx\n"]),
            ["<8>", "ok", "<5>", "x"]
        );
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            bytes in prop::collection::vec(prop::sample::select(b"ab\n\r {".to_vec()), 0..80),
            cuts in prop::collection::vec(0usize..80, 0..10),
        ) {
            let whole = lines(&mut Framer::with_cap(6), &[&bytes]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(lines(&mut Framer::with_cap(6), &chunks), whole);
        }
    }
}
