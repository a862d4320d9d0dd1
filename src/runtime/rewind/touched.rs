//! What files were just before a turn changed them, for those that no snapshot has.
//!
//! Knows the disk. Must not know which files those are.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::runtime::nofollow;

/// How much of an ignored file is kept: a text, rather than what is made from one.
const LARGE: u64 = 4 << 20;
/// How much of all of them: an agent can name any number of files.
const MOST: usize = 64 << 20;
/// And how many.
const FILES: usize = 10_000;

/// Files that an agent is about to change, as they were: those that are ignored are in no
/// snapshot.
#[derive(Debug, Clone, Default)]
pub(in crate::runtime) struct Touched(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    files: BTreeMap<PathBuf, Option<Vec<u8>>>,
    bytes: usize,
}

impl Touched {
    /// Reads a file that is about to be changed, unless it was changed before. No part of its path
    /// may be a link: what it leads to is another file.
    pub(in crate::runtime) fn note(&self, path: &Path) {
        let known =
            |it: &Files| it.files.contains_key(path) || it.bytes >= MOST || it.files.len() >= FILES;
        if known(&self.lock()) {
            return;
        }
        let bytes = match nofollow::open(path) {
            Ok(file) => {
                let mut bytes = Vec::new();
                match file.take(LARGE + 1).read_to_end(&mut bytes) {
                    Ok(count) if count as u64 <= LARGE => Some(bytes),
                    _ => return,
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return,
        };
        let mut all = self.lock();
        if !known(&all) {
            all.bytes += bytes.as_ref().map_or(0, Vec::len);
            all.files.insert(path.to_owned(), bytes);
        }
    }

    pub(super) fn take(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        std::mem::take(&mut *self.lock()).files
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_agents_name_is_kept_within_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let touched = Touched::default();
        for number in 0..40 {
            let path = root.join(number.to_string());
            fs::write(&path, vec![b'x'; 3 << 20]).unwrap();
            touched.note(&path);
        }
        fs::write(root.join("target"), "x").unwrap();
        std::os::unix::fs::symlink("target", root.join("link")).unwrap();
        let other = Touched::default();
        other.note(&root.join("link"));
        other.note(&root.join("new"));
        assert_eq!(other.take(), BTreeMap::from([(root.join("new"), None)]));
        let bytes: usize = touched.take().into_values().flatten().map(|it| it.len()).sum();
        assert!((MOST..MOST + (4 << 20)).contains(&bytes), "{bytes}");
    }
}
