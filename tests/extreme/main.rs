//! Well-formed messages of extreme size and count, to a core with no Neovim: every request is
//! answered exactly once, the core always has a moment, and memory is bounded.
//!
//! `ACP_FUZZ_SEED` repeats a run.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at the first surprise and says why on stderr"
)]

mod agent;
mod generate;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use acp_nvim::runtime::bell::Bell;
use acp_nvim::runtime::handle::{Action, Handle, Options};
use acp_nvim::runtime::outbox::Item;
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::Tell;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::view::model::SurfaceId;

use serde_json::{Value, json};

use self::agent::{Agent, Playing, SESSION};
use self::generate::{Made, fresh_seed, seeds};

const DEADLINE: Duration = Duration::from_secs(300);
/// How long the core may be at one thing, in CPU time of its thread: what is not optimized takes
/// ten times as long.
const PING: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 100 });
/// How much more memory there may be in use at the end than was sent.
const MEMORY: usize = 300 << 20;

/// The rows of the help's tables on the protocol that are supported.
fn told_in_the_help() -> BTreeSet<String> {
    let help = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("doc/acp.txt"));
    let help = help.unwrap();
    let section = help.split("*acp-protocol*").nth(1).unwrap();
    // What this client sends comes first.
    let heard = section.split("What this client").skip(2).collect::<String>();
    let rows = heard.lines().filter_map(|line| line.strip_prefix("  "));
    let rows = rows.filter_map(|row| row.split_once("  "));
    let rows = rows.filter(|(_, words)| words.trim().starts_with("yes"));
    rows.map(|(name, _)| name.trim().to_owned()).collect()
}

#[test]
fn no_update_and_no_request_is_forgotten() {
    let mut known = BTreeSet::new();
    for seed in seeds() {
        let update = seed.params.pointer("/update/sessionUpdate").and_then(|it| it.as_str());
        known.extend(update.map(str::to_owned));
        known.insert(seed.method);
    }
    let told = told_in_the_help();
    assert!(told.len() > 25, "{told:?}");
    let forgotten: Vec<_> = told.difference(&known).collect();
    assert!(forgotten.is_empty(), "no message in tests/protocol/heard for {forgotten:?}");
}

/// CPU time that the core's thread has used.
fn core_time() -> Duration {
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let task = task.unwrap().path();
        if fs::read_to_string(task.join("comm")).unwrap_or_default().trim() == "acp-core" {
            let times = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
            let spent = times.split(' ').next().and_then(|it| it.parse().ok());
            return Duration::from_nanos(spent.unwrap_or_default());
        }
    }
    Duration::ZERO
}

/// Bytes of memory in use.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

/// Lets an agent send something, and looks what becomes of it.
fn play(handle: &Handle, what: &str, begin_talk: impl FnOnce(Agent) -> Playing) {
    let folder = tempfile::tempdir().unwrap();
    let agent = Agent::listen(folder.path());
    let launch = Launch {
        agent: "extreme".into(),
        how: How::Url(agent.url()),
        env: vec![],
        cwd: folder.path().to_string_lossy().into_owned(),
        directories: vec![],
        mcp_servers: vec![],
        install: None,
        patience: DEADLINE,
    };
    let session = handle.new_session();
    let before = memory();
    assert!(handle.send(Action::Wish(Wish::Open { session, launch, origin: Origin::New })));
    assert!(handle.send(Action::Show(session, SurfaceId(session.0))));
    let content = vec![Content::Text("go".into())];
    assert!(handle.send(Action::Wish(Wish::Prompt { session, content, tag: 1 })));
    let playing = begin_talk(agent);
    let (begin, mut longest) = (Instant::now(), Duration::ZERO);
    while !playing.is_done() {
        assert!(begin.elapsed() < DEADLINE, "{what}: the core does not keep up");
        let (sent, answer) = (core_time(), handle.ping());
        while answer.recv_timeout(Duration::from_millis(1)).is_err() {
            assert!(begin.elapsed() < DEADLINE, "{what}: the core is silent");
        }
        longest = longest.max(core_time() - sent);
        while handle.drain().is_some() {}
    }
    assert!(handle.send(Action::Wish(Wish::Close(session))));
    loop {
        let items = handle.drain().unwrap_or_default();
        if items.iter().any(|it| matches!(it, Item::Tell(Tell::Closed(it)) if *it == session)) {
            break;
        }
        assert!(begin.elapsed() < DEADLINE, "{what}: the session is not closed");
        std::thread::sleep(Duration::from_millis(1));
    }
    let used = memory().saturating_sub(before);
    let talk = playing.end();
    eprintln!(
        "{what}: {} kB, {} requests; core busy for {longest:?} at most, {} MB more memory",
        talk.sent >> 10,
        talk.answers.len(),
        used >> 20,
    );
    let wrong: Vec<_> = talk.answers.iter().filter(|(_, answers)| **answers != 1).take(5).collect();
    assert!(wrong.is_empty(), "{what}: requests and their answers: {wrong:?}");
    assert!(longest < PING, "{what}: the core was busy for {longest:?}");
    assert!(used < MEMORY + talk.sent, "{what}: {} MB", used >> 20);
}

fn update(update: &Value) -> Made {
    let params = json!({ "sessionId": SESSION, "update": update });
    let message = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
    Made { line: message.to_string(), id: None }
}

fn permission(id: u64, path: &str) -> Made {
    let call =
        json!({ "toolCallId": id.to_string(), "kind": "edit", "rawInput": { "path": path } });
    let options = json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" }]);
    let params = json!({ "sessionId": SESSION, "toolCall": call, "options": options });
    let method = "session/request_permission";
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    Made { line: message.to_string(), id: Some(id) }
}

fn diffs(count: usize) -> Made {
    let diff = |n: usize| json!({ "type": "diff", "path": format!("/f{n}"), "oldText": "a", "newText": "b" });
    let content: Vec<Value> = (0..count).map(diff).collect();
    update(
        &json!({ "sessionUpdate": "tool_call", "toolCallId": "d", "title": "t", "content": content }),
    )
}

fn options(count: usize) -> Made {
    let value = json!([{ "value": "a", "name": "A" }]);
    let option = |n: usize| json!({ "id": format!("o{n}"), "name": "O", "type": "select", "currentValue": "a", "options": value });
    let options: Vec<Value> = (0..count).map(option).collect();
    update(
        &json!({ "sessionUpdate": "config_option_update", "partial": true, "configOptions": options }),
    )
}

/// What once kept the core silent for everybody, for up to a minute.
fn known_attacks(handle: &Handle) {
    let attacks: Vec<(&str, Vec<Made>)> = vec![
        ("20 000 changes", vec![diffs(20_000)]),
        ("8 000 permissions", (0..8_000).map(|n| permission(n, "/a")).collect()),
        ("20 000 options, twice", vec![options(20_000), options(20_000)]),
        ("a path of 10 MB", vec![permission(1, &"/a".repeat(5 << 20))]),
    ];
    for (what, messages) in attacks {
        play(handle, what, |agent| agent.send(messages.into_iter()));
    }
}

#[test]
fn whatever_agents_send() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        log_dir: folder.path().join("log"),
        log_level: "info".into(),
        programs: folder.path().to_owned(),
    };
    let handle = Handle::start(options, Bell::new(|| ())).unwrap();
    // A test that fails says so on stderr, and not in the log.
    drop(std::panic::take_hook());
    for (seed, count) in [(1, 3_000), (2, 3_000), (fresh_seed(), 4_000)] {
        let what = format!("{count} messages of the seed {seed}");
        play(&handle, &what, |agent| agent.play(seed, count));
    }
    known_attacks(&handle);
    for file in fs::read_dir(folder.path().join("log")).unwrap() {
        let file = file.unwrap();
        let bytes = file.metadata().unwrap().len();
        // What was asked and decided is written down whole, and has a bound of its own.
        let most = if file.file_name() == "audit.log" { 11 << 20 } else { 1 << 20 };
        assert!(bytes < most, "{} has {bytes} bytes", file.path().display());
    }
    handle.shutdown(Duration::from_secs(10));
}
