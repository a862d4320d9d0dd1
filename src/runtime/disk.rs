//! Files on the disk, for agents: read, written and listed by threads that may wait for them.
//!
//! Knows the file system. Must not know which files an agent may touch, nor which of them the
//! editor has open: that is decided before.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;

use super::base64;
use super::input::Input;
use super::system_error::words;
use crate::changes::encoding::{Encoding, decode, encode};
use crate::session::content::Content;
use crate::session::event::{DiskError, Event};
use crate::session::ids::{AskId, SessionId, Tag};
use crate::session::paths;
use crate::session::question::FileRange;

/// How much of a file is given at once: more would not fit a message of the agent's language
/// model by far.
const CAP: u64 = 32 << 20;
/// How long a text may be of which a part is read, to be remembered as a whole.
const WHOLE: u64 = 4 << 20;
/// How many entries of a folder are listed.
const ENTRIES: usize = 50_000;
/// How many reads and lists run at once, and with `CAP` what they may hold in memory.
const READS: usize = 4;
/// As the system does, we follow no more links than this.
const LINKS: usize = 40;

/// The way to the disk.
#[derive(Debug)]
pub struct Disk {
    inputs: Sender<Input>,
    reads: Arc<Semaphore>,
    /// How many bytes an agent may read at once.
    pub most: u64,
    /// One at a time and in order, so that of two writes to a file the later one stays.
    writes: Arc<Semaphore>,
}

impl Disk {
    /// What comes from the disk goes to `inputs`.
    pub fn new(inputs: Sender<Input>) -> Disk {
        let (reads, writes) = (Semaphore::new(READS), Semaphore::new(1));
        Disk { inputs, reads: Arc::new(reads), most: CAP, writes: Arc::new(writes) }
    }

    /// Finds out where a path leads.
    pub fn resolve(&self, ask: AskId, path: String, roots: Vec<String>) {
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            let unresolved = path.clone();
            let work = tokio::task::spawn_blocking(move || resolve(&path, &roots));
            // Where it leads nobody knows: then it is outside.
            let (path, inside) = work.await.unwrap_or((unresolved, false));
            let event = Event::Resolved { ask, path, inside };
            if inputs.send(Input::Event(event)).await.is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    /// Reads a file.
    pub fn read(&self, ask: AskId, range: FileRange) {
        let (inputs, most) = (self.inputs.clone(), self.most);
        self.work(&self.reads, ask, move || {
            let whole = whole(&range).map(|it| Input::Event(Event::Whole(ask, it)));
            if whole.is_some_and(|it| inputs.blocking_send(it).is_err()) {
                tracing::debug!("the core is gone");
            }
            read_up_to(&range, most)
        });
    }

    /// Writes a file. `before` sees it as it is until then; what that returns is called when it is
    /// written.
    pub fn write<Then: FnOnce()>(
        &self,
        ask: AskId,
        (path, text): (String, Arc<str>),
        before: impl FnOnce(&Path) -> Then + Send + 'static,
    ) {
        self.work(&self.writes, ask, move || {
            let then = before(Path::new(&path));
            write(&path, &text)?;
            then();
            Ok(String::new())
        });
    }

    /// Lists a folder.
    pub fn list(&self, ask: AskId, path: String) {
        self.work(&self.reads, ask, move || list(&path));
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

    fn work(
        &self,
        permits: &Arc<Semaphore>,
        ask: AskId,
        work: impl FnOnce() -> Result<String, DiskError> + Send + 'static,
    ) {
        let (inputs, permits) = (self.inputs.clone(), permits.clone());
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

/// Where a path leads, and whether that is in one of these folders.
pub fn resolve(path: &str, roots: &[String]) -> (String, bool) {
    let real = real(Path::new(&paths::join("", path)), 0);
    let inside = |root: &String| real.starts_with(self::real(Path::new(root), 0));
    let inside = roots.iter().any(inside);
    // A name that is not UTF-8 can't be told to anybody, nor be what an agent means.
    match real.into_os_string().into_string() {
        Ok(path) => (path, inside),
        Err(_) => (path.to_owned(), false),
    }
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

/// The text of a file or of some of its lines, with their line endings as they are.
///
/// # Errors
/// There is no such file, it can't be read, or it is no text.
pub fn read(range: &FileRange) -> Result<String, DiskError> {
    read_up_to(range, CAP)
}

fn read_up_to(range: &FileRange, most: u64) -> Result<String, DiskError> {
    let path = Path::new(&range.path);
    let file = open(path).map_err(|error| failed(path, &error))?;
    let metadata = file.metadata().map_err(|error| failed(path, &error))?;
    if metadata.is_dir() {
        return Err(other(path, "is a directory"));
    }
    if !metadata.is_file() {
        return Err(other(path, "is not a regular file"));
    }
    let mut file = BufReader::with_capacity(64 << 10, file);
    let bytes = lines(&mut file, range, most).map_err(|error| failed(path, &error))?;
    let Some(bytes) = bytes else {
        return Err(other(path, &format!("is larger than {} MB: read it in parts", most >> 20)));
    };
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => decoded(path, range),
    }
}

/// The same for a file that is not UTF-8: its encoding is told by all of it.
fn decoded(path: &Path, range: &FileRange) -> Result<String, DiskError> {
    let whole = FileRange { line: None, limit: None, ..range.clone() };
    let file = open(path).map_err(|error| failed(path, &error))?;
    let bytes =
        lines(&mut BufReader::new(file), &whole, CAP).map_err(|error| failed(path, &error))?;
    let decoded = decode(bytes.unwrap_or_default());
    let text = decoded.map_err(|error| other(path, &format!("is not text: {error}")))?.text;
    let skipped = range.line.map_or(0, |line| line.saturating_sub(1) as usize);
    let limit = range.limit.map_or(usize::MAX, |limit| limit as usize);
    Ok(text.split_inclusive('\n').skip(skipped).take(limit).collect())
}

/// A text in the encoding of the file that it replaces.
pub(super) fn encoded(target: &Path, text: &str) -> io::Result<Vec<u8>> {
    let plain = || Ok(text.as_bytes().to_vec());
    let Ok(file) = File::open(target) else { return plain() };
    let mut bytes = Vec::new();
    file.take(CAP).read_to_end(&mut bytes)?;
    match decode(bytes).map(|it| it.encoding) {
        Ok(Encoding::Utf8 { .. }) | Err(_) => plain(),
        Ok(encoding) => encode(text, encoding).map_err(io::Error::other),
    }
}

/// The whole text of a file of which a part is wanted, if it is not too long to be kept.
fn whole(range: &FileRange) -> Option<Arc<str>> {
    range.line.or(range.limit)?;
    let small = fs::metadata(&range.path).ok()?.len() <= WHOLE;
    let whole = FileRange { path: range.path.clone(), line: None, limit: None };
    small.then(|| read(&whole).ok()).flatten().map(Arc::from)
}

/// Without waiting for the writer of a named pipe.
fn open(path: &Path) -> io::Result<File> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(nonblock).open(path)
}

/// The lines wanted, reading no further than their end. None when they are too much.
fn lines(file: &mut impl BufRead, range: &FileRange, most: u64) -> io::Result<Option<Vec<u8>>> {
    for _ in 1..range.line.unwrap_or(1) {
        if file.skip_until(b'\n')? == 0 {
            break;
        }
    }
    let mut bytes = Vec::new();
    let mut file = file.take(most + 1);
    match range.limit {
        None => {
            file.read_to_end(&mut bytes)?;
        }
        Some(limit) => {
            for _ in 0..limit {
                if file.read_until(b'\n', &mut bytes)? == 0 {
                    break;
                }
            }
        }
    }
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Gives a file this text, whole or not at all. Its folders are made if need be.
///
/// # Errors
/// It can't be written.
pub fn write(path: &str, text: &str) -> Result<(), DiskError> {
    let path = Path::new(path);
    let write = || {
        let target = target(path)?;
        let folder = target.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        match fs::metadata(&target) {
            Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(old) if !old.is_file() => Err(io::Error::other("it is not a regular file")),
            Ok(old) => overwrite(&target, &old, &encoded(&target, text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                replace(&target, folder, None, text.as_bytes())
            }
            Err(error) => Err(error),
        }
    };
    // A folder that is missing is not a file that is missing: nothing was found, something failed.
    write().map_err(|error| other(path, &format!("cannot be written: {}", words(&error))))
}

/// Gives a file these bytes, whole or not at all, in the place of whatever file or link is there.
/// Its mode stays, but for whether it is a program.
pub(super) fn put(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let old = fs::symlink_metadata(path).ok();
    match &old {
        Some(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(old) if old.is_file() => overwrite(path, old, bytes)?,
        _ => replace(path, folder, None, bytes)?,
    }
    let mut permissions = fs::metadata(path)?.permissions();
    let mode = permissions.mode();
    if (mode & 0o100 != 0) != executable {
        // Whoever may read it may run it.
        permissions.set_mode(if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 });
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

/// The file a path leads to through symbolic links, although it may not be there yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("/")).join(link),
            // It is something else than a link, or nothing.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Replaces a file's text. What a new file in its place would lose, a second name or another
/// owner, is worth more than the small danger of half a text: then it is written in place.
fn overwrite(target: &Path, old: &Metadata, text: &[u8]) -> io::Result<()> {
    // A file that must not be written must not be replaced either.
    let file = OpenOptions::new().write(true).open(target)?;
    let ours = old.uid() == rustix::process::geteuid().as_raw();
    let folder = target.parent().unwrap_or(Path::new("/"));
    if ours && old.nlink() == 1 {
        match replace(target, folder, Some(old), text) {
            // The file is ours, but its folder or its group is not.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => return result,
        }
    }
    let mut file = file;
    file.write_all(text)?;
    file.set_len(text.len() as u64)?;
    file.sync_data()
}

/// Whether a file is one that is about to take the place of another.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    name.starts_with(".acp-") && name.ends_with(".tmp")
}

/// Writes the text to a new file and puts that in the place of the old one, if there is one.
fn replace(target: &Path, folder: &Path, old: Option<&Metadata>, text: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!(".acp-{}-{number}.tmp", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let mut write = || {
        file.write_all(text)?;
        if let Some(old) = old {
            if file.metadata()?.gid() != old.gid() {
                fchown(&file, None, Some(old.gid()))?;
            }
            file.set_permissions(old.permissions())?;
        }
        if old.is_some() {
            // Else a crash of the machine could leave neither the old text nor the new one. Where
            // there was none, it is not worth the many seconds that a busy disk takes for it.
            file.sync_data()?;
        }
        fs::rename(&path, target)
    };
    write().inspect_err(|_| {
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "left behind");
        }
    })
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
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| failed(path, &error))? {
        let entry = entry.map_err(|error| failed(path, &error))?;
        // A name may hold anything; here a line is a name.
        let name = entry.file_name().to_string_lossy().replace('\n', "\u{fffd}");
        // Links to folders count as folders.
        let folder = fs::metadata(entry.path()).is_ok_and(|it| it.is_dir());
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
