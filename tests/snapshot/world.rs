//! A project in a folder of its own, with and without git.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_nvim::runtime::snapshot::{Changed, Extra, Snapshot, Snapshots, Was};
use tempfile::TempDir;

pub(crate) const MOST: u64 = 10 << 20;

/// What a file has, if it is there.
pub(crate) type Bytes = Option<Vec<u8>>;

pub(crate) struct World {
    _dir: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) snapshots: Snapshots,
}

impl World {
    pub(crate) fn plain() -> World {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(&root).unwrap();
        let snapshots = Snapshots::new(&dir.path().join("state"), &root, MOST);
        World { _dir: dir, root, snapshots }
    }

    pub(crate) fn git() -> World {
        let world = World::plain();
        world.run(&["init", "-q", "-b", "main"]);
        world
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Vec<u8> {
        run_in(&self.root, arguments)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "-m", "x"]);
    }

    pub(crate) fn take(&self) -> Snapshot {
        self.snapshots.take(&Extra::default()).unwrap()
    }

    pub(crate) fn bytes(&self, was: &Was) -> Bytes {
        was.content().map(|it| self.snapshots.read(it).unwrap())
    }

    /// What changed, by the path seen from the project.
    pub(crate) fn changed(&self, before: &Snapshot) -> BTreeMap<Vec<u8>, (Bytes, Bytes)> {
        let changed = self.snapshots.changed_since(before).unwrap();
        let one = |it: Changed| {
            let path = it.path.0.strip_prefix(&self.root).unwrap().as_os_str().as_bytes().to_vec();
            (path, (self.bytes(&it.before), self.bytes(&it.after)))
        };
        changed.into_iter().map(one).collect()
    }

    pub(crate) fn expect(
        &self,
        before: &Snapshot,
        expected: &[(&str, Option<&str>, Option<&str>)],
    ) {
        let owned = |it: &Option<&str>| it.map(|it| it.as_bytes().to_vec());
        let all =
            expected.iter().map(|(path, a, b)| (path.as_bytes().to_vec(), (owned(a), owned(b))));
        assert_eq!(self.changed(before), all.collect());
    }

    /// Every byte of the user's repository, and what git says of it.
    pub(crate) fn fingerprint(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        let mut folders = vec![self.root.join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => all.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        all.sort();
        let said = run_in(&self.root, &["--no-optional-locks", "status", "--porcelain=v2", "-z"]);
        all.push(("status".into(), said));
        all
    }
}

pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
