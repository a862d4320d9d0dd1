//! How programs are run under `acp-guard`, what its few words mean, and what is left when it is
//! killed itself.

use std::io;
use std::path::Path;

use tokio::process::Command;

use super::system_error::words;

/// How the guard begins what it says itself, on stderr. This much comes in one piece.
pub(super) const SAYS: &str = "acp-guard: ";
/// How it goes on when it could not start the program. The reason follows.
const NOT_STARTED: &str = "cannot start: ";

/// What a program under the guard reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramInput {
    /// What we write to the guard's stdin, after [`variables`].
    Ours,
    /// Nothing.
    None,
}

/// The beginning of a command: the program and its arguments follow. The first that must be written
/// to its stdin is [`variables`].
///
/// The guard ends the program with all its children when nobody reads the program's output any
/// more: by our wish, or because Neovim is no more.
pub(super) fn command(programs: &Path, input: ProgramInput) -> Command {
    let mut command = Command::new(programs.join("acp-guard"));
    command.arg("--env");
    if input == ProgramInput::None {
        command.arg("--null");
    }
    command.arg("--");
    command
}

/// The variables of a program, as the guard reads them. They are the program's alone: the guard runs
/// with Neovim's.
pub(super) fn variables<'a>(
    variables: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<u8>, String> {
    let mut block = Vec::new();
    for (name, value) in variables {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(format!("a variable cannot be set: {name:?}"));
        }
        block.extend_from_slice(name.as_bytes());
        block.push(b'=');
        block.extend_from_slice(value.as_bytes());
        block.push(0);
    }
    let mut bytes = (block.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut block);
    Ok(bytes)
}

/// The guard's reason for not starting the program, if this is how it ended.
pub(super) fn refusal(line: &str, code: Option<i32>) -> Option<&str> {
    match code {
        Some(126 | 127) => line.strip_prefix(SAYS)?.strip_prefix(NOT_STARTED).map(str::trim_end),
        _ => None,
    }
}

/// Why the guard itself could not be run: for want of the folder it was to run in, if that is it.
/// The system says the same of both.
pub(super) fn not_run(command: &Command, error: &io::Error) -> String {
    match command.as_std().get_current_dir() {
        Some(folder) if !folder.is_dir() => format!("there is no folder {}", folder.display()),
        _ => format!("{}: {}", command.as_std().get_program().display(), words(error)),
    }
}

/// Ends what a guard that was killed has left running, as far as it can be found. Whether there was
/// anything.
pub(super) async fn end_orphans(guard: Option<u32>) -> bool {
    let Some(guard) = guard.and_then(|it| i32::try_from(it).ok()) else { return false };
    tokio::task::spawn_blocking(move || orphans::end(guard)).await.unwrap_or(false)
}

#[cfg(target_os = "linux")]
mod orphans {
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// What they get between SIGTERM and SIGKILL.
    const GRACE: Duration = Duration::from_millis(300);
    /// One that is in uninterruptible sleep may never go.
    const GIVE_UP: Duration = Duration::from_secs(3);
    const PAUSE: Duration = Duration::from_millis(20);

    /// A process, as the system tells of it.
    #[derive(Clone, Copy, PartialEq)]
    struct Process {
        pid: i32,
        parent: i32,
        session: i32,
    }

    pub(super) fn end(guard: i32) -> bool {
        let begin = Instant::now();
        let (mut any, mut told) = (false, Vec::new());
        while begin.elapsed() < GRACE + GIVE_UP {
            let left = find(guard);
            if left.is_empty() {
                break;
            }
            any = true;
            let term = begin.elapsed() < GRACE;
            for process in left.iter().filter(|it| !term || !told.contains(&it.pid)) {
                process.signal(if term { Signal::TERM } else { Signal::KILL });
            }
            told = left.iter().map(|it| it.pid).collect();
            std::thread::sleep(PAUSE);
        }
        any
    }

    /// The guard leads a session: whoever is in it, or below one that is, was its to end.
    fn find(guard: i32) -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
        let all: Vec<Process> = pids.filter_map(Process::read).collect();
        let mut found: Vec<Process> =
            all.iter().filter(|it| it.session == guard && it.pid != guard).copied().collect();
        let mut next = 0;
        while let Some(&above) = found.get(next) {
            let below = all.iter().filter(|it| it.parent == above.pid && !found.contains(it));
            let below: Vec<Process> = below.copied().collect();
            found.extend(below);
            next += 1;
        }
        found
    }

    impl Process {
        /// One that is alive. Its name may contain anything, so the fields are counted from the
        /// closing parenthesis.
        fn read(pid: i32) -> Option<Process> {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace();
            let alive = !matches!(fields.next()?, "Z" | "X");
            let parent = fields.next()?.parse().ok()?;
            let session = fields.nth(1)?.parse().ok()?;
            alive.then_some(Process { pid, parent, session })
        }

        /// Signals it, and nobody who has got its number since.
        fn signal(self, signal: Signal) {
            let Some(pid) = Pid::from_raw(self.pid) else { return };
            if let Ok(held) = pidfd_open(pid, PidfdFlags::empty())
                && Process::read(self.pid) == Some(self)
                && let Err(error) = pidfd_send_signal(&held, signal)
            {
                tracing::debug!(%error, "a process that an agent left could not be ended");
            }
        }
    }
}

/// Elsewhere nobody tells which processes there are.
#[cfg(not(target_os = "linux"))]
mod orphans {
    pub(super) fn end(_guard: i32) -> bool {
        false
    }
}
