//! Commands that agents run with us, and terminals of their own.

use acp_nvim::session::entry::StopReason;
use serde_json::{Value, json};

use crate::world::{go, turn};

fn create(params: Value) -> Value {
    json!({ "request": { "method": "terminal/create", "id": "create", "params": params, "save": "t" } })
}

/// A request about the last terminal that was created.
fn about(verb: &str, id: &str) -> Value {
    json!({ "request": { "method": format!("terminal/{verb}"), "id": id, "params": { "terminalId": "{{t.terminalId}}" } } })
}

#[test]
fn a_command_from_beginning_to_end() {
    let played = go(&turn(json!([
        create(json!({ "command": "sh", "args": ["-c", "printf \"$WHO in $PWD\"; exit 3"], "env": [{ "name": "WHO", "value": "me" }] })),
        { "update": { "sessionUpdate": "tool_call", "toolCallId": "c", "title": "sh", "kind": "execute", "status": "in_progress", "content": [{ "type": "terminal", "terminalId": "{{t.terminalId}}" }] } },
        about("wait_for_exit", "wait"), about("output", "output"),
        about("kill", "kill"), about("output", "output again"),
        about("release", "release"), about("output", "released"), about("wait_for_exit", "nobody"),
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let words = format!("me in {}", played.world.folder.path().display());
    let report = played.close();
    let result = |id: &str| report.answer(&json!(id))["result"].clone();
    assert_eq!(result("wait")["exitCode"], 3);
    for id in ["output", "output again"] {
        let output = result(id);
        assert_eq!((&output["output"], &output["truncated"]), (&json!(words), &json!(false)));
        assert_eq!(output["exitStatus"]["exitCode"], 3);
    }
    assert_eq!((result("kill"), result("release")), (json!({}), json!({})));
    for id in ["released", "nobody"] {
        assert_eq!(report.answer(&json!(id))["error"]["code"], -32602);
    }
}

#[test]
fn a_line_for_the_shell_and_a_limit() {
    let played = go(&turn(json!([
        create(
            json!({ "command": "printf 'x%.0s' 1 2 3; printf '日本'", "args": [], "outputByteLimit": 5 })
        ),
        about("wait_for_exit", "wait"),
        about("output", "output"),
        about("release", "release"),
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    let output = &report.answer(&json!("output"))["result"];
    assert_eq!((&output["output"], &output["truncated"]), (&json!("本"), &json!(true)));
}

#[test]
fn a_command_that_does_not_exist() {
    let played = go(&turn(json!([
        create(json!({ "command": "no-such-program-anywhere", "args": ["x"] })),
        { "if": { "when": { "t.terminalId": { "$exists": true } }, "then": [about("wait_for_exit", "wait"), about("output", "output")] } },
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    assert_eq!(report.answer(&json!("wait"))["result"]["exitCode"], 127);
    let output = &report.answer(&json!("output"))["result"]["output"];
    assert!(output.as_str().is_some_and(|it| it.contains("not found")), "{output}");
}

#[test]
fn kill_while_waiter_pending() {
    let wait = |name: &str| json!({ "request": { "method": "terminal/wait_for_exit", "id": name, "params": { "terminalId": "{{t.terminalId}}" }, "no_wait": true, "as": name } });
    let played = go(&turn(json!([
        create(json!({ "command": "sh", "args": ["-c", "echo begun; sleep 600"] })),
        wait("one"), wait("two"), about("kill", "kill"), { "await": "one" }, { "await": "two" },
        about("output", "output"), about("release", "release"),
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    let one = &report.answer(&json!("one"))["result"];
    assert!(one["signal"].is_string() || one["exitCode"].as_u64() > Some(0), "{one}");
    assert_eq!(&report.answer(&json!("two"))["result"], one);
    assert_eq!(&report.answer(&json!("output"))["result"]["exitStatus"], one);
    assert_eq!(report.answers().len(), 6);
}

/// Who waits for a command when it is released hears how it ended.
#[test]
fn release_while_waiter_pending() {
    let wait = json!({ "request": { "method": "terminal/wait_for_exit", "id": "wait", "params": { "terminalId": "{{t.terminalId}}" }, "no_wait": true, "as": "w" } });
    let played = go(&turn(json!([
        create(json!({ "command": "sleep", "args": ["600"] })),
        wait, about("release", "release"), { "await": "w" }, { "say": "one" },
    ])));
    let report = played.says("one");
    assert_eq!(report.answers().len(), 3);
}

/// A turn is cancelled while a command runs, then the session closes: nobody is left waiting.
#[test]
fn waiter_pending_and_cancel() {
    let wait = json!({ "request": { "method": "terminal/wait_for_exit", "id": "wait", "params": { "terminalId": "{{t.terminalId}}" }, "no_wait": true, "as": "wait" } });
    let played = go(&turn(json!([
        create(json!({ "command": "sh", "args": ["-c", "echo $$ > pid; sleep 600"] })),
        wait, { "say": "waiting" }, { "await": "wait" }
    ])));
    let pid = played.world.until("the command", |world| {
        let pid = std::fs::read_to_string(world.path("pid")).ok()?;
        Some(pid.trim().to_owned()).filter(|it| !it.is_empty())
    });
    played.world.until("the wait", |_| played.transcript().contains("waiting").then_some(()));
    played.cancel();
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    played.goes_on();
    let report = played.close();
    assert_eq!(report.answers().len(), 2);
    let process = std::path::Path::new("/proc").join(pid);
    played.world.until("the end of the command", |_| (!process.exists()).then_some(()));
}

#[test]
fn a_terminal_nobody_created() {
    let played = go(&turn(json!([
        { "set": { "t": { "terminalId": "mine" } } },
        about("output", "output"), about("wait_for_exit", "wait"), about("kill", "kill"), about("release", "release"),
        { "say": "one" },
    ])));
    let report = played.says("one");
    for id in ["output", "wait", "kill", "release"] {
        assert_eq!(report.answer(&json!(id))["error"]["code"], -32602, "{id}");
    }
}

/// A terminal of the agent's own speaks before anybody has named it.
#[test]
fn terminal_output_before_creation() {
    let news = |meta: Value| json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": meta } });
    let played = go(&turn(json!([
        news(json!({ "terminal_output": { "terminal_id": "own", "data": "early\n" } })),
        { "update": { "sessionUpdate": "tool_call", "toolCallId": "c", "title": "make", "kind": "execute", "status": "in_progress",
            "content": [{ "type": "terminal", "terminalId": "own" }], "_meta": { "terminal_info": { "terminal_id": "own", "cwd": "/" } } } },
        news(json!({ "terminal_output_delta": { "terminal_id": "own", "data": "late\n" } })),
        news(json!({ "terminal_exit": { "terminal_id": "own", "exit_code": 0, "signal": null } })),
        { "update": { "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed" } },
    ])));
    played.says("● execute: make");
}
