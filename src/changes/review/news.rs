//! What of a review has changed since somebody last looked.

use std::collections::HashMap;

use super::{Hunk, Review};

/// What somebody has seen of a review: the revision of each hunk, by its id.
#[derive(Debug, Clone, Default)]
pub struct Seen(HashMap<u64, u64>);

/// What they have not seen yet. Hunks that only moved are no news.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// The hunks that are new, or other than they were, in order.
    pub set: Vec<Hunk>,
    /// The ids of those that are gone, in order.
    pub gone: Vec<u64>,
}

impl Review {
    /// What has changed since `seen`, which then has seen it.
    pub fn news(&self, seen: &mut Seen) -> News {
        let mut before = std::mem::take(&mut seen.0);
        let mut news = News::default();
        for hunk in &self.hunks {
            if before.remove(&hunk.id) != Some(hunk.revision) {
                news.set.push(hunk.clone());
            }
            seen.0.insert(hunk.id, hunk.revision);
        }
        news.gone = before.into_keys().collect();
        news.gone.sort_unstable();
        news
    }
}
