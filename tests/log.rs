//! The log, whatever agents do to fill it. There is one log for a process, so this is one test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use acp_nvim::runtime::bell::Bell;
use acp_nvim::runtime::handle::{Action, Handle, Options};
use acp_nvim::runtime::outbox::Item;
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::Tell;
use acp_nvim::session::event::{Origin, Wish};
use serde_json::json;

const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn no_agent_fills_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log_dir = folder.path().join("log");
    let programs = Path::new(env!("CARGO_BIN_EXE_acp-guard")).parent().unwrap().to_owned();
    let options = Options { log_dir: log_dir.clone(), log_level: "info".into(), programs };
    let (ring, rings) = channel();
    let bell = Bell::new(move || ring.send(()).unwrap_or_default());
    let handle = Handle::start(options, bell).unwrap();
    let entries: Vec<u32> = vec![1; 900];
    let scenario = folder.path().join("scenario.json");
    let steps = json!([
        { "raw": format!("[{}1]", "1,".repeat(200_000)) },
        { "raw": "x\n".repeat(20_000) },
        { "raw": r#"{"jsonrpc":"2.0","method":"_of/no_concern"}"#.to_owned() + "\n" },
        { "update": { "sessionUpdate": "plan", "entries": entries } },
    ]);
    fs::write(&scenario, json!({ "prompts": [{ "steps": steps }] }).to_string()).unwrap();
    let tutor = env!("CARGO_BIN_EXE_acp-tutor").to_owned();
    let launch = Launch {
        agent: "fake".into(),
        how: How::Program(vec![tutor, scenario.to_string_lossy().into_owned()]),
        env: vec![],
        cwd: folder.path().to_string_lossy().into_owned(),
        directories: vec![],
        mcp_servers: vec![],
        install: None,
        patience: DEADLINE,
    };
    let session = handle.new_session();
    assert!(handle.send(Action::Wish(Wish::Open { session, launch, origin: Origin::New })));
    let content = vec![Content::Text("go".into())];
    assert!(handle.send(Action::Wish(Wish::Prompt { session, content, tag: 1 })));
    let until = Instant::now() + DEADLINE;
    let is_over = |it: &Item| matches!(it, Item::Tell(Tell::TurnFinished { .. }));
    while !handle.drain().is_some_and(|items| items.iter().any(is_over)) {
        let left = until.saturating_duration_since(Instant::now());
        rings.recv_timeout(left.min(Duration::from_millis(100))).unwrap_or_default();
        assert!(Instant::now() < until, "the turn does not end");
    }
    assert!(handle.send(Action::Wish(Wish::Close(session))));
    handle.shutdown(DEADLINE);
    let file = fs::read_dir(&log_dir).unwrap().map(|it| it.unwrap().path());
    let file = { file }.find(|it| it.to_string_lossy().ends_with(".log")).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let log = fs::read_to_string(&file).unwrap();
    assert!(log.len() < 100_000, "{} bytes", log.len());
    assert!(log.contains("200001 of 200001 elements of a batch"), "{log}");
    assert!(log.lines().count() < 150, "{log}");
}
