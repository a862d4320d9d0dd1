//! What somebody says: rows as they were written, growing at their end.

use super::breaks::{Breaks, Shown};
use super::marks::Marks;
use super::{Block, Scene, owner, words};
use crate::session::content::Content;
use crate::session::entry::Role;
use crate::session::message::Message;
use crate::view::markdown::{Change, Markdown, Painting};
use crate::view::model::{Code, Group, Look, Row, Span};

/// How many blocks of code one message can name: names are numbers of 32 bits.
pub(in crate::view) const CODES: u32 = 1 << 12;
/// Code with more rows is left alone: who would highlight it has too much to do.
const LONGEST_CODE: usize = 10_000;

/// What is shown of a text that grows.
#[derive(Debug)]
pub(in crate::view) struct Body {
    look: Look,
    /// The project.
    cwd: Box<str>,
    /// What stands before each row.
    indent: &'static str,
    markdown: Markdown,
    /// What is too long for a row. Everything below is about the text as it is broken.
    breaks: Breaks,
    /// How much of the text is shown.
    shown: usize,
    /// Where the last row begins in the text, and how many rows there are above it.
    start: usize,
    row: usize,
    /// How long the last row is, and whether there is more than blanks in it.
    col: usize,
    begun: bool,
}

/// What a body has grown by.
#[derive(Debug)]
pub(in crate::view) struct Grown {
    /// The rows that are new; the first is what the last row of before goes on with.
    pub(in crate::view) block: Block,
    /// The row that goes on, counted from the body's first one, and its length before.
    pub(in crate::view) at: (usize, usize),
    /// Rows above that one which stay and are highlighted otherwise; without any text.
    pub(in crate::view) above: Block,
}

/// A line of the text, and how it is shown.
struct Line<'a> {
    text: &'a str,
    /// Which attachment it stands for, and in which words.
    attachment: Option<(usize, String)>,
    /// What stands before it.
    indent: &'static str,
    /// Where a blank is put in.
    guard: Option<usize>,
}

impl Body {
    /// Nothing yet.
    pub(in crate::view) fn new(scene: &Scene, indent: &'static str) -> Body {
        let look = scene.look;
        let markdown = Markdown::new(look.conceal);
        let cwd = scene.session.launch.cwd.as_str().into();
        let (breaks, begun) = (Breaks::default(), false);
        Body { look, cwd, indent, markdown, breaks, shown: 0, start: 0, row: 0, col: 0, begun }
    }

    /// Takes in what is new; nothing if that changes nothing.
    pub(in crate::view) fn grow(
        &mut self,
        scene: &Scene,
        (index, message): (usize, &Message),
    ) -> Option<Grown> {
        let mut breaks = std::mem::take(&mut self.breaks);
        let shown = breaks.follow(showable(&message.text));
        let change = self.markdown.grow(shown.text, scene.is_over(index));
        let grown = change.map(|change| self.show((index, message), shown, &change));
        self.breaks = breaks;
        grown
    }

    /// The rows of what is new, and of what has changed by it.
    fn show(
        &mut self,
        (index, message): (usize, &Message),
        shown: Shown<'_>,
        change: &Change,
    ) -> Grown {
        let text = shown.text;
        let (at, mut start) = ((self.row, self.col), self.start);
        let lines = self.take(message, shown);
        // To be painted are the rows that are new, and those above that look otherwise now.
        let first = change.from.min(at.0);
        for _ in first..at.0 {
            let before = text.get(..start.saturating_sub(1)).unwrap_or_default();
            start = before.rfind('\n').map_or(0, |at| at + 1);
        }
        let mut offset = start;
        // The last row may be very long: where it begins is known.
        let above = text.get(start..self.start).unwrap_or_default().split_terminator('\n');
        let raw = above.chain(text.get(self.start..));
        let all = raw.map(|line| {
            let line_at = self.line(message, line, shown.origin(offset));
            offset += line.len() + 1;
            line_at
        });
        let rows = Rows { index, role: message.role, first };
        let mut above = rows.paint(all, &change.painting);
        rows.name_code(&mut above, &change.painting, self.indent.len());
        let mut block = above.split_off(at.0 - first);
        block.lines = lines;
        Grown { block, at, above }
    }

    /// Goes on to the end of the text: the rows of what is new.
    fn take(&mut self, message: &Message, shown: Shown<'_>) -> Vec<String> {
        let (text, mut lines) = (shown.text, Vec::new());
        let new = text.get(self.shown..).unwrap_or_default();
        for (number, more) in new.split('\n').enumerate() {
            if number > 0 {
                self.shown += 1;
                self.start = self.shown;
                (self.row, self.col, self.begun) = (self.row + 1, 0, false);
            }
            self.shown += more.len();
            let more = if self.begun {
                // How the row begins is settled, so that a long one need not be looked at again.
                more.strip_suffix('\r').unwrap_or(more).to_owned()
            } else {
                let line = text.get(self.start..self.shown).unwrap_or_default();
                self.begun = !line.trim().is_empty();
                let line = self.line(message, line, shown.origin(self.start)).text();
                line.get(self.col..).unwrap_or_default().to_owned()
            };
            self.col += more.len();
            lines.push(more);
        }
        lines
    }

    /// A line that begins at an offset of the message's text.
    fn line<'a>(&self, message: &'a Message, line: &'a str, offset: usize) -> Line<'a> {
        let text = line.strip_suffix('\r').unwrap_or(line);
        let found = message.attachments.binary_search_by_key(&offset, |it| it.at);
        let attachment = found.ok().and_then(|at| {
            let content = &message.attachments.get(at)?.content;
            Some((at + 1, placeholder(self.look, &self.cwd, content)))
        });
        let indent = if text.is_empty() { "" } else { self.indent };
        let guard = Marks::of(self.look).guard(text);
        Line { text, attachment, indent, guard }
    }
}

impl Line<'_> {
    fn text(&self) -> String {
        if let Some((_, words)) = &self.attachment {
            return [self.indent, words, OPENS].concat();
        }
        let (blanks, words) = self.text.split_at(self.guard.unwrap_or_default());
        let guard = if self.guard.is_some() { " " } else { "" };
        [self.indent, blanks, guard, words].concat()
    }

    /// How long the row is.
    fn length(&self) -> usize {
        let words = match &self.attachment {
            Some((_, words)) => words.len() + OPENS.len(),
            None => self.text.len() + usize::from(self.guard.is_some()),
        };
        self.indent.len() + words
    }

    /// Where something stands in the row that stands there in the text.
    fn col(&self, col: usize) -> usize {
        self.indent.len() + col + usize::from(self.guard.is_some_and(|guard| col >= guard))
    }
}

/// Rows to be painted, from one on.
struct Rows {
    index: usize,
    role: Role,
    first: usize,
}

impl Rows {
    fn paint<'a>(&self, lines: impl Iterator<Item = Line<'a>>, painting: &Painting) -> Block {
        let mut block = Block::default();
        let mut spans = painting.spans.iter().peekable();
        for (row, line) in lines.enumerate() {
            let mut add = |start, end, group| block.spans.push(Span { row, start, end, group });
            let length = line.length();
            match self.role {
                Role::User => add(0, length, Group::UserText),
                Role::Thought if length > 0 => add(0, length, Group::Thought),
                Role::Thought | Role::Agent => {}
            }
            while let Some(span) = spans.next_if(|it| it.row <= self.first + row) {
                if line.attachment.is_none() {
                    add(line.col(span.start), line.col(span.end), span.group);
                }
            }
            let mut part = 0;
            if let Some((number, _)) = &line.attachment {
                add(line.indent.len(), length - OPENS.len(), Group::Attachment);
                add(length - OPENS.len(), length, Group::Hint);
                part = u32::try_from(*number).unwrap_or_default();
            }
            block.rows.push(Row { owner: owner(self.index), part, ..Row::default() });
        }
        block
    }

    /// Tells which rows are code.
    fn name_code(&self, block: &mut Block, painting: &Painting, indent: usize) {
        for code in &painting.code {
            let ordinal = u32::try_from(code.ordinal).unwrap_or(u32::MAX);
            let id = owner(self.index).checked_mul(CODES).map(|it| it | ordinal);
            let Some(id) = id.filter(|_| ordinal < CODES && code.rows.len() <= LONGEST_CODE) else {
                continue;
            };
            let skipped = code.rows.start.saturating_sub(self.first);
            let count = code.rows.end.saturating_sub(self.first.max(code.rows.start));
            for row in block.rows.iter_mut().skip(skipped).take(count) {
                row.code = id;
            }
            let col = u32::try_from(code.col + indent).unwrap_or_default();
            block.code.push(Code { id, lang: code.lang.clone(), col });
        }
    }
}

/// What says that something can be opened.
const OPENS: &str = "  <CR> opens";

/// What stands for something that is not text.
fn placeholder(look: Look, cwd: &str, content: &Content) -> String {
    let marks = Marks::of(look);
    let (what, bytes) = match content {
        Content::Image { mime, data } => (format!("image {mime}"), decoded(data)),
        Content::Audio { mime, data } => (format!("audio {mime}"), decoded(data)),
        Content::Blob { uri, data, .. } => (place(uri, cwd).to_owned(), decoded(data)),
        Content::Resource { uri, text, .. } => (place(uri, cwd).to_owned(), text.len()),
        Content::Link { uri, .. } | Content::Text(uri) | Content::Unknown(uri) => (uri.clone(), 0),
    };
    format!("{}{} {}", marks.attachment, words::one_line(&what, marks), words::size(bytes))
}

/// A file as people name it: by its path, and in the project by the path from there.
fn place<'a>(uri: &'a str, cwd: &str) -> &'a str {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let inner = path.strip_prefix(cwd).and_then(|it| it.strip_prefix('/'));
    inner.filter(|it| !it.is_empty()).unwrap_or(path)
}

/// How many bytes base64 stands for.
fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// How much of a streamed text is shown: line endings at its end wait for the line they begin, so
/// that there are no empty rows between a message and what comes after it.
fn showable(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}
