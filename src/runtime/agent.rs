//! One run of an agent: its process (under the guard), the socket it is reached by or the embedded
//! tutor, and the tasks that move its bytes. They own no state: what they see goes to the core as an [`Input`].

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
#[cfg(target_os = "linux")]
use tokio::process::ChildStdin;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::guard::{self, ProgramInput};
use super::input::Input;
use super::kill_switch::KillSwitches;
use super::last_words::{LastWords, listen};
use super::transport::{Reader, Transport, Writer};
use crate::session::agent::{How, Launch};
use crate::session::event::Happened;
use crate::session::failure::{Exit, SpawnError};
use crate::session::ids::ConnectionId;
use crate::tutor::engine::play;
use crate::tutor::host::Host;
use crate::tutor::tour::Tour;

/// How much may wait for an agent that does not read. Beyond it we do not read from it either.
const UNSENT: usize = 8 << 20;
/// How long an agent may take to end by itself once its stdin is closed.
const GRACE: Duration = Duration::from_millis(500);
/// How much the pipe to an agent holds, where that can be said: as much as everybody may have.
#[cfg(target_os = "linux")]
const ANSWER: usize = 1 << 20;
/// How much an agent's stdout may still hold when its guard has ended.
const REST: usize = 4 << 20;
/// How much the pipe to the tutor holds.
const PIPE: usize = 64 << 10;

/// What runs of agents need to know.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// Where `acp-guard` is.
    pub(super) programs: PathBuf,
    /// Where what agents do arrives.
    pub(super) inputs: Sender<Input>,
    /// How they are ended while the core is busy.
    pub(super) switches: Arc<KillSwitches>,
}

/// Our hold on one run of an agent. Dropping it closes the agent's stdin and then ends it.
#[derive(Debug)]
pub(super) struct Agent {
    lines: UnboundedSender<Vec<u8>>,
    unsent: Arc<Unsent>,
    _stop: oneshot::Sender<()>,
}

impl Agent {
    /// Starts the agent. Whatever becomes of it arrives at `inputs`.
    pub(super) fn start(id: ConnectionId, launch: &Launch, surroundings: &Surroundings) -> Agent {
        let (lines, to_send) = unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let unsent = Arc::new(Unsent::default());
        let report = Report { id, inputs: surroundings.inputs.clone() };
        let wire = Wire { to_send, unsent: unsent.clone(), stopped };
        match &launch.how {
            How::Program(command) => {
                let program = Program {
                    command: guarded(&surroundings.programs, command, launch),
                    switches: surroundings.switches.clone(),
                    variables: guard::variables(
                        launch.env.iter().map(|(name, value)| (name.as_str(), value.as_str())),
                    ),
                };
                tokio::spawn(run_program(program, wire, report));
            }
            How::Url(url) => {
                tokio::spawn(run_url(url.clone(), wire, report));
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

    /// Does it once the agent has read most of what we sent.
    async fn when_low<T>(&self, work: impl Future<Output = T>) -> T {
        while self.bytes.load(Ordering::Relaxed) > UNSENT {
            self.less.notified().await;
        }
        work.await
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

    /// The way to it is closed, and there is no process to ask.
    async fn closed(&self) {
        self.happened(Happened::Exited { exit: Exit::Closed, stderr: Vec::new() }).await;
    }

    async fn send(&self, input: Input) {
        if self.inputs.send(input).await.is_err() {
            tracing::debug!(connection = %self.id, "the core is gone");
        }
    }
}

fn guarded(programs: &Path, command: &[String], launch: &Launch) -> Command {
    let mut guard = guard::command(programs, ProgramInput::Ours);
    guard.args(command).current_dir(&launch.cwd);
    guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    guard
}

/// Lets the agent's stdin hold a whole answer: a file is longer than a pipe is by itself, and with
/// each part both of us would have to wait for the other to get its turn.
#[cfg(target_os = "linux")]
fn widen(stdin: &ChildStdin) {
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(stdin, ANSWER) {
        tracing::debug!(%error, "the agent's stdin stays as it is");
    }
}

/// A program that is to be run under the guard, and the variables it gets.
struct Program {
    command: Command,
    switches: Arc<KillSwitches>,
    variables: Result<Vec<u8>, String>,
}

async fn run_program(program: Program, wire: Wire, report: Report) {
    let Program { mut command, switches, variables } = program;
    let spawned = variables.and_then(|variables| match command.spawn() {
        Ok(child) => Ok((child, variables)),
        Err(error) => Err(guard::not_run(&command, &error)),
    });
    let (mut child, variables) = match spawned {
        Ok(spawned) => spawned,
        Err(words) => {
            return report.happened(Happened::NotStarted(SpawnError::Other(words))).await;
        }
    };
    let pid = child.id();
    let switch = switches.register(report.id, pid);
    let last_words = Arc::new(LastWords::default());
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return;
    };
    #[cfg(target_os = "linux")]
    widen(&stdin);
    let listening = tokio::spawn(listen(stderr, last_words.clone(), report.id));
    if let Err(error) = stdin.write_all(&variables).await {
        tracing::warn!(connection = %report.id, %error, "the agent did not get its variables");
    }
    let transport = Transport::streams(stdout, stdin);
    let orphaned = exchange(transport, wire, &report, Some(&mut child)).await;
    // Its stdout has ended or was dropped by us, or the guard is gone: it ends now if it has not.
    drop(switch);
    let mut exit = reap(&mut child).await;
    if let Exit::Signal(signal) = exit
        && (orphaned || guard::end_orphans(pid).await)
    {
        exit = Exit::Unguarded(signal);
    }
    if timeout(GRACE, listening).await.is_err() {
        tracing::debug!(connection = %report.id, "stderr is still open");
    }
    report.happened(ending(exit, last_words.take())).await;
}

async fn run_url(url: String, mut wire: Wire, report: Report) {
    let connected = tokio::select! {
        connected = Transport::connect(&url) => connected,
        _ = &mut wire.stopped => return report.closed().await,
    };
    match connected {
        Ok(transport) => {
            exchange(transport, wire, &report, None).await;
            report.closed().await;
        }
        Err(words) => report.happened(Happened::NotStarted(SpawnError::Other(words))).await,
    }
}

async fn run_tutor(pauses: u32, wire: Wire, report: Report) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
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
    exchange(Transport::streams(stdout, stdin), wire, &report, None).await;
    playing.abort();
    report.closed().await;
}

/// Moves bytes both ways until the agent closes its end, until we have closed ours and it has had
/// its grace, or until its guard is gone: an agent that nobody watches over is not listened to.
/// Whether the guard left something that had to be ended.
async fn exchange(
    transport: Transport,
    wire: Wire,
    report: &Report,
    guard: Option<&mut Child>,
) -> bool {
    report.happened(Happened::Started).await;
    let Transport { mut reader, writer } = transport;
    let Wire { to_send, unsent, mut stopped } = wire;
    let writing = tokio::spawn(write(writer, to_send, unsent.clone()));
    let mut deadline = None;
    let mut orphaned = false;
    let guard_pid = guard.as_ref().and_then(|it| it.id());
    let mut guard_ends = pin!(end_of_guard(guard));
    loop {
        let end = deadline.unwrap_or_else(Instant::now);
        tokio::select! {
            killed = &mut guard_ends => {
                // Not raced against the end of the agent's output, which this brings about.
                orphaned = killed && guard::end_orphans(guard_pid).await;
                listen_to_rest(&mut reader, report).await;
                break;
            }
            read = unsent.when_low(reader.read()) => match read {
                Ok(Some(bytes)) => report.send(Input::Bytes(report.id, bytes)).await,
                Ok(None) => break,
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
    // It may hang on an agent that does not read; nobody would read an answer now.
    writing.abort();
    orphaned
}

/// Waits for the end of the guard, where there is one. Whether a signal ended it.
async fn end_of_guard(guard: Option<&mut Child>) -> bool {
    let Some(guard) = guard else { return std::future::pending().await };
    match guard.wait().await {
        Ok(status) => status.signal().is_some(),
        Err(error) => {
            tracing::warn!(%error, "waiting for the guard failed");
            false
        }
    }
}

/// Passes on what is left in the pipe of a program that has ended. Whoever still writes to it then
/// is out of the guard's reach.
async fn listen_to_rest(reader: &mut Reader, report: &Report) {
    let mut rest = REST;
    while rest > 0
        && let Ok(Ok(Some(bytes))) = timeout(GRACE, reader.read()).await
    {
        rest = rest.saturating_sub(bytes.len());
        report.send(Input::Bytes(report.id, bytes)).await;
    }
}

/// Writes lines until there will be no more, then closes the agent's stdin.
async fn write(mut writer: Writer, mut lines: UnboundedReceiver<Vec<u8>>, unsent: Arc<Unsent>) {
    let mut broken = false;
    while let Some(line) = lines.recv().await {
        if !broken && let Err(error) = writer.write(&line).await {
            tracing::debug!(%error, "the agent does not read any more");
            broken = true;
        }
        unsent.written(line.len());
    }
    if let Err(error) = writer.close().await {
        tracing::debug!(%error, "closing the way to the agent");
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
    let code = if let Exit::Code(code) = exit { Some(code) } else { None };
    match stderr.iter().find_map(|line| guard::refusal(line, code)) {
        Some(words) if words.starts_with("not found") => Happened::NotStarted(SpawnError::NotFound),
        Some(words) => Happened::NotStarted(SpawnError::Other(words.to_owned())),
        None => Happened::Exited { exit, stderr },
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::mpsc::{Receiver, channel};

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(20);

    fn start(url: String) -> (Agent, Receiver<Input>) {
        let (sender, inputs) = channel(8);
        let launch = Launch {
            agent: "far away".into(),
            how: How::Url(url),
            env: vec![],
            cwd: "/".into(),
            directories: vec![],
            mcp_servers: vec![],
            install: None,
            patience: DEADLINE,
        };
        let surroundings =
            Surroundings { programs: "/".into(), inputs: sender, switches: Arc::default() };
        (Agent::start(ConnectionId(1), &launch, &surroundings), inputs)
    }

    async fn reached() -> (TcpStream, Agent, Receiver<Input>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (agent, mut inputs) = start(format!("tcp://{}", listener.local_addr().unwrap()));
        let (server, _) = listener.accept().await.unwrap();
        assert_eq!(next(&mut inputs).await, "Happened(ConnectionId(1), Started)");
        (server, agent, inputs)
    }

    async fn next(inputs: &mut Receiver<Input>) -> String {
        match timeout(DEADLINE, inputs.recv()).await.expect("waited in vain").unwrap() {
            Input::Bytes(_, bytes) => String::from_utf8(bytes).unwrap(),
            other => format!("{other:?}"),
        }
    }

    const CLOSED: &str = "Happened(ConnectionId(1), Exited { exit: Closed, stderr: [] })";

    #[tokio::test]
    async fn an_agent_elsewhere() {
        let (mut server, agent, mut inputs) = reached().await;
        agent.send(b"to\n".to_vec());
        let mut buf = [0; 3];
        server.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"to\n");
        server.write_all(b"from\n").await.unwrap();
        assert_eq!(next(&mut inputs).await, "from\n");
        // What was sent before the end arrives, then the end.
        agent.send(b"bye\n".to_vec());
        drop(agent);
        let mut rest = String::new();
        server.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "bye\n");
        assert_eq!(next(&mut inputs).await, CLOSED);
        assert!(inputs.recv().await.is_none());
    }

    #[tokio::test]
    async fn an_agent_elsewhere_that_goes() {
        let (server, _agent, mut inputs) = reached().await;
        drop(server);
        assert_eq!(next(&mut inputs).await, CLOSED);
    }

    #[tokio::test]
    async fn an_agent_that_is_not_there() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("tcp://{}", listener.local_addr().unwrap());
        drop(listener);
        let (_agent, mut inputs) = start(url.clone());
        let words = format!("cannot reach {url}: connection refused");
        let expected = format!("Happened(ConnectionId(1), NotStarted(Other({words:?})))");
        assert_eq!(next(&mut inputs).await, expected);
    }

    /// It takes no words, and has some to say: it can be ended all the same.
    #[tokio::test]
    async fn an_agent_that_does_not_read() {
        let (_server, agent, mut inputs) = reached().await;
        agent.send(vec![b'x'; 30 << 20]);
        drop(agent);
        assert_eq!(next(&mut inputs).await, CLOSED);
    }

    #[tokio::test]
    async fn ended_before_it_was_reached() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        // It never answers the handshake.
        let (agent, mut inputs) = start(format!("ws://{}", listener.local_addr().unwrap()));
        let _server = listener.accept().await.unwrap();
        drop(agent);
        assert_eq!(next(&mut inputs).await, CLOSED);
    }
}
