//! Agents that want a login first.

use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::Wish;
use acp_nvim::session::failure::Failure;
use acp_nvim::session::question::{FieldValue, Reaction};
use serde_json::{Value, json};

use crate::world::{Played, go};

fn want_login() -> Value {
    json!({ "reply": { "error": { "code": -32000, "message": "log in" } } })
}

/// Refuses `method` until `authenticate` has been called.
fn gated(method: &str) -> Value {
    let gate = json!({ "if": { "when": { "logged_in": false }, "then": [want_login()] } });
    json!({
        "vars": { "logged_in": false },
        "on": {
            "initialize": { "merge": { "authMethods": [{ "id": "key", "name": "API key" }] } },
            "authenticate": [{ "set": { "logged_in": true } }],
            method: [gate],
        }
    })
}

fn wanted(played: &Played) -> Vec<String> {
    played.world.told("a login is wanted", |it| match it {
        Tell::LoginRequired { methods, .. } => {
            Some(methods.iter().map(|it| it.id.clone()).collect())
        }
        _ => None,
    })
}

fn log_in(played: &Played, method: &str) {
    played.world.wish(Wish::LogIn { session: played.session, method: method.to_owned() });
}

#[test]
fn auth_gated() {
    let played = go(&gated("session/new"));
    assert_eq!(wanted(&played), ["key"]);
    assert_eq!(played.world.summary(played.session).state, "waiting");
    log_in(&played, "key");
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    played.goes_on();
    let report = played.close();
    assert_eq!(report.calls("authenticate").len(), 1);
    assert_eq!(report.calls("authenticate")[0]["methodId"], "key");
    assert_eq!(report.calls("session/new").len(), 2);
    assert_eq!(report.calls("session/prompt").len(), 2);
}

/// The login is wanted for the prompt only: the session is there already, and stays.
fn gated_at_the_prompt(refusal: &Value, capabilities: &Value) {
    let mut scenario = gated("session/prompt");
    scenario["on"]["session/prompt"] = json!([
        { "if": { "when": { "logged_in": false }, "then": [refusal], "else": [{ "say": "hello" }] } }
    ]);
    scenario["capabilities"] = capabilities.clone();
    let played = go(&scenario);
    assert_eq!(wanted(&played), ["key"]);
    log_in(&played, "key");
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert!(played.transcript().ends_with("hello\n"));
    assert_eq!(played.transcript().matches("## You").count(), 1);
    let report = played.close();
    assert_eq!(report.calls("session/new").len(), 1);
    assert!(report.calls("session/load").is_empty());
    let prompts = report.calls("session/prompt");
    assert_eq!(prompts.len(), 2);
    assert_eq!(prompts[0], prompts[1], "the prompt is said again as it was");
}

#[test]
fn auth_gated_at_the_prompt() {
    gated_at_the_prompt(&want_login(), &json!({}));
}

#[test]
fn auth_gated_at_the_prompt_by_a_stop_reason() {
    gated_at_the_prompt(&json!({ "reply": { "stop": "auth_required" } }), &json!({}));
}

#[test]
fn auth_gated_at_the_prompt_by_an_agent_that_can_load() {
    gated_at_the_prompt(&want_login(), &json!({ "loadSession": true }));
}

/// A form about our `authenticate`, before there is any session.
#[test]
fn elicitation_while_logging_in() {
    let mut scenario = gated("session/new");
    let schema = json!({ "type": "object", "properties": { "code": { "type": "string" } }, "required": ["code"] });
    scenario["on"]["authenticate"] = json!([
        { "request": {
            "method": "elicitation/create", "id": "form", "save": "form",
            "params": { "requestId": "{{id}}", "mode": "form", "message": "The code?", "requestedSchema": schema },
        } },
        { "set": { "logged_in": "{{form.content.code}}" } },
    ]);
    let played = go(&scenario);
    wanted(&played);
    log_in(&played, "key");
    let (ask, question) = played.world.asked(0);
    assert_eq!(question.session, played.session);
    let code = vec![("code".to_owned(), FieldValue::Text("1234".into()))];
    played.world.answer(ask, Reaction::Accept(code));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    assert_eq!(report.answer(&json!("form"))["result"]["content"], json!({ "code": "1234" }));
}

/// The login fails; the user may try again.
#[test]
fn auth_refused_once() {
    let mut scenario = gated("session/new");
    let refused = json!({ "reply": { "error": { "code": -32603, "message": "wrong key" } } });
    scenario["on"]["authenticate"] = json!([
        { "if": { "when": { "call": 1 }, "then": [refused], "else": [{ "set": { "logged_in": true } }] } }
    ]);
    let played = go(&scenario);
    wanted(&played);
    log_in(&played, "key");
    let asked = |it: &Tell| matches!(it, Tell::LoginRequired { .. });
    played.world.until("asked again", |world| (world.count(asked) == 2).then_some(()));
    assert!(played.transcript().contains("wrong key"));
    log_in(&played, "key");
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    played.close();
}

/// The agent waits for a browser, and the user thinks better of it.
#[test]
fn login_cancelled() {
    let mut scenario = gated("session/new");
    scenario["on"]["authenticate"] =
        json!([{ "write_file": { "path": "waits", "text": "" } }, { "wait_cancel": true }]);
    let played = go(&scenario);
    wanted(&played);
    log_in(&played, "key");
    played.world.until("the browser", |world| world.exists("waits").then_some(()));
    played.cancel();
    assert!(matches!(played.finished(), Err(Failure::NotLoggedIn { .. })));
    let report = played.close();
    assert_eq!(report.calls("$/cancel_request").len(), 1);
}

#[test]
fn no_way_to_log_in() {
    let played = go(&json!({ "on": { "session/new": [want_login()] } }));
    match played.finished() {
        Err(Failure::Refused { error, .. }) => assert_eq!(error.message, "log in"),
        other => panic!("{other:?}"),
    }
    played.close();
}

/// A login in a terminal leaves something that the agent finds at its next start.
fn terminal_login(method: &Value, command: &[&str]) {
    let gate =
        json!({ "wait_file": { "path": "token", "timeout_ms": 1, "otherwise": [want_login()] } });
    let played = go(&json!({
        "on": {
            "initialize": { "merge": { "authMethods": [method] } },
            "session/new": [gate],
        },
        "prompts": [{ "steps": [{ "say": "hello" }] }]
    }));
    assert_eq!(wanted(&played), ["term"]);
    log_in(&played, "term");
    let world = &played.world;
    let login = world.told("a terminal", |it| match it {
        Tell::LoginInTerminal { command, env, cwd, .. } => {
            Some((command.clone(), env.clone(), cwd.clone()))
        }
        _ => None,
    });
    let tail: Vec<&str> =
        login.0.iter().rev().take(command.len()).rev().map(String::as_str).collect();
    assert_eq!(tail, command);
    assert_eq!(login.1, [("HOW".to_owned(), "terminal".to_owned())]);
    assert_eq!(login.2, world.folder.path().to_string_lossy());
    // The first time it fails.
    world.wish(Wish::LoggedIn { session: played.session, ok: false });
    let asked = |it: &Tell| matches!(it, Tell::LoginRequired { .. });
    world.until("asked again", |world| (world.count(asked) == 2).then_some(()));
    log_in(&played, "term");
    std::fs::write(world.path("token"), "").unwrap();
    world.wish(Wish::LoggedIn { session: played.session, ok: true });
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert!(played.transcript().ends_with("hello\n"));
    let report = played.close();
    assert!(report.calls("authenticate").is_empty(), "such a login is not the agent's");
    assert_eq!(report.calls("initialize").len(), 2);
    assert_eq!(report.calls("session/prompt").len(), 1);
}

#[test]
fn terminal_auth() {
    let method = json!({ "id": "term", "name": "Terminal", "type": "terminal", "args": ["--login"], "env": { "HOW": "terminal" } });
    terminal_login(&method, &["--login"]);
}

#[test]
fn terminal_auth_the_old_way() {
    let login = json!({ "command": "/bin/agent", "args": ["login"], "env": { "HOW": "terminal" }, "label": "Login" });
    let method = json!({ "id": "term", "name": "Terminal", "_meta": { "terminal-auth": login } });
    terminal_login(&method, &["/bin/agent", "login"]);
}

#[test]
fn auth_by_variables() {
    let method =
        json!({ "id": "env", "name": "Key", "type": "env_var", "vars": [{ "name": "FAKE_KEY" }] });
    let played = go(&json!({ "on": {
        "initialize": { "merge": { "authMethods": [method] } },
        "session/new": [want_login()],
    } }));
    wanted(&played);
    log_in(&played, "env");
    match played.finished() {
        Err(Failure::NotLoggedIn { variables, .. }) => assert_eq!(variables, ["FAKE_KEY"]),
        other => panic!("{other:?}"),
    }
    let report = played.close();
    assert!(report.calls("authenticate").is_empty());
}
