//! Rows in the making.

use std::ops::Range;
use std::sync::Arc;

use crate::view::block::Block;
use crate::view::model::{Code, Group, Row, Span};
use crate::view::text::{LONGEST_ROW, beginning};

/// Rows of a detail, from top to bottom.
#[derive(Debug, Default)]
pub(super) struct Page {
    block: Block,
    /// The bytes at which the rows begin that the last text was broken into.
    starts: Vec<usize>,
}

impl Page {
    /// Adds a row, or several where it is too long to be drawn: nothing is left out. What others
    /// wrote must have been made lines.
    pub(super) fn push(&mut self, text: impl Into<String>, row: Row) {
        let mut text = text.into();
        // A row is one line in the buffer, whatever comes.
        if text.contains('\n') {
            text = text.replace('\n', " ");
        }
        self.starts.clear();
        self.starts.push(0);
        let mut start = 0;
        while let Some(rest) = text.get(start..).filter(|it| it.len() > LONGEST_ROW) {
            let piece = beginning(rest, LONGEST_ROW);
            start += piece.len();
            self.starts.push(start);
            self.block.lines.push(piece.to_owned());
        }
        let last = if start == 0 { text } else { text.split_off(start) };
        self.block.lines.push(last);
        self.block.rows.resize(self.block.lines.len(), row);
    }

    /// Adds a row that is all the same.
    pub(super) fn words(&mut self, text: impl Into<String>, group: Group, row: Row) {
        self.push(text, row);
        self.mark(0..usize::MAX, group);
    }

    /// These words where there is nothing else.
    pub(super) fn or_words(mut self, text: &str) -> Page {
        if self.is_empty() {
            self.words(text, Group::Muted, Row::default());
        }
        self
    }

    /// Highlights a part of the last row.
    pub(super) fn mark(&mut self, at: Range<usize>, group: Group) {
        let first_row = self.block.lines.len() - self.starts.len();
        let first = self.starts.partition_point(|start| *start <= at.start).saturating_sub(1);
        for (index, begin) in self.starts.iter().enumerate().skip(first) {
            let row = first_row + index;
            let length = self.block.lines.get(row).map_or(0, String::len);
            let start = at.start.saturating_sub(*begin);
            let end = at.end.saturating_sub(*begin).min(length);
            if start >= end {
                return;
            }
            self.block.spans.push(Span { row, start, end, group });
        }
    }

    /// Highlights the last row to the edge of the window, an empty one too.
    pub(super) fn mark_whole(&mut self, group: Group) {
        let first_row = self.block.lines.len() - self.starts.len();
        for (row, text) in self.block.lines.iter().enumerate().skip(first_row) {
            self.block.spans.push(Span { row, start: 0, end: text.len(), group });
        }
    }

    /// Tells of code; its number goes into the rows that belong to it.
    pub(super) fn code(&mut self, id: u32, lang: Arc<str>, col: u32) {
        self.block.code.push(Code { id, lang, col });
    }

    /// Tells of code that is found as it comes; its number.
    pub(super) fn next_code(&mut self, lang: &str, col: u32) -> u32 {
        let id = number(self.block.code.len() + 1);
        self.code(id, lang.into(), col);
        id
    }

    pub(super) fn is_empty(&self) -> bool {
        self.block.lines.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.block.lines.len()
    }

    pub(super) fn into_block(mut self) -> Block {
        // What marks a row of several comes after what marks the next of them.
        self.block.spans.sort_by_key(|it| it.row);
        self.block
    }
}

/// A number for a row.
pub(super) fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Somebody else's words among ours: in one line, without control characters.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

/// The lines of a text as they are; a last line ending begins no line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_is_several_with_its_marks() {
        let mut page = Page::default();
        page.words("é".repeat(LONGEST_ROW), Group::Muted, Row::default());
        page.mark(LONGEST_ROW - 2..LONGEST_ROW + 2, Group::Error);
        let Block { lines, rows, spans, .. } = page.into_block();
        assert_eq!(lines.concat(), "é".repeat(LONGEST_ROW));
        assert_eq!((lines.len(), rows.len()), (2, 2));
        let marks: Vec<_> = spans.iter().map(|it| (it.row, it.start, it.end)).collect();
        let (end, near) = (LONGEST_ROW, LONGEST_ROW - 2);
        assert_eq!(marks, [(0, 0, end), (0, near, end), (1, 0, end), (1, 0, 2)]);
    }
}
