//! Markdown to highlights, for text that streams: rows stay as they are written, and what is
//! settled is never read again.
//!
//! A text is read as pieces ([`scan`]), each of which stands for itself ([`paint`]). Where a piece
//! ends depends on the text up to there alone, so the same text looks the same however it came.
//! Must not know who speaks, nor where the rows are shown.

mod fence;
mod lines;
mod paint;
mod scan;
#[cfg(test)]
mod tests;
mod url;

use std::ops::Range;
use std::sync::Arc;

use self::fence::Fence;
use self::lines::Lines;
use self::paint::Painter;
use self::scan::{Open, Part, Piece, Scan};
use super::model::{Group, Span};

/// The highlights of a text that grows. Rows and columns are those of the text.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    conceal: bool,
    scan: Scan,
    /// How long the text was that was read; none before there was any.
    length: Option<usize>,
    /// What was told of the rows that may change yet: those from `open_row` on.
    open: Painting,
    open_row: usize,
    /// What of the open piece was read last: from where, how much, and whether it was all.
    read: (usize, usize, bool),
    /// How many blocks of code there are in what is settled.
    codes: usize,
}

/// How some rows look.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Painting {
    /// By row; what lies around something comes before it.
    pub(super) spans: Vec<Span>,
    /// Code that is complete.
    pub(super) code: Vec<CodeRows>,
}

/// Rows that are code in some language, and complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeRows {
    /// Which of the text's blocks of code it is.
    pub(super) ordinal: usize,
    /// The word after the fence.
    pub(super) lang: Arc<str>,
    /// The rows.
    pub(super) rows: Range<usize>,
    /// The column the code begins at.
    pub(super) col: usize,
    /// Where in the text the first row begins.
    start: usize,
}

/// What has changed by a text's growing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The first row that looks otherwise than before, or that has more text.
    pub(super) from: usize,
    /// How all rows from there on look.
    pub(super) painting: Painting,
}

impl Markdown {
    /// For an empty text, with the marks to be hidden or not.
    pub(super) fn new(conceal: bool) -> Markdown {
        Markdown { conceal, ..Markdown::default() }
    }

    /// Reads on. The text begins with what was read before; `over` says that no more is expected.
    /// Nothing comes of it if nothing has changed.
    pub(super) fn grow(&mut self, text: &str, over: bool) -> Option<Change> {
        let old = std::mem::take(&mut self.open);
        let old_row = self.open_row;
        let mut from = (self.length != Some(text.len())).then(|| self.scan.last_row());
        let mut new = Painting::default();
        while let Some(piece) = self.scan.next(text) {
            self.settle(text, piece, &mut new);
        }
        self.paint_open(text, over, &old);
        new.append(self.open.clone());
        self.length = Some(text.len());
        if let Some(row) = old.differs(&new) {
            from = Some(from.map_or(row, |it| it.min(row)));
        }
        let from = from?;
        if from < old_row {
            // Settled rows change only by becoming complete code, or by being it no more.
            let code = new.code.iter().chain(&old.code).find(|it| it.rows.start == from);
            let start = code.map_or(text.len(), |it| it.start);
            let lines = Lines::new(text.get(start..).unwrap_or_default(), from);
            let mut spans = Vec::new();
            lines.whole(from..old_row, Group::CodeBlock, &mut spans);
            spans.append(&mut new.spans);
            new.spans = spans;
        }
        new.spans.retain(|span| span.row >= from);
        new.code.retain(|code| code.rows.end > from);
        Some(Change { from, painting: new })
    }

    /// Paints what will not change any more.
    fn settle(&mut self, text: &str, piece: Piece, new: &mut Painting) {
        match piece {
            Piece::Text { range, row } => {
                let piece = text.get(range.clone()).unwrap_or_default();
                let (painting, codes) = self.paint_text(piece, (range.start, row), true);
                new.append(painting);
                self.codes += codes;
            }
            Piece::Fence { line, row, part } => {
                let line = text.get(line).unwrap_or_default();
                if let Part::Open = part {
                    self.codes += 1;
                }
                if let Part::Close(fence) = &part
                    && let Some(code) = self.code(fence, row)
                {
                    new.code.push(code);
                }
                fence::paint_line(line, row, &part, &mut new.spans);
            }
        }
    }

    /// Paints what may change yet.
    fn paint_open(&mut self, text: &str, over: bool, old: &Painting) {
        let mut open = Painting::default();
        match self.scan.open() {
            Open::Text { start, row } => {
                let piece = text.get(start..).unwrap_or_default();
                let piece = if over { piece } else { scan::until_doubtful(piece) };
                let read = (start, scan::readable(piece).len(), over);
                if read == self.read && piece.len() > scan::LIMIT {
                    open = old.clone();
                } else {
                    (open, _) = self.paint_text(piece, (start, row), over);
                }
                (self.read, self.open_row) = (read, row);
            }
            Open::Fence { fence, start, row } => {
                let line = text.get(start..).unwrap_or_default();
                let closed = fence.is_closed_by(line);
                let part = if closed { Part::Close(fence.clone()) } else { Part::Body };
                fence::paint_line(line, row, &part, &mut open.spans);
                let end = if closed { row } else { row + 1 };
                open.code.extend(over.then(|| self.code(fence, end)).flatten());
                self.open_row = row;
            }
        }
        self.open = open;
    }

    /// Paints a piece of ordinary Markdown; also how many blocks of code there are in it.
    fn paint_text(
        &self,
        piece: &str,
        (start, row): (usize, usize),
        over: bool,
    ) -> (Painting, usize) {
        let piece = scan::readable(piece);
        let painted = Painter::paint(piece, row, self.conceal);
        let mut painting = Painting { spans: painted.spans, code: Vec::new() };
        let codes = painted.code.len();
        for (number, (mut code, end)) in painted.code.into_iter().enumerate() {
            if !code.rows.is_empty() && (over || end < piece.trim_end().len()) {
                code.ordinal = self.codes + number;
                code.start += start;
                painting.code.push(code);
            }
        }
        (painting, codes)
    }

    /// The code in a fence, up to a row.
    fn code(&self, fence: &Fence, end: usize) -> Option<CodeRows> {
        let (start, row) = fence.body?;
        (row < end).then(|| CodeRows {
            ordinal: self.codes - 1,
            lang: fence.lang.clone(),
            rows: row..end,
            col: 0,
            start,
        })
    }
}

impl Painting {
    fn append(&mut self, below: Painting) {
        self.spans.extend(below.spans);
        self.code.extend(below.code);
    }

    /// The first row that looks otherwise in the other.
    fn differs(&self, other: &Painting) -> Option<usize> {
        let pairs = self.spans.iter().zip(&other.spans);
        let same = pairs.take_while(|(one, two)| one == two).count();
        let spans = [&self.spans, &other.spans].into_iter().filter_map(|it| it.get(same));
        let lone = |one: &Painting, two: &Painting| {
            let lone = one.code.iter().filter(|it| !two.code.contains(it));
            lone.map(|it| it.rows.start).min()
        };
        let code = [lone(self, other), lone(other, self)].into_iter().flatten();
        spans.map(|it| it.row).chain(code).min()
    }
}
