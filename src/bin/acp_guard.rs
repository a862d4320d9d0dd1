//! `acp-guard [--env] [--null] -- program args…`: runs an agent and makes sure that nothing of it
//! outlives Neovim.
//!
//! With `--env`, the first thing on standard input is the program's variables: how many bytes, as
//! eight bytes with the least first, then `NAME=value` and a zero byte for each. So they are the
//! program's alone: none of them (`LD_PRELOAD`, `PATH`) has a say in how the guard runs, and nobody
//! else can read them from its arguments. With `--null` the program has no input.
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
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, ExitCode, Stdio};
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
        let (mut variables, mut no_input) = (Vec::new(), false);
        loop {
            match args.next().as_deref().and_then(OsStr::to_str) {
                Some("--") => break,
                Some("--null") => no_input = true,
                Some("--env") => match read_variables() {
                    Ok(read) => variables = read,
                    Err(error) => return fail(70, &format!("no variables: {error}")),
                },
                _ => return usage(),
            }
        }
        let Some(program) = args.next() else { return usage() };
        let mut command = Command::new(&program);
        command.args(args).envs(variables).process_group(0);
        if no_input {
            command.stdin(Stdio::null());
        }
        match Guard::start(&program, command) {
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
        fn start(program: &OsStr, mut command: Command) -> Result<Self, ExitCode> {
            // Fails when we lead a process group already, which shields us just as well.
            process::setsid().ok();
            // Orphans of the tree become our children: this is how double forks are caught.
            #[cfg(target_os = "linux")]
            process::set_child_subreaper(Some(process::getpid())).ok();
            // Handlers come before the child, or an early SIGTERM would leave it behind.
            let internal = |error: io::Error| fail(70, &format!("internal error: {error}"));
            let told_to_end = signal_pipe(&[SIGTERM, SIGINT, SIGHUP]).map_err(internal)?;
            let child_changed = signal_pipe(&[SIGCHLD]).map_err(internal)?;
            let child = command.spawn().map_err(|error| cannot_start(program, &error))?;
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
                    Some(found) => {
                        for it in found.into_iter().filter(|it| !term || told.insert(it.pid)) {
                            it.signal(signal);
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

    /// A process below us, as it was found.
    struct Descendant {
        pid: Pid,
        parent: i32,
    }

    impl Descendant {
        /// Signals it, and nobody who has got its number since: it is held first, then looked at
        /// once more.
        #[cfg(target_os = "linux")]
        fn signal(&self, signal: Signal) {
            use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
            match pidfd_open(self.pid, PidfdFlags::empty()) {
                Ok(held) if parent_of(self.pid.as_raw_nonzero().get()) == Some(self.parent) => {
                    pidfd_send_signal(&held, signal).ok();
                }
                // Where the kernel is too old to hold a process, its number has to do.
                Err(rustix::io::Errno::NOSYS) => {
                    process::kill_process(self.pid, signal).ok();
                }
                Ok(_) | Err(_) => {}
            }
        }

        #[cfg(not(target_os = "linux"))]
        fn signal(&self, signal: Signal) {
            process::kill_process(self.pid, signal).ok();
        }
    }

    /// Every live descendant of this process; `None` where the system does not tell.
    #[cfg(target_os = "linux")]
    fn descendants() -> Option<Vec<Descendant>> {
        let entries = std::fs::read_dir("/proc").ok()?;
        let pids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let parents: Vec<(i32, i32)> =
            pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
        let mut found = vec![(process::getpid().as_raw_nonzero().get(), 0)];
        let mut next = 0;
        while let Some(&(parent, _)) = found.get(next) {
            found.extend(parents.iter().filter(|it| it.1 == parent));
            next += 1;
        }
        let descendant = |(pid, parent)| Some(Descendant { pid: Pid::from_raw(pid)?, parent });
        Some(found.into_iter().skip(1).filter_map(descendant).collect())
    }

    #[cfg(not(target_os = "linux"))]
    fn descendants() -> Option<Vec<Descendant>> {
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

    /// The variables that come first on standard input. Not a byte more is read: the rest is for the
    /// program.
    fn read_variables() -> io::Result<Vec<(OsString, OsString)>> {
        const MOST: u64 = 64 << 20;
        let mut length = [0; 8];
        read_exactly(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > MOST {
            return Err(io::Error::other("too many"));
        }
        let mut block = vec![0; usize::try_from(length).unwrap_or_default()];
        read_exactly(&mut block)?;
        let pair = |variable: &[u8]| {
            let equals = variable.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (variable.get(..equals)?, variable.get(equals + 1..)?);
            Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned()))
        };
        Ok(block.split(|byte| *byte == 0).filter_map(pair).collect())
    }

    fn read_exactly(mut buf: &mut [u8]) -> io::Result<()> {
        while !buf.is_empty() {
            match rustix::io::read(rustix::stdio::stdin(), &mut *buf) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => buf = buf.get_mut(count..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn usage() -> ExitCode {
        fail(64, "usage: acp-guard [--env] [--null] -- program [args...]")
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
