//! Files under review that are not open: what agents made of them on the disk, and the way back.
//!
//! Knows the disk. Must not know hunks.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::changes::encoding::{decode, encode};
use crate::runtime::disk;
use crate::runtime::nofollow::Place;
use crate::runtime::system_error::words;
use crate::session::event::DiskError;
use crate::session::ids::SessionId;
use crate::session::question::FileRange;

/// A file that an agent has changed on the disk, while the editor had it not open.
#[derive(Debug, Clone)]
pub struct OnDisk {
    /// Whose agent.
    pub session: SessionId,
    /// When it was what it was before.
    pub since: Instant,
    /// When it was looked at, if that is known to be so: a look at a whole project takes a while.
    pub seen: Option<Instant>,
    /// The file, with links resolved.
    pub path: String,
    /// Its text before; none if there was no file.
    pub before: Option<Arc<str>>,
    /// Its text after; none if there is no file any more.
    pub after: Option<Arc<str>>,
    /// What a file was that is no more, to the byte.
    pub lost: Option<Lost>,
}

/// A file that is no more.
#[derive(Debug, Clone)]
pub struct Lost {
    /// What was in it.
    pub bytes: Arc<[u8]>,
    /// Whether it was a program.
    pub executable: bool,
}

impl OnDisk {
    /// What a file is before it is changed. What is no text can't be shown beside what it becomes.
    pub(in crate::runtime) fn before(session: SessionId, path: String) -> Option<OnDisk> {
        let range = FileRange { path: path.clone(), line: None, limit: None };
        let before = match disk::read(&range) {
            Ok(text) => Some(text.into()),
            Err(DiskError::NotFound) => None,
            Err(DiskError::Other(_)) => return None,
        };
        let now = Instant::now();
        Some(OnDisk { session, since: now, seen: None, path, before, after: None, lost: None })
    }

    /// And what it has become.
    pub(in crate::runtime) fn after(self, text: Option<Arc<str>>) -> OnDisk {
        OnDisk { after: text, seen: Some(Instant::now()), ..self }
    }
}

/// The text of a file, if there is one that can be read.
pub(super) fn text_on_disk(path: &str) -> Option<String> {
    disk::read(&FileRange { path: path.to_owned(), line: None, limit: None }).ok()
}

/// Brings back a file that was deleted, as it was.
pub(super) fn bring_back(path: &Path, text: &str, lost: &Lost) -> Result<(), String> {
    let failed = |error: std::io::Error| {
        format!("{} cannot be brought back: {}", path.display(), words(&error))
    };
    if Place::make(path).and_then(|it| it.stat()).map_err(failed)?.is_some() {
        return Err(format!("{} is there again: open it to look at it", path.display()));
    }
    let was = decode(lost.bytes.to_vec()).ok();
    let bytes = match was {
        _ if text.as_bytes() == &*lost.bytes => lost.bytes.to_vec(),
        Some(was) if was.text == text => lost.bytes.to_vec(),
        Some(was) => encode(text, was.encoding).map_err(|error| error.to_string())?,
        None => text.as_bytes().to_vec(),
    };
    disk::put(path, &bytes, lost.executable).map_err(failed)
}

/// Writes what a file was before, if it is still what is expected; no text is no file.
pub(in crate::runtime) fn put_back(
    path: &str,
    expected: Option<&str>,
    wanted: Option<&str>,
) -> Result<(), String> {
    if let Some(expected) = expected
        && text_on_disk(path).as_deref() != Some(expected)
    {
        return Err(format!("{path} has changed since: open it to look at it"));
    }
    match wanted {
        Some(text) => disk::write(path, text).map_err(|error| match error {
            DiskError::NotFound => format!("there is no file {path}"),
            DiskError::Other(words) => words,
        }),
        None => match Place::find(Path::new(path)).and_then(|it| it.remove()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{path} cannot be deleted: {}", words(&error)))
            }
            _ => Ok(()),
        },
    }
}
