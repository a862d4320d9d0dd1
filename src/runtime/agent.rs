//! One run of an agent: its process (under the guard) or the embedded tutor, and the tasks that
//! move its bytes. They own no state: what they see goes to the core as an [`Input`].

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::core_loop::Input;
use crate::session::event::Happened;
use crate::session::failure::{Exit, SpawnError};
use crate::session::ids::ConnectionId;
use crate::session::state::{How, Launch};
use crate::tutor::engine::play;
use crate::tutor::host::Host;
use crate::tutor::tour::Tour;

/// How much is read at once. With the bound of the core's channel this is what a flooding agent
/// can make us hold; then its own pipe slows it down.
const READ: usize = 64 << 10;
/// How much may wait for an agent that does not read. Beyond it we do not read from it either.
const UNSENT: usize = 8 << 20;
/// How many of its last lines on stderr are kept, and how much of each.
const LAST_LINES: usize = 50;
const LAST_LINE: usize = 500;
/// How long an agent may take to end by itself once its stdin is closed.
const GRACE: Duration = Duration::from_millis(500);
/// How the guard reports that it could not start the program.
const NOT_STARTED: &str = "acp-guard: cannot start: ";

/// Our hold on one run of an agent. Dropping it closes the agent's stdin and then ends it.
#[derive(Debug)]
pub(super) struct Agent {
    lines: UnboundedSender<Vec<u8>>,
    unsent: Arc<Unsent>,
    _stop: oneshot::Sender<()>,
}

impl Agent {
    /// Starts the agent. Whatever becomes of it arrives at `inputs`.
    pub(super) fn start(
        id: ConnectionId,
        launch: &Launch,
        programs: &Path,
        inputs: Sender<Input>,
    ) -> Agent {
        let (lines, to_send) = unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let unsent = Arc::new(Unsent::default());
        let report = Report { id, inputs };
        let wire = Wire { to_send, unsent: unsent.clone(), stopped };
        match &launch.how {
            How::Program(command) => {
                let command = guarded(programs, command, launch);
                tokio::spawn(run_program(command, wire, report));
            }
            How::Tutor { pauses } => {
                tokio::spawn(run_tutor(*pauses, wire, report));
            }
        }
        Agent { lines, unsent, _stop: stop }
    }

    /// Sends a line. Never waits: what the agent does not read piles up in `unsent`.
    pub(super) fn send(&self, line: Vec<u8>) {
        self.unsent.bytes.fetch_add(line.len(), Ordering::Relaxed);
        if self.lines.send(line).is_err() {
            tracing::debug!("the agent is gone: a line was not sent");
        }
    }
}

/// How much waits to be written.
#[derive(Debug, Default)]
struct Unsent {
    bytes: AtomicUsize,
    less: Notify,
}

impl Unsent {
    fn written(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.less.notify_one();
    }

    /// Waits until the agent has read most of what we sent.
    async fn low(&self) {
        while self.bytes.load(Ordering::Relaxed) > UNSENT {
            self.less.notified().await;
        }
    }
}

/// What comes from the core to the tasks.
struct Wire {
    to_send: UnboundedReceiver<Vec<u8>>,
    unsent: Arc<Unsent>,
    stopped: oneshot::Receiver<()>,
}

/// The way to the core.
struct Report {
    id: ConnectionId,
    inputs: Sender<Input>,
}

impl Report {
    async fn happened(&self, happened: Happened) {
        self.send(Input::Happened(self.id, happened)).await;
    }

    async fn send(&self, input: Input) {
        if self.inputs.send(input).await.is_err() {
            tracing::debug!(connection = %self.id, "the core is gone");
        }
    }
}

/// The agent runs under the guard, which ends it with all its children when our end of its
/// stdout closes: by our wish, or because Neovim is no more.
fn guarded(programs: &Path, command: &[String], launch: &Launch) -> Command {
    let mut guard = Command::new(programs.join("acp-guard"));
    guard.arg("--").args(command).current_dir(&launch.cwd);
    guard.envs(launch.env.iter().map(|(name, value)| (name, value)));
    guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    guard
}

async fn run_program(mut command: Command, wire: Wire, report: Report) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let guard = command.as_std().get_program().to_string_lossy();
            let words = format!("{guard}: {error}");
            return report.happened(Happened::NotStarted(SpawnError::Other(words))).await;
        }
    };
    let last_words = Arc::new(LastWords::default());
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return;
    };
    let listening = tokio::spawn(listen(stderr, last_words.clone(), report.id));
    exchange(stdin, stdout, wire, &report).await;
    // Its stdout has ended or was dropped by us; either way the guard is about to exit.
    let exit = reap(&mut child).await;
    if timeout(GRACE, listening).await.is_err() {
        tracing::debug!(connection = %report.id, "stderr is still open");
    }
    report.happened(ending(exit, last_words.take())).await;
}

async fn run_tutor(pauses: u32, wire: Wire, report: Report) {
    let (ours, theirs) = tokio::io::duplex(READ);
    let scenario = match (Tour { pace: f64::from(pauses) / 100.0 }).scenario() {
        Ok(scenario) => scenario,
        Err(error) => {
            let error = SpawnError::Other(error.to_string());
            return report.happened(Happened::NotStarted(error)).await;
        }
    };
    let (input, output) = tokio::io::split(theirs);
    let playing = tokio::spawn(play(scenario, input, output, Host::Embedded));
    let (stdout, stdin) = tokio::io::split(ours);
    exchange(stdin, stdout, wire, &report).await;
    playing.abort();
    report.happened(Happened::Exited { exit: Exit::Closed, stderr: Vec::new() }).await;
}

/// Moves bytes both ways until the agent closes its end, or until we have closed ours and it has
/// had its grace.
async fn exchange(
    stdin: impl AsyncWrite + Unpin + Send + 'static,
    mut stdout: impl AsyncRead + Unpin,
    wire: Wire,
    report: &Report,
) {
    report.happened(Happened::Started).await;
    let Wire { to_send, unsent, mut stopped } = wire;
    tokio::spawn(write(stdin, to_send, unsent.clone()));
    let mut buf = vec![0; READ];
    let mut deadline = None;
    loop {
        unsent.low().await;
        let end = deadline.unwrap_or_else(Instant::now);
        tokio::select! {
            read = stdout.read(&mut buf) => match read {
                Ok(0) => break,
                Ok(length) => {
                    let bytes = buf.get(..length).unwrap_or_default().to_vec();
                    report.send(Input::Bytes(report.id, bytes)).await;
                }
                Err(error) => {
                    tracing::warn!(connection = %report.id, %error, "reading failed");
                    break;
                }
            },
            // An error means that our hold was dropped: the same wish.
            _ = &mut stopped, if deadline.is_none() => deadline = Some(Instant::now() + GRACE),
            () = sleep_until(end), if deadline.is_some() => break,
        }
    }
}

/// Writes lines until there will be no more, then closes the agent's stdin.
async fn write(
    mut stdin: impl AsyncWrite + Unpin,
    mut lines: UnboundedReceiver<Vec<u8>>,
    unsent: Arc<Unsent>,
) {
    let mut broken = false;
    while let Some(line) = lines.recv().await {
        if !broken && let Err(error) = stdin.write_all(&line).await {
            tracing::debug!(%error, "the agent does not read any more");
            broken = true;
        }
        unsent.written(line.len());
    }
    if let Err(error) = stdin.shutdown().await {
        tracing::debug!(%error, "closing stdin");
    }
}

/// What an agent wrote last to stderr.
#[derive(Debug, Default)]
struct LastWords(Mutex<VecDeque<String>>);

impl LastWords {
    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn take(&self) -> Vec<String> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *lines).into()
    }
}

async fn listen(mut stderr: impl AsyncRead + Unpin, words: Arc<LastWords>, id: ConnectionId) {
    let mut buf = vec![0; 4096];
    let mut line = Vec::new();
    while let Ok(length @ 1..) = stderr.read(&mut buf).await {
        for &byte in buf.get(..length).unwrap_or_default() {
            if byte == b'\n' {
                end_line(&mut line, &words, id);
            } else if line.len() < LAST_LINE {
                line.push(byte);
            }
        }
    }
    end_line(&mut line, &words, id);
}

fn end_line(line: &mut Vec<u8>, words: &LastWords, id: ConnectionId) {
    let text = String::from_utf8_lossy(line).trim_end().to_owned();
    line.clear();
    if !text.is_empty() {
        tracing::debug!(connection = %id, stderr = %text);
        words.add(text);
    }
}

async fn reap(child: &mut Child) -> Exit {
    match timeout(GRACE * 6, child.wait()).await {
        Ok(Ok(status)) => exit_of(status),
        Ok(Err(error)) => {
            tracing::warn!(%error, "waiting for the agent failed");
            Exit::Closed
        }
        Err(_) => {
            tracing::error!("the guard does not end");
            Exit::Closed
        }
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Closed,
    }
}

/// Tells a program that could not be started from one that ended.
fn ending(exit: Exit, stderr: Vec<String>) -> Happened {
    let refusal = stderr.iter().find_map(|line| line.strip_prefix(NOT_STARTED));
    match (exit, refusal) {
        (Exit::Code(126 | 127), Some(words)) if words.starts_with("not found") => {
            Happened::NotStarted(SpawnError::NotFound)
        }
        (Exit::Code(126 | 127), Some(words)) => {
            Happened::NotStarted(SpawnError::Other(words.to_owned()))
        }
        _ => Happened::Exited { exit, stderr },
    }
}
