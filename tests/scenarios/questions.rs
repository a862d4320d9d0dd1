//! What agents ask of the editor and the user: files, permissions, forms, addresses.

use acp_nvim::session::entry::StopReason;
use acp_nvim::session::question::{Body, ElicitationMode, FieldValue, FileRange, Reaction};
use serde_json::{Value, json};

use crate::world::{Played, go, turn};

fn permission(id: &str) -> Value {
    json!({
        "method": "session/request_permission",
        "id": id,
        "params": {
            "toolCall": { "toolCallId": id, "title": format!("Edit {id}"), "kind": "edit" },
            "options": [
                { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
                { "optionId": "no", "name": "Reject", "kind": "reject_once" }
            ]
        }
    })
}

/// The same request, with more fields.
fn with(request: Value, more: Value) -> Value {
    let mut request = request;
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "request": request })
}

fn waiting(played: &Played, number: usize) {
    let pending = |_: &_| {
        let summary = played.world.summary(played.session);
        (summary.pending_permissions == number).then_some(())
    };
    played.world.until("questions that wait", pending);
}

#[test]
fn permission_given() {
    let played = go(&turn(json!([with(
        permission("a"),
        json!({
            "answered": [{ "when": { "outcome": { "outcome": "selected", "optionId": "yes" } }, "steps": [{ "say": "so be it" }] }]
        })
    ),])));
    let (ask, question) = played.world.asked(0);
    let Body::Permission(permission) = question.body else { panic!("{question:?}") };
    assert_eq!((permission.title.as_str(), permission.kind.as_str()), ("Edit a", "edit"));
    waiting(&played, 1);
    // An option that was not offered is no answer, and a second answer is none either.
    for option in ["maybe", "yes", "no"] {
        played.world.answer(ask, Reaction::Option(option.into()));
    }
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    waiting(&played, 0);
    assert!(played.transcript().ends_with("so be it\n"), "{}", played.transcript());
    let report = played.close();
    assert_eq!(report.answers().len(), 1);
}

#[test]
fn permission_pending_and_cancel() {
    let played = go(&turn(json!([with(permission("a"), json!({}))])));
    let (ask, _) = played.world.asked(0);
    waiting(&played, 1);
    played.cancel();
    // Too late.
    played.world.answer(ask, Reaction::Option("yes".into()));
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    waiting(&played, 0);
    played.goes_on();
    let report = played.close();
    assert_eq!(report.answer(&json!("a"))["result"]["outcome"], json!({ "outcome": "cancelled" }));
}

/// It asks although it has been told to stop.
#[test]
fn permission_after_the_cancel() {
    let played = go(&turn(json!([
        { "say": "working" },
        { "wait_cancel": { "then": [with(permission("a"), json!({ "timeout_ms": 20000, "answered": [{ "steps": [] }], "otherwise": [{ "exit": 1 }] }))] } },
    ])));
    played.world.shows(played.session, "working");
    played.cancel();
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    let report = played.close();
    assert_eq!(report.answer(&json!("a"))["result"]["outcome"], json!({ "outcome": "cancelled" }));
}

/// The same for a form.
#[test]
fn elicitation_after_the_cancel() {
    let form = json!({ "method": "elicitation/create", "id": "f", "params": { "mode": "form", "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } } });
    let played = go(&turn(json!([
        { "say": "working" },
        { "wait_cancel": { "then": [with(form, json!({ "timeout_ms": 5000, "answered": [{ "steps": [] }], "otherwise": [{ "exit": 1 }] }))] } },
    ])));
    played.world.shows(played.session, "working");
    played.cancel();
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    let report = played.close();
    assert_eq!(report.answer(&json!("f"))["result"], json!({ "action": "cancel" }));
}

#[test]
fn two_permissions_at_once() {
    let played = go(&turn(json!([
        with(permission("a"), json!({ "no_wait": true, "as": "a" })),
        with(permission("b"), json!({ "no_wait": true, "as": "b" })),
        { "await": { "as": "b", "save": "b" } },
        { "await": { "as": "a", "save": "a" } },
        { "say": "{{a.outcome.optionId}} {{b.outcome.optionId}}" },
    ])));
    let ((first, _), (second, _)) = (played.world.asked(0), played.world.asked(1));
    waiting(&played, 2);
    played.world.answer(second, Reaction::Option("no".into()));
    waiting(&played, 1);
    played.world.answer(first, Reaction::Option("yes".into()));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert!(played.transcript().ends_with("yes no\n"), "{}", played.transcript());
    let report = played.close();
    assert_eq!(report.answers().len(), 2);
}

#[test]
fn permission_withdrawn_by_the_agent() {
    let played = go(&turn(json!([
        with(permission("a"), json!({ "no_wait": true, "as": "a" })),
        { "wait_file": "go on" },
        { "notify": { "method": "$/cancel_request", "params": { "requestId": "a" } } },
        { "await": { "as": "a", "timeout_ms": 20000, "answered": [{ "steps": [] }], "otherwise": [{ "exit": 1 }] } },
        { "say": "never mind" },
    ])));
    waiting(&played, 1);
    std::fs::write(played.world.path("go on"), "").unwrap();
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    waiting(&played, 0);
    let report = played.close();
    assert_eq!(report.answer(&json!("a"))["result"]["outcome"], json!({ "outcome": "cancelled" }));
}

/// The agent goes with a question open: nobody is left with it.
#[test]
fn permission_open_when_the_agent_dies() {
    let played = go(&turn(json!([
        with(permission("a"), json!({ "no_wait": true, "as": "a" })), { "wait_file": "go on" }, { "exit": 1 }
    ])));
    waiting(&played, 1);
    std::fs::write(played.world.path("go on"), "").unwrap();
    assert!(played.finished().is_err());
    waiting(&played, 0);
    played.world.all_settled();
}

fn read(id: &str, params: Value) -> Value {
    json!({ "request": { "method": "fs/read_text_file", "id": id, "params": params } })
}

#[test]
fn fs_read() {
    let played = go(&turn(json!([
        { "write_file": { "path": "a.txt", "text": "1\n2\n3\n4\n" } },
        read("buffer", json!({ "path": "{{cwd}}/a.txt" })),
        read("disk", json!({ "path": "{{cwd}}/a.txt", "line": 2, "limit": 2 })),
        read("relative", json!({ "path": "a.txt", "line": null, "limit": null })),
        read("missing", json!({ "path": "{{cwd}}/b.txt" })),
        read("nothing", json!({})),
    ])));
    let world = &played.world;
    let (ask, question) = world.asked(0);
    let path = world.path("a.txt");
    assert_eq!(
        question.body,
        Body::Read(FileRange { path: path.clone(), line: None, limit: None })
    );
    world.answer(ask, Reaction::Text("unsaved".into()));
    let (ask, question) = world.asked(1);
    assert_eq!(question.body, Body::Read(FileRange { path, line: Some(2), limit: Some(2) }));
    world.answer(ask, Reaction::NotLoaded);
    world.answer(world.asked(2).0, Reaction::NotLoaded);
    world.answer(world.asked(3).0, Reaction::NotLoaded);
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    let content = |id: &str| report.answer(&json!(id))["result"]["content"].clone();
    assert_eq!(content("buffer"), "unsaved");
    assert_eq!(content("disk").as_str().unwrap().trim_end(), "2\n3");
    assert_eq!(content("relative"), "1\n2\n3\n4\n");
    assert_eq!(report.answer(&json!("missing"))["error"]["code"], -32002);
    assert_eq!(report.answer(&json!("nothing"))["error"]["code"], -32602);
}

#[test]
fn fs_write() {
    let write = |id: &str, path: &str| json!({ "request": { "method": "fs/write_text_file", "id": id, "params": { "path": path, "content": "new\n" } } });
    let played = go(&turn(json!([
        write("buffer", "{{cwd}}/a.txt"),
        write("disk", "{{cwd}}/deep/er/b.txt"),
        write("refused", "{{cwd}}/c.txt"),
    ])));
    let world = &played.world;
    let (ask, question) = world.asked(0);
    assert_eq!(question.body, Body::Write { path: world.path("a.txt"), text: "new\n".into() });
    world.answer(ask, Reaction::Done);
    world.answer(world.asked(1).0, Reaction::NotLoaded);
    world.answer(world.asked(2).0, Reaction::Failed("read only".into()));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert!(!world.exists("a.txt"), "the editor has it");
    assert_eq!(std::fs::read_to_string(world.path("deep/er/b.txt")).unwrap(), "new\n");
    let report = played.close();
    assert_eq!(report.answer(&json!("buffer"))["result"], json!({}));
    assert_eq!(report.answer(&json!("disk"))["result"], json!({}));
    assert_eq!(report.answer(&json!("refused"))["error"]["message"], "read only");
}

/// A cancel does not leave a read unanswered.
#[test]
fn fs_read_pending_and_cancel() {
    let played = go(&turn(json!([read("r", json!({ "path": "/etc/hostname" }))])));
    let (ask, _) = played.world.asked(0);
    played.cancel();
    assert_eq!(played.finished(), Ok(StopReason::Cancelled));
    played.world.answer(ask, Reaction::Text("late".into()));
    let report = played.close();
    assert_eq!(report.answers().len(), 1);
}

#[test]
fn elicitation_form() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Name" }, "age": { "type": "integer" },
            "ok": { "type": "boolean" }, "tags": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] } },
        },
        "required": ["name"]
    });
    let form = |id: &str| json!({ "request": { "method": "elicitation/create", "id": id, "params": { "mode": "form", "message": "Who?", "requestedSchema": schema } } });
    let played = go(&turn(json!([form("accept"), form("decline"), form("dismiss")])));
    let world = &played.world;
    let (ask, question) = world.asked(0);
    let Body::Elicitation(elicitation) = question.body else { panic!("{question:?}") };
    let ElicitationMode::Form(fields) = elicitation.mode else { panic!("{elicitation:?}") };
    assert_eq!(elicitation.message, "Who?");
    let found: Vec<_> = fields.iter().map(|it| (it.name.as_str(), it.required)).collect();
    assert_eq!(found, [("name", true), ("age", false), ("ok", false), ("tags", false)]);
    let values = vec![
        ("name".to_owned(), FieldValue::Text("Ada".into())),
        ("age".to_owned(), FieldValue::Integer(36)),
        ("ok".to_owned(), FieldValue::Boolean(true)),
        ("tags".to_owned(), FieldValue::List(vec!["x".into()])),
    ];
    world.answer(ask, Reaction::Accept(values));
    world.answer(world.asked(1).0, Reaction::Decline);
    world.answer(world.asked(2).0, Reaction::Dismiss);
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    let result = |id: &str| report.answer(&json!(id))["result"].clone();
    let content = json!({ "name": "Ada", "age": 36, "ok": true, "tags": ["x"] });
    assert_eq!(result("accept"), json!({ "action": "accept", "content": content }));
    assert_eq!(result("decline"), json!({ "action": "decline" }));
    assert_eq!(result("dismiss"), json!({ "action": "cancel" }));
}

fn visit(id: &str, url: &str) -> Value {
    json!({ "method": "elicitation/create", "id": id, "params": { "mode": "url", "message": "Log in", "elicitationId": format!("e-{id}"), "url": url } })
}

/// A visit has no tool call to be shown at: the chat says what was asked.
const VISITED: &str =
    "## You\n\ngo\n\n*fake asks: Log in https://example.org/login*\n\n## fake\n\none\n";

#[test]
fn url_elicitation_completed_twice() {
    let complete = json!({ "notify": { "method": "elicitation/complete", "params": { "elicitationId": "e-u" } } });
    let played = go(&turn(json!([
        with(visit("u", "https://example.org/login"), json!({})), complete, complete, { "say": "one" },
    ])));
    let (ask, question) = played.world.asked(0);
    let Body::Elicitation(elicitation) = question.body else { panic!("{question:?}") };
    let url = "https://example.org/login".to_owned();
    assert_eq!(elicitation.mode, ElicitationMode::Url { id: "e-u".into(), url });
    played.world.answer(ask, Reaction::Accept(vec![]));
    let report = played.shows(VISITED);
    assert_eq!(report.answers().len(), 1);
    assert_eq!(report.answer(&json!("u"))["result"]["action"], "accept");
}

/// The visit is done before anybody has answered the question about it.
#[test]
fn url_elicitation_completed_while_open() {
    let complete = json!({ "notify": { "method": "elicitation/complete", "params": { "elicitationId": "e-u" } } });
    let played = go(&turn(json!([
        with(visit("u", "https://example.org/login"), json!({ "no_wait": true, "as": "u" })),
        { "wait_file": "go on" }, complete, complete, { "await": "u" }, { "say": "one" },
    ])));
    waiting(&played, 1);
    std::fs::write(played.world.path("go on"), "").unwrap();
    let report = played.shows(VISITED);
    assert_eq!(report.answers().len(), 1);
    assert_eq!(report.answer(&json!("u"))["result"]["action"], "accept");
}

#[test]
fn elicitations_that_nobody_can_answer() {
    let odd = json!({ "method": "elicitation/create", "id": "odd", "params": { "mode": "smell", "message": "?" } });
    let played = go(&turn(json!([
        with(visit("file", "file:///etc/passwd"), json!({})), with(odd, json!({})), { "say": "one" },
    ])));
    let report = played.says("one");
    assert_eq!(report.answer(&json!("file"))["error"]["code"], -32602);
    assert_eq!(report.answer(&json!("odd"))["error"]["code"], -32602);
}
