//! Where a text can be cut so that each piece stands for itself: at what is sure to begin a block
//! of its own, whatever comes after it.
//!
//! Whether a line begins a piece is decided by the text up to the end of that line, once and for
//! all. Lists are cut between their items. What would grow without end is cut at [`LIMIT`].

use std::ops::Range;

use super::fence::Fence;
use crate::view::text::beginning;

/// The length from which on a piece ends at the next line.
pub(super) const LIMIT: usize = 32 * 1024;

/// Reads a text that grows, line by line.
#[derive(Debug)]
pub(super) struct Scan {
    /// Where the open piece begins, and in which row.
    start: usize,
    row: usize,
    /// Where the line that is looked at begins, and its row.
    line: usize,
    line_row: usize,
    /// Up to where no line ends.
    searched: usize,
    /// The line before is blank.
    blank: bool,
    /// The open piece begins with an item of a list.
    item: bool,
    /// The fence in an item that is open.
    nested: Option<Fence>,
    /// The fence that is open: all is code, line by line.
    fence: Option<Fence>,
}

/// A piece of a text that will not change any more.
#[derive(Debug)]
pub(super) enum Piece {
    /// Markdown.
    Text { range: Range<usize>, row: usize },
    /// A line of fenced code.
    Fence { line: Range<usize>, row: usize, part: Part },
}

/// What a line of fenced code is.
#[derive(Debug)]
pub(super) enum Part {
    Open,
    Body,
    Close(Fence),
}

/// The piece at the end of a text, which may change yet.
#[derive(Debug)]
pub(super) enum Open<'a> {
    Text { start: usize, row: usize },
    Fence { fence: &'a Fence, start: usize, row: usize },
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            start: 0,
            row: 0,
            line: 0,
            line_row: 0,
            searched: 0,
            blank: true,
            item: false,
            nested: None,
            fence: None,
        }
    }
}

impl Scan {
    /// The next piece that is settled, if there is one by now.
    pub(super) fn next(&mut self, text: &str) -> Option<Piece> {
        loop {
            let rest = text.as_bytes().get(self.searched..)?;
            let Some(length) = memchr::memchr(b'\n', rest) else {
                self.searched = text.len();
                return self.begun(text);
            };
            let end = self.searched + length;
            let line = text.get(self.line..end)?;
            let line = line.strip_suffix('\r').unwrap_or(line);
            if self.fence.is_some() {
                if let Some(piece) = self.code(line, end) {
                    return Some(piece);
                }
            } else if self.start < self.line && self.begins(line) {
                return Some(self.cut());
            } else if self.start == self.line
                && let Some(fence) = Fence::opened_by(line)
            {
                let body = Some((end + 1, self.line_row + 1));
                self.fence = Some(Fence { body, ..fence });
                let (start, row) = (self.line, self.line_row);
                self.advance(line, end);
                return Some(Piece::Fence { line: start..end, row, part: Part::Open });
            } else {
                self.belongs(line);
                self.advance(line, end);
            }
        }
    }

    /// What is not settled. Right only when there is no next piece.
    pub(super) fn open(&self) -> Open<'_> {
        match &self.fence {
            Some(fence) => Open::Fence { fence, start: self.line, row: self.line_row },
            None => Open::Text { start: self.start, row: self.row },
        }
    }

    /// The last row of what was read.
    pub(super) fn last_row(&self) -> usize {
        self.line_row
    }

    /// A line without an end begins a piece when nothing that may follow can change that.
    fn begun(&mut self, text: &str) -> Option<Piece> {
        let first = text.as_bytes().get(self.line)?;
        let sure = self.blank && !first.is_ascii_whitespace();
        (self.fence.is_none() && self.start < self.line && sure).then(|| self.cut())
    }

    /// Whether a whole line begins a block of its own, whatever is above it.
    fn begins(&self, line: &str) -> bool {
        let first = line.as_bytes().first();
        self.line - self.start >= LIMIT
            || (self.blank && first.is_some_and(|it| !it.is_ascii_whitespace()))
            || is_heading(line)
            || is_item(line, self.item)
            || Fence::opened_by(line).is_some()
    }

    /// Ends the open piece before the line that is looked at.
    fn cut(&mut self) -> Piece {
        let piece = Piece::Text { range: self.start..self.line, row: self.row };
        // Only a piece that is too long ends in the middle of something.
        if self.line - self.start >= LIMIT {
            self.fence = self.nested.take();
        }
        self.nested = None;
        (self.start, self.row) = (self.line, self.line_row);
        piece
    }

    /// Takes a whole line into the open piece.
    fn belongs(&mut self, line: &str) {
        if self.start == self.line {
            self.item = is_item(line, true);
        }
        match &self.nested {
            Some(fence) if fence.is_closed_by(line) => self.nested = None,
            None if line.starts_with([' ', '\t']) => {
                let fence = Fence::opened_by(line.trim_start());
                self.nested = fence.map(|fence| Fence { nested: self.item, ..fence });
            }
            _ => {}
        }
    }

    /// Takes a whole line into the open fence, or ends it before the line.
    fn code(&mut self, line: &str, end: usize) -> Option<Piece> {
        let fence = self.fence.as_ref()?;
        let first = line.as_bytes().first();
        if fence.nested && first.is_some_and(|it| !it.is_ascii_whitespace()) {
            self.fence = None;
            (self.start, self.row) = (self.line, self.line_row);
            return None;
        }
        let (start, row) = (self.line, self.line_row);
        let closed = fence.is_closed_by(line);
        let part = match self.fence.take_if(|_| closed) {
            Some(fence) => Part::Close(fence),
            None => Part::Body,
        };
        self.advance(line, end);
        if closed {
            (self.start, self.row) = (self.line, self.line_row);
        }
        Some(Piece::Fence { line: start..end, row, part })
    }

    fn advance(&mut self, line: &str, end: usize) {
        self.blank = line.trim().is_empty();
        self.line = end + 1;
        self.searched = self.line;
        self.line_row += 1;
    }
}

/// What of a piece is read: a line without end is not read to its end.
pub(super) fn readable(piece: &str) -> &str {
    beginning(piece, 2 * LIMIT)
}

/// What of the open piece means what it seems to. A dash may yet become an item or a line across:
/// as long as it may, the line above is no heading.
pub(super) fn until_doubtful(piece: &str) -> &str {
    // No more than the end is looked at: a line may be very long.
    let end = piece.len().saturating_sub(3);
    let tail = piece.as_bytes().get(end..).unwrap_or_default();
    match memchr::memrchr(b'\n', tail) {
        Some(at) if tail.iter().skip(at + 1).all(|it| matches!(it, b'-' | b'=')) => {
            piece.get(..end + at).unwrap_or(piece)
        }
        _ => piece,
    }
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len()))
        && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Whether a line begins an item of a list. Numbers other than 1 do so only in a list. What might
/// be a line across is taken for none, which costs nothing but a longer piece.
fn is_item(line: &str, in_list: bool) -> bool {
    let digits = line.len() - line.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let mark = match digits {
        0 => ['-', '+', '*'].as_slice(),
        1..=9 if in_list || number == "1" => ['.', ')'].as_slice(),
        _ => return false,
    };
    let Some(rest) = rest.strip_prefix(mark) else { return false };
    let words = rest.trim_start();
    words.len() < rest.len() && !words.is_empty() && !words.starts_with(['-', '*', '_'])
}
