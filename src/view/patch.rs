//! Rows to patches.

use super::block::Block;
use super::block::message::Grown;
use super::model::{Patch, Place, Repaint, Span};

/// The longest patch, in ordinary rows. Longer changes are cut, so that whoever applies them can
/// pause in between.
pub const PIECE: usize = 256;
/// How many bytes an ordinary row has at most.
const ORDINARY: usize = 1024;

/// As how many ordinary rows a row counts.
fn weight(line: &str) -> usize {
    1 + line.len() / ORDINARY
}

impl Patch {
    /// As how many ordinary rows its rows count.
    pub fn weight(&self) -> usize {
        self.lines.iter().map(|line| weight(line)).sum()
    }
}

/// Puts rows into a place that begins at a row. A long change is cut into pieces: the first does
/// what the whole would do, the others insert below it.
pub(super) fn put(block: Block, place: Place, row: usize, patches: &mut Vec<Patch>) {
    let mut spans = block.spans.into_iter().peekable();
    let mut lines = block.lines.into_iter();
    let mut rows = block.rows.into_iter();
    let mut code = block.code;
    let mut done = 0;
    loop {
        let mut room = PIECE;
        let mut fits = |line: &&String| {
            let fits = room > 0;
            room = room.saturating_sub(weight(line));
            fits
        };
        let count = lines.as_slice().iter().take_while(|line| fits(line)).count();
        let piece: Vec<String> = lines.by_ref().take(count).collect();
        let end = done + piece.len();
        let mut own = Vec::new();
        while let Some(span) = spans.next_if(|it| it.row < end) {
            own.push(Span { row: span.row - done, ..span });
        }
        let at = row + done;
        patches.push(Patch {
            place: if done == 0 { place } else { Place::Rows { first: at, last: at } },
            lines: piece,
            rows: rows.by_ref().take(count).collect(),
            spans: own,
            code: std::mem::take(&mut code),
            repaint: None,
        });
        done = end;
        if lines.len() == 0 {
            return;
        }
    }
}

/// Lets the rows of a body that begins at a row grow.
pub(super) fn grow(grown: Grown, row: usize, patches: &mut Vec<Patch>) {
    let Grown { block, at: (last, col), above } = grown;
    let first = patches.len();
    let row = row + last;
    put(block, Place::Append { row, col }, row, patches);
    if let Some(patch) = patches.get_mut(first)
        && !above.rows.is_empty()
    {
        let first = row - above.rows.len();
        patch.repaint = Some(Repaint { first, rows: above.rows, spans: above.spans });
    }
}
