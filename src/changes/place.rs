//! Where something that was written elsewhere goes in a text: a diff in any of the shapes that
//! people and models write, or code that stands for a part of it.
//!
//! Nothing is guessed silently: each place says how it was found, and what fits in two places is
//! told and not placed. Knows lines; must not know what the text is a text of.

mod block;
mod change;
mod find;
mod fuzzy;
mod indent;
mod patch;
mod search;

use std::ops::Range;

pub use self::block::{At, place_code};
pub use self::change::place_changes;
pub use self::find::place_patch;
pub use self::patch::{FilePatch, Hunk, Kind, Mark};
use super::edits::{Edit, edits};
use super::script::{Slide, script};

/// What a piece of text that was written elsewhere is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Snippet {
    /// Changes to files.
    Diff(Vec<FilePatch>),
    /// Lines of code.
    Code(Vec<String>),
}

impl Snippet {
    /// Reads a text; `lang` is what stands at its fence.
    pub fn read(text: &str, lang: &str) -> Snippet {
        let lines: Vec<&str> = text.lines().collect();
        if search::is_search(&lines) {
            return Snippet::Diff(search::read(&lines));
        }
        if patch::is_diff(&lines, lang) {
            let files = patch::read(&lines);
            if files.iter().any(|it| !it.hunks.is_empty() || it.kind == Kind::Deleted) {
                return Snippet::Diff(files);
            }
        }
        Snippet::Code(lines.into_iter().map(str::to_owned).collect())
    }
}

/// How a place was found, from the surest to the least sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Every line is there, where it was said to be.
    Exact,
    /// Every line is there, elsewhere.
    Moved,
    /// Every line is there but for its blanks.
    Spaces,
    /// Most lines are there.
    Fuzzy,
    /// Code stands for what begins and ends like it.
    Region,
    /// Code stands for the whole text.
    Whole,
    /// Code stands for what the user has selected.
    Selection,
    /// Nothing says where it belongs: it goes where the user is.
    Cursor,
}

impl How {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            How::Exact => "exact",
            How::Moved => "moved",
            How::Spaces => "spaces",
            How::Fuzzy => "fuzzy",
            How::Region => "region",
            How::Whole => "whole",
            How::Selection => "selection",
            How::Cursor => "cursor",
        }
    }
}

/// Lines that make place for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// Which rows of the text.
    pub rows: Range<usize>,
    /// What comes in their place.
    pub lines: Vec<String>,
}

/// A place that was found, and what is to be done there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The rows it was found by.
    pub rows: Range<usize>,
    /// Which lines change, in order: for showing.
    pub lines: Vec<LineEdit>,
    /// The same, as small as can be and from the last to the first: for doing.
    pub edits: Vec<Edit>,
    /// How sure it is, of a hundred.
    pub score: usize,
    /// How it was found.
    pub how: How,
}

impl Found {
    /// What makes `new` of some rows; nothing if they are that already.
    fn new(text: &[&str], rows: Range<usize>, new: &[String]) -> Option<Found> {
        let old = text.get(rows.clone()).unwrap_or_default();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let owned = |range: Range<usize>| {
            new.get(range).unwrap_or_default().iter().map(|&it| it.to_owned()).collect()
        };
        let lines: Vec<LineEdit> = script(old, &new, Slide::Down)
            .into_iter()
            .map(|it| LineEdit {
                rows: it.old.start + rows.start..it.old.end + rows.start,
                lines: owned(it.new),
            })
            .collect();
        let made = if old.is_empty() && !text.is_empty() {
            vec![Edit::Lines { rows: rows.clone(), lines: owned(0..new.len()) }]
        } else {
            edits(old, &new).into_iter().map(|it| lower(it, rows.start)).collect()
        };
        let (score, how) = (100, How::Exact);
        (!lines.is_empty()).then_some(Found { rows, lines, edits: made, score, how })
    }

    fn by(self, how: How, score: usize) -> Found {
        Found { how, score, ..self }
    }

    /// The rows from the first to the last that change.
    fn span(&self) -> Range<usize> {
        let first = self.lines.first().map_or(self.rows.start, |it| it.rows.start);
        first..self.lines.last().map_or(first, |it| it.rows.end)
    }

    /// Whether both can't be done, each speaking of the rows of the text as it is.
    fn touches(&self, other: &Found) -> bool {
        let (one, two) = (self.span(), other.span());
        one.start == two.start || (one.start < two.end && two.start < one.end)
    }
}

/// An edit of rows further down.
fn lower(edit: Edit, by: usize) -> Edit {
    match edit {
        Edit::Lines { rows, lines } => Edit::Lines { rows: rows.start + by..rows.end + by, lines },
        Edit::Text { row, columns, text } => Edit::Text { row: row + by, columns, text },
    }
}

/// Something that has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// A line of it that says most.
    pub what: String,
    /// Why.
    pub why: Why,
}

/// Why something has no place. Rows count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It has been done already, here.
    Already(usize),
    /// It fits in all of these places.
    Ambiguous(Vec<usize>),
    /// It fits nowhere; here is what is most like it, and how much of a hundred.
    Nowhere(Option<(usize, usize)>),
    /// It does not say where it belongs.
    NoContext,
    /// It changes what another part changes, here.
    Overlaps(usize),
}

/// What came of looking for places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placing {
    /// In the order of the text; no two change the same.
    pub found: Vec<Found>,
    /// What has no place.
    pub missing: Vec<Missing>,
}

impl Placing {
    fn add(&mut self, found: Found, what: &str) {
        match self.found.iter().find(|it| it.touches(&found)) {
            Some(other) => {
                let why = Why::Overlaps(other.rows.start);
                self.missing.push(Missing { what: what.to_owned(), why });
            }
            None => {
                let start = found.span().start;
                let at = self.found.partition_point(|it| it.span().start <= start);
                self.found.insert(at, found);
            }
        }
    }

    fn miss(&mut self, what: &str, why: Why) {
        self.missing.push(Missing { what: what.to_owned(), why });
    }
}

/// A line without the blanks that nobody sees.
fn plain(line: &str) -> String {
    let mut words = line.split_whitespace();
    let mut plain = words.next().unwrap_or_default().to_owned();
    for word in words {
        plain.push(' ');
        plain.push_str(word);
    }
    plain
}

/// How much a line says about where it is: `}` says little.
fn weight(plain: &str) -> usize {
    1 + plain.chars().filter(|it| it.is_alphanumeric()).take(8).count()
}

/// Lines longer than this are the same or are not.
const LONG: usize = 2000;

/// How alike two lines are, of a hundred: by what they begin and end with.
fn likeness(one: &str, other: &str) -> usize {
    let most = one.len().max(other.len());
    if one == other || most == 0 || most > LONG {
        return if one == other { 100 } else { 0 };
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = one.len().min(other.len()) - start;
    let backwards = one.iter().rev().zip(other.iter().rev());
    let end = backwards.take(rest).take_while(|(a, b)| a == b).count();
    (start + end) * 100 / most
}

/// The line that says most, the first of several.
fn telling<'a>(lines: impl Iterator<Item = &'a str>) -> &'a str {
    let mut best = ("", 0);
    for line in lines {
        let weight = weight(line);
        if weight > best.1 {
            best = (line, weight);
        }
    }
    best.0.trim()
}
