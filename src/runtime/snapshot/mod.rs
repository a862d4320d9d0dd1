//! What the files of a project are at some moment, so that it can be told later what has changed
//! since, and what it was before.
//!
//! In a work tree of git that is a tree of its own, made with a private index and private objects
//! (`git`); elsewhere a list of files with their contents (`plain`). Everything here waits for the
//! disk: it is for threads that may. Nothing of the user's is ever written, and what is read is
//! bytes: no conversion, no filter, no hook. Must not know sessions or turns.

mod git;
pub(crate) mod objects;
mod plain;
pub(crate) mod sha256;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use self::objects::Objects;

/// How long one Neovim waits for another that takes a snapshot of the same project.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many files are read at once.
const AT_ONCE: usize = 100;

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The program git said no.
    #[error(transparent)]
    Git(#[from] super::git::GitError),
    /// Another Neovim has been at it for too long.
    #[error("another Neovim holds the snapshots of this project")]
    Busy,
    /// One was taken with git, the other without.
    #[error("the two snapshots can't be compared")]
    Unlike,
}

/// The snapshots of one project.
#[derive(Debug, Clone)]
pub struct Snapshots {
    /// Where they are kept.
    pub folder: PathBuf,
    /// Whose.
    pub project: PathBuf,
    /// How many bytes one may add.
    most: u64,
    objects: Objects,
}

/// What the files of a project were.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    files: Files,
    /// Texts that the editor has instead of what is on the disk.
    over: BTreeMap<Name, Was>,
    /// What it does not tell about: too large, not to be read, a repository of its own.
    pub skipped: BTreeSet<Name>,
    /// Whether it tells about every file.
    pub complete: bool,
    /// Whether there were too many files to look at.
    capped: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Files {
    /// A tree of git's, and the top of the work tree.
    Git { tree: String, top: Name },
    /// Every file by its name, seen from the project.
    Plain(Arc<BTreeMap<Name, plain::Known>>),
}

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Was {
    /// It was not there.
    Missing,
    /// A file with these contents.
    File {
        /// Its contents.
        content: Content,
        /// Whether it is a program.
        executable: bool,
    },
    /// A symbolic link; the contents are where it leads.
    Link(Content),
}

/// Where contents are kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Content {
    /// As a blob, for as long as git keeps it.
    Git(String),
    /// By us.
    Own(String),
}

/// A file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Which, from the root.
    pub path: Name,
    /// What it was.
    pub before: Was,
    /// What it is.
    pub after: Was,
}

/// What else belongs to a snapshot.
#[derive(Debug, Default)]
pub struct Extra {
    /// Files that are in it whatever else is left out, from the root.
    pub also: Vec<PathBuf>,
    /// What somebody knows of files better than the disk, from the root; none: it is not there.
    pub over: Vec<(PathBuf, Option<Vec<u8>>)>,
}

/// A path, whatever its bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Name(pub PathBuf);

/// Written before the digits of a path that is no text. No path has it.
const NO_TEXT: char = '\0';

impl From<String> for Name {
    fn from(text: String) -> Name {
        let Some(digits) = text.strip_prefix(NO_TEXT) else { return Name(text.into()) };
        let pairs = digits.as_bytes().chunks(2).map(|it| str::from_utf8(it).unwrap_or_default());
        let bytes = pairs.map(|it| u8::from_str_radix(it, 16).unwrap_or_default()).collect();
        Name(OsString::from_vec(bytes).into())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        String::from_utf8(name.0.into_os_string().into_vec()).unwrap_or_else(|it| {
            let digits = it.as_bytes().iter().map(|byte| format!("{byte:02x}"));
            std::iter::once(NO_TEXT.to_string()).chain(digits).collect()
        })
    }
}

impl Snapshots {
    /// Those of a project, kept below the folder `state`.
    pub fn new(state: &Path, project: &Path, most: u64) -> Snapshots {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let name = sha256::hex(project.as_os_str().as_bytes());
        let folder = state.join(name.get(..16).unwrap_or_default());
        let objects = Objects::new(folder.join("objects"));
        Snapshots { folder, project, most, objects }
    }

    /// Takes one.
    ///
    /// # Errors
    /// The files can't be read, or what they are can't be kept.
    pub fn take(&self, extra: &Extra) -> Result<Snapshot, Error> {
        let _lock = self.lock()?;
        let mut snapshot = match git::Git::find(self) {
            Some(git) => git.take(self, &extra.also).or_else(|error| {
                tracing::warn!(%error, "no snapshot with git");
                plain::take(self, &extra.also)
            })?,
            None => plain::take(self, &extra.also)?,
        };
        for (path, bytes) in &extra.over {
            let was = self.over(path, bytes.as_deref())?;
            snapshot.over.insert(Name(path.clone()), was);
        }
        Ok(snapshot)
    }

    /// What has changed from one to the other, sorted by path.
    ///
    /// # Errors
    /// They can't be read, or are of two kinds.
    pub fn changed(&self, before: &Snapshot, after: &Snapshot) -> Result<Vec<Changed>, Error> {
        let listed = match (&before.files, &after.files) {
            (Files::Git { tree: old, top }, Files::Git { tree: new, top: same }) if top == same => {
                git::changed(self, (old, new), &top.0)?
            }
            (Files::Plain(old), Files::Plain(new)) => {
                let all = !before.capped && !after.capped;
                plain::changed(&self.project, (old, new), all)
            }
            _ => return Err(Error::Unlike),
        };
        let mut all: BTreeMap<Name, (Was, Was)> =
            listed.into_iter().map(|it| (it.path, (it.before, it.after))).collect();
        for name in before.over.keys().chain(after.over.keys()) {
            let pair = (self.was(before, &name.0)?, self.was(after, &name.0)?);
            all.insert(name.clone(), pair);
        }
        let mut changed = Vec::new();
        for (path, (was, is)) in all {
            let unknown = before.skips(&path.0) || after.skips(&path.0);
            if !unknown && !self.same(&was, &is)? {
                changed.push(Changed { path, before: was, after: is });
            }
        }
        Ok(changed)
    }

    /// Adds what files were to a snapshot that was taken without them, as they are ignored or there
    /// were too many; none for one that was not there. Those that were added.
    ///
    /// # Errors
    /// The disk.
    pub fn add(
        &self,
        snapshot: &mut Snapshot,
        found: &BTreeMap<PathBuf, Option<Vec<u8>>>,
    ) -> Result<Vec<PathBuf>, Error> {
        let mut paths: Vec<PathBuf> = found.keys().cloned().collect();
        if paths.is_empty() {
            return Ok(paths);
        }
        if snapshot.with_git() {
            paths = git::Git::find(self).map(|it| it.ignored(&paths)).unwrap_or_default();
        } else {
            paths.retain(|it| snapshot.capped || snapshot.skips(it));
        }
        let mut added = Vec::new();
        for path in paths {
            if self.was(snapshot, &path)? != Was::Missing {
                continue;
            }
            let bytes = found.get(&path).cloned().flatten();
            snapshot.over.insert(Name(path.clone()), self.over(&path, bytes.as_deref())?);
            added.push(path);
        }
        Ok(added)
    }

    /// What the editor, or somebody else who knows, has of a file.
    fn over(&self, path: &Path, bytes: Option<&[u8]>) -> Result<Was, Error> {
        let Some(bytes) = bytes else { return Ok(Was::Missing) };
        let content = Content::Own(self.objects.put(bytes)?);
        Ok(Was::File { content, executable: plain::is_program(path) })
    }

    /// What has changed since, until now. Costs what a snapshot costs.
    ///
    /// # Errors
    /// As [`Snapshots::take`] and [`Snapshots::changed`].
    pub fn changed_since(&self, before: &Snapshot) -> Result<Vec<Changed>, Error> {
        self.changed(before, &self.take(&Extra::default())?)
    }

    /// What a file was, from the root.
    ///
    /// # Errors
    /// The snapshot can't be read.
    pub fn was(&self, snapshot: &Snapshot, path: &Path) -> Result<Was, Error> {
        if let Some(was) = snapshot.over.get(&Name(path.to_owned())) {
            return Ok(was.clone());
        }
        match &snapshot.files {
            Files::Git { tree, top } => git::was(self, (tree, &top.0), path),
            Files::Plain(files) => {
                let below = path.strip_prefix(&self.project).unwrap_or(path);
                let known = files.get(&Name(below.to_owned()));
                Ok(known.map_or(Was::Missing, plain::Known::was))
            }
        }
    }

    /// The bytes of a content.
    ///
    /// # Errors
    /// It is not kept any more.
    pub fn read(&self, content: &Content) -> Result<Vec<u8>, Error> {
        match content {
            Content::Git(blob) => git::read(self, blob),
            Content::Own(name) => Ok(self.objects.get(name)?),
        }
    }

    /// Keeps the contents of these for as long as we want them, whatever git does.
    ///
    /// # Errors
    /// They can't be read or kept.
    pub fn keep(&self, changed: &mut [Changed]) -> Result<(), Error> {
        for some in changed.chunks_mut(AT_ONCE) {
            let sides = some.iter().flat_map(|it| [&it.before, &it.after]);
            let blobs: BTreeSet<&str> = sides.filter_map(Was::blob).collect();
            let bytes = git::read_all(self, &blobs)?;
            let mut own: BTreeMap<String, String> = BTreeMap::new();
            for (blob, bytes) in bytes {
                own.insert(blob, self.objects.put(&bytes)?);
            }
            for was in some.iter_mut().flat_map(|it| [&mut it.before, &mut it.after]) {
                if let Was::File { content, .. } | Was::Link(content) = was
                    && let Content::Git(blob) = content
                {
                    let kept = own.get(blob).ok_or_else(|| {
                        super::git::GitError::Refused(
                            "cat-file".to_owned(),
                            format!("there is no {blob}"),
                        )
                    })?;
                    *content = Content::Own(kept.clone());
                }
            }
        }
        Ok(())
    }

    /// Removes contents that are not among these, nor known from the last snapshot, nor new.
    ///
    /// # Errors
    /// The disk.
    pub fn sweep(&self, wanted: &BTreeSet<String>) -> Result<(), Error> {
        let _lock = self.lock()?;
        let known = plain::known(self);
        self.objects.sweep(|name| wanted.contains(name) || known.contains(name))?;
        Ok(git::tidy(self)?)
    }

    /// Removes what is kept for projects that nobody has worked on for so long.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_others(&self, age: Duration) -> Result<(), Error> {
        let Some(all) = self.folder.parent() else { return Ok(()) };
        for entry in fs::read_dir(all)? {
            let folder = entry?.path();
            let used = fs::metadata(folder.join("lock")).and_then(|it| it.modified());
            let old = used.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > age));
            if old && folder != self.folder {
                fs::remove_dir_all(folder)?;
            }
        }
        Ok(())
    }

    fn same(&self, one: &Was, other: &Was) -> Result<bool, Error> {
        Ok(match (one, other) {
            (
                Was::File { content: one, executable: a },
                Was::File { content: other, executable: b },
            ) => a == b && self.same_bytes(one, other)?,
            (Was::Link(one), Was::Link(other)) => self.same_bytes(one, other)?,
            (one, other) => one == other,
        })
    }

    fn same_bytes(&self, one: &Content, other: &Content) -> Result<bool, Error> {
        match (one, other) {
            (Content::Git(_), Content::Own(_)) | (Content::Own(_), Content::Git(_)) => {
                Ok(self.read(one)? == self.read(other)?)
            }
            _ => Ok(one == other),
        }
    }

    /// One at a time, of all Neovims.
    fn lock(&self) -> Result<File, Error> {
        objects::private_folder(&self.folder)?;
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600);
        let file = file.open(self.folder.join("lock"))?;
        let begin = Instant::now();
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if begin.elapsed() > PATIENCE {
                return Err(Error::Busy);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // Tells that the project is still worked on.
        file.set_modified(SystemTime::now())?;
        Ok(file)
    }
}

impl Snapshot {
    fn new(files: Files) -> Snapshot {
        let (over, skipped) = (BTreeMap::new(), BTreeSet::new());
        Snapshot { files, over, skipped, complete: true, capped: false }
    }

    /// Whether git was of help.
    pub fn with_git(&self) -> bool {
        matches!(self.files, Files::Git { .. })
    }

    /// What a file was is known better than by looking.
    pub(super) fn put(&mut self, path: Name, was: Was) {
        self.over.insert(path, was);
    }

    /// The files of which it has something else than what was on the disk.
    pub(super) fn over(&self) -> impl Iterator<Item = &Path> {
        self.over.keys().map(|it| it.0.as_path())
    }

    fn skips(&self, path: &Path) -> bool {
        !self.over.contains_key(&Name(path.to_owned()))
            && path.ancestors().any(|it| self.skipped.contains(&Name(it.to_owned())))
    }

    /// The contents of ours that it is made of.
    pub fn contents(&self) -> Vec<String> {
        let mut all: Vec<Was> = self.over.values().cloned().collect();
        if let Files::Plain(files) = &self.files {
            all.extend(files.values().map(plain::Known::was));
        }
        all.iter().filter_map(Was::own).map(str::to_owned).collect()
    }
}

impl Was {
    /// Its contents.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Was::Missing => None,
            Was::File { content, .. } | Was::Link(content) => Some(content),
        }
    }

    fn blob(&self) -> Option<&str> {
        match self.content()? {
            Content::Git(blob) => Some(blob),
            Content::Own(_) => None,
        }
    }

    /// The name of its contents, if we keep them.
    pub fn own(&self) -> Option<&str> {
        match self.content()? {
            Content::Own(name) => Some(name),
            Content::Git(_) => None,
        }
    }
}
