//! The program `git`, run so that nothing around us and nothing in a repository changes what it
//! does. Nobody else runs it (`tests/tidy.rs`).

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, setpriority_process};

/// How far git stands back.
const BEHIND: i32 = 5;
/// How long git may take. A repository can make it wait for ever: by a named pipe in the place of
/// a file, for instance.
const PATIENCE: Duration = Duration::from_secs(300);
/// How much of what git complains about is read.
const WORDS: u64 = 64 << 10;

/// Why git has no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be run.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It said no.
    #[error("git {0}: {1}")]
    Refused(String, String),
}

/// A command of git.
pub(in crate::runtime) struct GitCommand {
    command: Command,
    name: String,
    patience: Duration,
}

/// What git said.
pub(super) struct Said {
    pub(super) bytes: Vec<u8>,
    /// Whether that is all of it.
    pub(super) whole: bool,
}

/// In a repository of the user's, for commands that read settings and names and look at no file:
/// the user's settings hold.
pub(in crate::runtime) fn theirs(folder: &Path, arguments: &[&str]) -> GitCommand {
    let mut git = GitCommand::new(folder);
    // A folder that merely looks like a repository may have come with a clone.
    git.command.args(["-c", "safe.bareRepository=explicit"]);
    git.args(arguments.iter().copied());
    git
}

/// In a repository of ours, for a work tree of the user's: no setting but ours holds.
pub(in crate::runtime) fn ours(own: &Path, top: &Path) -> GitCommand {
    let mut git = GitCommand::new(top);
    git.command.env("GIT_DIR", own).env("GIT_WORK_TREE", top);
    git.command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.command.env("GIT_ATTR_NOSYSTEM", "1").env("GIT_LITERAL_PATHSPECS", "1");
    for setting in [
        "core.autocrlf=false",
        "core.safecrlf=false",
        "core.attributesFile=/dev/null",
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

impl GitCommand {
    fn new(folder: &Path) -> GitCommand {
        let mut command = Command::new(program());
        command.current_dir(folder).stderr(Stdio::piped()).arg("--no-pager");
        // Neovim may have been started by git itself, for a message.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        // What is missing stays missing: to fetch it is to run whatever the repository names.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        GitCommand { command, name: String::new(), patience: PATIENCE }
    }

    pub(in crate::runtime) fn args<T: AsRef<OsStr>>(
        &mut self,
        arguments: impl IntoIterator<Item = T>,
    ) {
        for argument in arguments {
            if self.name.is_empty() && !argument.as_ref().to_string_lossy().starts_with('-') {
                self.name = argument.as_ref().to_string_lossy().into_owned();
            }
            self.command.arg(argument);
        }
    }

    /// A setting; the last one counts.
    pub(in crate::runtime) fn set(&mut self, name: &str, value: &OsStr) {
        let mut setting = OsStr::new(name).to_owned();
        setting.push("=");
        setting.push(value);
        self.command.arg("-c").arg(setting);
    }

    pub(super) fn env(&mut self, name: &str, value: &OsStr) {
        self.command.env(name, value);
    }

    pub(super) fn current_dir(&mut self, folder: &Path) {
        self.command.current_dir(folder);
    }

    pub(super) fn within(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Some commands refuse to be told what others have to be told.
    pub(in crate::runtime) fn env_remove(&mut self, name: &str) {
        self.command.env_remove(name);
    }

    /// Runs it to the end; what it says.
    pub(in crate::runtime) fn run(self, input: &[u8]) -> Result<Vec<u8>, GitError> {
        Ok(self.run_up_to(input, usize::MAX)?.bytes)
    }

    /// Runs it until it ends or has said that many bytes.
    pub(super) fn run_up_to(mut self, input: &[u8], most: usize) -> Result<Said, GitError> {
        let deadline = Instant::now() + self.patience;
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let mut child = self.command.stdin(stdin).stdout(Stdio::piped()).spawn()?;
        // It looks at every file on as many cores as it finds; whoever types comes first.
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Err(error) = setpriority_process(pid, BEHIND) {
            tracing::debug!(%error, "git is as fast as it can be");
        }
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // It may speak before it has heard everything, and complain meanwhile.
        let (said, words) = std::thread::scope(|threads| {
            if let Some(mut stdin) = stdin {
                // Who does not listen to the end says why.
                threads.spawn(move || stdin.write_all(input).ok());
            }
            let words = threads.spawn(move || {
                let mut words = Vec::new();
                stderr.map(|it| it.take(WORDS).read_to_end(&mut words));
                words
            });
            let said = stdout.map_or(Ok(None), |it| said(it, most, deadline));
            if !matches!(&said, Ok(Some(it)) if it.whole) {
                child.kill().ok();
            }
            (said, words.join().unwrap_or_default())
        });
        let status = child.wait()?;
        match said? {
            None => Err(GitError::Refused(self.name, "no answer in time".to_owned())),
            Some(said) if status.success() || !said.whole => Ok(said),
            Some(_) => {
                let words = String::from_utf8_lossy(&words);
                let line = words.lines().next().unwrap_or_default();
                Err(GitError::Refused(self.name, line.to_owned()))
            }
        }
    }
}

/// What comes out of a pipe, up to some length; none when it takes too long.
fn said(mut pipe: ChildStdout, most: usize, deadline: Instant) -> io::Result<Option<Said>> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], wait.as_ref()) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let count = pipe.read(&mut chunk)?;
        let room = most - bytes.len();
        bytes.extend(chunk.get(..count.min(room)).unwrap_or_default());
        if count == 0 || count > room {
            return Ok(Some(Said { bytes, whole: count == 0 }));
        }
    }
}

/// Where git is. A folder of `PATH` that is no full path would be one of the project's, and what
/// is in it the project's too.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_program = |it: &PathBuf| {
            it.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
        let found = folders.map(|it| it.join("git")).find(is_program);
        found.unwrap_or_else(|| PathBuf::from("/no/git"))
    })
}
