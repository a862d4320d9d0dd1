//! A turn whose agent was at work before the files had been looked at: what it deleted meanwhile is
//! known from the last time they were.
//!
//! Only what is gone: of a file that is still there nobody knows whether the user has changed it
//! before, and that must not be undone.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use crate::runtime::snapshot::{Changed, Error, Snapshot, Snapshots, Was};

/// How far the clock of the file system may be behind ours.
const BEHIND: Duration = Duration::from_millis(20);

/// Whether the agent did not wait, and since when.
#[derive(Debug, Clone, Default)]
pub(super) struct Late(Arc<OnceLock<SystemTime>>);

impl Late {
    /// The agent begins, whatever is known by now.
    pub(super) fn begin(&self) {
        self.0.get_or_init(SystemTime::now);
    }

    pub(super) fn since(&self) -> Option<SystemTime> {
        self.0.get().copied()
    }
}

/// What was there the last time and is not in a snapshot that was taken late, where something has
/// happened since the agent began.
pub(super) fn deleted(
    snapshots: &Snapshots,
    (last, late): (&Snapshot, &Snapshot),
    since: SystemTime,
) -> Result<Vec<Changed>, Error> {
    let mut changed = snapshots.changed(last, late)?;
    changed.retain(|it| it.after == Was::Missing && touched(&it.path.0, since));
    Ok(changed)
}

/// Whether the folder of a file that is gone, or what is left of it, was changed since.
fn touched(path: &Path, since: SystemTime) -> bool {
    let folder = path.ancestors().skip(1).find_map(|it| fs::metadata(it).ok());
    folder.and_then(|it| it.modified().ok()).is_some_and(|it| it + BEHIND >= since)
}
