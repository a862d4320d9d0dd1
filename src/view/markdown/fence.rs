//! Fences around code.

use std::sync::Arc;

use super::super::model::{Group, Span};
use super::scan::Part;

/// The beginning of fenced code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// What it is made of, and how much of it.
    pub(super) mark: u8,
    pub(super) length: usize,
    /// The word after it.
    pub(super) lang: Arc<str>,
    /// Where its first line begins, and in which row; none if that is in an earlier piece.
    pub(super) body: Option<(usize, usize)>,
    /// It may be closed at any column, and ends with the item it is in.
    pub(super) nested: bool,
}

impl Fence {
    /// The fence that a whole line opens, if it begins in the first column.
    pub(super) fn opened_by(line: &str) -> Option<Fence> {
        let mark = *line.as_bytes().first().filter(|it| matches!(it, b'`' | b'~'))?;
        let info = line.trim_start_matches(char::from(mark));
        let length = line.len() - info.len();
        if length < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        let lang = language(info);
        Some(Fence { mark, length, lang: lang.into(), body: None, nested: false })
    }

    /// Whether a whole line closes it.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let inner = line.trim_start_matches(' ');
        let after = inner.trim_start_matches(char::from(self.mark));
        (self.nested || line.len() - inner.len() < 4)
            && inner.len() - after.len() >= self.length
            && after.trim().is_empty()
    }
}

/// The language in what stands after a fence: `rust`, `rust,ignore`, `{.rust}`.
pub(super) fn language(info: &str) -> &str {
    let word = info.trim_start_matches(|it: char| it.is_whitespace() || matches!(it, '{' | '.'));
    let end = word.find(|it: char| it.is_whitespace() || matches!(it, ',' | '{' | '}'));
    word.get(..end.unwrap_or(word.len())).unwrap_or_default()
}

/// Paints a line of fenced code.
pub(super) fn paint_line(line: &str, row: usize, part: &Part, spans: &mut Vec<Span>) {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() {
        return;
    }
    let group = if let Part::Body = part { Group::CodeBlock } else { Group::Fence };
    spans.push(Span { row, start: 0, end: line.len(), group });
    if let Part::Open = part {
        let mark = line.trim_start_matches(['`', '~']);
        paint_language(line, (row, line.len() - mark.len()), spans);
    }
}

/// Paints the language of a line that opens a fence, which stands before `col`.
pub(super) fn paint_language(line: &str, (row, col): (usize, usize), spans: &mut Vec<Span>) {
    let info = line.get(col..).unwrap_or_default();
    let lang = language(info);
    if !lang.is_empty() {
        let start = col + info.find(lang).unwrap_or_default();
        spans.push(Span { row, start, end: start + lang.len(), group: Group::Language });
    }
}
