//! Snapshots of a work tree, made by the program `git` in a repository of our own: its index and
//! its objects are private, the user's objects are borrowed.
//!
//! The user's repository is read and never written. What git would do to bytes (attributes,
//! `autocrlf`, filters) is switched off in ours, and whatever could run other programs too.

mod seed;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Changed, Content, Error, Files, Name, Snapshot, Snapshots, Was};
use crate::runtime::git::{GitCommand, GitError, Repository, ours};
use crate::runtime::nofollow;

/// How long what no index refers to is kept: longer than any turn takes.
const LOOSE: Duration = Duration::from_secs(3 * 24 * 3600);

/// The last word on every file: bytes are bytes.
const ATTRIBUTES: &str = "* -text !eol !crlf !ident !filter !working-tree-encoding\n";

/// The user's repository, and our own beside it.
#[derive(Debug)]
pub(super) struct Git {
    user: Repository,
    /// Our own repository.
    own: PathBuf,
}

fn own(snapshots: &Snapshots) -> PathBuf {
    snapshots.folder.join("git")
}

impl Git {
    /// The repository of a project; none if there is none, or no program `git`.
    pub(super) fn find(snapshots: &Snapshots) -> Option<Git> {
        let user = Repository::find(&snapshots.project)?;
        Some(Git { user, own: own(snapshots) })
    }

    /// Takes a snapshot.
    pub(super) fn take(&self, snapshots: &Snapshots, also: &[PathBuf]) -> Result<Snapshot, Error> {
        self.prepare()?;
        let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
        if !self.own.join("index").exists() {
            wanted.extend(self.seed()?);
        }
        wanted.extend(self.dirty()?);
        wanted.extend(also.iter().filter_map(|path| self.inside(path)));
        let (fed, skipped) = self.choose(wanted, snapshots.most);
        let refused = self.feed(&fed)?;
        let left_out: Vec<PathBuf> = skipped.iter().chain(&refused).cloned().collect();
        self.git(&["update-index", "-z", "--force-remove", "--stdin"]).run(&listed(&left_out))?;
        let tree = self.git(&["write-tree", "--missing-ok"]).run(&[])?;
        let tree = String::from_utf8_lossy(tree.trim_ascii_end()).into_owned();
        let mut snapshot = Snapshot::new(Files::Git { tree, top: Name(self.user.top.clone()) });
        snapshot.complete = left_out.iter().all(|path| self.user.top.join(path).is_dir());
        let left_out = left_out.into_iter().chain(self.submodules());
        snapshot.skipped.extend(left_out.map(|path| Name(self.user.top.join(path))));
        Ok(snapshot)
    }

    /// A command in our own repository, for the user's work tree.
    fn git(&self, arguments: &[&str]) -> GitCommand {
        self.user.command(&self.own, arguments)
    }

    /// Makes our own repository what it has to be.
    fn prepare(&self) -> Result<(), Error> {
        self.user.stand_in(&self.own, ATTRIBUTES)?;
        // We hold the lock of this project: whoever made this one is gone.
        match fs::remove_file(self.own.join("index.lock")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// What is not as our index has it, seen from the top.
    fn dirty(&self) -> Result<Vec<PathBuf>, Error> {
        let scope: &OsStr = match self.user.prefix.as_os_str().is_empty() {
            true => OsStr::new("."),
            false => self.user.prefix.as_os_str(),
        };
        let tracked = || {
            let arguments = ["diff-files", "-z", "--name-only", "--ignore-submodules=all", "--"];
            let mut git = self.git(&arguments);
            git.args([scope]);
            git.run(&[])
        };
        let others = || {
            let mut git = self.git(&["ls-files", "-z", "--others", "--exclude-standard", "--"]);
            git.args([scope]);
            git.run(&[])
        };
        // Each looks at every file: at the same time they take half of it.
        let (tracked, others) = std::thread::scope(|threads| {
            let tracked = threads.spawn(tracked);
            let others = others();
            (tracked.join(), others)
        });
        let tracked =
            tracked.map_err(|_| GitError::Refused("diff-files".into(), "failed".into()))??;
        Ok([paths(&tracked), paths(&others?)].concat())
    }

    /// A path from the root, seen from the top, if the top's repository is the one it is in.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent()?.canonicalize().ok()?;
        let foreign = |it: &Path| it != self.user.top && it.join(".git").exists();
        let mut between = folder.ancestors().take_while(|it| it.starts_with(&self.user.top));
        if between.any(foreign) {
            return None;
        }
        let path = folder.join(path.file_name()?);
        let below = path.strip_prefix(&self.user.top).ok()?;
        (!below.starts_with(".git")).then(|| below.to_owned())
    }

    /// What is taken in, and what is not: the smaller ones go first, until there is no room.
    fn choose(&self, wanted: BTreeSet<PathBuf>, most: u64) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut sized, mut skipped) = (Vec::new(), Vec::new());
        for path in wanted {
            let full = self.user.top.join(&path);
            match fs::symlink_metadata(&full) {
                Err(_) => sized.push((0, path)),
                Ok(it) if it.is_symlink() => sized.push((0, path)),
                Ok(it) if it.is_file() && nofollow::open(&full).is_ok() => {
                    sized.push((it.len(), path))
                }
                // A folder is a repository of its own; or it is nothing that has contents.
                Ok(_) => skipped.push(path),
            }
        }
        sized.sort_unstable();
        let (mut fed, mut sum) = (Vec::new(), 0);
        for (size, path) in sized {
            sum += size;
            match sum <= most {
                true => fed.push(path),
                false => skipped.push(path),
            }
        }
        (fed, skipped)
    }

    /// Brings our index level with the work tree for these; those that git refuses.
    fn feed(&self, fed: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
        let arguments = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        let Err(error) = self.git(&arguments).run(&listed(fed)) else { return Ok(Vec::new()) };
        tracing::debug!(%error, "one by one");
        // One that it refuses is the end of all; it may have been made or removed just now.
        let refuses =
            |path: &&PathBuf| self.git(&arguments).run(&listed(&[(*path).clone()])).is_err();
        match fed.len() {
            0..=200 => Ok(fed.iter().filter(refuses).cloned().collect()),
            _ => Err(error.into()),
        }
    }

    /// Those of these paths, from the root, that are ignored.
    pub(super) fn ignored(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        // So that it is taken literally, whatever it begins with.
        let below = |path: &PathBuf| Some(Path::new(".").join(self.inside(path)?));
        let below: Vec<PathBuf> = paths.iter().filter_map(below).collect();
        if below.is_empty() {
            return Vec::new();
        }
        // It fails where none is.
        let mut git = self.git(&["check-ignore", "-z", "--stdin"]);
        git.env_remove("GIT_LITERAL_PATHSPECS");
        let said = git.run(&listed(&below)).unwrap_or_default();
        let plain = |it: &PathBuf| self.user.top.join(it.strip_prefix(".").unwrap_or(it));
        self::paths(&said).iter().map(plain).collect()
    }

    fn submodules(&self) -> Vec<PathBuf> {
        if !self.user.top.join(".gitmodules").is_file() {
            return Vec::new();
        }
        let arguments = ["config", "-z", "-f", ".gitmodules", "--get-regexp", r"\.path$"];
        let said = self.git(&arguments).run(&[]).unwrap_or_default();
        let values = said.split(|it| *it == 0).filter_map(|it| {
            let at = it.iter().position(|it| *it == b'\n')?;
            it.get(at + 1..)
        });
        values.map(|it| PathBuf::from(OsStr::from_bytes(it))).collect()
    }
}

/// What differs between two trees.
pub(super) fn changed(
    snapshots: &Snapshots,
    (old, new): (&str, &str),
    top: &Path,
) -> Result<Vec<Changed>, Error> {
    if old == new {
        return Ok(Vec::new());
    }
    let mut git = ours(&own(snapshots), top);
    git.args(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new]);
    let said = git.run(&[])?;
    let mut parts = said.split(|it| *it == 0);
    let mut changed = Vec::new();
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let head = String::from_utf8_lossy(head);
        let mut words = head.trim_start_matches(':').split(' ');
        let (Some(a), Some(b), Some(x), Some(y)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        if let (Some(before), Some(after)) = (was_of(a, x), was_of(b, y)) {
            let path = Name(top.join(OsStr::from_bytes(path)));
            changed.push(Changed { path, before, after });
        }
    }
    Ok(changed)
}

/// What a file of a tree was.
pub(super) fn was(
    snapshots: &Snapshots,
    (tree, top): (&str, &Path),
    path: &Path,
) -> Result<Was, Error> {
    let Ok(below) = path.strip_prefix(top) else { return Ok(Was::Missing) };
    let mut git = ours(&own(snapshots), top);
    git.args([OsStr::new("ls-tree"), OsStr::new("-z"), OsStr::new(tree), OsStr::new("--")]);
    git.args([below.as_os_str()]);
    let said = git.run(&[])?;
    let head = said.split(|it| *it == b'\t').next().unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    let mut words = head.split(' ');
    let found = match (words.next(), words.nth(1)) {
        (Some(mode), Some(blob)) => was_of(mode, blob),
        _ => None,
    };
    Ok(found.unwrap_or(Was::Missing))
}

/// None for what is no file: a repository inside of the repository.
fn was_of(mode: &str, blob: &str) -> Option<Was> {
    let content = Content::Git(blob.to_owned());
    Some(match mode {
        "000000" => Was::Missing,
        "100644" => Was::File { content, executable: false },
        "100755" => Was::File { content, executable: true },
        "120000" => Was::Link(content),
        _ => return None,
    })
}

pub(super) fn read(snapshots: &Snapshots, blob: &str) -> Result<Vec<u8>, Error> {
    let mut git = ours(&own(snapshots), &snapshots.project);
    git.args(["cat-file", "blob", blob]);
    Ok(git.run(&[])?)
}

/// The bytes of blobs; those that are not there any more are left out.
pub(super) fn read_all(
    snapshots: &Snapshots,
    blobs: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut found = BTreeMap::new();
    if blobs.is_empty() {
        return Ok(found);
    }
    let mut git = ours(&own(snapshots), &snapshots.project);
    git.args(["cat-file", "--batch"]);
    let input: Vec<u8> = blobs.iter().flat_map(|it| format!("{it}\n").into_bytes()).collect();
    let said = git.run(&input)?;
    let mut rest = said.as_slice();
    while let Some(end) = rest.iter().position(|it| *it == b'\n') {
        let (head, after) = rest.split_at(end);
        let after = after.get(1..).unwrap_or_default();
        let head = String::from_utf8_lossy(head);
        let mut words = head.split(' ');
        let size = words.clone().nth(2).and_then(|it| it.parse::<usize>().ok());
        let (Some(blob), Some(size)) = (words.next(), size) else {
            rest = after;
            continue;
        };
        found.insert(blob.to_owned(), after.get(..size).unwrap_or_default().to_vec());
        rest = after.get(size + 1..).unwrap_or_default();
    }
    Ok(found)
}

/// Removes objects that are old and in no index.
pub(super) fn tidy(snapshots: &Snapshots) -> std::io::Result<()> {
    let own = own(snapshots);
    if own.join("objects").is_dir() {
        let mut git = ours(&own, &snapshots.project);
        git.args(["prune".to_owned(), format!("--expire={}.seconds.ago", LOOSE.as_secs())]);
        if let Err(error) = git.run(&[]) {
            tracing::warn!(%error, "old objects stay");
        }
    }
    Ok(())
}

fn paths(said: &[u8]) -> Vec<PathBuf> {
    let parts = said.split(|it| *it == 0).filter(|it| !it.is_empty());
    let plain = |it: &[u8]| PathBuf::from(OsStr::from_bytes(it.strip_suffix(b"/").unwrap_or(it)));
    parts.map(plain).collect()
}

fn listed(paths: &[PathBuf]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}
