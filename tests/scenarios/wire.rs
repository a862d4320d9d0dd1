//! What agents do to their pipes and to JSON-RPC.

use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::Wish;
use acp_nvim::session::failure::{Exit, Failure};
use serde_json::{Value, json};

use crate::world::{go, said, turn};

/// A chunk as a line, around whatever is to be its text.
const BEFORE: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{sessionId}}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
const AFTER: &str = r#""}}}}"#;

#[test]
fn banner_on_stdout() {
    let played = go(&json!({
        "startup": [{ "raw": "Welcome to the agent!" }, { "raw": "" }, { "raw": "[INFO] {ready}" }],
        "prompts": [{ "turn": 1, "steps": [{ "say": "here" }] }]
    }));
    let report = played.says("here");
    assert!(report.answers().is_empty(), "a banner is nothing to answer");
}

#[test]
fn garbage_after_response() {
    played_with(json!([
        { "say": "one" }, { "reply": {} }, { "raw": "debug: done" }, { "raw": "{\"jsonrpc\":" },
        { "raw": "null" }, { "raw": "[]" }, { "raw": "[1,\"x\"]" }, { "raw": "{}" },
        { "raw": "{\"id\":null,\"result\":1}" }
    ]));
}

/// Plays these steps; the agent says `one` in them, and nobody answers anything.
fn played_with(steps: Value) {
    let report = go(&turn(steps)).says("one");
    assert!(report.answers().is_empty(), "{:?}", report.answers());
}

#[test]
fn carriage_returns_and_blank_lines() {
    let line = format!("{BEFORE}one{AFTER}");
    played_with(
        json!([{ "raw": { "text": line, "end": "\r\n" } }, { "raw": "\r" }, { "raw": "  " }]),
    );
}

#[test]
fn invalid_utf8() {
    let played = go(&turn(json!([
        { "bytes": [255, 254, 10] },
        { "raw": { "text": format!("{BEFORE}caf"), "end": "" } },
        { "bytes": [0xC3] },
        { "raw": format!(" au lait{AFTER}") },
    ])));
    played.says("caf\u{fffd} au lait");
}

#[test]
fn lone_surrogate() {
    let played = go(&turn(json!([
        { "raw": format!("{BEFORE}half \\ud83d, whole \\ud83d\\ude00{AFTER}") },
        { "raw": format!("{BEFORE}, low \\uDE00, escaped \\\\ud83d{AFTER}") },
    ])));
    played.says("half \u{fffd}, whole \u{1f600}, low \u{fffd}, escaped \\ud83d");
}

#[test]
fn a_batch_and_keys_given_twice() {
    let line = format!("{BEFORE}n{AFTER}");
    let twice = r#"{"jsonrpc":"1.0","jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{sessionId}}","update":{"sessionUpdate":"plan","sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"e"}}}}"#;
    played_with(json!([{ "say": "o" }, { "raw": format!("[{line}]") }, { "raw": twice }]));
}

#[test]
fn exits_at_once() {
    let played = go(&json!({ "startup": [{ "stderr": "no licence" }, { "exit": 3 }] }));
    match played.finished() {
        Err(Failure::Died { exit: Exit::Code(3), last_words: stderr, .. }) => {
            assert_eq!(stderr, ["no licence"]);
        }
        other => panic!("{other:?}"),
    }
    assert!(played.transcript().contains("> **fake ended unexpectedly: exit code 3**"));
    assert_eq!(played.world.summary(played.session).state, "failed");
    // Each prompt tries again.
    let again = played.world.prompt(played.session, "again");
    assert!(matches!(played.world.finished(again), Err(Failure::Died { .. })));
    played.close();
}

#[test]
fn exits_in_a_turn_with_half_a_line() {
    let played = go(&turn(json!([
        { "say": "I was" }, { "raw": { "text": BEFORE, "end": "" } }, { "kill_self": "SIGABRT" }
    ])));
    assert!(matches!(played.finished(), Err(Failure::Died { exit: Exit::Signal(6), .. })));
    assert!(played.transcript().starts_with(said("I was").trim_end()));
    // The fresh agent counts its turns anew: it dies of the first again.
    let again = played.world.prompt(played.session, "again");
    assert!(matches!(played.world.finished(again), Err(Failure::Died { .. })));
    played.world.all_settled();
    assert_eq!(played.world.report().violations(), Vec::<String>::new());
}

/// It can't say anything any more, and does not end: the user can end it.
#[test]
fn closes_stdout_and_lives_on() {
    let played = go(&turn(json!([
        { "say": "last words" }, { "close_stdout": true }, { "write_file": { "path": "mute", "text": "" } }
    ])));
    played.world.until("mute", |world| world.exists("mute").then_some(()));
    played.world.shows(played.session, "last words");
    played.world.wish(Wish::Kill(played.session));
    assert!(matches!(played.finished(), Err(Failure::Killed { .. })));
    played.world.all_settled();
}

/// Nobody can know that the answer was meant for the turn; the user can end it.
#[test]
fn wrong_id_echoed() {
    let wrong = json!({ "reply": { "id": 999, "result": { "stopReason": "end_turn" } } });
    let played = go(&turn(json!([wrong, { "say": "done" }])));
    played.world.shows(played.session, "done");
    assert_eq!(played.world.summary(played.session).state, "running");
    played.world.wish(Wish::Kill(played.session));
    assert!(matches!(played.finished(), Err(Failure::Killed { .. })));
    assert_eq!(played.world.report().violations(), Vec::<String>::new());
    played.world.all_settled();
}

/// Ids as others write numbers.
#[test]
fn id_echoed_in_another_form() {
    for id in ["\"{{id}}\"", "{{id}}.0"] {
        let line = format!(r#"{{"result":{{"stopReason":"end_turn"}},"id":{id}}}"#);
        go(&turn(json!([{ "say": "one" }, { "reply_raw": line }]))).says("one");
    }
}

#[test]
fn result_and_error() {
    let line = r#"{"jsonrpc":"2.0","id":{{id}},"result":{"stopReason":"end_turn"},"error":{"code":-32603,"message":"both"}}"#;
    let played = go(&turn(json!([{ "say": "one" }, { "reply_raw": line }])));
    match played.finished() {
        Err(Failure::TurnFailed { error, .. }) => assert_eq!(error.message, "both"),
        other => panic!("{other:?}"),
    }
    played.goes_on();
    played.close();
}

#[test]
fn error_null() {
    let line = r#"{"jsonrpc":"2.0","id":{{id}},"result":{"stopReason":"end_turn"},"error":null}"#;
    played_with(json!([{ "say": "one" }, { "reply_raw": line }]));
}

#[test]
fn neither_result_nor_error() {
    played_with(json!([{ "say": "one" }, { "reply_raw": r#"{"jsonrpc":"2.0","id":{{id}}}"# }]));
}

#[test]
fn error_without_a_code() {
    for error in [r#""out of credit""#, r#"{"message":"out of credit","code":"x"}"#] {
        let line = format!(r#"{{"id":{{{{id}}}},"error":{error}}}"#);
        let played = go(&turn(json!([{ "reply_raw": line }])));
        match played.finished() {
            Err(Failure::TurnFailed { error, .. }) => assert_eq!(error.message, "out of credit"),
            other => panic!("{other:?}"),
        }
        played.goes_on();
        played.close();
    }
}

#[test]
fn answered_twice() {
    let line = r#"{"jsonrpc":"2.0","id":{{id}},"result":{"stopReason":"refusal"}}"#;
    played_with(json!([{ "say": "one" }, { "reply": {} }, { "raw": line }, { "raw": line }]));
}

/// Ids of requests come back as they were written.
#[test]
fn odd_ids_of_requests() {
    let ids = [json!("a-b"), json!(-7), json!(0), json!("0"), json!(9_007_199_254_740_993_u64)];
    let steps: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "request": { "method": "_unheard", "id": id, "timeout_ms": 20000 } }))
        .collect();
    let played = go(&turn(steps.into()));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    for id in ids {
        assert_eq!(report.answer(&id)["error"]["code"], -32601);
    }
    assert_eq!(report.answers().len(), 5);
}
