//! A buffer of the editor's, without the editor. Shared by all tests of what is shown.

use acp_nvim::view::model::{Code, Group, Patch, Place, Row, Span};
use acp_nvim::view::painted::Painted;

/// A buffer that takes patches the way Neovim does.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) lines: Vec<String>,
    pub(crate) painted: Painted,
}

/// All there is to know about what a buffer shows.
pub(crate) type Seen<'a> = (&'a [String], Vec<Row>, Vec<Span>, Vec<(&'a Code, Vec<usize>)>);

impl Buffer {
    pub(crate) fn take(&mut self, patches: &[Patch]) {
        for patch in patches {
            assert_eq!(patch.lines.len(), patch.rows.len(), "each row is told of");
            self.painted.apply(patch);
            let mut lines = patch.lines.clone();
            let rows = match patch.place {
                Place::All => 0..self.lines.len(),
                Place::Rows { first, last } => first..last,
                Place::Append { row, col } => {
                    assert_eq!(self.lines[row].len(), col, "text goes to the end of the row");
                    lines[0].insert_str(0, &self.lines[row]);
                    row..row + 1
                }
            };
            if let Some(repaint) = &patch.repaint {
                assert_eq!(repaint.first + repaint.rows.len(), rows.start, "up to the patch");
            }
            self.lines.splice(rows, lines);
        }
        for span in self.painted.spans(0, usize::MAX) {
            let Span { row, start, end, group } = span;
            let fits = start < end || (end == 0 && group == Group::UserText);
            let line = &self.lines[row];
            assert!(fits && end <= line.len(), "{span:?} lies in its row");
            assert!(line.is_char_boundary(start) && line.is_char_boundary(end), "{span:?}");
        }
        assert!(self.lines.iter().all(|it| !it.contains('\n')), "rows are rows");
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        let rows = (0..self.lines.len()).map(|row| self.painted.row(row)).collect();
        let spans = self.painted.spans(0, usize::MAX).collect();
        (&self.lines, rows, spans, self.painted.code(0, self.lines.len()))
    }
}
