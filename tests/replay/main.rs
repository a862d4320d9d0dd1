//! Recorded traffic of real agents, replayed through the wire, the reducer and the export.
//!
//! A fixture is `fixtures/<agent>/<what>.ndjson`: one message a line, with `dir` `c2a` (client to
//! agent) or `a2c`. What the recorded client did is done with ours; what the agent said is said to
//! ours. The transcript must equal `fixtures/<agent>/<what>.md`, and every request of the agent
//! must have been answered exactly once. `ACP_UPDATE_SNAPSHOTS=1` writes the transcripts anew:
//! look at them before you keep them. Nothing an agent says may leave a warning in the log.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

#[path = "../view/buffer.rs"]
mod buffer;
mod client;
mod warnings;

use std::fs;
use std::path::{Path, PathBuf};

use acp_nvim::session::event::Origin;
use client::Client;
use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt;
use warnings::Warnings;

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut all = Vec::new();
    for agent in fs::read_dir(root).unwrap() {
        for file in fs::read_dir(agent.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "ndjson") {
                all.push(path);
            }
        }
    }
    all.sort();
    assert!(!all.is_empty());
    all
}

fn replay(path: &Path, chunk: usize) -> Client {
    let agent = path.parent().unwrap().file_name().unwrap().to_string_lossy();
    let mut client = Client::new(&agent, chunk);
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = lines.iter().find_map(|line| match line["msg"]["method"].as_str() {
        Some("session/load" | "session/resume") => {
            Some(Origin::Kept(line["msg"]["params"]["sessionId"].as_str().unwrap().into()))
        }
        Some("session/new") => Some(Origin::New),
        _ => None,
    });
    client.open(first.unwrap_or(Origin::New));
    for line in lines {
        match line["dir"].as_str() {
            Some("c2a") => client.does_as(&line["msg"]),
            Some("a2c") => client.hears(&line["msg"]),
            _ => panic!("{}: {line}", path.display()),
        }
    }
    client
}

#[test]
fn transcripts_are_as_reviewed() {
    for path in fixtures() {
        let warnings = Warnings::default();
        let client = tracing::subscriber::with_default(
            tracing_subscriber::registry().with(warnings.clone()),
            || replay(&path, usize::MAX),
        );
        assert_eq!(client.loose_ends(), Vec::<String>::new(), "{}", path.display());
        assert_eq!(warnings.take(), Vec::<String>::new(), "{}", path.display());
        let transcript = client.transcript();
        let expected = path.with_extension("md");
        if std::env::var_os("ACP_UPDATE_SNAPSHOTS").is_some() {
            fs::write(&expected, &transcript).unwrap();
        }
        let reviewed = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(transcript, reviewed, "{}", expected.display());
    }
}

#[test]
fn what_is_shown_is_what_would_be_shown_anew() {
    for path in fixtures() {
        replay(&path, usize::MAX).check_rows();
    }
}

#[test]
fn any_chunking_gives_the_same_transcript() {
    for path in fixtures() {
        let whole = replay(&path, usize::MAX).transcript();
        for chunk in [1, 7, 4096] {
            assert_eq!(replay(&path, chunk).transcript(), whole, "{} by {chunk}", path.display());
        }
    }
}

#[test]
fn what_real_agents_ask_can_be_allowed_by_a_rule_for_exactly_that() {
    let mut seen = std::collections::BTreeSet::new();
    for path in fixtures() {
        for permission in replay(&path, usize::MAX).permissions {
            let command = permission.subject.command.as_ref();
            match &permission.rule {
                Some(rule) => drop(seen.insert(rule.words())),
                None if command.is_some_and(|it| it.parse().simple.is_none()) => {}
                None => panic!("{}: {permission:?}", path.display()),
            }
        }
    }
    let has = |words: &str| assert!(seen.contains(words), "{words}: {seen:#?}");
    for agent in ["claude", "codex", "opencode"] {
        has(&format!("allow execute command `touch first` by {agent} in /home/dev/project"));
        has(&format!("allow edit path `p.txt` by {agent} in /home/dev/project"));
    }
    has("allow read path `/etc/hostname` by claude in /home/dev/project");
    has("allow fetch url `http://127.0.0.1:8400/v1/models` by opencode in /home/dev/project");
    has("allow switch_mode tool `ExitPlanMode` with any parameters by claude in /home/dev/project");
}
