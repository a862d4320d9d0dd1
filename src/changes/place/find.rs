//! Where the hunks of a diff go.

use std::ops::Range;

use super::super::merge::{Choice, merge};
use super::indent::Shift;
use super::patch::{FilePatch, Hunk, Mark};
use super::{Found, How, Placing, Why, fuzzy, plain, telling, weight};

/// Of a hundred, how much of a hunk must be somewhere to be there.
const ENOUGH: usize = 50;
/// How much less the next best place must have.
const MARGIN: usize = 10;
/// How many pairs of lines are looked at for one file: some seconds' worth. What comes after is
/// not looked for.
const EFFORT: usize = 400_000_000;
/// The most places that are told of.
const PLACES: usize = 10;

/// Finds the places of a file's hunks in its text.
pub fn place_patch(patch: &FilePatch, text: &[&str]) -> Placing {
    let plain_text: Vec<String> = text.iter().map(|it| plain(it)).collect();
    let mut finder = Finder { text, plain_text, drift: 0, after: 0, left: EFFORT };
    let mut placing = Placing::default();
    for hunk in &patch.hunks {
        let what = what(hunk);
        match finder.find(hunk) {
            Ok(found) => {
                finder.after = found.rows.end;
                placing.add(found, what);
            }
            Err(why) => placing.miss(what, why),
        }
    }
    placing
}

/// A line to know a hunk by: one that changes.
fn what(hunk: &Hunk) -> &str {
    let of =
        |mark: Mark| telling(hunk.lines.iter().filter(|it| it.0 == mark).map(|it| it.1.as_str()));
    match of(Mark::Added) {
        "" => of(Mark::Removed),
        added => added,
    }
}

struct Finder<'a> {
    text: &'a [&'a str],
    plain_text: Vec<String>,
    /// By how much hunks are further down than they say.
    drift: isize,
    /// Where the last hunk ended.
    after: usize,
    /// How many pairs of lines may still be looked at.
    left: usize,
}

impl Finder<'_> {
    fn find(&mut self, hunk: &Hunk) -> Result<Found, Why> {
        let (old, new) = (hunk.old_lines(), hunk.new_lines());
        // A hunk of no old lines says after which line it comes.
        let stated = hunk.line.map(|it| if old.is_empty() { it } else { it.saturating_sub(1) });
        let expected = stated.map(|it| it.saturating_add_signed(self.drift));
        if self.left == 0 {
            return Err(Why::Nowhere(None));
        }
        let effort = self.text.len().saturating_mul(old.len().clamp(4, 400));
        self.left = self.left.saturating_sub(effort);
        let result = self.place(hunk, (&old, &new), expected);
        let stated = stated.and_then(|it| isize::try_from(it).ok());
        let at = |row: usize| isize::try_from(row).unwrap_or_default();
        match (&result, stated) {
            (Ok(found), Some(stated)) => self.drift = at(found.rows.start) - stated,
            (Err(Why::Already(row)), Some(stated)) => {
                self.drift = at(*row) - stated + at(new.len()) - at(old.len());
            }
            _ => {}
        }
        result
    }

    fn place(
        &self,
        hunk: &Hunk,
        (old, new): (&[&str], &[&str]),
        expected: Option<usize>,
    ) -> Result<Found, Why> {
        let says = new.iter().any(|it| it.chars().any(char::is_alphanumeric));
        if old.is_empty() {
            return self.bare(new, expected);
        }
        let grows = new.len() > old.len();
        if let Some(row) = expected {
            let there = self.is_at(old, row);
            let done = says && self.is_at(new, row);
            if done && (grows || !there) {
                return Err(Why::Already(row));
            } else if there {
                return self.written(hunk, row).ok_or(Why::Already(row));
            }
        }
        let places = places(old, self.text, |one, other| one == other);
        if !places.is_empty() {
            let row = self.choose(hunk, places, expected)?;
            let lead = hunk.lines.iter().take_while(|it| it.0 == Mark::Added).count();
            let start = row.checked_sub(lead).filter(|it| self.is_at(new, *it));
            if let Some(start) = start.filter(|_| grows && says) {
                return Err(Why::Already(start));
            }
            // Who gives no line is where they mean to be.
            let how = if expected.is_some() { How::Moved } else { How::Exact };
            return self.written(hunk, row).map(|it| it.by(how, 100)).ok_or(Why::Already(row));
        }
        if says && let Some(row) = places_of(new, self.text).first() {
            return Err(Why::Already(*row));
        }
        self.roughly(hunk, (old, new), expected)
    }

    /// The same without the blanks, and then without some of the lines.
    fn roughly(
        &self,
        hunk: &Hunk,
        (old, new): (&[&str], &[&str]),
        expected: Option<usize>,
    ) -> Result<Found, Why> {
        let says = new.iter().any(|it| it.chars().any(char::is_alphanumeric));
        let plain_old: Vec<String> = old.iter().map(|it| plain(it)).collect();
        let plain_new: Vec<String> = new.iter().map(|it| plain(it)).collect();
        let spaced = places(&plain_old, &self.plain_text, |one, other| one == other);
        let done = places(&plain_new, &self.plain_text, |one, other| one == other);
        if !spaced.is_empty() && plain_old != plain_new {
            let row = self.choose(hunk, spaced, expected)?;
            if plain_new.len() > plain_old.len() && says && done.contains(&row) {
                return Err(Why::Already(row));
            }
            return self
                .written(hunk, row)
                .map(|it| it.by(How::Spaces, 95))
                .ok_or(Why::Already(row));
        }
        if says && let Some(row) = done.first() {
            return Err(Why::Already(*row));
        }
        self.fuzzily(&plain_old, (old, new))
    }

    fn fuzzily(&self, plain_old: &[String], (old, new): (&[&str], &[&str])) -> Result<Found, Why> {
        let Some((best, second)) = fuzzy::best(plain_old, &self.plain_text) else {
            return Err(Why::Nowhere(None));
        };
        let guess = (best.rows.start, best.score);
        // Brackets alone are no place.
        let says = |row: &String| weight(row) > 3;
        let window = self.plain_text.get(best.rows.clone()).unwrap_or_default();
        if best.score < ENOUGH || !window.iter().any(says) {
            return Err(Why::Nowhere(Some(guess)));
        }
        if let Some(second) = second.filter(|it| it.score + MARGIN > best.score) {
            let mut rows = vec![best.rows.start, second.rows.start];
            rows.sort_unstable();
            return Err(Why::Ambiguous(rows));
        }
        let lines = self.merged((old, new), best.rows.clone());
        let score = best.score.min(90);
        let found = Found::new(self.text, best.rows, &lines).map(|it| it.by(How::Fuzzy, score));
        found.ok_or(Why::Already(guess.0))
    }

    /// What a hunk makes of rows that are not quite what it says.
    fn merged(&self, (old, new): (&[&str], &[&str]), rows: Range<usize>) -> Vec<String> {
        let ours = self.text.get(rows).unwrap_or_default();
        let alike = old.iter().filter_map(|one| {
            let plain_one = plain(one);
            let other = ours.iter().find(|other| plain(other) == plain_one)?;
            Some((*one, *other))
        });
        let shift = Shift::new(alike, new.iter().copied(), self.text.iter().copied());
        let shifted =
            |lines: &[&str]| -> Vec<String> { lines.iter().map(|it| shift.line(it)).collect() };
        let (old, new) = (shifted(old), shifted(new));
        let base: Vec<&str> = old.iter().map(String::as_str).collect();
        let theirs: Vec<&str> = new.iter().map(String::as_str).collect();
        let merged = merge(&base, ours, &theirs);
        let choices = vec![Choice::Theirs; merged.conflicts.len()];
        merged.resolve(&choices).into_iter().map(str::to_owned).collect()
    }

    /// Lines that say nothing of what is around them.
    fn bare(&self, new: &[&str], expected: Option<usize>) -> Result<Found, Why> {
        let row = match expected {
            _ if self.text.iter().all(|it| it.is_empty()) => 0,
            Some(row) => row.min(self.text.len()),
            None => {
                let places = places_of(new, self.text);
                return Err(places.first().map_or(Why::NoContext, |row| Why::Already(*row)));
            }
        };
        if self.is_at(new, row) {
            return Err(Why::Already(row));
        }
        let rows =
            if self.text.iter().all(|it| it.is_empty()) { 0..self.text.len() } else { row..row };
        let lines: Vec<String> = new.iter().map(|&it| it.to_owned()).collect();
        Found::new(self.text, rows, &lines).ok_or(Why::Already(row))
    }

    fn is_at(&self, lines: &[&str], row: usize) -> bool {
        let end = row.saturating_add(lines.len());
        !lines.is_empty() && self.text.get(row..end) == Some(lines)
    }

    /// What a hunk makes of rows that are what it says but for blanks.
    fn written(&self, hunk: &Hunk, row: usize) -> Option<Found> {
        let count = hunk.lines.iter().filter(|it| it.0 != Mark::Added).count();
        let rows = row..row + count;
        let ours = self.text.get(rows.clone()).unwrap_or_default();
        let old = hunk.lines.iter().filter(|it| it.0 != Mark::Added).map(|it| it.1.as_str());
        let all = hunk.lines.iter().map(|it| it.1.as_str());
        let shift = Shift::new(old.zip(ours.iter().copied()), all, self.text.iter().copied());
        let mut there = ours.iter();
        let mut lines = Vec::new();
        for (mark, line) in &hunk.lines {
            match mark {
                Mark::Added => lines.push(shift.line(line)),
                Mark::Kept => lines.extend(there.next().map(|&it| it.to_owned())),
                Mark::Removed => {
                    there.next();
                }
            }
        }
        Found::new(self.text, rows, &lines)
    }

    /// One of several places that are equally good.
    fn choose(
        &self,
        hunk: &Hunk,
        mut places: Vec<usize>,
        expected: Option<usize>,
    ) -> Result<usize, Why> {
        // Hunks come in the order of the text, as a rule.
        if places.iter().any(|it| *it >= self.after) {
            places.retain(|it| *it >= self.after);
        }
        if let [only] = places.as_slice() {
            return Ok(*only);
        }
        if let Some(expected) = expected {
            let nearest = places.iter().map(|it| it.abs_diff(expected)).min();
            let mut near = places.iter().filter(|it| Some(it.abs_diff(expected)) == nearest);
            if let (Some(row), None) = (near.next(), near.next()) {
                return Ok(*row);
            }
        }
        let heading = plain(&hunk.heading);
        let is_heading =
            |it: &&usize| self.plain_text.get(**it).is_some_and(|it| it.contains(&heading));
        let rows: Vec<usize> = (0..self.plain_text.len()).collect();
        let mut headings = rows.iter().filter(is_heading);
        if !heading.is_empty()
            && let (Some(at), None) = (headings.next(), headings.next())
            && let Some(row) = places.iter().find(|it| *it >= at)
        {
            return Ok(*row);
        }
        places.truncate(PLACES);
        Err(Why::Ambiguous(places))
    }
}

fn places_of(lines: &[&str], text: &[&str]) -> Vec<usize> {
    places(lines, text, |one, other| one == other)
}

/// Where lines are in a text.
pub(super) fn places<T>(lines: &[T], text: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<usize> {
    if lines.is_empty() {
        return Vec::new();
    }
    let fits = |it: &(usize, &[T])| it.1.iter().zip(lines).all(|(one, other)| same(one, other));
    text.windows(lines.len()).enumerate().filter(fits).map(|it| it.0).collect()
}
