//! Files on the disk, for agents: read, written and listed by threads that may wait for them.
//!
//! Knows the file system. Must not know which files an agent may touch, nor which of them the
//! editor has open: that is decided before, on the path that [`resolve`] finds. The file that is
//! read or written is the one of that path (`nofollow`).

mod read;
mod write;

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;

pub use self::read::read;
pub use self::write::{Written, write, write_over};
pub(super) use self::write::{encoded, put};
use super::base64;
use super::input::Input;
use super::nofollow;
use super::system_error::words;
use crate::session::content::Content;
use crate::session::event::{DiskError, Event, RealPath};
use crate::session::ids::{AskId, SessionId, Tag};
use crate::session::live::Whole;
use crate::session::paths;
use crate::session::question::FileRange;

/// How much of a file is given at once: more would not fit a message of the agent's language
/// model by far.
const CAP: u64 = 32 << 20;
/// How many entries of a folder are listed.
const ENTRIES: usize = 50_000;
/// How many reads and lists of a session run at once, and with `CAP` what they may hold in memory.
const READS: usize = 4;
/// As the system does, we follow no more links than this.
const LINKS: usize = 40;

/// The way to the disk.
#[derive(Debug)]
pub struct Disk {
    inputs: Sender<Input>,
    lanes: Mutex<HashMap<SessionId, Lanes>>,
    /// How many bytes an agent may read at once.
    pub most: u64,
    /// One at a time and in order, so that of two writes to a file the later one stays.
    writes: Arc<Semaphore>,
}

/// What one session may have under way: a slow disk of its holds up no other.
#[derive(Debug, Clone)]
struct Lanes {
    /// One at a time and in order: of two writes to a file the later one comes later.
    resolves: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

/// A question that the disk is asked.
#[derive(Debug, Clone, Copy)]
pub struct DiskQuestion {
    /// Which.
    pub ask: AskId,
    /// For which session.
    pub session: SessionId,
}

/// What an agent writes.
#[derive(Debug)]
pub struct NewText {
    /// To which file, as [`resolve`] found it.
    pub path: String,
    /// What.
    pub text: Arc<str>,
    /// What the agent has seen of it: whatever somebody else has changed since stays.
    pub seen: Option<Whole>,
}

impl Disk {
    /// What comes from the disk goes to `inputs`.
    pub fn new(inputs: Sender<Input>) -> Disk {
        let writes = Arc::new(Semaphore::new(1));
        Disk { inputs, lanes: Mutex::default(), most: CAP, writes }
    }

    /// Finds out where a path leads.
    pub fn resolve(&self, question: DiskQuestion, path: String, roots: Vec<String>) {
        let (inputs, ask) = (self.inputs.clone(), question.ask);
        let permits = self.lanes(question.session).resolves;
        tokio::spawn(async move {
            let _permit = permits.acquire().await;
            // Where it leads nobody knows: then it is outside.
            let unknown = RealPath { path: path.clone(), ..RealPath::default() };
            let work = tokio::task::spawn_blocking(move || resolve(&path, &roots));
            let real = work.await.unwrap_or(unknown);
            if inputs.send(Input::Event(Event::Resolved { ask, real })).await.is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    /// Reads a file.
    pub fn read(&self, question: DiskQuestion, range: FileRange) {
        let (inputs, most) = (self.inputs.clone(), self.most);
        self.work(self.lanes(question.session).reads, question.ask, move || {
            let found = read::part(&range, most)?;
            let whole = found.whole.map(|it| Input::Event(Event::Whole(question.ask, it)));
            if whole.is_some_and(|it| inputs.blocking_send(it).is_err()) {
                tracing::debug!("the core is gone");
            }
            Ok(found.text)
        });
    }

    /// Writes a file. `before` sees it as it is until then; what that returns is called with what
    /// is in it when it is written.
    pub fn write<Then: FnOnce(Arc<str>)>(
        &self,
        ask: AskId,
        new: NewText,
        before: impl FnOnce(&Path) -> Then + Send + 'static,
    ) {
        self.work(self.writes.clone(), ask, move || {
            let then = before(Path::new(&new.path));
            let seen = new.seen.map(|it| it.0.text());
            let written = write_over(&new.path, &new.text, seen.as_deref())?;
            then(match written {
                Written::AsGiven => new.text,
                Written::Merged(text) => text.into(),
            });
            Ok(String::new())
        });
    }

    /// Lists a folder.
    pub fn list(&self, question: DiskQuestion, path: String) {
        self.work(self.lanes(question.session).reads, question.ask, move || list(&path));
    }

    /// Saves something to a new file.
    pub fn save(&self, (session, tag): (SessionId, Tag), path: String, content: Content) {
        let (inputs, permits) = (self.inputs.clone(), self.writes.clone());
        tokio::spawn(async move {
            let _permit = permits.acquire().await;
            let place = path.clone();
            let work = tokio::task::spawn_blocking(move || save(&place, &content));
            let result = work.await.unwrap_or_else(|_| Err("a bug in acp.nvim".to_owned()));
            let event = Event::Saved { session, tag, path, result };
            if inputs.send(Input::Event(event)).await.is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    /// A session is no more.
    pub fn close(&self, session: SessionId) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }

    fn lanes(&self, session: SessionId) -> Lanes {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let permits = |count| Arc::new(Semaphore::new(count));
        let new = || Lanes { resolves: permits(1), reads: permits(READS) };
        lanes.entry(session).or_insert_with(new).clone()
    }

    fn work(
        &self,
        permits: Arc<Semaphore>,
        ask: AskId,
        work: impl FnOnce() -> Result<String, DiskError> + Send + 'static,
    ) {
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            // Held until the core has taken the result. It fails only if closed, which nobody does.
            let _permit = permits.acquire().await;
            let result = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                tracing::error!(%error, "work on the disk failed");
                Err(DiskError::Other("a bug in acp.nvim".to_owned()))
            });
            if inputs.send(Input::Event(Event::Disk { ask, result })).await.is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }
}

/// Where a path leads, and what is there: in one of these folders, in a folder of git's own.
pub fn resolve(path: &str, roots: &[String]) -> RealPath {
    let found = real(Path::new(&paths::join("", path)), 0);
    let inside = roots.iter().any(|root| found.starts_with(real(Path::new(root), 0)));
    let repository = is_in_repository(&found);
    // A name that is not UTF-8 can't be told to anybody, nor be what an agent means.
    match found.into_os_string().into_string() {
        Ok(path) => RealPath { path, inside, repository },
        Err(_) => RealPath { path: path.to_owned(), ..RealPath::default() },
    }
}

/// Whether a file is in a folder that looks like git's own, whatever its name.
pub(super) fn is_in_repository(path: &Path) -> bool {
    path.ancestors().skip(1).any(|it| {
        it.join("HEAD").is_file() && it.join("objects").is_dir() && it.join("refs").is_dir()
    })
}

/// A path with its links followed, also those that lead to nothing yet.
pub(super) fn real(path: &Path, links: usize) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    if links < LINKS
        && let Ok(link) = fs::read_link(path)
    {
        return real(&path.parent().unwrap_or(Path::new("/")).join(link), links + 1);
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder, links).join(name),
        (Some(folder), None) if links < LINKS => real(folder, links + 1).join(".."),
        _ => path.to_owned(),
    }
}

/// Writes something to a file that must not be there yet.
///
/// # Errors
/// There is such a file, it can't be written, or what should be written can't be read.
pub fn save(path: &str, content: &Content) -> Result<(), String> {
    let decoded;
    let bytes = match content {
        Content::Image { data, .. } | Content::Audio { data, .. } | Content::Blob { data, .. } => {
            decoded = base64::decode(data).ok_or("what the agent sent is not base64")?;
            decoded.as_slice()
        }
        Content::Resource { text, .. } | Content::Text(text) => text.as_bytes(),
        Content::Link { .. } | Content::Unknown(_) => return Err("it has no contents".to_owned()),
    };
    let path = Path::new(path);
    let failed = |error: io::Error| format!("{}: {}", path.display(), words(&error));
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(bytes).map_err(|error| {
        // Half of it is nothing to keep.
        if let Err(error) = fs::remove_file(path) {
            tracing::warn!(path = %path.display(), %error, "left behind");
        }
        failed(error)
    })
}

/// What is in a folder: a line for each entry, `name` or `name/`, sorted.
///
/// # Errors
/// There is no such folder, it can't be read, or it is too large.
pub fn list(path: &str) -> Result<String, DiskError> {
    let path = Path::new(path);
    let failed = |error: io::Error| failed(path, &error);
    let folder = nofollow::open_folder(path).map_err(failed)?;
    let mut names = Vec::new();
    let entries = rustix::fs::Dir::read_from(&folder).map_err(|error| failed(error.into()))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(error.into()))?;
        let bytes = entry.file_name().to_bytes();
        if matches!(bytes, b"." | b"..") {
            continue;
        }
        // A name may hold anything; here a line is a name.
        let name = String::from_utf8_lossy(bytes).replace('\n', "\u{fffd}");
        // Links to folders count as folders.
        let folder = match entry.file_type() {
            rustix::fs::FileType::Symlink | rustix::fs::FileType::Unknown => {
                fs::metadata(path.join(std::ffi::OsStr::from_bytes(bytes)))
                    .is_ok_and(|it| it.is_dir())
            }
            kind => kind == rustix::fs::FileType::Directory,
        };
        names.push(if folder { name + "/" } else { name });
        if names.len() > ENTRIES {
            return Err(other(path, &format!("has more than {ENTRIES} entries")));
        }
    }
    names.sort_unstable();
    Ok(names.into_iter().map(|name| name + "\n").collect())
}

fn failed(path: &Path, error: &io::Error) -> DiskError {
    match error.kind() {
        io::ErrorKind::NotFound => DiskError::NotFound,
        _ => other(path, &format!("cannot be read: {}", words(error))),
    }
}

fn other(path: &Path, what: &str) -> DiskError {
    DiskError::Other(format!("{} {what}", path.display()))
}
