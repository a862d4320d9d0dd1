//! What a buffer's rows look like and are about, so that only visible rows need be painted and
//! nobody has to ask the core what is under the cursor.
//!
//! Follows the patches a buffer has taken, no more and no fewer: rows here are the buffer's rows.

use std::collections::{BTreeMap, HashMap};

use super::model::{Code, Group, Patch, Place, Row, Span};

/// How many rows of code beyond those asked for are told of, each way: enough to understand the
/// ones in between.
const AROUND: usize = 200;

/// One buffer's rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Painted {
    rows: Vec<Line>,
    code: HashMap<u32, Code>,
}

/// One row.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Line {
    row: Row,
    spans: Box<[Mark]>,
}

/// A span without its row: rows move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    start: u32,
    end: u32,
    group: Group,
}

impl Painted {
    /// Takes the patch the buffer takes.
    pub fn apply(&mut self, patch: &Patch) {
        let len = self.rows.len();
        let replaced = match patch.place {
            Place::All => {
                self.code.clear();
                0..len
            }
            Place::Rows { first, last } => first.min(len)..last.min(len),
            Place::Append { row, .. } => row.min(len)..(row + 1).min(len),
        };
        for code in &patch.code {
            self.code.insert(code.id, code.clone());
        }
        if let Some(repaint) = &patch.repaint {
            let first = repaint.first.min(len);
            let last = (first + repaint.rows.len()).min(len);
            self.rows.splice(first..last, lines(&repaint.rows, &repaint.spans));
        }
        self.rows.splice(replaced, lines(&patch.rows, &patch.spans));
    }

    /// The highlights of some rows, each with its row in the buffer.
    pub fn spans(&self, first: usize, last: usize) -> impl Iterator<Item = Span> {
        let rows = self.rows.iter().enumerate().take(last).skip(first);
        rows.flat_map(|(row, line)| {
            line.spans.iter().map(move |mark| Span {
                row,
                start: mark.start as usize,
                end: mark.end as usize,
                group: mark.group,
            })
        })
    }

    /// What there is to know about a row.
    pub fn row(&self, row: usize) -> Row {
        self.rows.get(row).map(|line| line.row).unwrap_or_default()
    }

    /// The code that some rows belong to, each with its rows there and around.
    pub fn code(&self, first: usize, last: usize) -> Vec<(&Code, Vec<usize>)> {
        let mut found: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let wanted = self.rows.iter().take(last).skip(first).map(|line| line.row.code);
        for id in wanted.filter(|id| *id != 0) {
            found.entry(id).or_default();
        }
        if found.is_empty() {
            return Vec::new();
        }
        let around = first.saturating_sub(AROUND)..last.saturating_add(AROUND);
        for (row, line) in self.rows.iter().enumerate().take(around.end).skip(around.start) {
            if let Some(rows) = found.get_mut(&line.row.code) {
                rows.push(row);
            }
        }
        found.into_iter().filter_map(|(id, rows)| Some((self.code.get(&id)?, rows))).collect()
    }
}

fn lines(rows: &[Row], spans: &[Span]) -> Vec<Line> {
    let mut marks: Vec<Vec<Mark>> = vec![Vec::new(); rows.len()];
    for span in spans {
        if let Some(row) = marks.get_mut(span.row) {
            let short = |column: usize| u32::try_from(column).unwrap_or(u32::MAX);
            let (start, end) = (short(span.start), short(span.end));
            row.push(Mark { start, end, group: span.group });
        }
    }
    let lines = rows.iter().zip(marks);
    lines.map(|(row, marks)| Line { row: *row, spans: marks.into_boxed_slice() }).collect()
}
