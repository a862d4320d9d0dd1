//! `acp-guard -- program args…`: runs an agent and makes sure that nothing of it outlives Neovim.
//!
//! A killed Neovim runs no clean-up code, so something outside it has to watch. The guard stands
//! between the two: the agent inherits the guard's pipes, and the guard keeps a copy of standard
//! output for the sole purpose of noticing that its reader is gone. It knows processes and
//! signals; it must not know the protocol, and never touches a byte of what flows through.

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    guard::main()
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    // There is no process tree to supervise the Unix way; the core starts agents directly there.
    std::process::ExitCode::from(64)
}

#[cfg(unix)]
mod guard {
    use std::collections::HashSet;
    use std::ffi::{OsStr, OsString};
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, ExitCode};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{self, Pid, Signal, WaitOptions, WaitStatus};
    use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
    use signal_hook::low_level;

    /// What descendants get between SIGTERM and SIGKILL when the editor is gone or asks for the end.
    const GRACE: Duration = Duration::from_millis(700);
    /// The same for what a program left behind when it ended by itself.
    const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
    /// A process in uninterruptible sleep, or owned by another user, may never go.
    const GIVE_UP: Duration = Duration::from_secs(10);
    /// New descendants are looked for at this interval while the tree is being ended.
    const LOOK_AGAIN: Duration = Duration::from_millis(10);

    pub(crate) fn main() -> ExitCode {
        let mut args = std::env::args_os().skip(1);
        let (Some("--"), Some(program)) =
            (args.next().as_deref().and_then(OsStr::to_str), args.next())
        else {
            return fail(64, "usage: acp-guard -- program [args...]");
        };
        match Guard::start(&program, args) {
            Ok(mut guard) => {
                let grace = guard.wait_for_end();
                guard.end_tree(grace);
                leave_like(guard.status)
            }
            Err(exit) => exit,
        }
    }

    struct Guard {
        program: Pid,
        /// How the program ended, once it has been reaped.
        status: Option<WaitStatus>,
        /// Readable after SIGTERM, SIGINT or SIGHUP.
        told_to_end: UnixStream,
        /// Readable after a child changed state.
        child_changed: UnixStream,
    }

    impl Guard {
        fn start(program: &OsStr, args: impl Iterator<Item = OsString>) -> Result<Self, ExitCode> {
            // Fails when we lead a process group already, which shields us just as well.
            process::setsid().ok();
            // Orphans of the tree become our children: this is how double forks are caught.
            #[cfg(target_os = "linux")]
            process::set_child_subreaper(Some(process::getpid())).ok();
            // Handlers come before the child, or an early SIGTERM would leave it behind.
            let internal = |error: io::Error| fail(70, &format!("internal error: {error}"));
            let told_to_end = signal_pipe(&[SIGTERM, SIGINT, SIGHUP]).map_err(internal)?;
            let child_changed = signal_pipe(&[SIGCHLD]).map_err(internal)?;
            let child = Command::new(program)
                .args(args)
                .process_group(0)
                .spawn()
                .map_err(|error| cannot_start(program, &error))?;
            // A second reader of the agent's input would keep the pipe alive after its death.
            if let Ok(null) = std::fs::File::open("/dev/null") {
                rustix::stdio::dup2_stdin(null).ok();
            }
            let program = Pid::from_child(&child);
            Ok(Self { program, status: None, told_to_end, child_changed })
        }

        /// Sleeps until the program ended, the reader is gone or we are told to end.
        fn wait_for_end(&mut self) -> Duration {
            loop {
                let stdout = rustix::stdio::stdout();
                let mut fds = [
                    PollFd::new(&stdout, PollFlags::empty()),
                    PollFd::new(&self.told_to_end, PollFlags::IN),
                    PollFd::new(&self.child_changed, PollFlags::IN),
                ];
                match poll(&mut fds, None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return GRACE,
                }
                let [reader, told, _] = fds.map(|fd| !fd.revents().is_empty());
                if reader || told {
                    return GRACE;
                }
                drain(&mut self.child_changed);
                self.reap();
                if self.status.is_some() {
                    return LEFTOVER_GRACE;
                }
            }
        }

        /// SIGTERM to every descendant, then SIGKILL until none is left.
        fn end_tree(&mut self, grace: Duration) {
            let begin = Instant::now();
            let mut told = HashSet::new();
            while self.reap() || self.group_lives() {
                let elapsed = begin.elapsed();
                if elapsed > grace + GIVE_UP {
                    return;
                }
                let term = elapsed < grace;
                let signal = if term { Signal::TERM } else { Signal::KILL };
                match descendants() {
                    Some(pids) => {
                        for pid in pids.into_iter().filter(|pid| !term || told.insert(*pid)) {
                            process::kill_process(pid, signal).ok();
                        }
                    }
                    None if !term || told.insert(self.program) => {
                        process::kill_process_group(self.program, signal).ok();
                    }
                    None => {}
                }
                self.pause();
            }
        }

        /// Collects every ended child and remembers how the program itself ended; true while there
        /// are children left.
        fn reap(&mut self) -> bool {
            loop {
                match process::wait(WaitOptions::NOHANG) {
                    Ok(Some((pid, status))) if pid == self.program => self.status = Some(status),
                    Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
        }

        /// Waits for a child to change state, but not for long: others may have been born.
        fn pause(&mut self) {
            let mut fds = [PollFd::new(&self.child_changed, PollFlags::IN)];
            let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK_AGAIN.subsec_nanos().into() };
            poll(&mut fds, Some(&timeout)).ok();
            drain(&mut self.child_changed);
        }

        /// Elsewhere orphans go to init, so that only the process group tells whether any is left.
        fn group_lives(&self) -> bool {
            !cfg!(target_os = "linux") && process::test_kill_process_group(self.program).is_ok()
        }
    }

    /// Every live descendant of this process; `None` where the system does not tell.
    #[cfg(target_os = "linux")]
    fn descendants() -> Option<Vec<Pid>> {
        let entries = std::fs::read_dir("/proc").ok()?;
        let pids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let parents: Vec<(i32, i32)> =
            pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
        let mut found = vec![process::getpid().as_raw_nonzero().get()];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            found.extend(parents.iter().filter(|it| it.1 == parent).map(|it| it.0));
            next += 1;
        }
        Some(found.into_iter().skip(1).filter_map(Pid::from_raw).collect())
    }

    #[cfg(not(target_os = "linux"))]
    fn descendants() -> Option<Vec<Pid>> {
        None
    }

    /// The parent of a process that is not a zombie. The name in `stat` may contain anything, so
    /// the fields are counted from its closing parenthesis.
    #[cfg(target_os = "linux")]
    fn parent_of(pid: i32) -> Option<i32> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let after_name = stat.rsplit(|byte| *byte == b')').next()?;
        let mut fields = std::str::from_utf8(after_name).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        if state == "Z" || state == "X" { None } else { fields.next()?.parse().ok() }
    }

    fn signal_pipe(signals: &[i32]) -> io::Result<UnixStream> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        for signal in signals {
            low_level::pipe::register(*signal, writer.try_clone()?)?;
        }
        Ok(reader)
    }

    fn drain(pipe: &mut UnixStream) {
        while matches!(pipe.read(&mut [0; 64]), Ok(count) if count > 0) {}
    }

    /// Ends this process the way the program ended, so that the parent sees the true cause.
    fn leave_like(status: Option<WaitStatus>) -> ExitCode {
        let Some(status) = status else { return ExitCode::FAILURE };
        if let Some(signal) = status.terminating_signal() {
            // One core file is enough, and it should be the program's.
            let none = process::Rlimit { current: Some(0), maximum: Some(0) };
            process::setrlimit(process::Resource::Core, none).ok();
            #[cfg(target_os = "linux")]
            process::set_dumpable_behavior(process::DumpableBehavior::NotDumpable).ok();
            low_level::emulate_default_handler(signal).ok();
            return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
        }
        let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
        code.map_or(ExitCode::FAILURE, ExitCode::from)
    }

    /// The prefix and the word after it are read by the core: keep them as they are.
    fn cannot_start(program: &OsStr, error: &io::Error) -> ExitCode {
        let (code, word) = match error.kind() {
            io::ErrorKind::NotFound => (127, "not found"),
            io::ErrorKind::PermissionDenied => (126, "permission denied"),
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                (126, "not executable")
            }
            _ => (126, "failed"),
        };
        fail(code, &format!("cannot start: {word}: {}: {error}", program.display()))
    }

    fn fail(code: u8, message: &str) -> ExitCode {
        writeln!(io::stderr(), "acp-guard: {message}").ok();
        ExitCode::from(code)
    }
}
