//! Agents that are slow, deaf or choosy before there is a session.

use std::time::Duration;

use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::session::failure::Failure;
use serde_json::json;

use crate::world::{World, go, said};

/// An agent that never answers this: the user hears of it, may wait, and may kill it.
fn never_responds(method: &str) {
    let mut world = World::new();
    world.patience = Duration::from_millis(150);
    let launch = world.launch(&json!({ "on": { method: [{ "hang": true }] } }));
    let session = world.open(launch, Origin::New);
    let tag = world.prompt(session, "go");
    let silent = |it: &Tell| matches!(it, Tell::NoAnswer { what, .. } if *what == method);
    world.until("no answer", |world| (world.count(silent) == 1).then_some(()));
    world.shows(session, &format!("fake did not answer {method}"));
    world.wish(Wish::Wait(session));
    world.until("no answer again", |world| (world.count(silent) == 2).then_some(()));
    world.wish(Wish::Kill(session));
    assert!(matches!(world.finished(tag), Err(Failure::Killed { .. })));
    world.close(session);
}

#[test]
fn never_responds_to_initialize() {
    never_responds("initialize");
}

#[test]
fn never_responds_to_session_new() {
    never_responds("session/new");
}

#[test]
fn never_responds_to_a_probe() {
    let mut world = World::new();
    world.patience = Duration::from_millis(150);
    let launch = world.launch(&json!({ "on": { "initialize": [{ "hang": true }] } }));
    world.wish(Wish::Probe { tag: 5, launch });
    let found = world.told("the finding", |it| match it {
        Tell::Probed { tag: 5, result } => Some(result.clone()),
        _ => None,
    });
    assert!(matches!(found, Err(Failure::Silent { what: "initialize", .. })), "{found:?}");
}

#[test]
fn echoes_any_version() {
    let version = json!({ "merge": { "protocolVersion": "{{params.protocolVersion}}" } });
    let played = go(&json!({
        "on": { "initialize": version },
        "prompts": [{ "turn": 1, "steps": [{ "say": "one" }] }]
    }));
    played.says("one");
}

#[test]
fn version_error() {
    for version in [json!(0), json!(2), json!("2025-06-18")] {
        let played =
            go(&json!({ "on": { "initialize": { "merge": { "protocolVersion": version } } } }));
        match played.finished() {
            Err(Failure::Version { version: told, .. }) => {
                assert_eq!(told, version.as_str().map_or(version.to_string(), str::to_owned));
            }
            other => panic!("{other:?}"),
        }
        assert!(played.transcript().contains("this client speaks 1"));
        let report = played.close();
        assert!(report.calls("session/new").is_empty());
    }
}

/// An error to the first `initialize` is tried once in the old form, and no more.
#[test]
fn initialize_refused() {
    let error = json!({ "code": -32603, "message": "no model" });
    let played = go(&json!({ "strict": false, "on": { "initialize": { "error": error } } }));
    match played.finished() {
        Err(Failure::Refused { what: "initialize", error, .. }) => {
            assert_eq!(error.message, "no model");
        }
        other => panic!("{other:?}"),
    }
    played
        .world
        .until("the end", |world| (world.report().calls("initialize").len() == 2).then_some(()));
    played.world.all_settled();
}

/// A refusal that no other form would change is taken at its word.
#[test]
fn initialize_refused_for_good() {
    let error = json!({ "code": -32099, "message": "not today" });
    let played = go(&json!({ "on": { "initialize": { "error": error } } }));
    assert!(matches!(played.finished(), Err(Failure::Refused { what: "initialize", .. })));
    let report = played.close();
    assert_eq!(report.calls("initialize").len(), 1);
}

/// Two sessions with the same agent share it, and introduce themselves once.
#[test]
fn second_initialize_rejected() {
    let again = json!({ "reply": { "error": { "code": -32600, "message": "again?" } } });
    let second = json!({ "if": { "when": { "call": { "$not": 1 } }, "then": [again] } });
    let played = go(&json!({
        "on": { "initialize": [second] },
        "prompts": [{ "turn": 1, "steps": [{ "say": "one" }] }]
    }));
    let world = &played.world;
    let launch = world.launch(&json!({
        "on": { "initialize": [second] },
        "prompts": [{ "turn": 1, "steps": [{ "say": "one" }] }]
    }));
    let other = world.open(launch, Origin::New);
    let tag = world.prompt(other, "go");
    assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    assert_eq!(world.transcript(other), said("one"));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert_eq!(played.transcript(), said("one"));
    world.wish(Wish::Close(other));
    let report = played.close();
    assert_eq!(report.calls("initialize").len(), 1);
    assert_eq!(report.calls("session/new").len(), 2);
}

/// What we tell of ourselves: everything that the other scenarios use.
#[test]
fn what_is_advertised() {
    let played = go(&json!({ "prompts": [{ "steps": [{ "expect": {
        "client.protocolVersion": 1,
        "client.clientInfo.name": "acp.nvim",
        "client.clientCapabilities": {
            "fs": { "readTextFile": true, "writeTextFile": true },
            "terminal": true,
            "session": { "configOptions": { "boolean": {} }, "notices": {}, "compaction": {} },
            "auth": { "terminal": true },
            "elicitation": { "form": {}, "url": {} },
            "_meta": { "terminal_output": true, "terminal-auth": true }
        }
    } }] }] }));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    played.close();
}
