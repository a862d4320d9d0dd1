//! One command that runs for an agent: a process tree of its own, and the task that passes on what
//! it says and how it ended.
//!
//! Knows processes and pipes. Must not know what is kept of the output, who waits for it, or which
//! commands an agent may run.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};

use super::guard::{self, ProgramInput};
use super::input::Input;
use super::system_error::words;
use super::utf8::Decoder;
use crate::session::event::{CommandLine, Event};
use crate::session::terminal::TerminalKey;
use crate::session::tool_call::TerminalExit;

/// How much is passed on at once. With the bound of the core's channel this is what a flooding
/// command can make us hold; then its own pipe slows it down.
const READ: usize = 64 << 10;
/// How long a pipe may stay silent after the guard has ended, and how much it may still hold: what
/// writes to it then is out of the guard's reach.
const GRACE: Duration = Duration::from_millis(300);
const REST: usize = 1 << 20;
/// How long the guard may take to end everything. It gives up by itself before that.
const GIVE_UP: Duration = Duration::from_secs(12);

/// Our hold on a running command. Dropping it ends the command with all its children; how it ended
/// is reported all the same.
#[derive(Debug)]
pub struct Running {
    _stop: oneshot::Sender<()>,
}

impl Running {
    /// Starts a command. What it says and how it ends goes to `inputs`; its end comes last, and
    /// exactly once. `programs` is where `acp-guard` is.
    pub fn start(
        key: TerminalKey,
        command: CommandLine,
        programs: &Path,
        inputs: Sender<Input>,
    ) -> Running {
        let (stop, stopped) = oneshot::channel();
        let process = guard::command(programs, ProgramInput::None);
        tokio::spawn(async move {
            let mut output = Output::new(key, inputs);
            let result = match spawn(process, &command).await {
                Ok((child, pipe)) => follow(child, pipe, stopped, &mut output).await,
                Err(words) => Err(words),
            };
            output.end(result).await;
        });
        Running { _stop: stop }
    }
}

/// Starts the command under the guard, which ends it with all its children when we close our end
/// of the pipe, tell it to, or are no more.
async fn spawn(mut process: Command, command: &CommandLine) -> Result<(Child, Receiver), String> {
    let cwd = command.cwd.as_deref().unwrap_or("/");
    let failed = |error: std::io::Error| words(&error);
    // One pipe for both keeps what it says in order.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let pipe = Receiver::from_owned_fd(reader.into()).map_err(failed)?;
    if needs_shell(command) {
        process.args(["sh", "-c", &command.command]);
    } else {
        process.arg(&command.command).args(&command.args);
    }
    // Nobody is there to turn pages, but somebody can show colours.
    let ours = [("TERM", "xterm-256color"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("PWD", cwd)];
    let theirs = command.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let variables = guard::variables(ours.into_iter().chain(theirs))?;
    process.current_dir(cwd).stdin(Stdio::piped());
    process.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut child = process.spawn().map_err(|error| guard::not_run(&process, &error))?;
    if let Some(mut stdin) = child.stdin.take()
        && let Err(error) = stdin.write_all(&variables).await
    {
        tracing::warn!(%error, "a command did not get its variables");
    }
    Ok((child, pipe))
}

/// A line for the shell, unless it is a program's whole path that has blanks in it. Only an absolute
/// path is looked for: in the agent's own folder, `ls /etc` may be a file as well.
fn needs_shell(line: &CommandLine) -> bool {
    line.is_line() && !(line.command.starts_with('/') && Path::new(&line.command).is_file())
}

/// Passes on what the command says until it has ended, by itself or by our wish.
async fn follow(
    mut child: Child,
    mut pipe: Receiver,
    mut stopped: oneshot::Receiver<()>,
    output: &mut Output,
) -> Result<TerminalExit, String> {
    let mut buf = vec![0; READ];
    let mut open = true;
    let guard = child.id();
    let mut deadline = None;
    let status = loop {
        let end = deadline.unwrap_or_else(Instant::now);
        tokio::select! {
            read = pipe.read(&mut buf), if open => {
                open = output.take(read, &buf).await;
            }
            status = child.wait() => break status,
            // An error means that our hold was dropped: the same wish.
            _ = &mut stopped, if deadline.is_none() => {
                deadline = Some(Instant::now() + GIVE_UP);
                tell_to_end(&child);
            }
            () = sleep_until(end), if deadline.is_some() => return Err("it does not end".to_owned()),
        }
    };
    // It may have been the guard's end and not the command's.
    if status.as_ref().is_ok_and(|it| it.signal().is_some()) {
        guard::end_orphans(guard).await;
    }
    let mut rest = REST;
    while open
        && rest > 0
        && let Ok(read) = timeout(GRACE, pipe.read(&mut buf)).await
    {
        rest = rest.saturating_sub(*read.as_ref().unwrap_or(&0));
        open = output.take(read, &buf).await;
    }
    match status {
        Ok(status) => output.result(status),
        Err(error) => Err(words(&error)),
    }
}

fn tell_to_end(guard: &Child) {
    // There is an id as long as nobody has waited for it to end.
    let pid = guard.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid
        && let Err(error) = kill_process(pid, Signal::TERM)
    {
        tracing::warn!(%error, "a command could not be told to end");
    }
}

/// The way of what a command says to the core.
struct Output {
    key: TerminalKey,
    inputs: Sender<Input>,
    decoder: Decoder,
    /// The first words, for as long as they could be the guard's, who has no other way to tell us
    /// that it could not start the command.
    first: Option<String>,
}

impl Output {
    fn new(key: TerminalKey, inputs: Sender<Input>) -> Output {
        Output { key, inputs, decoder: Decoder::default(), first: Some(String::new()) }
    }

    /// Passes on what was read. False when there is no more.
    async fn take(&mut self, read: std::io::Result<usize>, buf: &[u8]) -> bool {
        match read {
            Ok(0) => false,
            Ok(length) => {
                let text = self.decoder.feed(buf.get(..length).unwrap_or_default());
                self.say(text).await;
                true
            }
            Err(error) => {
                tracing::warn!(terminal = &*self.key.terminal, %error, "reading failed");
                false
            }
        }
    }

    async fn say(&mut self, text: String) {
        let text = match self.first.take() {
            Some(mut first) => {
                first.push_str(&text);
                if first.starts_with(guard::SAYS) && first.len() < READ {
                    self.first = Some(first);
                    return;
                }
                first
            }
            None => text,
        };
        if !text.is_empty() {
            self.send(Event::TerminalOutput(self.key.clone(), text)).await;
        }
    }

    /// How it ended; or why it never began, in the guard's words.
    fn result(&mut self, status: ExitStatus) -> Result<TerminalExit, String> {
        let refusal = |first: &String| Some(guard::refusal(first, status.code())?.to_owned());
        match self.first.as_ref().and_then(refusal) {
            Some(words) => {
                self.first = None;
                Err(words)
            }
            None => Ok(exit_of(status)),
        }
    }

    /// Says what was held back, then how it ended.
    async fn end(mut self, result: Result<TerminalExit, String>) {
        let mut text = self.first.take().unwrap_or_default();
        text.push_str(&self.decoder.finish());
        self.say(text).await;
        self.send(Event::TerminalExited(self.key.clone(), result)).await;
    }

    async fn send(&self, event: Event) {
        if self.inputs.send(Input::Event(event)).await.is_err() {
            tracing::debug!(terminal = &*self.key.terminal, "the core is gone");
        }
    }
}

fn exit_of(status: ExitStatus) -> TerminalExit {
    let name = |signal: i32| match signal_hook::low_level::signal_name(signal) {
        Some(name) => name.to_owned(),
        None => signal.to_string(),
    };
    TerminalExit {
        code: status.code().and_then(|code| u32::try_from(code).ok()),
        signal: status.signal().map(name),
    }
}
