//! What an agent can do to its own process.
//!
//! The same scenario plays as a program and inside Neovim: here is decided what it may do where.
//! It knows processes and signals; it must not know the protocol.

use std::io::{self, Write};
use std::time::Duration;

use super::scenario::step::Grandchild;

/// The process an agent lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Inside another program, which must come to no harm: ending means only that the connection
    /// ends.
    Embedded,
    /// A process of its own.
    Process,
}

impl Host {
    /// Ends the process, where that is ours to end.
    pub(crate) fn exit(self, code: i32) {
        if self == Self::Process {
            std::process::exit(code);
        }
    }

    /// Ends the process by a signal; the name comes with or without `SIG`.
    pub(crate) fn kill_self(self, name: &str) {
        #[cfg(unix)]
        if let (Self::Process, Some(signal)) = (self, signal(name)) {
            // The runtime ignores SIGPIPE and watches for stack overflows: undo that first.
            signal_hook::low_level::emulate_default_handler(signal.as_raw()).ok();
        }
        self.exit(1);
        tracing::debug!(name, "an embedded agent cannot kill itself");
    }

    /// Survives SIGTERM from now on.
    pub(crate) fn ignore_sigterm(self) {
        #[cfg(unix)]
        if self == Self::Process {
            let ignored = std::sync::Arc::default();
            signal_hook::flag::register(signal_hook::consts::SIGTERM, ignored).ok();
        }
    }

    /// Writes a line to standard error, many times if need be.
    pub(crate) fn stderr(self, line: &str, times: u64) {
        if self == Self::Embedded {
            tracing::debug!(line, times, "an embedded agent has no standard error");
            return;
        }
        let mut stderr = io::BufWriter::with_capacity(64 * 1024, io::stderr().lock());
        for _ in 0..times {
            if writeln!(stderr, "{line}").is_err() {
                return;
            }
        }
    }

    /// Closes standard output. The number of the file stays taken, as all programs need it to be.
    pub(crate) fn close_stdout(self) {
        #[cfg(unix)]
        if self == Self::Process
            && let Ok(null) = std::fs::File::options().write(true).open("/dev/null")
        {
            rustix::stdio::dup2_stdout(null).ok();
        }
    }

    /// Starts a process that outlives this one, and gives its id once it is as nasty as told.
    pub(crate) fn grandchild(self, options: &Grandchild) -> io::Result<u32> {
        if self == Self::Embedded {
            return Err(io::Error::other("an embedded agent starts no processes"));
        }
        start_grandchild(options)
    }
}

#[cfg(unix)]
fn signal(name: &str) -> Option<rustix::process::Signal> {
    use rustix::process::Signal;

    Some(match name.trim_start_matches("SIG") {
        "TERM" => Signal::TERM,
        "KILL" => Signal::KILL,
        "INT" => Signal::INT,
        "HUP" => Signal::HUP,
        "QUIT" => Signal::QUIT,
        "ABRT" => Signal::ABORT,
        "SEGV" => Signal::SEGV,
        "PIPE" => Signal::PIPE,
        "USR1" => Signal::USR1,
        "USR2" => Signal::USR2,
        _ => return None,
    })
}

/// The first argument that makes `acp-tutor` a grandchild.
pub const GRANDCHILD: &str = "--grandchild";

fn start_grandchild(options: &Grandchild) -> io::Result<u32> {
    use std::io::BufRead;
    use std::process::{Command, Stdio};

    let mut command = Command::new(std::env::current_exe()?);
    command.arg(GRANDCHILD).arg(options.seconds.unwrap_or(60).to_string());
    let words = [
        (options.ignore_sigterm, "ignore_sigterm"),
        (options.setsid, "setsid"),
        (options.daemon, "daemon"),
    ];
    command.args(words.into_iter().filter(|it| it.0).map(|it| it.1));
    let stdout = if options.hold_output { Stdio::inherit() } else { Stdio::null() };
    // It tells its id on standard error, which leaves the output to be held open.
    let mut child = command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).spawn()?;
    let mut line = String::new();
    if let Some(stderr) = child.stderr.take() {
        io::BufReader::new(stderr).read_line(&mut line)?;
    }
    if options.daemon {
        child.wait()?;
    }
    line.trim().parse().map_err(|_| io::Error::other(format!("no process id: {line:?}")))
}

/// Lives as a grandchild, told by the arguments after [`GRANDCHILD`].
///
/// # Errors
/// When a daemon cannot be started.
pub fn be_grandchild(args: &[String]) -> io::Result<()> {
    let told = |word: &str| args.iter().any(|it| it == word);
    if told("daemon") {
        let rest = args.iter().filter(|it| *it != "daemon");
        std::process::Command::new(std::env::current_exe()?).arg(GRANDCHILD).args(rest).spawn()?;
        return Ok(());
    }
    #[cfg(unix)]
    if told("setsid") {
        rustix::process::setsid().ok();
    }
    if told("ignore_sigterm") {
        Host::Process.ignore_sigterm();
    }
    writeln!(io::stderr(), "{}", std::process::id())?;
    let seconds = args.first().and_then(|it| it.parse().ok()).unwrap_or(60);
    std::thread::sleep(Duration::from_secs(seconds));
    Ok(())
}
