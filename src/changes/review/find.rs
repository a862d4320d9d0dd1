//! What differs between stretches of both texts.

use std::ops::Range;

use super::hunks::meet;
use super::{Author, Hunk, Review, review_hunk};
use crate::changes::lines::{Both, Lines};
use crate::changes::script::{Slide, Stretch, script, stretches};
use crate::changes::slide::settle;

/// How many of the lines around are looked at, in case a change reads better a little off.
const AROUND: usize = 16;

/// Lines of both texts, one range of each.
pub(super) type Pair = (Range<usize>, Range<usize>);

/// Some lines of both texts that are looked at anew.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) base: Range<usize>,
    pub(super) now: Range<usize>,
    /// The hunks that were there.
    pub(super) old: Vec<Hunk>,
    /// How many of the other hunks come before.
    pub(super) at: usize,
    /// Which rows of `now` were written just now.
    pub(super) wrote: Range<usize>,
    pub(super) by: Author,
}

impl Review {
    /// What differs between stretches of both texts, each where it reads best.
    pub(super) fn differing(&self, base: Range<usize>, now: Range<usize>) -> Vec<Pair> {
        let (first_base, first_now) = (base.start, now.start);
        let old = Lines { lines: self.base.rows(base).collect(), ended: true };
        let new = Lines { lines: self.now.rows(now).collect(), ended: true };
        let mut found = stretches(&old.lines, &new.lines);
        settle(&mut found, &Both { old, new, endings: None });
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let pair = |it: Stretch| (moved(it.old, first_base), moved(it.new, first_now));
        found.into_iter().map(pair).collect()
    }

    /// The least changes that make `lines` of some rows, in order: which rows make place for which
    /// of the lines.
    pub(super) fn least(&self, rows: Range<usize>, lines: &[&str]) -> Vec<Pair> {
        if rows.len().max(lines.len()) == 1 {
            return vec![(rows, 0..lines.len())];
        }
        let first = rows.start;
        let old: Vec<&str> = self.now.rows(rows).collect();
        let found = script(&old, lines, Slide::Down).into_iter();
        found.map(|it| (it.old.start + first..it.old.end + first, it.new)).collect()
    }

    /// The hunk without what is the same at its start and at its end; none when all of it is.
    pub(super) fn trimmed(&self, mut hunk: Hunk) -> Option<Hunk> {
        let most = hunk.base.len().min(hunk.now.len());
        let (old, new) = (self.base.rows(hunk.base.clone()), self.now.rows(hunk.now.clone()));
        let start = old.zip(new).take_while(|(one, other)| one == other).count();
        let room = most - start;
        let last = |range: &Range<usize>| range.end - room..range.end;
        let old: Vec<&str> = self.base.rows(last(&hunk.base)).collect();
        let new: Vec<&str> = self.now.rows(last(&hunk.now)).collect();
        let backwards = old.iter().rev().zip(new.iter().rev());
        let end = backwards.take_while(|(one, other)| one == other).count();
        hunk.base = hunk.base.start + start..hunk.base.end - end;
        hunk.now = hunk.now.start + start..hunk.now.end - end;
        (!hunk.base.is_empty() || !hunk.now.is_empty()).then_some(hunk)
    }

    /// Looks at a region, and puts in its place what there is.
    pub(super) fn look(&mut self, region: Region) {
        let edited = region.old.iter().any(|it| it.edited);
        let hunks = match region.by {
            Author::Agent(_) if !edited => self.several(&region),
            Author::Agent(_) | Author::User => self.one(&region).into_iter().collect(),
            Author::Review => self.loosened(&region).into_iter().collect(),
        };
        self.hunks.splice(region.at..region.at, hunks);
    }

    /// Looks at what is left of the hunks of which something has been rejected.
    pub(super) fn tidy(&mut self) {
        for id in std::mem::take(&mut self.loose) {
            let Some(at) = self.hunks.iter().position(|it| it.id == id) else { continue };
            let hunk = self.hunks.remove(at);
            let (base, now, wrote) = (hunk.base.clone(), hunk.now.clone(), hunk.now.clone());
            let region = Region { base, now, old: vec![hunk], at, wrote, by: Author::Review };
            let hunks = self.several(&region);
            self.hunks.splice(at..at, hunks);
        }
    }

    /// What is being rejected stays as it is, until nothing is left of it.
    fn loosened(&mut self, region: &Region) -> Option<Hunk> {
        let (base, now) = (region.base.clone(), region.now.clone());
        if self.base.rows(base.clone()).eq(self.now.rows(now.clone())) {
            return None;
        }
        let first = region.old.first()?.clone();
        let edited = region.old.iter().any(|it| it.edited);
        if !self.loose.contains(&first.id) {
            self.loose.push(first.id);
        }
        Some(Hunk { base, now, edited, revision: self.revision(), ..first })
    }

    /// What the user had a hand in stays in one piece: nobody can tell any more what is whose.
    fn one(&mut self, region: &Region) -> Option<Hunk> {
        let first = region.old.first();
        let who = match region.by {
            Author::Agent(who) => who,
            _ => first.map_or(0, |it| it.who),
        };
        let mut hunk = review_hunk(region.base.clone(), region.now.clone(), who);
        hunk.edited = true;
        match first {
            Some(first) => (hunk.id, hunk.revision) = (first.id, self.revision()),
            None => self.name(&mut hunk),
        }
        self.trimmed(hunk)
    }

    fn several(&mut self, region: &Region) -> Vec<Hunk> {
        let (base, now) = self.with_lines_around(region);
        let mut unnamed: Vec<&Hunk> = region.old.iter().collect();
        let mut hunks = Vec::new();
        for (base, now) in self.differing(base, now) {
            let from = region.old.iter().find(|it| meet(&it.base, &base)).or(region.old.first());
            let who = match (region.by, from) {
                (Author::Agent(who), Some(_)) if meet(&now, &region.wrote) => who,
                (Author::Agent(who), None) => who,
                (_, from) => from.map_or(0, |it| it.who),
            };
            let named = unnamed.iter().position(|it| meet(&it.base, &base));
            let mut hunk = review_hunk(base, now, who);
            hunk.edited = from.is_some_and(|it| it.edited);
            match named.map(|it| unnamed.remove(it)) {
                Some(old) => (hunk.id, hunk.revision) = (old.id, self.revision()),
                None => self.name(&mut hunk),
            }
            hunks.push(hunk);
        }
        hunks
    }

    /// A region with some of the lines around it, which are the same on both sides. It stays apart
    /// from the hunks before and after.
    fn with_lines_around(&self, region: &Region) -> Pair {
        let previous = region.at.checked_sub(1).and_then(|it| self.hunks.get(it));
        let above = match previous {
            Some(it) => region.now.start.saturating_sub(it.now.end + 1),
            None => region.now.start,
        };
        let below = match self.hunks.get(region.at) {
            Some(next) => next.now.start.saturating_sub(region.now.end + 1),
            None => self.now.len().saturating_sub(region.now.end),
        };
        let (above, below) = (above.min(AROUND), below.min(AROUND));
        let wider = |range: &Range<usize>| range.start - above..range.end + below;
        (wider(&region.base), wider(&region.now))
    }
}
