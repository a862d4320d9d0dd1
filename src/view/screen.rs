//! What a transcript shows, and the least change that brings it up to date.

use super::block::{self, Block};
use super::model::{Group, Look, Patch, Place, Row, Span};
use crate::session::entry::Entry;
use crate::session::state::Session;

/// The longest patch. Longer changes are cut, so that whoever applies them can pause in between.
pub const PIECE: usize = 256;

/// What one transcript shows: one block per entry.
#[derive(Debug, Default)]
pub struct Screen {
    blocks: Vec<Shown>,
    rows: usize,
    look: Look,
}

/// What is shown of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    rows: usize,
    /// How many bytes of a message's text are shown.
    text: usize,
    /// The length of the last row.
    last_col: usize,
}

impl Screen {
    /// Nothing yet, to be rendered this way.
    pub fn new(look: Look) -> Screen {
        Screen { look, ..Screen::default() }
    }

    /// Shows everything another way.
    pub fn set_look(&mut self, look: Look, session: &Session, patches: &mut Vec<Patch>) {
        self.look = look;
        self.render_all(session, patches);
    }

    /// Opens or closes an entry; without a wish, the other way.
    pub fn toggle(
        &mut self,
        session: &Session,
        (index, _open): (usize, Option<bool>),
        patches: &mut Vec<Patch>,
    ) {
        self.update(session, index, patches);
    }

    /// Opens or closes every entry.
    pub fn toggle_all(&mut self, session: &Session, _open: bool, patches: &mut Vec<Patch>) {
        self.render_all(session, patches);
    }

    /// Shows everything anew; whatever the transcript shows is replaced.
    pub fn render_all(&mut self, session: &Session, patches: &mut Vec<Patch>) {
        *self = Screen::new(self.look);
        let mut all = Block::default();
        for index in 0..session.entries.len() {
            let block = block::render(session, index);
            self.blocks.push(Shown::of(&block, &session.entries, index));
            let above = all.lines.len();
            all.spans.extend(block.spans.into_iter().map(|it| Span { row: it.row + above, ..it }));
            all.lines.extend(block.lines);
            all.rows.extend(block.rows);
        }
        self.rows = all.lines.len();
        let mut pieces = cut(all, Place::All, 0);
        patches.append(&mut pieces);
    }

    /// Brings one entry up to date.
    pub fn update(&mut self, session: &Session, index: usize, patches: &mut Vec<Patch>) {
        // Entries before this one that were never shown come first.
        while self.blocks.len() < index {
            self.add(session, self.blocks.len(), patches);
        }
        match self.blocks.get(index).copied() {
            None => self.add(session, index, patches),
            Some(shown) => match session.entries.get(index) {
                Some(Entry::Message(message)) => {
                    let row = self.first_row(index) + shown.rows - 1;
                    let new = block::showable(&message.text).get(shown.text..);
                    let Some(new) = new else { return };
                    if !new.is_empty() {
                        let group = block::body_group(message.role);
                        let grown = grow((index, shown), (new, group), row, patches);
                        self.replace(index, grown);
                    }
                }
                Some(_) => self.again(session, index, patches),
                None => {}
            },
        }
    }

    fn add(&mut self, session: &Session, index: usize, patches: &mut Vec<Patch>) {
        let block = block::render(session, index);
        let shown = Shown::of(&block, &session.entries, index);
        let place = match self.rows {
            0 => Place::All,
            rows => Place::Rows { first: rows, last: rows },
        };
        patches.extend(cut(block, place, self.rows));
        self.rows += shown.rows;
        self.blocks.push(shown);
    }

    /// Renders an entry anew that has changed otherwise than by growing.
    fn again(&mut self, session: &Session, index: usize, patches: &mut Vec<Patch>) {
        let Some(old) = self.blocks.get(index).copied() else { return };
        let first = self.first_row(index);
        let block = block::render(session, index);
        let shown = Shown::of(&block, &session.entries, index);
        patches.extend(cut(block, Place::Rows { first, last: first + old.rows }, first));
        self.replace(index, shown);
    }

    fn replace(&mut self, index: usize, shown: Shown) {
        if let Some(slot) = self.blocks.get_mut(index) {
            self.rows = self.rows + shown.rows - slot.rows;
            *slot = shown;
        }
    }

    /// Counted from the end, where things change.
    fn first_row(&self, index: usize) -> usize {
        let after: usize = self.blocks.iter().skip(index).map(|it| it.rows).sum();
        self.rows - after
    }
}

impl Shown {
    fn of(block: &Block, entries: &[Entry], index: usize) -> Shown {
        let text = match entries.get(index) {
            Some(Entry::Message(message)) => block::showable(&message.text).len(),
            _ => 0,
        };
        let last_col = block.lines.last().map_or(0, String::len);
        Shown { rows: block.lines.len(), text, last_col }
    }
}

/// Appends streamed text to a message.
fn grow(
    (index, shown): (usize, Shown),
    (new, group): (&str, Option<Group>),
    row: usize,
    patches: &mut Vec<Patch>,
) -> Shown {
    let lines: Vec<String> = block::whole_lines(new).map(str::to_owned).collect();
    let mut spans = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        let end = line.len() + if row == 0 { shown.last_col } else { 0 };
        if let Some(group) = group
            && end > 0
        {
            spans.push(Span { row, start: 0, end, group });
        }
    }
    let rows = vec![Row { owner: block::owner(index), ..Row::default() }; lines.len()];
    let last = lines.last().map_or(0, String::len);
    let last_col = if lines.len() == 1 { shown.last_col + last } else { last };
    let grown =
        Shown { rows: shown.rows + lines.len() - 1, text: shown.text + new.len(), last_col };
    let place = Place::Append { row, col: shown.last_col };
    patches.extend(cut(Block { lines, rows, spans }, place, row));
    grown
}

/// Cuts a long change into pieces: the first does what the whole would do, the others insert
/// below it.
fn cut(block: Block, place: Place, first_row: usize) -> Vec<Patch> {
    let mut spans = block.spans.into_iter().peekable();
    let mut lines = block.lines.into_iter();
    let mut rows = block.rows.into_iter();
    let mut patches = Vec::new();
    let mut done = 0;
    loop {
        let piece: Vec<String> = lines.by_ref().take(PIECE).collect();
        if piece.is_empty() && done > 0 {
            return patches;
        }
        let end = done + piece.len();
        let mut own = Vec::new();
        while let Some(span) = spans.next_if(|it| it.row < end) {
            own.push(Span { row: span.row - done, ..span });
        }
        let at = first_row + done;
        let place = if done == 0 { place } else { Place::Rows { first: at, last: at } };
        done = end;
        let rows = rows.by_ref().take(PIECE).collect();
        let (code, repaint) = (Vec::new(), None);
        patches.push(Patch { place, lines: piece, rows, spans: own, code, repaint });
        if end < PIECE || !end.is_multiple_of(PIECE) {
            return patches;
        }
    }
}
