//! Where lines of code go that stand for a part of a text: what begins like them is what they
//! stand for, to where it ends.

use std::ops::Range;

use super::find::places;
use super::indent::{Shift, indent, width};
use super::{Found, How, Placing, Why, fuzzy, likeness, plain, telling, weight};
use crate::changes::script::{Slide, script};

/// Of a hundred, how much of the whole text code must have to stand for it.
const MOST: usize = 60;
/// How alike the first line must be to one of the text that has the same name in it.
const ALIKE: usize = 40;
/// How many places are looked at more closely.
const CANDIDATES: usize = 50;
/// How much less alike the next best must be.
const MARGIN: usize = 10;

/// Where the user is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// In this row.
    Row(usize),
    /// These rows are selected: the code goes in their place.
    Rows(Range<usize>),
}

/// Finds the place of lines of code.
pub fn place_code(code: &[&str], text: &[&str], at: &At) -> Placing {
    let code = trimmed(code);
    let what = telling(code.iter().copied());
    let mut placing = Placing::default();
    if code.is_empty() {
        return placing;
    }
    if text.iter().all(|it| it.trim().is_empty()) {
        let lines: Vec<String> = code.iter().map(|&it| it.to_owned()).collect();
        let found = Found::new(text, 0..text.len(), &lines).map(|it| it.by(How::Whole, 100));
        placing.found.extend(found);
        return placing;
    }
    if let At::Rows(rows) = at {
        placing.found.extend(put(code, text, rows.clone()).map(|it| it.by(How::Selection, 100)));
        return placing;
    }
    let plain_text: Vec<String> = text.iter().map(|it| plain(it)).collect();
    let plain_code: Vec<String> = code.iter().map(|it| plain(it)).collect();
    if let Some(row) = places(&plain_code, &plain_text, |one, other| one == other).first() {
        placing.miss(what, Why::Already(*row));
        return placing;
    }
    let pieces: Vec<&[&str]> = code.split(|it| is_elision(it)).map(trimmed).collect();
    let pieces: Vec<&[&str]> = pieces.into_iter().filter(|it| !it.is_empty()).collect();
    let whole = (pieces.len() == 1).then(|| whole_score(&plain_code, &plain_text)).flatten();
    if let Some(score) = whole {
        let lines: Vec<String> = code.iter().map(|&it| it.to_owned()).collect();
        let found = Found::new(text, 0..text.len(), &lines).map(|it| it.by(How::Whole, score));
        placing.found.extend(found);
        return placing;
    }
    let finder = Finder { text, plain_text, row: if let At::Row(row) = at { *row } else { 0 } };
    for piece in &pieces {
        finder.piece(piece, pieces.len() == 1, &mut placing);
    }
    placing
}

/// Lines without the empty ones around them.
fn trimmed<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let blank = |it: &&&str| it.trim().is_empty();
    let start = lines.iter().take_while(blank).count();
    let end = lines.len() - lines.iter().skip(start).rev().take_while(blank).count();
    lines.get(start..end).unwrap_or_default()
}

/// Whether a line says that something was left out: `// ... the rest stays ...`.
fn is_elision(line: &str) -> bool {
    let words = line.trim().trim_start_matches(['/', '#', '-', '*', '<', '!', ';', '%', '"', ' ']);
    let is_comment = words.len() < line.trim().len();
    let dots = words.strip_prefix("...").or_else(|| words.strip_prefix('…'));
    is_comment && dots.is_some()
}

/// The code in the place of some rows, indented as they are.
fn put(code: &[&str], text: &[&str], rows: Range<usize>) -> Option<Found> {
    let rows = rows.start.min(text.len())..rows.end.min(text.len());
    let here = text.get(rows.clone()).unwrap_or_default();
    let above = || text.get(..rows.start).unwrap_or_default().last();
    let model = here.iter().find(|it| !it.trim().is_empty()).or_else(above);
    let base = code.iter().filter(|it| !it.trim().is_empty()).min_by_key(|it| width(it));
    let pair = base.zip(model).map(|(one, other)| (*one, *other));
    let none = std::iter::empty();
    let shift = Shift::based(pair, none, code.iter().copied(), text.iter().copied());
    let lines: Vec<String> = code.iter().map(|it| shift.line(it)).collect();
    Found::new(text, rows, &lines).map(|it| it.by(How::Cursor, 0))
}

/// How much of the whole text the code has, if it stands for it.
fn whole_score(code: &[String], text: &[String]) -> Option<usize> {
    let stretches = script(text, code, Slide::Down);
    let lost: usize = stretches
        .iter()
        .flat_map(|it| text.get(it.old.clone()).unwrap_or_default())
        .map(|it| weight(it))
        .sum();
    let total: usize = text.iter().map(|it| weight(it)).sum();
    // What stands around it and is not in it was not meant.
    let leaves = |it: &Range<usize>| {
        text.get(it.clone()).unwrap_or_default().iter().any(|it| !it.is_empty())
    };
    let cut = |old: &Range<usize>, new: &Range<usize>| new.is_empty() && leaves(old);
    let first = stretches.first().filter(|it| it.old.start == 0);
    let last = stretches.last().filter(|it| it.old.end == text.len());
    if first.is_some_and(|it| cut(&it.old, &it.new)) || last.is_some_and(|it| cut(&it.old, &it.new))
    {
        return None;
    }
    let score = 100 - (lost * 100).checked_div(total)?;
    (score >= MOST).then_some(score)
}

/// What a part of the code stands for.
enum Spot {
    Rows(Range<usize>, usize),
    Ambiguous(Vec<usize>),
    Unknown,
}

struct Finder<'a> {
    text: &'a [&'a str],
    plain_text: Vec<String>,
    row: usize,
}

impl<'a> Finder<'a> {
    /// Places code that stands together.
    fn piece(&self, piece: &[&'a str], only: bool, placing: &mut Placing) {
        let units = units(piece);
        let spots: Vec<Spot> = units.iter().map(|it| self.unit(it)).collect();
        if !spots.iter().any(|it| matches!(it, Spot::Rows(..) | Spot::Ambiguous(_))) {
            match only {
                true => placing.found.extend(put(piece, self.text, self.row + 1..self.row + 1)),
                false => placing.miss(telling(piece.iter().copied()), Why::Nowhere(None)),
            }
            return;
        }
        // What is new goes after what stands before it, or before what stands after it.
        let mut new: Vec<&[&'a str]> = Vec::new();
        let mut placed: Vec<(Range<usize>, usize, Vec<&'a str>)> = Vec::new();
        for (unit, spot) in units.iter().zip(spots) {
            match spot {
                Spot::Rows(rows, score) => {
                    let mut lines: Vec<&str> = Vec::new();
                    for unit in new.drain(..) {
                        lines.extend(unit);
                        lines.push("");
                    }
                    lines.extend(*unit);
                    placed.push((rows, score, lines));
                }
                Spot::Ambiguous(rows) => {
                    placing.miss(telling(unit.iter().copied()), Why::Ambiguous(rows));
                }
                Spot::Unknown => match placed.last_mut() {
                    Some((_, _, lines)) => {
                        lines.push("");
                        lines.extend(*unit);
                    }
                    None => new.push(unit),
                },
            }
        }
        for unit in new {
            placing.miss(telling(unit.iter().copied()), Why::Nowhere(None));
        }
        for (rows, score, lines) in placed {
            let what = telling(lines.iter().copied());
            match self.swap(rows.clone(), &lines) {
                Some(found) => placing.add(found.by(How::Region, score), what),
                None => placing.miss(what, Why::Already(rows.start)),
            }
        }
    }

    /// Rows that make place for lines, which become indented as those are.
    fn swap(&self, rows: Range<usize>, lines: &[&'a str]) -> Option<Found> {
        let ours = self.text.get(rows.clone()).unwrap_or_default();
        let pairs = lines.iter().filter_map(|one| {
            let plain_one = plain(one);
            let same = |other: &&&str| plain(other) == plain_one;
            Some((*one, *ours.iter().find(same)?))
        });
        let base = |lines: &[&'a str]| {
            lines.iter().copied().filter(|it| !it.trim().is_empty()).min_by_key(|it| width(it))
        };
        let pairs = pairs.filter(|(one, _)| weight(one) > 3);
        let (theirs, all) = (lines.iter().copied(), self.text.iter().copied());
        let shift = Shift::based(base(lines).zip(base(ours)), pairs, theirs, all);
        let lines: Vec<String> = lines.iter().map(|it| shift.line(it)).collect();
        Found::new(self.text, rows, &lines)
    }

    fn unit(&self, unit: &[&str]) -> Spot {
        let Some(head) = head(unit) else { return self.flat(unit) };
        let line = plain(unit.get(head).copied().unwrap_or_default());
        let mut scored: Vec<(usize, usize)> = Vec::new();
        for (row, other) in self.plain_text.iter().enumerate() {
            let score = likeness(&line, other);
            if score == 100
                || (score >= ALIKE && name(&line).is_some() && name(&line) == name(other))
            {
                scored.push((score, row));
            }
        }
        let most = scored.iter().map(|it| it.0).max().unwrap_or_default();
        scored.retain(|it| it.0 + MARGIN > most && (most < 100 || it.0 == 100));
        let mut regions: Vec<(Range<usize>, usize)> = scored
            .into_iter()
            .take(CANDIDATES)
            .map(|(alike, row)| {
                let rows = self.region(unit, head, row);
                let share = self.share(unit, &rows);
                (rows, (alike + share) / 2)
            })
            .collect();
        regions.sort_by_key(|it| std::cmp::Reverse(it.1));
        match regions.as_slice() {
            [] => Spot::Unknown,
            [(rows, score)] => Spot::Rows(rows.clone(), *score),
            [(rows, score), (_, next), ..] if score > &(next + MARGIN) => {
                Spot::Rows(rows.clone(), *score)
            }
            // The user may stand in the one that is meant.
            several => match several.iter().find(|it| it.0.contains(&self.row)) {
                Some((rows, score)) => Spot::Rows(rows.clone(), *score),
                None => {
                    let mut rows: Vec<usize> = several.iter().map(|it| it.0.start).collect();
                    rows.sort_unstable();
                    Spot::Ambiguous(rows)
                }
            },
        }
    }

    /// Lines of which none is deeper than the others.
    fn flat(&self, unit: &[&str]) -> Spot {
        let lines: Vec<String> = unit.iter().map(|it| plain(it)).collect();
        match fuzzy::best(&lines, &self.plain_text) {
            Some((best, second)) if best.score >= MOST => match second {
                Some(second) if second.score + MARGIN > best.score => {
                    Spot::Ambiguous(vec![best.rows.start, second.rows.start])
                }
                _ => Spot::Rows(best.rows, best.score.min(90)),
            },
            _ => Spot::Unknown,
        }
    }

    /// How much of some rows is in a unit, of a hundred.
    fn share(&self, unit: &[&str], rows: &Range<usize>) -> usize {
        let unit: Vec<String> = unit.iter().map(|it| plain(it)).collect();
        let there = self.plain_text.get(rows.clone()).unwrap_or_default();
        let sum = |lines: &[String]| lines.iter().map(|it| weight(it)).sum::<usize>();
        let lost: usize = script(there, &unit, Slide::Down)
            .iter()
            .map(|it| sum(there.get(it.old.clone()).unwrap_or_default()))
            .sum();
        100 - (lost * 100).checked_div(sum(there)).unwrap_or_default()
    }

    /// What a unit stands for if its head is this row.
    fn region(&self, unit: &[&str], head: usize, row: usize) -> Range<usize> {
        let base = width(self.text.get(row).copied().unwrap_or_default());
        let own = width(unit.get(head).copied().unwrap_or_default());
        let level: Vec<String> = unit
            .iter()
            .skip(head + 1)
            .filter(|it| !it.trim().is_empty() && width(it) <= own)
            .map(|it| plain(it))
            .collect();
        let mut end = row + 1;
        for (at, line) in self.text.iter().enumerate().skip(row + 1) {
            if line.trim().is_empty() {
                continue;
            }
            let this = self.plain_text.get(at);
            if width(line) > base {
                end = at + 1;
            } else if width(line) == base && level.iter().any(|it| Some(it) == this) {
                end = at + 1;
                if level.last() == this && !level.iter().rev().skip(1).any(|it| Some(it) == this) {
                    break;
                }
            } else {
                break;
            }
        }
        self.lead(unit.get(..head).unwrap_or_default(), row)..end
    }

    /// Where what stands above a head begins: comments and the like, if the code has such too.
    fn lead(&self, lead: &[&str], row: usize) -> usize {
        let first = |line: &str| line.trim_start().chars().next();
        let base = self.text.get(row).map(|it| indent(it));
        let belongs = |line: &&&str| {
            Some(indent(line)) == base
                && lead.iter().any(|it| first(it).is_some() && first(it) == first(line))
        };
        let above = self.text.get(..row).unwrap_or_default();
        row - above.iter().rev().take_while(belongs).count()
    }
}

/// The parts of code that stand for themselves: those between empty lines, at the outermost level.
fn units<'a, 'b>(piece: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    let filled = piece.iter().filter(|it| !it.trim().is_empty());
    let least = filled.map(|it| width(it)).min().unwrap_or_default();
    let mut units = Vec::new();
    let mut start = 0;
    let pairs = piece.iter().zip(piece.iter().skip(1)).enumerate();
    for (row, (line, next)) in pairs {
        if line.trim().is_empty() && !next.trim().is_empty() && width(next) == least {
            units.push(trimmed(piece.get(start..row).unwrap_or_default()));
            start = row + 1;
        }
    }
    units.push(trimmed(piece.get(start..).unwrap_or_default()));
    units.retain(|it: &&[&str]| !it.is_empty());
    units
}

/// The line that the rest of a unit is below of: not one of brackets alone.
fn head(unit: &[&str]) -> Option<usize> {
    let mut level: Option<usize> = None;
    let mut head = None;
    for (row, line) in unit.iter().enumerate().filter(|(_, it)| !it.trim().is_empty()) {
        match level {
            Some(level) if width(line) > level => return head,
            Some(level) if width(line) < level => return None,
            _ => level = Some(width(line)),
        }
        if weight(line) > 3 {
            head = Some(row);
        }
    }
    None
}

/// What a line gives a name to, as far as one can tell without its language: the last word before
/// the first bracket or sign.
fn name(line: &str) -> Option<&str> {
    let end = line.find(['(', '{', ':', '=', '<', '[']).unwrap_or(line.len());
    let before = line.get(..end)?.trim_end();
    let word = before.rsplit(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '.'))).next();
    word.filter(|it| !it.is_empty())
}
