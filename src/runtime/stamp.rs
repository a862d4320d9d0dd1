//! What the file system says of a file, to tell whether it is still the one that it was.
//!
//! Knows the disk. Must not know texts: two of them may have the same stamp.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// What the file system says of a file: another text has another stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// When it was last written, in seconds.
    pub seconds: i64,
    /// And the nanoseconds.
    pub nanoseconds: i64,
    /// How long it is.
    pub size: u64,
    /// When anything about it was last changed, in seconds and nanoseconds.
    pub changed: (i64, i64),
    /// Its number in the file system, as far as Lua can count.
    pub inode: u64,
}

/// What there is to be said of a file that something has happened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// It is what it was.
    Same,
    /// Its stamp is another one, or it is gone.
    Stamped,
    /// Its stamp is the same, and its text is not.
    Silent,
}

/// What the disk says of a file now.
pub(super) fn stamp(path: &str) -> Option<Stamp> {
    let it = fs::metadata(path).ok()?;
    // A number of Lua has 53 bits.
    let (changed, inode) = ((it.ctime(), it.ctime_nsec()), it.ino() as f64 as u64);
    let (seconds, nanoseconds) = (it.mtime(), it.mtime_nsec());
    Some(Stamp { seconds, nanoseconds, size: it.size(), changed, inode })
}
