//! What users want to know of their repository: which files there are, and what has changed.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{GitCommand, GitError, Repository, theirs};

/// How long somebody waits for an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many bytes of names are listed.
const NAMES: usize = 32 << 20;
/// The name of the tree with nothing in it, in either form of names.
const EMPTY: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];
/// Settings that say how files differ from what git keeps, and are mere words.
const WORDS: &str = r"^core\.(autocrlf|eol|filemode|symlinks|ignorecase|trustctime|checkstat)$";

/// What has changed since the last commit.
#[derive(Debug, PartialEq, Eq)]
pub struct GitDiff {
    /// As git writes it.
    pub text: String,
    /// Whether that is all of it.
    pub whole: bool,
}

/// The files of a project that git tracks, or would: each with a NUL after it, seen from there. None
/// where git knows nothing of the project.
///
/// # Errors
/// Git cannot say.
pub fn files(project: &Path) -> Result<Option<Vec<u8>>, GitError> {
    let project = project.canonicalize()?;
    let Some(repository) = Repository::find(&project) else { return Ok(None) };
    let own = StandIn::new(&repository, "")?;
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let mut git = own.command(&repository, &arguments);
    git.current_dir(&project);
    let said = git.run_up_to(&[], NAMES)?;
    let end = said.bytes.iter().rposition(|it| *it == 0).map_or(0, |it| it + 1);
    // A file with a conflict is in the index once for each side.
    let mut names: Vec<&[u8]> =
        said.bytes.get(..end).unwrap_or_default().split_inclusive(|it| *it == 0).collect();
    names.dedup();
    Ok(Some(names.concat()))
}

/// What differs from the last commit in the files that git tracks, staged or not: at most so many
/// bytes of it. Line endings are converted as the user has it; filters and drivers of the
/// repository's are not run. None where git knows nothing of the project.
///
/// # Errors
/// Git cannot say.
pub fn diff(project: &Path, most: usize) -> Result<Option<GitDiff>, GitError> {
    let project = project.canonicalize()?;
    let Some(repository) = Repository::find(&project) else { return Ok(None) };
    let own = StandIn::new(&repository, "* !filter !diff\n")?;
    let head = theirs(&project, &["rev-parse", "--verify", "--quiet", "HEAD"]).run(&[]);
    let [short, long] = EMPTY;
    let empty = if repository.sha256 { long } else { short };
    let base = head
        .map_or(empty.to_owned(), |it| String::from_utf8_lossy(it.trim_ascii_end()).into_owned());
    let mut git = own.bare_command(&repository);
    let words = theirs(&project, &["config", "-z", "--get-regexp", WORDS]).run(&[]);
    for setting in words.unwrap_or_default().split(|it| *it == 0) {
        let mut parts = setting.splitn(2, |it| *it == b'\n');
        if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            git.set(&String::from_utf8_lossy(name), OsStr::from_bytes(value));
        }
    }
    git.set("core.quotePath", OsStr::new("false"));
    git.args(["diff-index", "--patch", "--find-renames", "--no-color", "--no-ext-diff"]);
    // What is in a submodule is told by the settings of that one.
    git.args(["--no-textconv", "--ignore-submodules=dirty", &base, "--"]);
    let said = git.run_up_to(&[], most)?;
    let mut bytes = said.bytes;
    if !said.whole {
        bytes.truncate(bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(GitDiff { text, whole: said.whole }))
}

/// A repository of ours that is gone when it has answered.
struct StandIn(PathBuf);

impl StandIn {
    fn new(repository: &Repository, attributes: &str) -> io::Result<StandIn> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut attempt = 0;
        let own = loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("acp-git-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            attempt += 1;
            // Somebody else's is not ours, whatever it is called.
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => break StandIn(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {}
                Err(error) => return Err(error),
            }
        };
        repository.stand_in(&own.0, attributes)?;
        match fs::metadata(&repository.index) {
            // Git would wait for whoever writes into it.
            Ok(it) if !it.is_file() => return Err(io::Error::other("the index is no file")),
            _ => {}
        }
        own.share_index(repository)?;
        Ok(own)
    }

    /// An index may be in two files, of which git looks for the other where it thinks it is.
    fn share_index(&self, repository: &Repository) -> io::Result<()> {
        let Some(folder) = repository.index.parent() else { return Ok(()) };
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
                symlink(entry.path(), self.0.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    fn bare_command(&self, repository: &Repository) -> GitCommand {
        self.command(repository, &[])
    }

    fn command(&self, repository: &Repository, arguments: &[&str]) -> GitCommand {
        let mut git = repository.command(&self.0, arguments);
        git.env("GIT_INDEX_FILE", repository.index.as_os_str());
        git.within(PATIENCE);
        git
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, folder = %self.0.display(), "left behind");
        }
    }
}
