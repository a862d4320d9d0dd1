//! The core with real processes and no Neovim: what agents do to their pipes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use acp_nvim::runtime::bell::Bell;
use acp_nvim::runtime::handle::{Action, Handle, Options};
use acp_nvim::runtime::outbox::Item;
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::session::failure::{Exit, Failure};
use acp_nvim::session::ids::SessionId;
use acp_nvim::view::model::SurfaceId;

use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(20);

/// A core, and the bell it rings instead of Neovim's.
struct Core {
    handle: Handle,
    rings: Receiver<()>,
    folder: tempfile::TempDir,
}

impl Core {
    fn start() -> Core {
        let folder = tempfile::tempdir().unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_acp-guard")).parent().unwrap().to_owned();
        let options =
            Options { log_dir: folder.path().join("log"), log_level: "debug".into(), programs };
        let (ring, rings) = channel();
        let bell = Bell::new(move || ring.send(()).unwrap_or_default());
        Core { handle: Handle::start(options, bell).unwrap(), rings, folder }
    }

    fn open(&self, scenario: &Value) -> SessionId {
        let path = self.folder.path().join("scenario.json");
        std::fs::write(&path, scenario.to_string()).unwrap();
        let tutor = env!("CARGO_BIN_EXE_acp-tutor").to_owned();
        self.open_program(vec![tutor, path.to_string_lossy().into_owned()])
    }

    fn open_program(&self, command: Vec<String>) -> SessionId {
        let launch = Launch {
            agent: "fake".into(),
            how: How::Program(command),
            env: vec![("AGENT_SECRET".into(), "swordfish".into())],
            cwd: self.folder.path().to_string_lossy().into_owned(),
            directories: vec![],
            mcp_servers: vec![],
            install: None,
            patience: Duration::from_secs(30),
        };
        let session = self.handle.new_session();
        assert!(self.handle.send(Action::Wish(Wish::Open {
            session,
            launch,
            origin: Origin::New
        })));
        session
    }

    fn prompt(&self, session: SessionId, text: &str, tag: u64) {
        let content = vec![Content::Text(text.to_owned())];
        assert!(self.handle.send(Action::Wish(Wish::Prompt { session, content, tag })));
    }

    /// Fetches as Neovim would, until something comes that the test waits for.
    fn wait<T>(&self, mut wanted: impl FnMut(&Item) -> Option<T>) -> T {
        let until = Instant::now() + DEADLINE;
        loop {
            while let Some(items) = self.handle.drain() {
                if let Some(found) = items.iter().find_map(&mut wanted) {
                    return found;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            self.rings.recv_timeout(left).expect("waited in vain");
        }
    }

    fn finished(&self, wanted: u64) -> Result<StopReason, Failure> {
        self.wait(|item| match item {
            Item::Tell(Tell::TurnFinished { tag, result, .. }) if *tag == wanted => {
                Some(result.clone())
            }
            _ => None,
        })
    }

    fn transcript(&self, session: SessionId) -> String {
        self.handle.published().transcript(session).unwrap()
    }
}

#[test]
fn a_turn_from_beginning_to_end() {
    let core = Core::start();
    let session =
        core.open(&json!({ "prompts": [{ "steps": [{ "say": "answer to {{prompt}}" }] }] }));
    core.prompt(session, "question", 7);
    assert_eq!(core.finished(7), Ok(StopReason::EndTurn));
    assert_eq!(core.transcript(session), "## You\n\nquestion\n\n## fake\n\nanswer to question\n");
}

#[test]
fn bytes_that_come_one_by_one() {
    let core = Core::start();
    let session =
        core.open(&json!({ "chop": 1, "prompts": [{ "steps": [{ "say": "grüße 日本" }] }] }));
    core.prompt(session, "go", 1);
    assert_eq!(core.finished(1), Ok(StopReason::EndTurn));
    assert!(core.transcript(session).contains("grüße 日本"));
}

#[test]
fn a_flood_on_stderr_blocks_nobody() {
    let core = Core::start();
    let session = core.open(&json!({ "prompts": [{ "steps": [
        { "stderr": { "text": "noise noise noise noise noise noise noise", "repeat": 50_000 } },
        { "say": "done" }, { "stderr": "last words" }, { "exit": 5 }
    ] }] }));
    core.prompt(session, "go", 1);
    match core.finished(1) {
        Err(Failure::Died { exit: Exit::Code(5), last_words, .. }) => {
            assert_eq!(last_words.len(), 50);
            assert_eq!(last_words.last().unwrap(), "last words");
        }
        other => panic!("{other:?}"),
    }
    assert!(core.transcript(session).contains("done"));
}

/// An agent that neither reads nor ends holds up its own words and nobody else's.
#[test]
fn an_agent_that_does_not_read() {
    let core = Core::start();
    let session = core.open(&json!({ "prompts": [
        { "turn": 1, "steps": [{ "say": "deaf now" }, { "stop_reading": true }] },
        { "steps": [{ "say": "never" }] }
    ] }));
    core.prompt(session, "go", 1);
    core.finished(1).unwrap();
    core.prompt(session, &"x".repeat(30 << 20), 2);
    core.handle.send(Action::Wish(Wish::Kill(session)));
    match core.finished(2) {
        Err(Failure::Killed { .. }) => {}
        other => panic!("{other:?}"),
    }
    core.prompt(session, "again", 3);
    assert_eq!(core.finished(3), Ok(StopReason::EndTurn));
}

#[test]
fn many_chunks_come_in_few_batches() {
    let core = Core::start();
    let session = core.open(
        &json!({ "prompts": [{ "steps": [{ "flood": { "chunks": 100_000, "bytes": 20 } }] }] }),
    );
    assert!(core.handle.send(Action::Show(session, SurfaceId(1))));
    core.prompt(session, "go", 1);
    let mut patches = 0;
    core.wait(|item| {
        patches += usize::from(matches!(item, Item::Patch(..)));
        matches!(item, Item::Tell(Tell::TurnFinished { .. })).then_some(())
    });
    assert!(core.transcript(session).len() >= 2_000_000);
    assert!(patches < 20_000, "{patches} patches for 100000 chunks");
}

#[test]
fn shutting_down_ends_the_agents() {
    let core = Core::start();
    let session = core.open(&json!({
        "startup": [{ "ignore_sigterm": true }],
        "on_eof": [{ "hang": true }],
        "prompts": [{ "ignore_cancel": true, "steps": [{ "say": "pid {{pid}}." }, { "hang": true }] }]
    }));
    core.prompt(session, "go", 1);
    let until = Instant::now() + DEADLINE;
    let text = loop {
        while core.handle.drain().is_some() {}
        let text = core.transcript(session);
        if text.contains('.') {
            break text;
        }
        assert!(Instant::now() < until, "{text}");
        std::thread::sleep(Duration::from_millis(5));
    };
    let pid = text.split("pid ").nth(1).unwrap().split('.').next().unwrap();
    let process = Path::new("/proc").join(pid);
    assert!(process.exists());
    core.handle.shutdown(Duration::from_millis(500));
    let until = Instant::now() + Duration::from_secs(5);
    while process.exists() {
        assert!(Instant::now() < until, "{pid} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads a line that a program of the test leaves in the core's folder.
#[cfg(target_os = "linux")]
fn left(core: &Core, name: &str) -> String {
    let until = Instant::now() + DEADLINE;
    loop {
        let text = std::fs::read_to_string(core.folder.path().join(name)).unwrap_or_default();
        if text.ends_with('\n') {
            return text;
        }
        assert!(Instant::now() < until, "there is no {name}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_guard_does_not_get_the_variables_of_the_agent() {
    let core = Core::start();
    let script = "printf '%s\\n%s\\n' \"$AGENT_SECRET\" \"$(tr '\\0' '\\n' < /proc/$PPID/environ)\" > new; mv new seen; sleep 300";
    core.open_program(["sh", "-c", script].map(str::to_owned).to_vec());
    let seen = left(&core, "seen");
    let (own, guards) = seen.split_once('\n').unwrap();
    assert_eq!(own, "swordfish");
    assert!(guards.contains("PATH=") && !guards.contains("AGENT_SECRET"), "{guards}");
}

/// An agent that kills its guard neither goes on talking nor outlives the session.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_kills_its_guard() {
    let core = Core::start();
    let script = "trap '' TERM; sleep 300 & setsid sleep 300 & echo $$ > new; mv new pid; kill -9 $PPID; wait; sleep 300";
    let session = core.open_program(["sh", "-c", script].map(str::to_owned).to_vec());
    let pid = left(&core, "pid");
    let failure = core.wait(|item| match item {
        Item::Tell(Tell::Failed { session: of, failure }) if *of == session => {
            Some(failure.clone())
        }
        _ => None,
    });
    assert_eq!(failure.code(), "agent_died");
    let words = "fake ended unexpectedly: acp-guard, which watches over it, was killed by signal 9; what it had left running was ended";
    assert_eq!(failure.message(), words);
    let until = Instant::now() + DEADLINE;
    let runs = |pid: &str| {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|it| !it.is_empty() && !it.starts_with(" Z"))
    };
    while runs(&pid) {
        assert!(Instant::now() < until, "the agent still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process is gone.
fn wait_gone(pid: &str) {
    let process = Path::new("/proc").join(pid);
    let until = Instant::now() + DEADLINE;
    while process.exists() {
        assert!(Instant::now() < until, "{pid} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A core that is busy with ringing its bell until it is let go on.
struct Stuck {
    core: Core,
    session: SessionId,
    /// The agent's process.
    pid: String,
    busy: Arc<AtomicBool>,
}

fn stuck() -> Stuck {
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_acp-guard")).parent().unwrap().to_owned();
    let log_dir = folder.path().join("log");
    let options = Options { log_dir, log_level: "debug".into(), programs };
    let (ring, rings) = channel();
    let busy = Arc::new(AtomicBool::new(false));
    let is_busy = busy.clone();
    let bell = Bell::new(move || {
        ring.send(()).unwrap_or_default();
        while is_busy.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let core = Core { handle: Handle::start(options, bell).unwrap(), rings, folder };
    let session = core.open(&json!({
        "startup": [{ "ignore_sigterm": true }],
        "on_eof": [{ "hang": true }],
        "prompts": [{ "ignore_cancel": true, "steps": [
            { "say": "pid {{pid}}." }, { "wait_file": "go" }, { "say": "more" }, { "hang": true }
        ] }]
    }));
    core.prompt(session, "go", 1);
    assert!(core.handle.send(Action::Show(session, SurfaceId(1))));
    let pid = core.wait(|item| match item {
        Item::Patch(_, patch) => {
            let line = patch.lines.iter().find(|it| it.ends_with('.'))?;
            Some(line.trim_start_matches("pid ").trim_end_matches('.').to_owned())
        }
        _ => None,
    });
    assert!(core.handle.ping().recv_timeout(DEADLINE).is_ok());
    while core.handle.drain().is_some() {}
    busy.store(true, Ordering::Relaxed);
    std::fs::write(core.folder.path().join("go"), "").unwrap();
    let until = Instant::now() + DEADLINE;
    while core.handle.ping().recv_timeout(Duration::from_millis(200)).is_ok() {
        assert!(Instant::now() < until, "the core is not busy");
    }
    Stuck { core, session, pid, busy }
}

#[test]
fn an_agent_is_killed_while_the_core_is_busy() {
    let Stuck { core, session, pid, busy } = stuck();
    assert!(core.handle.send(Action::Wish(Wish::Kill(session))));
    wait_gone(&pid);
    // What it said before it was killed is for nothing, and the core is as it was.
    busy.store(false, Ordering::Relaxed);
    assert!(matches!(core.finished(1), Err(Failure::Killed { .. })));
}

#[test]
fn a_busy_core_does_not_keep_neovim() {
    let Stuck { core, pid, busy, .. } = stuck();
    let begin = Instant::now();
    core.handle.shutdown(Duration::from_millis(100));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    wait_gone(&pid);
    busy.store(false, Ordering::Relaxed);
}
