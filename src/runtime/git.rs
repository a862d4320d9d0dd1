//! Repositories of git, asked so that they decide nothing: the user's is read for where things are
//! and for settings that are mere words; whatever looks at files runs in a repository of ours, with
//! the user's index and objects. There are no hooks, filters, drivers or helpers in that one.
//!
//! Everything here waits: it is for threads that may.

mod answer;
mod command;
mod question;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub use self::answer::{GitDiff, diff, files};
pub use self::command::GitError;
pub(super) use self::command::{GitCommand, ours, theirs};
pub(super) use self::question::start;
pub use self::question::{GitAnswer, GitQuestion, GitTopic};
use super::nofollow::read_regular;
use super::snapshot::objects::{private_folder, write_atomic};

/// How much of what the user excludes is read.
const EXCLUDES: u64 = 1 << 20;

/// A repository of the user's.
#[derive(Debug)]
pub(super) struct Repository {
    /// The top of the work tree.
    pub(super) top: PathBuf,
    /// The project, seen from the top; empty if it is the top.
    pub(super) prefix: PathBuf,
    /// The index.
    pub(super) index: PathBuf,
    /// The objects.
    pub(super) objects: PathBuf,
    /// What the user excludes in this repository alone.
    exclude: PathBuf,
    /// What the user excludes everywhere, if it is in an unusual place.
    excludes_file: Option<PathBuf>,
    sha256: bool,
}

impl Repository {
    /// The repository of a project; none if there is none, or no program `git`.
    pub(super) fn find(project: &Path) -> Option<Repository> {
        let said = theirs(
            project,
            &[
                "rev-parse",
                "--show-toplevel",
                "--git-path",
                "index",
                "--git-path",
                "objects",
                "--git-path",
                "info/exclude",
                "--show-object-format",
            ],
        )
        .run(&[])
        .ok()?;
        let lines: Vec<&[u8]> = said.trim_ascii_end().split(|it| *it == b'\n').collect();
        // More lines than that: one of the paths has a line break in it.
        let [top, index, objects, exclude, format] = lines.as_slice() else { return None };
        let path = |bytes: &[u8]| project.join(OsStr::from_bytes(bytes));
        let top = path(top).canonicalize().ok()?;
        // A repository may say that its work tree is elsewhere, the user's home for instance, and
        // have the names of files there in its index.
        if !top.join(".git").exists() {
            return None;
        }
        let prefix = project.strip_prefix(&top).ok()?.to_owned();
        let excludes_file =
            theirs(project, &["config", "--type=path", "--get", "core.excludesFile"])
                .run(&[])
                .ok()
                .map(|it| project.join(OsStr::from_bytes(it.trim_ascii_end())));
        Some(Repository {
            top,
            prefix,
            index: path(index),
            objects: path(objects).canonicalize().ok()?,
            exclude: path(exclude),
            excludes_file,
            sha256: *format == b"sha256",
        })
    }

    /// Makes a repository of ours what it has to be to stand for this one: with its objects, and
    /// these attributes as the last word on every file.
    pub(super) fn stand_in(&self, own: &Path, attributes: &str) -> io::Result<()> {
        private_folder(&own.join("refs"))?;
        private_folder(&own.join("objects"))?;
        let (version, format) = match self.sha256 {
            true => (1, "[extensions]\n\tobjectformat = sha256\n"),
            false => (0, ""),
        };
        let config = format!("[core]\n\trepositoryformatversion = {version}\n{format}");
        let mut alternates = self.objects.as_os_str().as_bytes().to_vec();
        alternates.push(b'\n');
        let excludes = read_regular(&self.exclude, EXCLUDES).unwrap_or_default();
        let files: [(&str, &[u8]); 5] = [
            ("config", config.as_bytes()),
            ("HEAD", b"ref: refs/heads/none\n"),
            ("info/attributes", attributes.as_bytes()),
            ("info/exclude", &excludes),
            ("objects/info/alternates", &alternates),
        ];
        for (name, bytes) in files {
            let path = own.join(name);
            if fs::read(&path).ok().as_deref() != Some(bytes) {
                write_atomic(&path, bytes)?;
            }
        }
        Ok(())
    }

    /// A command in a repository of ours that stands for this one.
    pub(super) fn command(&self, own: &Path, arguments: &[&str]) -> GitCommand {
        let mut git = ours(own, &self.top);
        if let Some(path) = &self.excludes_file {
            git.set("core.excludesFile", path.as_os_str());
        }
        git.args(arguments.iter().copied());
        git
    }
}
