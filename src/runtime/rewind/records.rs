//! Turns and what they changed, written down: a file for each, so that several Neovims write
//! without asking each other, and a restart loses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::late;
use super::undo::Is;
use crate::changes::diff::file_diff;
use crate::runtime::owner::Owner;
use crate::runtime::snapshot::objects::write_atomic;
use crate::runtime::snapshot::{Changed, Error, Extra, Snapshot, Snapshots, Was};

/// Contents that nobody needs are looked for no more often than that.
const PAUSE: Duration = Duration::from_secs(3600);

/// What a turn, or a rewind, changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The number of the turn, or for a rewind `r` and its number.
    pub id: String,
    /// Whose session.
    pub agent: String,
    /// The agent's name for it.
    pub remote: String,
    /// When it began, in seconds since 1970.
    pub time: u64,
    /// The first line of the prompt; for a rewind, what it went back to.
    pub prompt: String,
    /// The files.
    pub files: Vec<Entry>,
    /// Whether it tells about every file.
    pub complete: bool,
    /// Whether the agent may have changed something before it was looked at.
    pub late: bool,
    /// Whether its end was not seen: what the user did since is in it too.
    pub interrupted: bool,
    /// Whether it is for the review alone, and forgotten when it is over.
    #[serde(default)]
    passing: bool,
    /// For one that is not over.
    open: Option<Unfinished>,
    /// Where it is written down.
    #[serde(skip)]
    place: PathBuf,
}

/// What is known of a turn, or a rewind, before it is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Unfinished {
    /// The Neovim that ends it.
    owner: Owner,
    /// What the files were.
    before: Snapshot,
}

/// What is recorded.
#[derive(Debug)]
pub(super) enum What {
    /// A turn, by the first line of its prompt.
    Turn(String),
    /// A turn that nobody wants to undo: what it changes is looked at, and that is all.
    Look,
    /// A rewind, by what it goes back to.
    Rewind(String),
}

/// A file that was changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// What it was and what it became.
    #[serde(flatten)]
    pub changed: Changed,
    /// How many lines were added and removed; none for what is no text.
    pub lines: Option<(usize, usize)>,
}

impl Entry {
    /// `made`, `changed` or `deleted`.
    pub fn kind(&self) -> &'static str {
        match (&self.changed.before, &self.changed.after) {
            (Was::Missing, _) => "made",
            (_, Was::Missing) => "deleted",
            _ => "changed",
        }
    }
}

/// A session, as it is known for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) agent: String,
    pub(super) remote: String,
}

impl Record {
    /// Whether it is one that went back.
    pub fn is_rewind(&self) -> bool {
        self.id.starts_with('r')
    }

    fn is_of(&self, key: &Key) -> bool {
        self.agent == key.agent && self.remote == key.remote
    }

    fn save(&self) -> Result<(), Error> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::from)?;
        Ok(write_atomic(&self.place, &json)?)
    }

    fn forget(&self) {
        if let Err(error) = fs::remove_file(&self.place) {
            tracing::warn!(path = %self.place.display(), %error, "left behind");
        }
    }

    /// Something begins: what the files are is taken down.
    pub(super) fn begin(
        snapshots: &Snapshots,
        key: &Key,
        what: What,
        extra: &Extra,
    ) -> Result<Record, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let snapshot = snapshots.take(extra)?;
        let (prompt, rewind, passing) = match what {
            What::Turn(prompt) => (prompt, false, false),
            What::Look => (String::new(), false, true),
            What::Rewind(prompt) => (prompt, true, false),
        };
        let me = Owner::me();
        let mut last = 0;
        for record in all(snapshots).iter().filter(|it| it.is_of(key)) {
            if record.is_rewind() != rewind {
                continue;
            }
            if record.open.as_ref().is_some_and(|it| it.owner == me) {
                // It never began.
                record.forget();
            } else {
                let number = record.id.trim_start_matches('r').parse().unwrap_or(0);
                last = last.max(number);
            }
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:015}-{}-{number}.json", now.as_millis(), std::process::id());
        let record = Record {
            id: format!("{}{}", if rewind { "r" } else { "" }, last + 1),
            agent: key.agent.clone(),
            remote: key.remote.clone(),
            time: now.as_secs(),
            prompt,
            files: Vec::new(),
            complete: snapshot.complete,
            late: false,
            interrupted: false,
            passing,
            open: Some(Unfinished { owner: me, before: snapshot }),
            place: snapshots.folder.join("turns").join(name),
        };
        record.save()?;
        Ok(record)
    }

    /// What the files were, while it is not over.
    pub(super) fn before(&self) -> Option<&Snapshot> {
        self.open.as_ref().map(|it| &it.before)
    }

    /// It was taken down late: adds what the agent has deleted since it began, as far as it was known
    /// the last time.
    pub(super) fn catch_up(
        &mut self,
        snapshots: &Snapshots,
        last: &Snapshot,
        since: SystemTime,
    ) -> Result<(), Error> {
        let Some(Unfinished { before, .. }) = &mut self.open else { return Ok(()) };
        for Changed { path, before: was, .. } in late::deleted(snapshots, (last, before), since)? {
            before.put(path, was);
        }
        self.save()
    }

    /// What ignored files were before the turn changed them; the files to look at when it is over.
    pub(super) fn add(
        &mut self,
        snapshots: &Snapshots,
        found: &BTreeMap<PathBuf, Option<Vec<u8>>>,
    ) -> Result<Vec<PathBuf>, Error> {
        let Some(Unfinished { before, .. }) = &mut self.open else { return Ok(Vec::new()) };
        snapshots.add(before, found)
    }

    /// It is over: what has changed is written down, with the contents. What the files are now.
    pub(super) fn end(
        &mut self,
        snapshots: &Snapshots,
        mut extra: Extra,
    ) -> Result<Option<Snapshot>, Error> {
        let Some(Unfinished { before, .. }) = self.open.take() else { return Ok(None) };
        if self.passing {
            self.forget();
        }
        extra.also.extend(before.over().map(Path::to_owned));
        let after = snapshots.take(&extra)?;
        let mut changed = snapshots.changed(&before, &after)?;
        self.complete = before.complete && after.complete;
        if self.passing {
            self.files =
                changed.into_iter().map(|changed| Entry { changed, lines: None }).collect();
            return Ok(Some(after));
        }
        snapshots.keep(&mut changed)?;
        self.files = changed
            .into_iter()
            .map(|changed| {
                let lines = lines(snapshots, &changed)?;
                Ok(Entry { changed, lines })
            })
            .collect::<Result<_, Error>>()?;
        self.save()?;
        Ok(Some(after))
    }
}

fn lines(snapshots: &Snapshots, changed: &Changed) -> Result<Option<(usize, usize)>, Error> {
    let text = |was: &Was| -> Result<Option<String>, Error> {
        let is = Is::of(snapshots, was)?;
        Ok(if is == Is::Missing { Some(String::new()) } else { is.text() })
    };
    let (Some(old), Some(new)) = (text(&changed.before)?, text(&changed.after)?) else {
        return Ok(None);
    };
    let diff = file_diff("", Some(&old), &new, (1, 1));
    Ok(Some((diff.added, diff.removed)))
}

/// All that is written down of a project, oldest first.
fn all(snapshots: &Snapshots) -> Vec<Record> {
    let Ok(entries) = fs::read_dir(snapshots.folder.join("turns")) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "json"));
    paths.sort_unstable();
    let read = |place: PathBuf| {
        let record: Record = serde_json::from_slice(&fs::read(&place).ok()?)
            .inspect_err(|error| tracing::warn!(path = %place.display(), %error, "not read"))
            .ok()?;
        Some(Record { place, ..record })
    };
    paths.into_iter().filter_map(read).collect()
}

/// The turns of a session that are over, oldest first. Those that a Neovim left open when it
/// ended are over now.
pub(super) fn of(snapshots: &Snapshots, key: &Key) -> Vec<Record> {
    let mut records = all(snapshots);
    records.retain(|it| it.is_of(key));
    for record in &mut records {
        match &record.open {
            Some(open) if !open.owner.lives() => {}
            _ => continue,
        }
        if record.passing {
            record.forget();
            continue;
        }
        record.interrupted = true;
        if let Err(error) = record.end(snapshots, Extra::default()) {
            tracing::warn!(%error, "a turn is lost");
            record.forget();
        }
    }
    records.retain(|it| it.open.is_none() && it.place.exists());
    records
}

/// Drops what is too old or too much; whether there was something.
pub(super) fn expire(snapshots: &Snapshots, keep: usize, days: u64) -> bool {
    let records = all(snapshots);
    let oldest = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
    let oldest = oldest.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let surplus = records.len().saturating_sub(keep);
    let gone = records.iter().enumerate().filter(|(at, it)| *at < surplus || it.time < oldest);
    gone.map(|(_, record)| record.forget()).count() > 0
}

/// Drops the contents that nobody needs any more, now and then.
pub(super) fn sweep(snapshots: &Snapshots) -> Result<(), Error> {
    let swept = snapshots.folder.join("swept");
    let last = fs::metadata(&swept).and_then(|it| it.modified());
    if last.is_ok_and(|it| it.elapsed().is_ok_and(|it| it < PAUSE)) {
        return Ok(());
    }
    write_atomic(&swept, b"")?;
    let mut wanted = BTreeSet::new();
    for record in all(snapshots) {
        for file in &record.files {
            wanted.extend(file.changed.before.own().map(str::to_owned));
            wanted.extend(file.changed.after.own().map(str::to_owned));
        }
        if let Some(open) = &record.open {
            wanted.extend(open.before.contents());
        }
    }
    snapshots.sweep(&wanted)
}
