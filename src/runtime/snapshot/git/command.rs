//! The program `git`, run so that nothing around us changes what it does.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, setpriority_process};

use crate::runtime::snapshot::Error;

/// How far git stands back.
const BEHIND: i32 = 5;

/// A command of git.
pub(super) struct Git {
    command: Command,
    name: String,
}

/// In a repository of the user's: it reads, and the user's settings hold.
pub(super) fn theirs(folder: &Path, arguments: &[&str]) -> Git {
    let mut git = Git::new(folder);
    git.command.args(["-c", "core.fsmonitor=false"]);
    git.args(arguments.iter().copied());
    git
}

/// In a repository of ours, for a work tree of the user's: no setting but ours holds.
pub(super) fn ours(own: &Path, top: &Path) -> Git {
    let mut git = Git::new(top);
    git.command.env("GIT_DIR", own).env("GIT_WORK_TREE", top);
    git.command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.command.env("GIT_ATTR_NOSYSTEM", "1").env("GIT_NO_LAZY_FETCH", "1");
    git.command.env("GIT_LITERAL_PATHSPECS", "1");
    for setting in [
        "core.autocrlf=false",
        "core.safecrlf=false",
        "core.attributesFile=/dev/null",
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "core.untrackedCache=false",
        "core.fileMode=true",
        "core.symlinks=true",
        "core.ignoreCase=false",
        "core.protectHFS=false",
        "core.protectNTFS=false",
        "core.splitIndex=false",
        // A crash of the machine costs us the snapshot, and a next one is made.
        "core.fsync=none",
        "submodule.recurse=false",
        "gc.auto=0",
    ] {
        git.command.args(["-c", setting]);
    }
    git
}

impl Git {
    fn new(folder: &Path) -> Git {
        let mut command = Command::new("git");
        command.current_dir(folder).stderr(Stdio::piped());
        // Neovim may have been started by git itself, for a message.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        Git { command, name: String::new() }
    }

    pub(super) fn args<T: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = T>) {
        for argument in arguments {
            if self.name.is_empty() && !argument.as_ref().to_string_lossy().starts_with('-') {
                self.name = argument.as_ref().to_string_lossy().into_owned();
            }
            self.command.arg(argument);
        }
    }

    /// Some commands refuse to be told what others have to be told.
    pub(super) fn env_remove(&mut self, name: &str) {
        self.command.env_remove(name);
    }

    /// Runs it to the end; what it says.
    pub(super) fn run(mut self, input: &[u8]) -> Result<Vec<u8>, Error> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let mut child = self.command.stdin(stdin).stdout(Stdio::piped()).spawn()?;
        // It looks at every file on as many cores as it finds; whoever types comes first.
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Err(error) = setpriority_process(pid, BEHIND) {
            tracing::debug!(%error, "git is as fast as it can be");
        }
        let stdin = child.stdin.take();
        // It may speak before it has heard everything.
        let output = std::thread::scope(|threads| {
            if let Some(mut stdin) = stdin {
                // Who does not listen to the end says why.
                threads.spawn(move || stdin.write_all(input).ok());
            }
            child.wait_with_output()
        })?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => {
                let words = String::from_utf8_lossy(&output.stderr);
                let line = words.lines().next().unwrap_or_default();
                Err(Error::Git(self.name, line.to_owned()))
            }
        }
    }
}
