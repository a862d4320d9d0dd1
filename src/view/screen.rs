//! What a transcript shows, and the least change that brings it up to date.

use std::collections::BTreeSet;

use super::block::message::{Body, Grown};
use super::block::thought::Thought;
use super::block::{Block, Scene, tool_call};
use super::model::{Look, Patch, Place};
use super::opened::Opened;
use super::patch;
use crate::session::entry::{Entry, Role};
use crate::session::state::Session;

/// What one transcript shows: one block per entry.
#[derive(Debug, Default)]
pub struct Screen {
    look: Look,
    opened: Opened,
    blocks: Vec<Shown>,
    rows: usize,
    /// The entry that was shown as growing.
    growing: Option<usize>,
}

/// What is shown of one entry.
#[derive(Debug)]
struct Shown {
    rows: usize,
    /// How many of them stand above its own: a gap, a heading.
    head: usize,
    /// What the rows were that are rendered anew when they change.
    print: u64,
    /// The tool call whose rows tell of this one.
    root: Option<usize>,
    growth: Growth,
}

/// How an entry grows.
#[derive(Debug)]
enum Growth {
    None,
    Message(Box<Body>),
    Thought(Box<Thought>),
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
        (index, open): (usize, Option<bool>),
        patches: &mut Vec<Patch>,
    ) {
        let is_thought = match session.entries.get(index) {
            Some(Entry::Message(message)) if message.role == Role::Thought => true,
            Some(Entry::ToolCall(_)) => false,
            _ => return,
        };
        if !self.opened.set(index, open) || index >= self.blocks.len() {
            return;
        }
        match is_thought {
            true => self.again(session, index, patches),
            false => self.update(session, index, patches),
        }
    }

    /// Opens or closes every entry, and those to come.
    pub fn toggle_all(&mut self, session: &Session, open: bool, patches: &mut Vec<Patch>) {
        self.opened.set_all(open);
        self.render_all(session, patches);
    }

    /// Shows everything anew; whatever the transcript shows is replaced.
    pub fn render_all(&mut self, session: &Session, patches: &mut Vec<Patch>) {
        self.blocks.clear();
        self.growing = None;
        let mut all = Block::default();
        for index in 0..session.entries.len() {
            let (block, shown) = self.render(session, index);
            self.blocks.push(shown);
            all.append(block);
        }
        self.rows = all.lines.len();
        patch::put(all, Place::All, 0, patches);
    }

    /// Brings one entry up to date.
    pub fn update(&mut self, session: &Session, index: usize, patches: &mut Vec<Patch>) {
        self.update_all(session, std::iter::once(index), patches);
    }

    /// Brings entries up to date. What stands above several of them is looked at once.
    pub fn update_all(
        &mut self,
        session: &Session,
        entries: impl Iterator<Item = usize>,
        patches: &mut Vec<Patch>,
    ) {
        let mut roots = BTreeSet::new();
        for index in entries {
            // What grew may do so no more, which nobody tells of.
            if let Some(growing) = self.growing.filter(|it| *it != index) {
                roots.extend(self.refresh(session, growing, patches));
            }
            // Entries before this one that were never shown come first.
            while self.blocks.len() < index {
                roots.extend(self.add(session, patches));
            }
            roots.extend(match self.blocks.get(index) {
                None => self.add(session, patches),
                Some(_) => self.refresh(session, index, patches),
            });
        }
        for root in roots {
            self.refresh(session, root, patches);
        }
    }

    fn scene<'a>(&'a self, session: &'a Session) -> Scene<'a> {
        Scene { session, look: self.look, opened: &self.opened }
    }

    /// All rows of an entry.
    fn render(&mut self, session: &Session, index: usize) -> (Block, Shown) {
        let scene = self.scene(session);
        let root = tool_call::root(session, index);
        let mut block = if root.is_some() { Block::default() } else { scene.head(index) };
        let head = block.lines.len();
        let (body, grown, growth) = match session.entries.get(index) {
            Some(Entry::Message(message)) if message.role == Role::Thought => {
                let mut thought = Box::new(Thought::new(&scene, index));
                let (row, grown) = thought.grow(&scene, (index, message));
                (row, grown, Growth::Thought(thought))
            }
            Some(Entry::Message(message)) => {
                let mut body = Box::new(Body::new(&scene, ""));
                let grown = body.grow(&scene, (index, message));
                (Block::default(), grown, Growth::Message(body))
            }
            _ => (scene.body(index), None, Growth::None),
        };
        if !matches!(growth, Growth::None) && !scene.is_over(index) {
            self.growing = Some(index);
        }
        let print = body.print();
        block.append(body);
        block.append(grown.map(|it| it.block).unwrap_or_default());
        let shown = Shown { rows: block.lines.len(), head, print, root, growth };
        (block, shown)
    }

    /// Shows the next entry. Where it stands below another, that one is to be looked at.
    fn add(&mut self, session: &Session, patches: &mut Vec<Patch>) -> Option<usize> {
        let index = self.blocks.len();
        let (block, shown) = self.render(session, index);
        let place = match self.rows {
            0 => Place::All,
            rows => Place::Rows { first: rows, last: rows },
        };
        if shown.rows > 0 {
            patch::put(block, place, self.rows, patches);
        }
        self.rows += shown.rows;
        let root = shown.root;
        self.blocks.push(shown);
        root
    }

    /// Brings an entry up to date that is shown already. Where it stands below another, that one is
    /// to be looked at.
    fn refresh(
        &mut self,
        session: &Session,
        index: usize,
        patches: &mut Vec<Patch>,
    ) -> Option<usize> {
        let root = tool_call::root(session, index);
        let known = self.blocks.get(index).map(|it| it.root)?;
        if root != known {
            // It stands elsewhere now, and what is below it has something else above it.
            self.render_all(session, patches);
            return None;
        }
        if root.is_some() {
            return root;
        }
        let first = self.first_row(index);
        let scene = Scene { session, look: self.look, opened: &self.opened };
        let shown = self.blocks.get_mut(index)?;
        let own = first + shown.head;
        let before = shown.rows;
        match (&mut shown.growth, session.entries.get(index)) {
            (Growth::Message(body), Some(Entry::Message(message))) => {
                let grown = body.grow(&scene, (index, message));
                shown.grow(grown, own, patches);
            }
            (Growth::Thought(thought), Some(Entry::Message(message))) => {
                let (row, grown) = thought.grow(&scene, (index, message));
                shown.replace(row, (own, 1), patches);
                shown.grow(grown, own + 1, patches);
            }
            _ => shown.replace(scene.body(index), (own, shown.rows - shown.head), patches),
        }
        self.rows = self.rows + shown.rows - before;
        let growing = !matches!(shown.growth, Growth::None) && !scene.is_over(index);
        self.growing = if growing { Some(index) } else { self.growing.filter(|it| *it != index) };
        None
    }

    /// Shows an entry anew, whatever it was.
    fn again(&mut self, session: &Session, index: usize, patches: &mut Vec<Patch>) {
        let first = self.first_row(index);
        let (block, shown) = self.render(session, index);
        let Some(slot) = self.blocks.get_mut(index) else { return };
        let place = Place::Rows { first, last: first + slot.rows };
        self.rows = self.rows + shown.rows - slot.rows;
        *slot = shown;
        patch::put(block, place, first, patches);
    }

    /// Counted from the end, where things change.
    fn first_row(&self, index: usize) -> usize {
        let after: usize = self.blocks.iter().skip(index).map(|it| it.rows).sum();
        self.rows - after
    }
}

impl Shown {
    /// Puts a block into the place of so many rows from one on, unless it is what is there.
    fn replace(&mut self, block: Block, (first, rows): (usize, usize), patches: &mut Vec<Patch>) {
        let print = block.print();
        if print == self.print {
            return;
        }
        self.print = print;
        self.rows = self.rows + block.lines.len() - rows;
        patch::put(block, Place::Rows { first, last: first + rows }, first, patches);
    }

    /// Takes in what the rows from one on have grown by.
    fn grow(&mut self, grown: Option<Grown>, first: usize, patches: &mut Vec<Patch>) {
        if let Some(grown) = grown {
            self.rows += grown.block.lines.len() - 1;
            patch::grow(grown, first, patches);
        }
    }
}
