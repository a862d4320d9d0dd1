//! Offsets in a text to rows and columns.

use std::ops::Range;

use super::super::model::{Group, Span};

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Where each begins and ends.
    lines: Vec<Range<usize>>,
    /// The row of the first.
    row: usize,
}

impl<'a> Lines<'a> {
    /// The lines of a text whose first is in this row.
    pub(super) fn new(text: &'a str, row: usize) -> Lines<'a> {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            let length = line.strip_suffix('\r').unwrap_or(line).len();
            lines.push(start..start + length);
            start += line.len() + 1;
        }
        Lines { text, lines, row }
    }

    /// The row of an offset.
    pub(super) fn row(&self, offset: usize) -> usize {
        self.row + self.index(offset)
    }

    /// The column of an offset.
    pub(super) fn col(&self, offset: usize) -> usize {
        offset - self.lines.get(self.index(offset)).map_or(offset, |line| line.start)
    }

    /// The text of a row.
    pub(super) fn line(&self, row: usize) -> &'a str {
        let line = row.checked_sub(self.row).and_then(|index| self.lines.get(index));
        line.and_then(|line| self.text.get(line.clone())).unwrap_or_default()
    }

    /// Where a row begins.
    pub(super) fn start(&self, row: usize) -> usize {
        let line = row.checked_sub(self.row).and_then(|index| self.lines.get(index));
        line.map_or(self.text.len(), |line| line.start)
    }

    /// Highlights a stretch, in each of its rows; in those below the first not what the stretch
    /// stands in, such as the marks of a quote.
    pub(super) fn stretch(&self, range: Range<usize>, group: Group, spans: &mut Vec<Span>) {
        let first = self.index(range.start);
        for (index, line) in self.lines.iter().enumerate().skip(first) {
            if line.start >= range.end {
                return;
            }
            let mut start = range.start.max(line.start);
            if index > first {
                let rest = self.text.get(line.clone()).unwrap_or_default();
                start += rest.len() - rest.trim_start_matches([' ', '\t', '>']).len();
            }
            let end = range.end.min(line.end);
            if start < end {
                let (row, start, end) = (self.row + index, start - line.start, end - line.start);
                spans.push(Span { row, start, end, group });
            }
        }
    }

    /// Highlights whole rows, from a column on in the first.
    pub(super) fn whole(&self, rows: Range<usize>, group: Group, spans: &mut Vec<Span>) {
        for row in rows {
            let end = self.line(row).len();
            if end > 0 {
                spans.push(Span { row, start: 0, end, group });
            }
        }
    }

    fn index(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }
}
