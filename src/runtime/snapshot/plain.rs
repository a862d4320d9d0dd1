//! Snapshots without git: every file of the project, up to a limit, with its contents in our own
//! store. A file whose stamp is the same as last time is not read again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::objects::write_atomic;
use super::{Changed, Content, Error, Files, Name, Snapshot, Snapshots, Was};
use crate::runtime::nofollow;

/// How many files and folders are looked at.
const MOST: usize = 20_000;
/// Where other programs keep what is theirs.
const FOREIGN: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".bzr"];
/// What is made from something else, and is large.
const MADE: [&str; 8] =
    ["node_modules", "target", ".venv", "venv", "__pycache__", ".cache", ".tox", ".gradle"];

/// A file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    stamp: Stamp,
    name: String,
    link: bool,
    executable: bool,
}

/// When it was written and when it was changed, how long it is, and which it is.
type Stamp = ((i64, i64), (i64, i64), u64, u64);

/// What the last snapshot found.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Last {
    /// When it began, as the file system counts.
    began: (i64, i64),
    files: BTreeMap<Name, Known>,
}

impl Known {
    pub(super) fn was(&self) -> Was {
        let content = Content::Own(self.name.clone());
        match self.link {
            true => Was::Link(content),
            false => Was::File { content, executable: self.executable },
        }
    }
}

fn place(snapshots: &Snapshots) -> PathBuf {
    snapshots.folder.join("files.json")
}

fn last(snapshots: &Snapshots) -> Last {
    let bytes = fs::read(place(snapshots)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// The contents that the next snapshot may refer to.
pub(super) fn known(snapshots: &Snapshots) -> BTreeSet<String> {
    last(snapshots).files.into_values().map(|it| it.name).collect()
}

/// A snapshot on its way.
struct Taking<'a> {
    snapshots: &'a Snapshots,
    last: Last,
    files: BTreeMap<Name, Known>,
    skipped: BTreeSet<Name>,
    /// Bytes that were not kept yet.
    new: u64,
    /// Whether a file was read.
    read: bool,
}

pub(super) fn take(snapshots: &Snapshots, also: &[PathBuf]) -> Result<Snapshot, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The clock of files may be a little behind.
    let now = now.saturating_sub(Duration::from_millis(20));
    let began = (now.as_secs() as i64, i64::from(now.subsec_nanos()));
    let last = last(snapshots);
    let (files, skipped) = (BTreeMap::new(), BTreeSet::new());
    let mut taking = Taking { snapshots, last, files, skipped, new: 0, read: false };
    for path in also {
        if path.starts_with(&snapshots.project)
            && let Ok(found) = fs::symlink_metadata(path)
        {
            taking.file(path, &found)?;
        }
    }
    let complete = taking.walk()?;
    let Taking { files, skipped, last, read, .. } = taking;
    if read || files != last.files {
        let json = serde_json::to_vec(&Last { began, files: files.clone() })
            .map_err(std::io::Error::from)?;
        write_atomic(&place(snapshots), &json)?;
    }
    let mut snapshot = Snapshot::new(Files::Plain(Arc::new(files)));
    snapshot.capped = !complete;
    snapshot.complete = complete && skipped.iter().all(|it| it.0.is_dir());
    snapshot.skipped = skipped;
    Ok(snapshot)
}

impl Taking<'_> {
    /// Looks at every file, those nearest to the top first; whether there was time for all.
    fn walk(&mut self) -> Result<bool, Error> {
        let project = &self.snapshots.project;
        let home =
            std::env::var_os("HOME").map(PathBuf::from).and_then(|it| it.canonicalize().ok());
        if Some(project) == home.as_ref() || project.parent().is_none() {
            // That is no project: nobody wants a copy of all there is.
            return Ok(false);
        }
        let mut folders = VecDeque::from([project.clone()]);
        let mut seen = 0;
        while let Some(folder) = folders.pop_front() {
            let Ok(entries) = fs::read_dir(&folder) else {
                self.skipped.insert(Name(folder));
                continue;
            };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
            paths.sort_unstable();
            for path in paths {
                seen += 1;
                if seen > MOST {
                    return Ok(false);
                }
                let Ok(found) = fs::symlink_metadata(&path) else { continue };
                if !found.is_dir() {
                    self.file(&path, &found)?;
                    continue;
                }
                let name = path.file_name().unwrap_or_default();
                if FOREIGN.iter().any(|it| name == *it) {
                    continue;
                }
                match MADE.iter().any(|it| name == *it) || path == self.snapshots.folder {
                    true => {
                        self.skipped.insert(Name(path));
                    }
                    false => folders.push_back(path),
                }
            }
        }
        Ok(true)
    }

    fn file(&mut self, path: &Path, found: &Metadata) -> Result<(), Error> {
        let below = path.strip_prefix(&self.snapshots.project).unwrap_or(path);
        let below = Name(below.to_owned());
        let link = found.is_symlink();
        if self.files.contains_key(&below) || !link && !found.is_file() {
            return Ok(());
        }
        let stamp = stamp(found);
        let executable = found.mode() & 0o100 != 0;
        // What was written while it was read may have the stamp and not the bytes.
        let settled = |known: &&Known| known.stamp == stamp && stamp.0 < self.last.began;
        if let Some(known) = self.last.files.get(&below).filter(settled) {
            self.files.insert(below, Known { executable, ..known.clone() });
            return Ok(());
        }
        let bytes = match link {
            true => fs::read_link(path).map(|it| it.as_os_str().as_bytes().to_vec()),
            false if self.new + found.len() > self.snapshots.most => {
                Err(std::io::ErrorKind::FileTooLarge.into())
            }
            false => nofollow::read(path),
        };
        let Ok(bytes) = bytes else {
            self.skipped.insert(Name(path.to_owned()));
            return Ok(());
        };
        self.read = true;
        self.new += bytes.len() as u64;
        let name = self.snapshots.objects.put(&bytes)?;
        self.files.insert(below, Known { stamp, name, link, executable });
        Ok(())
    }
}

/// Whether a file may be run.
pub(super) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.mode() & 0o100 != 0)
}

fn stamp(it: &Metadata) -> Stamp {
    ((it.mtime(), it.mtime_nsec()), (it.ctime(), it.ctime_nsec()), it.size(), it.ino())
}

/// What differs. Where not everything was looked at, only what both know.
pub(super) fn changed(
    project: &Path,
    (old, new): (&BTreeMap<Name, Known>, &BTreeMap<Name, Known>),
    all: bool,
) -> Vec<Changed> {
    let was = |files: &BTreeMap<Name, Known>, name: &Name| {
        files.get(name).map_or(Was::Missing, Known::was)
    };
    let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
    let pairs = names.into_iter().map(|name| (name, was(old, name), was(new, name)));
    let known = |was: &Was| all || *was != Was::Missing;
    pairs
        .filter(|(_, before, after)| before != after && known(before) && known(after))
        .map(|(name, before, after)| Changed { path: Name(project.join(&name.0)), before, after })
        .collect()
}
