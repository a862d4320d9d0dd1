//! What a file was before the user saved it while an agent worked: the agent may not have seen that
//! yet, and write what it made of the text from before.
//!
//! Knows texts by the names of their files. Must not know the disk, nor who asks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many texts of a file are kept.
const KEPT: usize = 8;
/// How long a text may be that is kept.
const LONGEST: usize = 4 << 20;

/// How long a text from before a turn may still be what an agent knows.
const BEFORE: Duration = Duration::from_secs(2);

/// Texts that files had, each until some time.
#[derive(Debug, Default)]
pub(super) struct Versions(HashMap<String, Vec<(Instant, Arc<str>)>>);

impl Versions {
    /// A file had this text until now.
    pub(super) fn past(&mut self, path: &str, text: Arc<str>, now: Instant) {
        let all = self.0.entry(path.to_owned()).or_default();
        if text.len() <= LONGEST && all.last().is_none_or(|it| it.1 != text) {
            all.push((now, text));
            let surplus = all.len().saturating_sub(KEPT);
            all.drain(..surplus);
        }
    }

    /// An agent begins to work: what it will read is what there is.
    pub(super) fn begin(&mut self, now: Instant) {
        for all in self.0.values_mut() {
            all.retain(|it| now.saturating_duration_since(it.0) < BEFORE);
        }
    }

    /// A file is not open any more.
    pub(super) fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }

    /// The texts that a file had, oldest first.
    pub(super) fn of(&self, path: &str) -> Vec<Arc<str>> {
        self.0.get(path).into_iter().flatten().map(|it| it.1.clone()).collect()
    }
}

/// What an agent that wrote `theirs` has most likely made it from, if that is not `now`: a text from
/// before that is not less like it. Who puts such a text back as it was knows what it does.
pub(super) fn likely(past: &[Arc<str>], now: &str, theirs: &str) -> Option<Arc<str>> {
    // Of those that are as likely the first: what the user has made of it since is the user's.
    let others = past.iter().filter(|it| ***it != *now);
    let (least, nearest) = others.map(|it| (distance(theirs, it), it)).min_by_key(|it| it.0)?;
    // Where both are as likely, to be asked is better than to lose something.
    let made_from_it = **nearest != *theirs && least <= distance(theirs, now);
    made_from_it.then(|| nearest.clone())
}

/// How many words are in one text and not in the other. Lines would not tell: one that the agent
/// has changed is as far from what it was as from nothing, where the user has removed it.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = without_common_lines(one, other);
    let mut left: HashMap<&str, isize> = HashMap::new();
    for word in words(one) {
        *left.entry(word).or_default() += 1;
    }
    for word in words(other) {
        *left.entry(word).or_default() -= 1;
    }
    left.values().map(|it| it.unsigned_abs()).sum()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

/// The texts without the lines with which both begin and end.
fn without_common_lines<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let lines = |text: &'a str| text.split_inclusive('\n');
    let bytes = |(line, _): (&str, &str)| line.len();
    let same = |(one, other): &(&str, &str)| one == other;
    let start: usize = lines(one).zip(lines(other)).take_while(same).map(bytes).sum();
    let (one, other) =
        (one.get(start..).unwrap_or_default(), other.get(start..).unwrap_or_default());
    let from_end = lines(one).rev().zip(lines(other).rev());
    let end: usize = from_end.take_while(same).map(bytes).sum();
    let before = |text: &'a str| text.get(..text.len() - end).unwrap_or_default();
    (before(one), before(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "one\ntwo\nthree\n";
    const SAVED: &str = "one\nmine\ntwo\nalso\nthree\n";

    fn made_from(past: &[&str], now: &str, theirs: &str) -> Option<String> {
        let past: Vec<Arc<str>> = past.iter().map(|it| Arc::from(*it)).collect();
        likely(&past, now, theirs).map(|it| it.to_string())
    }

    #[test]
    fn the_nearest_text_is_the_likely_one() {
        assert_eq!(made_from(&[], SAVED, "one\ntwo\n3\n"), None);
        let of = |theirs: &str| made_from(&[OLD], SAVED, theirs);
        assert_eq!(of("one\ntwo\n3\n").as_deref(), Some(OLD), "made before the user saved");
        assert_eq!(of("1\nmine\ntwo\nalso\nthree\n"), None, "made from what the user saved");
        assert_eq!(of(OLD), None, "put back on purpose");
        assert_eq!(of(SAVED), None);
        assert_eq!(of("three\ntwo\none\n").as_deref(), Some(OLD), "moved");
    }

    #[test]
    fn what_is_as_near_is_the_older_one() {
        let theirs = "one\nmine\ntwo\nthree\n";
        let saved_twice = made_from(&[OLD, SAVED], SAVED, theirs);
        assert_eq!(saved_twice.as_deref(), Some(OLD));
    }

    #[test]
    fn a_line_that_the_agent_changed_is_known_by_its_words() {
        // The user has removed the line that the agent has changed.
        let (now, theirs) = ("one\nthree\n", "1\ntwo changed\nthree\n");
        assert_eq!(made_from(&[OLD], now, theirs).as_deref(), Some(OLD));
    }

    #[test]
    fn what_was_before_a_turn_is_forgotten() {
        let mut versions = Versions::default();
        let now = Instant::now();
        versions.past("a", OLD.into(), now);
        versions.begin(now);
        assert_eq!((versions.of("a").len(), versions.of("b").len()), (1, 0));
        versions.begin(now + BEFORE);
        assert_eq!(versions.of("a"), Vec::<Arc<str>>::new());
    }
}
