//! A copy of a buffer's text, kept level with it by the changes it tells of.
//!
//! The core reads it without asking the editor, which has other things to do. A copy of the copy
//! costs next to nothing: what an agent has seen is kept as it was, and shares with the present
//! what has not changed since. Must not know how the changes arrive.

use std::ops::Range;
use std::sync::Arc;

use super::format::{BYTE_ORDER_MARK, Ending, Format, push_line};

/// How many lines a chunk has at most.
const LINES: usize = 128;
/// How many bytes make a chunk full, whatever its lines.
const BYTES: usize = 16 << 10;

/// The lines of a buffer at one moment.
#[derive(Debug, Clone, Default)]
pub struct Mirror {
    chunks: Vec<Arc<Chunk>>,
    count: usize,
    version: u64,
}

/// A change that does not fit the lines that are there: one before it was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the editor's changes and the copy of its text are out of step")]
pub struct OutOfStep;

impl Mirror {
    /// A copy of the lines that the buffer has at this version (`changedtick`).
    pub fn new<'a>(version: u64, lines: impl IntoIterator<Item = &'a str>) -> Mirror {
        let lines: Vec<&str> = lines.into_iter().collect();
        Mirror { chunks: chunks(&lines), count: lines.len(), version }
    }

    /// Takes further lines at the end: they are the buffer's at the same version.
    pub fn extend<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        let lines: Vec<&str> = lines.into_iter().collect();
        self.chunks.extend(chunks(&lines));
        self.count += lines.len();
    }

    /// The version it has got to.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How many bytes the lines have, with a `\n` after each.
    pub fn size(&self) -> usize {
        self.chunks.iter().map(|it| it.text.len()).sum()
    }

    /// Says whether a single empty line, if that is all there is, stands for no line at all: the
    /// changes alone don't always tell.
    pub fn declare_empty(&mut self, empty: bool) {
        let shows_one = self.count <= 1 && self.lines().all(str::is_empty);
        if shows_one && empty != self.is_empty() {
            *self = Mirror::new(self.version, [""].into_iter().filter(|_| !empty));
        }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the file has no bytes. The editor shows an empty line for it all the same.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes a change: `lines` are now where `rows` were, as `on_lines` of `nvim_buf_attach` has it.
    ///
    /// # Errors
    /// There are no such rows. Nothing has changed, and only a new copy helps.
    pub fn splice<'a>(
        &mut self,
        version: u64,
        rows: Range<usize>,
        lines: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), OutOfStep> {
        // The line that the editor shows counts for the editor.
        let shown = self.count.max(1);
        if rows.start > rows.end || rows.end > shown {
            return Err(OutOfStep);
        }
        if self.count == 0 {
            self.chunks = chunks(&[""]);
        }
        let (first, before) = self.find(rows.start);
        let (last, after) = self.find(rows.end);
        let touched: Vec<Arc<Chunk>> = self.chunks.get(first..=last).unwrap_or_default().to_vec();
        let head = touched.first().into_iter().flat_map(|it| it.lines(0..before));
        let tail = touched.last().into_iter().flat_map(|it| it.lines(after..it.len()));
        let mut made: Vec<&str> = head.collect();
        for line in lines {
            made.push(line);
        }
        made.extend(tail);
        let removed: usize = touched.iter().map(|it| it.len()).sum();
        self.count = shown - removed + made.len();
        self.chunks.splice(first..(last + 1).min(self.chunks.len()), chunks(&made));
        self.tidy(first);
        self.version = version;
        Ok(())
    }

    /// The lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.chunks.iter().flat_map(|it| it.lines(0..it.len()))
    }

    /// The lines of some rows, as far as there are such rows.
    pub fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = &str> {
        let (chunk, row) = self.find(rows.start.min(self.count));
        let chunks = self.chunks.iter().skip(chunk).enumerate();
        let lines = chunks
            .flat_map(move |(index, it)| it.lines(if index == 0 { row } else { 0 }..it.len()));
        lines.take(rows.len())
    }

    /// Whether another has the same lines. What both share is not looked at.
    pub fn same_lines(&self, other: &Mirror) -> bool {
        if self.count != other.count {
            return false;
        }
        let (mut ours, mut theirs) = (self.chunks.iter(), other.chunks.iter());
        let (mut one, mut two) = (ours.next(), theirs.next());
        // How far each is in its chunk.
        let (mut row, mut other_row) = (0, 0);
        while let (Some(chunk), Some(other_chunk)) = (one, two) {
            if row == 0 && other_row == 0 && Arc::ptr_eq(chunk, other_chunk) {
                (one, two) = (ours.next(), theirs.next());
                continue;
            }
            let count = (chunk.len() - row).min(other_chunk.len() - other_row);
            let theirs_here = other_chunk.lines(other_row..other_row + count);
            if !chunk.lines(row..row + count).eq(theirs_here) {
                return false;
            }
            (row, other_row) = (row + count, other_row + count);
            if row == chunk.len() {
                (one, row) = (ours.next(), 0);
            }
            if other_row == other_chunk.len() {
                (two, other_row) = (theirs.next(), 0);
            }
        }
        true
    }

    /// Takes a version that has the same lines: a buffer gets one when it is written, too.
    pub fn reach(&mut self, version: u64) {
        self.version = version;
    }

    /// The text of at most `limit` lines from `line` on, which counts from 1, as the file would
    /// have them; all that follow without a limit.
    pub fn slice(&self, line: usize, limit: Option<usize>, format: Format) -> String {
        let first = line.saturating_sub(1).min(self.count);
        let last = limit.map_or(self.count, |it| first.saturating_add(it).min(self.count));
        let mut text = String::with_capacity(self.bytes(first..last, format.ending));
        if format.bom && first == 0 && limit != Some(0) {
            text.push(BYTE_ORDER_MARK);
        }
        let (chunk, row) = self.find(first);
        let mut rows = row..row + (last - first);
        for chunk in self.chunks.iter().skip(chunk) {
            if rows.is_empty() {
                break;
            }
            chunk.write(rows.start..rows.end.min(chunk.len()), format.ending, &mut text);
            rows = 0..rows.end.saturating_sub(chunk.len());
        }
        if last == self.count && first < last && !format.final_eol {
            text.truncate(text.len() - format.ending.as_str().len());
        }
        text
    }

    /// The chunk of a row, and the row in it. What is past the last row is so in the last chunk.
    fn find(&self, row: usize) -> (usize, usize) {
        let mut left = row;
        for (index, chunk) in self.chunks.iter().enumerate() {
            if left < chunk.len() || (left == chunk.len() && index + 1 == self.chunks.len()) {
                return (index, left);
            }
            left -= chunk.len();
        }
        (0, 0)
    }

    /// How many bytes some rows may take, a byte order mark included.
    fn bytes(&self, rows: Range<usize>, ending: Ending) -> usize {
        let (first, start) = self.find(rows.start);
        let (last, end) = self.find(rows.end);
        let chunks = self.chunks.iter().take(last).skip(first);
        let whole: usize = chunks.map(|it| it.text.len()).sum();
        let part = |chunk: usize, row| self.chunks.get(chunk).map_or(0, |it| it.start(row));
        let returns = if ending == Ending::CrLf { rows.len() } else { 0 };
        whole + part(last, end) - part(first, start) + returns + BYTE_ORDER_MARK.len_utf8()
    }

    /// Makes one chunk of two at the place of a change, when they are small enough: many changes
    /// must not leave many chunks.
    fn tidy(&mut self, at: usize) {
        for index in [at, at.saturating_sub(1)] {
            let Some([one, other]) = self.chunks.get(index..index + 2) else { continue };
            if one.len() + other.len() <= LINES / 2 && one.text.len() + other.text.len() <= BYTES {
                let mut joined = Chunk::clone(one);
                other.lines(0..other.len()).for_each(|it| joined.push(it));
                self.chunks.splice(index..index + 2, [Arc::new(joined)]);
            }
        }
    }
}

/// Some lines, in one piece.
#[derive(Debug, Clone, Default)]
struct Chunk {
    /// Each line with a `\n` after it: in most files they are written as they are here.
    text: String,
    /// Where each line ends, with its `\n`.
    ends: Vec<usize>,
}

impl Chunk {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.ends.push(self.text.len());
    }

    /// Where a row starts.
    fn start(&self, row: usize) -> usize {
        row.checked_sub(1).and_then(|it| self.ends.get(it)).copied().unwrap_or(0)
    }

    fn lines(&self, rows: Range<usize>) -> impl Iterator<Item = &str> {
        let ends = self.ends.iter().take(rows.end).skip(rows.start);
        ends.scan(self.start(rows.start), |start, end| {
            let line = self.text.get(*start..end - 1);
            *start = *end;
            line
        })
    }

    fn write(&self, rows: Range<usize>, ending: Ending, text: &mut String) {
        if ending == Ending::Lf {
            let bytes = self.start(rows.start)..self.start(rows.end);
            text.push_str(self.text.get(bytes).unwrap_or_default());
            return;
        }
        for line in self.lines(rows) {
            push_line(text, line, ending);
            text.push_str(ending.as_str());
        }
    }
}

/// Chunks of about the same length, so that there is room in each for the next change.
fn chunks(lines: &[&str]) -> Vec<Arc<Chunk>> {
    let length = lines.len().div_ceil(lines.len().div_ceil(LINES).max(1));
    let mut chunks = Vec::with_capacity(lines.len() / LINES + 1);
    let mut chunk = Chunk::default();
    for line in lines {
        if chunk.len() == length || chunk.text.len() >= BYTES {
            chunks.push(Arc::new(std::mem::take(&mut chunk)));
        }
        chunk.push(line);
    }
    if chunk.len() > 0 {
        chunks.push(Arc::new(chunk));
    }
    chunks
}
