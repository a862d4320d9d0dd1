//! Rows in the making.

use std::ops::Range;
use std::sync::Arc;

use crate::view::block::Block;
use crate::view::model::{Code, Group, Row, Span};

/// Rows of a detail, from top to bottom.
#[derive(Debug, Default)]
pub(super) struct Page {
    block: Block,
}

impl Page {
    /// Adds a row. What others wrote must have been made lines.
    pub(super) fn push(&mut self, text: impl Into<String>, row: Row) {
        let mut text = text.into();
        // A row is one line in the buffer, whatever comes.
        if text.contains('\n') {
            text = text.replace('\n', " ");
        }
        self.block.lines.push(text);
        self.block.rows.push(row);
    }

    /// Adds a row that is all the same.
    pub(super) fn words(&mut self, text: impl Into<String>, group: Group, row: Row) {
        self.push(text, row);
        let end = self.block.lines.last().map_or(0, String::len);
        self.mark(0..end, group);
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
        let Some(row) = self.block.lines.len().checked_sub(1) else { return };
        if at.start < at.end {
            self.block.spans.push(Span { row, start: at.start, end: at.end, group });
        }
    }

    /// Highlights the last row to the edge of the window, an empty one too.
    pub(super) fn mark_whole(&mut self, group: Group) {
        let Some(row) = self.block.lines.len().checked_sub(1) else { return };
        let end = self.block.lines.last().map_or(0, String::len);
        self.block.spans.push(Span { row, start: 0, end, group });
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

    pub(super) fn into_block(self) -> Block {
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
