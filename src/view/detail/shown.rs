//! What a buffer shows, and the least change that brings it up to date.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use crate::view::block::Block;
use crate::view::model::{Patch, Place, Row, Span};
use crate::view::patch;

/// What one buffer shows: of each row, what tells it from others. The keys are random, so that
/// nobody can write a row that is taken for another.
#[derive(Debug, Default)]
pub(super) struct Shown {
    prints: Vec<u64>,
    keys: RandomState,
}

impl Shown {
    /// Shows these rows below the first `keep` ones, which stay, and no others.
    pub(super) fn show(&mut self, keep: usize, mut block: Block, patches: &mut Vec<Patch>) {
        let keep = keep.min(self.prints.len());
        if keep == 0 && block.lines.is_empty() {
            // A buffer always has a row.
            block.lines.push(String::new());
            block.rows.push(Row::default());
        }
        let new = self.prints_of(&block);
        if self.prints.is_empty() {
            patch::put(block, Place::All, 0, patches);
            self.prints = new;
            return;
        }
        let old = self.prints.get(keep..).unwrap_or_default();
        let above = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let left = old.len().min(new.len()) - above;
        let backwards = old.iter().rev().zip(new.iter().rev()).take(left);
        let below = backwards.take_while(|(one, other)| one == other).count();
        let replaced = keep + above..self.prints.len() - below;
        let rows = above..new.len() - below;
        if !replaced.is_empty() || !rows.is_empty() {
            let place = Place::Rows { first: replaced.start, last: replaced.end };
            patch::put(cut(block, rows), place, replaced.start, patches);
        }
        self.prints.truncate(keep);
        self.prints.extend(new);
    }

    fn prints_of(&self, block: &Block) -> Vec<u64> {
        let mut spans = block.spans.iter().peekable();
        let mut prints = Vec::with_capacity(block.lines.len());
        for (index, (text, row)) in block.lines.iter().zip(&block.rows).enumerate() {
            let mut marks = Vec::new();
            while let Some(span) = spans.next_if(|it| it.row == index) {
                marks.push((span.start, span.end, span.group as u8));
            }
            let place = (row.owner, row.code, row.old, row.new, row.sign as u8, row.part);
            let code = row.code.checked_sub(1).and_then(|at| block.code.get(at as usize));
            let code = code.map(|it| (&it.lang, it.col));
            prints.push(self.keys.hash_one((text, place, marks, code)));
        }
        prints
    }
}

/// Some of the rows, with what there is to know about them.
fn cut(block: Block, range: Range<usize>) -> Block {
    let Block { lines, rows, spans, code } = block;
    let first = spans.partition_point(|it| it.row < range.start);
    let spans = spans.into_iter().skip(first).take_while(|it| it.row < range.end);
    Block {
        lines: lines.into_iter().take(range.end).skip(range.start).collect(),
        rows: rows.into_iter().take(range.end).skip(range.start).collect(),
        spans: spans.map(|it| Span { row: it.row - range.start, ..it }).collect(),
        code,
    }
}
