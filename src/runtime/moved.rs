//! Where a file is that is not where it was. One that got another name keeps its number; one that
//! was copied and deleted, as it is from one file system to another, keeps its text.
//!
//! Knows folders and what was last known of the file. Must not know what becomes of its buffer. What
//! can be more than one file is none: then it was deleted.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::core_loop::Core;
use super::disk;
use super::outbox::Item;
use super::stamp::Stamp;
use crate::session::ids::SessionId;
use crate::session::question::FileRange;

/// How many files and folders are looked at.
const MOST: usize = 20_000;
/// How far the clock of the file system may be behind ours.
const BEHIND: Duration = Duration::from_millis(100);

/// A file that is gone while its buffer is loaded.
#[derive(Debug)]
pub struct Lost {
    /// In whose turn.
    pub session: SessionId,
    /// Its name, as the editor has it.
    pub path: String,
    /// Where to look, besides its own folder and the session's.
    pub below: String,
}

/// What is looked for, and where.
#[derive(Debug)]
struct Search {
    folders: VecDeque<PathBuf>,
    stamp: Stamp,
    /// Its text, if it has one that tells it from others.
    text: Option<Arc<str>>,
    /// When the agent began to work: what is older is no copy of its.
    since: Option<SystemTime>,
    /// Files that are open have been there.
    open: HashSet<String>,
}

impl Core {
    /// Tells the editor where a file has gone.
    pub(super) fn lost(&self, lost: Lost) {
        let Lost { session, path, below } = lost;
        let Some((stamp, text)) = self.bases.known(&path) else {
            return self.outbox.push([Item::Moved(path, None)]);
        };
        let launch = self.state.session(session).map(|it| &it.launch);
        let roots = launch.into_iter().flat_map(|it| it.directories.iter().chain([&it.cwd]));
        let folder = Path::new(&path).parent().map(Path::to_owned);
        let folders = roots.chain([&below]).map(PathBuf::from);
        let search = Search {
            folders: folder.into_iter().chain(folders).collect(),
            stamp,
            text: text.filter(|it| !it.trim().is_empty()),
            since: self.bases.begun_at(session),
            open: self.buffers.paths().map(ToOwned::to_owned).collect(),
        };
        let outbox = self.outbox.clone();
        tokio::task::spawn_blocking(move || {
            let found = search.run().and_then(|it| it.into_os_string().into_string().ok());
            outbox.push([Item::Moved(path, found)]);
        });
    }
}

impl Search {
    fn run(mut self) -> Option<PathBuf> {
        let (mut seen, mut left, mut copies) = (HashSet::new(), MOST, Vec::new());
        while let Some(folder) = self.folders.pop_front() {
            // One folder may be reached by several names.
            let Ok(real) = fs::canonicalize(&folder) else { continue };
            if !seen.insert(real.clone()) {
                continue;
            }
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                left = left.checked_sub(1)?;
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if kind.is_dir() && name != ".git" && name != "node_modules" {
                    self.folders.push_back(entry.path());
                } else if kind.is_file()
                    && let Ok(metadata) = entry.metadata()
                    && metadata.len() == self.stamp.size
                {
                    let path = entry.path();
                    if metadata.ino() as f64 as u64 == self.stamp.inode
                        && self.has_text(&real.join(&name))
                    {
                        return Some(path);
                    }
                    if self.is_copy(&real.join(name), &metadata) {
                        copies.push(path);
                    }
                }
            }
        }
        copies.pop().filter(|_| copies.is_empty())
    }

    /// Whether a file of the same length has the text, or that is not known.
    fn has_text(&self, path: &Path) -> bool {
        let Some(text) = &self.text else { return true };
        path.to_str().is_some_and(|path| {
            let range = FileRange { path: path.to_owned(), line: None, limit: None };
            disk::read(&range).is_ok_and(|it| it == **text)
        })
    }

    fn is_copy(&self, path: &Path, metadata: &Metadata) -> bool {
        let (Some(since), Some(_)) = (self.since, &self.text) else { return false };
        let changed = Duration::new(
            metadata.ctime().try_into().unwrap_or_default(),
            metadata.ctime_nsec().try_into().unwrap_or_default(),
        );
        // Where files don't know when they were made, they know when they were last touched.
        let made = metadata.created().unwrap_or(UNIX_EPOCH + changed);
        let open = path.to_str().is_some_and(|it| self.open.contains(it));
        made + BEHIND >= since && !open && self.has_text(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::stamp::stamp;

    const TEXT: &str = "one\ntwo\n";

    const HOUR: Duration = Duration::from_secs(3600);

    /// What becomes of `a.txt`, which has this text, when this is done.
    fn fate(text: &str, done: fn(&Path), open: &[&str]) -> Option<String> {
        fate_since(SystemTime::now() - HOUR, text, done, open)
    }

    fn fate_since(since: SystemTime, text: &str, done: fn(&Path), open: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("folder/below")).unwrap();
        let path = root.join("a.txt");
        fs::write(&path, text).unwrap();
        let stamp = stamp(path.to_str().unwrap()).unwrap();
        done(&root);
        let known = Some(text.into()).filter(|_| !text.is_empty());
        let open = open.iter().map(|it| root.join(it).to_str().unwrap().to_owned()).collect();
        let folders = [root.clone(), root.join("folder")].into();
        let found = Search { folders, stamp, text: known, since: Some(since), open }.run()?;
        Some(found.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
    }

    fn copy(root: &Path, to: &str) {
        fs::copy(root.join("a.txt"), root.join(to)).unwrap();
    }

    fn delete(root: &Path) {
        fs::remove_file(root.join("a.txt")).unwrap();
    }

    #[test]
    fn a_file_with_another_name_is_found() {
        let rename = |root: &Path| fs::rename(root.join("a.txt"), root.join("folder/b")).unwrap();
        for text in [TEXT, ""] {
            assert_eq!(fate(text, rename, &[]).as_deref(), Some("folder/b"));
        }
        let rename_and_change = |root: &Path| {
            fs::rename(root.join("a.txt"), root.join("b")).unwrap();
            fs::write(root.join("b"), "one\nTWO\n").unwrap();
        };
        assert_eq!(fate(TEXT, rename_and_change, &[]), None, "it may be another");
    }

    #[test]
    fn the_only_new_copy_is_where_it_went() {
        let moved = |root: &Path| {
            copy(root, "folder/below/b");
            // Neither is another file of the same length.
            fs::write(root.join("folder/c"), "one\nTWO\n").unwrap();
            delete(root);
        };
        assert_eq!(fate(TEXT, moved, &[]).as_deref(), Some("folder/below/b"));
        assert_eq!(fate(TEXT, moved, &["folder/below/b"]), None, "it was open already");
        let later = SystemTime::now() + HOUR;
        assert_eq!(fate_since(later, TEXT, moved, &[]), None, "it was there before");
        assert_eq!(fate("", moved, &[]), None, "all empty files are the same");
        let twice = |root: &Path| {
            copy(root, "b");
            copy(root, "folder/b");
            delete(root);
        };
        assert_eq!(fate(TEXT, twice, &[]), None, "nobody knows which");
    }
}
