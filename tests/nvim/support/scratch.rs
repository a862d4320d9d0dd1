//! A home of its own for a Neovim, thrown away at the end, and the paths of what was built.
//! Two Neovims, one after the other, may share one: that is how a restart is tested.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;

/// The folder of the plugin.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A library or program that `make build` left: `acp_nvim.so`, `acp-guard`, `acp-tutor`.
pub(crate) fn built(name: &str) -> PathBuf {
    existing(root().join("lib").join(name), "run `make build` first")
}

/// The program that plays an agent from a scenario file.
pub(crate) fn tutor() -> PathBuf {
    built("acp-tutor")
}

/// A file of `tests/fixtures/`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    existing(root().join("tests/fixtures").join(name), "the test names a fixture that is not there")
}

/// A temporary folder with a home and a project in it.
pub(crate) struct Scratch {
    folder: TempDir,
    scenarios: AtomicUsize,
}

impl Scratch {
    /// Makes the folders.
    pub(crate) fn new() -> Scratch {
        let folder = tempfile::Builder::new().prefix("acp-test-").tempdir().unwrap();
        for name in ["home", "project", "run", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Scratch { folder, scenarios: AtomicUsize::new(0) }
    }

    /// The folder Neovim starts in.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file of the project, with the folders it needs.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file of the project.
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.project().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a scenario, outside the project, and returns the command of the agent that plays it.
    pub(crate) fn scenario(&self, scenario: &Value) -> Vec<String> {
        let number = self.scenarios.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(format!("scenario-{number}.json"));
        fs::write(&path, format!("{scenario:#}\n")).unwrap();
        [tutor(), path].map(|it| it.to_str().unwrap().to_owned()).to_vec()
    }

    /// Where a process may leave what it says beside its protocol.
    pub(crate) fn stderr(&self, mark: &str) -> PathBuf {
        self.folder.path().join(format!("{mark}stderr"))
    }

    /// The whole environment of a Neovim that must find nothing of the user's own.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let inside = |name: &str| self.folder.path().join(name).into_os_string();
        vec![
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", inside("home")),
            ("LANG", "C.UTF-8".into()),
            ("SHELL", "/bin/sh".into()),
            ("TERM", "xterm-256color".into()),
            ("TMPDIR", inside("tmp")),
            ("XDG_CACHE_HOME", inside("home/.cache")),
            ("XDG_CONFIG_DIRS", inside("home/none")),
            ("XDG_CONFIG_HOME", inside("home/.config")),
            ("XDG_DATA_DIRS", inside("home/none")),
            ("XDG_DATA_HOME", inside("home/.local/share")),
            ("XDG_RUNTIME_DIR", inside("run")),
            ("XDG_STATE_HOME", inside("home/.local/state")),
        ]
    }
}

fn existing(path: PathBuf, advice: &str) -> PathBuf {
    assert!(path.exists(), "{} is missing: {advice}", path.display());
    path
}
