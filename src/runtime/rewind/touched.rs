//! What files were just before a turn changed them, for those that no snapshot has.
//!
//! Knows the disk. Must not know which files those are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How much of an ignored file is kept: a text, rather than what is made from one.
const LARGE: u64 = 4 << 20;

/// Files that an agent is about to change, as they were: those that are ignored are in no
/// snapshot.
#[derive(Debug, Clone, Default)]
pub(in crate::runtime) struct Touched(Arc<Mutex<BTreeMap<PathBuf, Option<Vec<u8>>>>>);

impl Touched {
    /// Reads a file that is about to be changed, unless it was changed before.
    pub(in crate::runtime) fn note(&self, path: &Path) {
        let path = match (path.parent().and_then(|it| it.canonicalize().ok()), path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        };
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&path) {
            return;
        }
        let bytes = match std::fs::metadata(&path) {
            Ok(it) if it.is_file() && it.len() <= LARGE => std::fs::read(&path).ok(),
            Ok(_) => return,
            Err(_) => None,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_insert(bytes);
    }

    pub(super) fn take(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
