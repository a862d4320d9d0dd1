//! Turns: how they are cancelled and how they end, rightly or wrongly.

use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::Wish;
use acp_nvim::session::failure::Failure;
use serde_json::{Value, json};

use crate::world::{Played, go, said, turn};

/// An agent at work until it is cancelled, which then does this.
fn cancelled(on_cancel: &Value) -> Played {
    let played = go(&json!({ "prompts": [{
        "turn": 1,
        "steps": [
            { "update": { "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Work", "status": "in_progress" } },
            { "say": "working" }, { "sleep_ms": 600_000 },
        ],
        "on_cancel": on_cancel
    }] }));
    played.world.shows(played.session, "working");
    played.cancel();
    played
}

#[test]
fn hangs_until_cancel() {
    let played = cancelled(&json!([{ "say": ", stopped" }]));
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    let text = played.transcript();
    assert!(text.contains("⊘ other: Work") && text.contains("working, stopped"), "{text}");
    assert!(text.ends_with("*cancelled*\n"), "{text}");
    played.goes_on();
    let report = played.close();
    assert_eq!(report.calls("session/cancel").len(), 1);
}

#[test]
fn cancel_answered_with_an_error() {
    for code in [-32603, -32800, -32000] {
        let error = json!({ "code": code, "message": "aborted", "data": { "details": "aborted" } });
        let played = cancelled(&json!([{ "reply": { "error": error } }]));
        assert_eq!(played.finished(), Ok(StopReason::Cancelled), "{code}");
        assert!(!played.transcript().contains("aborted"));
        played.goes_on();
        played.close();
    }
}

#[test]
fn cancel_answered_with_a_wrong_stop_reason() {
    let played = cancelled(&json!([{ "reply": { "stop": "end_turn" } }]));
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    played.goes_on();
    played.close();
}

/// What the agent finishes although it was cancelled is shown as finished.
#[test]
fn work_that_ends_after_the_cancel() {
    let done = json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" } });
    let played = cancelled(&json!([done]));
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    assert!(played.transcript().contains("● other: Work"), "{}", played.transcript());
    played.close();
}

/// Several cancels are one; a deaf agent can be killed; the next prompt starts it again.
#[test]
fn cancel_ignored() {
    let played = cancelled(&json!([{ "hang": true }]));
    played.cancel();
    let heard = || played.world.report().calls("session/cancel").len();
    played.world.until("the cancel", |_| (heard() == 1).then_some(()));
    assert_eq!(played.world.summary(played.session).state, "cancelling");
    played.world.wish(Wish::Kill(played.session));
    assert!(matches!(played.finished(), Err(Failure::Killed { .. })));
    let report = played.world.report();
    assert_eq!(report.calls("session/cancel").len(), 1);
    assert_eq!(report.violations(), Vec::<String>::new());
    played.world.all_settled();
}

#[test]
fn cancelled_before_it_was_sent() {
    let played = go(&json!({ "on": { "session/new": [{ "wait_file": "go on" }] } }));
    played.cancel();
    assert_eq!(played.finished(), Err(Failure::Withdrawn));
    std::fs::write(played.world.path("go on"), "").unwrap();
    played.goes_on();
    let report = played.close();
    assert_eq!(report.calls("session/prompt").len(), 1);
    assert!(report.calls("session/cancel").is_empty());
}

/// Agents differ in what they do with two prompts at once, so they get one after the other.
#[test]
fn prompts_wait_for_their_turn() {
    let played = go(&json!({ "prompts": [
        { "turn": 1, "steps": [{ "say": "one" }, { "wait_file": "go on" }] },
        { "steps": [{ "say": "two" }] }
    ] }));
    played.world.shows(played.session, "one");
    let second = played.world.prompt(played.session, "and");
    let queued = |_: &_| (played.world.summary(played.session).queued == 1).then_some(());
    played.world.until("queued", queued);
    std::fs::write(played.world.path("go on"), "").unwrap();
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert_eq!(played.world.finished(second), Ok(StopReason::EndTurn));
    assert_eq!(played.transcript(), format!("{}\n## You\n\nand\n\n## fake\n\ntwo\n", said("one")));
    played.close();
}

#[test]
fn echo_of_user_prompt_during_turn() {
    let played =
        go(&turn(json!([{ "user": "{{prompt}}" }, { "say": "one" }, { "user": "{{prompt}}" }])));
    played.says("one");
}

#[test]
fn tool_update_for_unknown_id() {
    let update = |id: &str, status: &str, title: Value| json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": id, "kind": "read", "status": status, "title": title } });
    let late = json!({ "update": { "sessionUpdate": "tool_call", "toolCallId": "known", "title": "Read b", "kind": "read", "status": "pending" } });
    let played = go(&turn(json!([
        update("unheard", "completed", json!("Read a")),
        update("nameless", "failed", json!(null)),
        update("known", "completed", json!("Read b")),
        late,
    ])));
    played.says("● read: Read a\n\n✗ read: read\n\n● read: Read b");
}

#[test]
fn stop_reasons() {
    let reasons = [
        ("max_tokens", StopReason::MaxTokens, "limit of tokens"),
        ("max_turn_requests", StopReason::MaxTurnRequests, "limit of requests"),
        ("refusal", StopReason::Refusal, "refused to go on"),
        ("cancelled", StopReason::Cancelled, "cancelled"),
        ("bored", StopReason::Other("bored".into()), "stopped: bored"),
    ];
    for (word, reason, shown) in reasons {
        let played = go(&json!({ "prompts": [{ "turn": 1, "stop": word }] }));
        assert_eq!(played.finished(), Ok(reason));
        assert!(played.transcript().contains(shown), "{}", played.transcript());
        played.goes_on();
        played.close();
    }
}

#[test]
fn no_stop_reason() {
    for result in [json!(null), json!({}), json!({ "stopReason": null })] {
        let played = go(
            &json!({ "prompts": [{ "turn": 1, "steps": [{ "say": "one" }, { "reply": { "result": result } }] }] }),
        );
        played.says("one");
    }
}

#[test]
fn the_model_is_down() {
    let error = json!({ "code": -32603, "message": "Internal error", "data": { "details": "model is down" } });
    let played = go(&json!({ "prompts": [{ "turn": 1, "error": error }] }));
    match played.finished() {
        Err(Failure::TurnFailed { error, .. }) => {
            assert_eq!(error.details.as_deref(), Some("model is down"));
        }
        other => panic!("{other:?}"),
    }
    assert!(played.transcript().contains("model is down"));
    played.goes_on();
    played.close();
}

/// Kinds of updates that nobody has heard of change nothing.
#[test]
fn unknown_updates_and_methods() {
    let kinds = ["mystery", "async_task_started", "state_update", "terminal_update"];
    let mut steps: Vec<Value> =
        kinds.iter().map(|kind| json!({ "update": { "sessionUpdate": kind, "x": [1] } })).collect();
    steps.push(json!({ "notify": { "method": "qwen/notify/x", "params": { "a": 1 } } }));
    steps.push(json!({ "notify": { "method": "_auth/status_update" } }));
    steps.push(json!({ "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "" } } }));
    steps.push(json!({ "request": { "method": "craft/drainMidTurnQueue", "id": "uuid" } }));
    steps.push(json!({ "say": "one" }));
    let report = go(&turn(steps.into())).says("one");
    assert_eq!(report.answer(&json!("uuid"))["error"]["code"], -32601);
}
