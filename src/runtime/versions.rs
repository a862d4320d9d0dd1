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

    /// What an agent that wrote `theirs` has most likely made it from, if that is not `now`: a text
    /// from before that is not less like it. Who puts such a text back as it was knows what it does.
    pub(super) fn likely(&self, path: &str, now: &str, theirs: &str) -> Option<Arc<str>> {
        let past = self.0.get(path)?;
        let wanted = lines(theirs);
        // Of those that are as likely the first: what the user has made of it since is the user's.
        let others = past.iter().map(|it| &it.1).filter(|it| ***it != *now);
        let nearest = others.min_by_key(|it| distance(&wanted, it))?;
        // Where both are as likely, to be asked is better than to lose something.
        let made_from_it = (1..=distance(&wanted, now)).contains(&distance(&wanted, nearest));
        made_from_it.then(|| nearest.clone())
    }
}

fn lines(text: &str) -> HashMap<&str, isize> {
    let mut count = HashMap::new();
    for line in text.lines() {
        *count.entry(line).or_default() += 1;
    }
    count
}

/// How many lines are in one text and not in the other.
fn distance(wanted: &HashMap<&str, isize>, text: &str) -> usize {
    let mut left = wanted.clone();
    for line in text.lines() {
        *left.entry(line).or_default() -= 1;
    }
    left.values().map(|it| it.unsigned_abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_text_is_the_likely_one() {
        let mut versions = Versions::default();
        let (old, saved) = ("one\ntwo\nthree\n", "one\nmine\ntwo\nmine too\nthree\n");
        assert!(versions.likely("a", saved, "one\ntwo\n3\n").is_none());
        let now = Instant::now();
        versions.past("a", old.into(), now);
        // Made from what was there before the user saved.
        assert_eq!(versions.likely("a", saved, "one\ntwo\n3\n").as_deref(), Some(old));
        // Made from what the user saved.
        assert!(versions.likely("a", saved, "1\nmine\ntwo\nmine too\nthree\n").is_none());
        // Put back on purpose.
        assert!(versions.likely("a", saved, old).is_none());
        assert!(versions.likely("b", saved, "one\ntwo\n3\n").is_none());
        // Saved once more as it was. The text is as near to that as to the one before.
        versions.past("a", saved.into(), now);
        let theirs = "one\nmine\ntwo\nthree\n";
        assert_eq!(versions.likely("a", saved, theirs).as_deref(), Some(old));
        versions.begin(now);
        assert!(versions.likely("a", saved, "one\ntwo\n3\n").is_some());
        versions.begin(now + BEFORE);
        assert!(versions.likely("a", saved, "one\ntwo\n3\n").is_none());
    }
}
