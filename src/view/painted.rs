//! The highlights of the rows a buffer shows, so that only visible rows need be painted.
//!
//! Follows the patches a buffer has taken, no more and no fewer: rows here are the buffer's rows.

use super::model::{Patch, Place, Span};

/// The highlights of one buffer's rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Painted {
    rows: Vec<Box<[Span]>>,
}

impl Painted {
    /// Takes the patch the buffer takes.
    pub fn apply(&mut self, patch: &Patch) {
        let mut new: Vec<Vec<Span>> = vec![Vec::new(); patch.lines.len()];
        for span in &patch.spans {
            if let Some(row) = new.get_mut(span.row) {
                // Rows move; which one it is, its place tells.
                row.push(Span { row: 0, ..*span });
            }
        }
        let new = new.into_iter().map(Vec::into_boxed_slice);
        let len = self.rows.len();
        let replaced = match patch.place {
            Place::All => 0..len,
            Place::Rows { first, last } => first.min(len)..last.min(len),
            Place::Append { row, .. } => row.min(len)..(row + 1).min(len),
        };
        self.rows.splice(replaced, new);
    }

    /// The highlights of some rows, each with its row in the buffer.
    pub fn spans(&self, first: usize, last: usize) -> impl Iterator<Item = Span> {
        let rows = self.rows.iter().enumerate().take(last).skip(first);
        rows.flat_map(|(row, spans)| spans.iter().map(move |span| Span { row, ..*span }))
    }
}
