//! Agents that speak an older or another form of the protocol, from beginning to end.

use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Ask, Wish};
use acp_nvim::session::question::{Body, PermissionKind, Reaction};
use serde_json::{Value, json};

use crate::world::{go, turn};

/// An update as the old library sends it: its fields stand beside the session's id.
fn flat(fields: Value) -> Value {
    let mut params = fields;
    params.as_object_mut().unwrap().insert("sessionId".into(), "{{sessionId}}".into());
    json!({ "notify": { "method": "session/update", "params": params } })
}

/// An agent of the old library: it refuses today's `initialize`, names sessions and capabilities
/// otherwise, and waits for `shutdown` at the end.
#[test]
fn the_old_library() {
    let refused = json!({ "reply": { "error": { "code": -32602, "message": "protocolVersion must be a string" } } });
    let old = json!({
        "protocolVersion": "1",
        "serverInfo": { "name": "oldie", "version": "0.1" },
        "capabilities": { "sessionModes": ["code", "ask"] }
    });
    let played = go(&json!({
        "strict": false,
        "on": {
            "initialize": {
                "steps": [{ "if": { "when": { "params.protocolVersion": "1" }, "else": [refused] } }],
                "result": old
            },
            "session/new": { "result": { "session": { "id": "{{sessionId}}", "metadata": {} } } },
            "session/set_mode": [],
            "shutdown": []
        },
        "prompts": [{ "turn": 1, "steps": [
            flat(json!({ "type": "thinking", "content": "hm" })),
            flat(json!({ "type": "text", "content": "look" })),
            flat(json!({ "type": "tool_call", "content": { "id": "t", "toolName": "grep", "arguments": { "x": 1 }, "status": "running" } })),
            flat(json!({ "type": "tool_result", "content": { "id": "t", "result": "found", "isError": false } })),
            flat(json!({ "messageChunk": { "role": "assistant", "chunk": "found" } })),
            flat(json!({ "status": "idle" })),
        ], "stop": "completed" }]
    }));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let expected =
        "## You\n\ngo\n\n## Thinking\n\nhm\n\n## fake\n\nlook\n\n● other: grep\n\nfound\n";
    assert_eq!(played.transcript(), expected);
    let settings = played.world.settings(played.session);
    assert_eq!(settings.agent, (Some("oldie".into()), Some("0.1".into())));
    assert_eq!(settings.settings.modes.unwrap().current, "code");
    let ask = Ask::SetMode("ask".into());
    played.world.wish(Wish::Ask { session: played.session, ask, tag: 70 });
    played.world.told("the mode", |it| {
        matches!(it, Tell::AskDone { tag: 70, result: Ok(_), .. }).then_some(())
    });
    played.goes_on();
    played.world.wish(Wish::Close(played.session));
    let report = played.world.until("shutdown", |world| {
        Some(world.report()).filter(|it| it.calls("shutdown").len() == 1)
    });
    let first = report.calls("initialize");
    assert_eq!(first.len(), 2);
    assert_eq!(first[0]["protocolVersion"], 1);
    assert_eq!(first[1]["capabilities"]["fs"]["readTextFile"], true);
    // All that the fake agent, who knows today's form only, has to say about it.
    let about_initialize = |it: &String| it.contains("initialize") || it.contains("`shutdown`");
    assert!(report.violations().iter().all(about_initialize), "{:?}", report.violations());
    played.world.all_settled();
}

#[test]
fn words_for_the_end_of_a_turn() {
    let words = [
        ("endTurn", StopReason::EndTurn),
        ("completed", StopReason::EndTurn),
        ("stopped", StopReason::EndTurn),
        ("tool_use", StopReason::EndTurn),
        ("max_output_tokens", StopReason::MaxTokens),
        ("maxTokens", StopReason::MaxTokens),
        ("error", StopReason::Other("error".into())),
    ];
    for (word, reason) in words {
        let played = go(&json!({ "prompts": [{ "turn": 1, "stop": word }] }));
        assert_eq!(played.finished(), Ok(reason), "{word}");
        played.goes_on();
        played.close();
    }
}

/// The turn ends by a notification, and the answer never comes, or much later.
#[test]
fn end_turn_without_an_answer() {
    let end = json!({ "notify": { "method": "session/end_turn", "params": { "sessionId": "{{sessionId}}", "stopReason": "completed" } } });
    let played = go(&json!({
        "busy": "cancel",
        "prompts": [
            { "turn": 1, "steps": [{ "say": "one" }, end, { "wait_cancel": true }] },
            { "steps": [{ "say": "two" }] }
        ]
    }));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    played.goes_on();
    assert!(played.transcript().ends_with("two\n"));
    let report = played.close();
    assert!(report.calls("session/cancel").is_empty());
}

/// The end comes both ways.
#[test]
fn end_turn_and_an_answer() {
    let end = json!({ "notify": { "method": "session/end_turn", "params": { "sessionId": "{{sessionId}}" } } });
    go(&turn(json!([{ "say": "one" }, end]))).says("one");
    go(&turn(json!([{ "say": "one" }, { "reply": {} }, end]))).says("one");
}

#[test]
fn permission_in_other_words() {
    let options =
        json!([{ "id": "once", "title": "Allow once" }, { "id": "deny", "label": "Deny" }]);
    let played = go(&json!({ "strict": false, "prompts": [{ "turn": 1, "steps": [{ "request": {
        "method": "session/request_permission", "id": 7,
        "params": { "id": "p", "tool": "bash", "description": "Run ls", "options": options },
        "answered": [{ "when": { "optionId": "once" }, "steps": [{ "say": "thanks" }] }],
    } }] }] }));
    let (ask, question) = played.world.asked(0);
    let Body::Permission(permission) = question.body else { panic!("{question:?}") };
    assert_eq!(permission.title, "Run ls");
    let found: Vec<_> =
        permission.options.iter().map(|it| (it.id.as_str(), it.name.as_str(), it.kind)).collect();
    // A yes is never guessed, or something could be allowed by itself.
    let expected = [
        ("once", "Allow once", PermissionKind::Unknown),
        ("deny", "Deny", PermissionKind::RejectOnce),
    ];
    assert_eq!(found, expected);
    played.world.answer(ask, Reaction::Option("once".into()));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert!(played.transcript().ends_with("thanks\n"), "{}", played.transcript());
    played.world.wish(Wish::Close(played.session));
    played.world.told("closed", |it| matches!(it, Tell::Closed(_)).then_some(()));
    played.world.all_settled();
    let report = played.world.report();
    assert_eq!(report.answers().len(), 1);
    assert_eq!(report.answer(&json!(7))["result"]["outcome"]["optionId"], "once");
    // The fake agent looks for options under their proper name only.
    assert!(report.violations().iter().all(|it| it.contains("no such option")));
}

#[test]
fn list_directory() {
    let list = |id: &str, path: &str| json!({ "request": { "method": "fs/list_directory", "id": id, "params": { "path": path } } });
    let played = go(&turn(json!([
        { "write_file": { "path": "sub/deep/a.txt", "text": "a" } },
        { "write_file": { "path": "sub/b.txt", "text": "b" } },
        list("in", "{{cwd}}/sub"), list("relative", "sub/deep"),
        list("gone", "{{cwd}}/nothing"), { "say": "one" },
    ])));
    let report = played.says("one");
    let mut entries = report.answer(&json!("in"))["result"]["entries"].as_array().unwrap().clone();
    entries.sort_by_key(|it| it["name"].to_string());
    let entry = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    assert_eq!(entries, [entry("b.txt", "file"), entry("deep", "directory")]);
    let relative = &report.answer(&json!("relative"))["result"]["entries"];
    assert_eq!(*relative, json!([entry("a.txt", "file")]));
    assert_eq!(report.answer(&json!("gone"))["error"]["code"], -32002);
}

#[test]
fn terminal_run() {
    let run = |id: &str, params: Value| json!({ "request": { "method": "terminal/run", "id": id, "params": params } });
    let played = go(&turn(json!([
        run("args", json!({ "command": "sh", "args": ["-c", "printf out; exit 4"] })),
        run("line", json!({ "command": "printf one && printf two" })),
        run("list", json!({ "command": ["printf", "three"] })), { "say": "one" },
    ])));
    let report = played.says("one");
    let result = |id: &str| report.answer(&json!(id))["result"].clone();
    let ran = |id: &str| (result(id)["output"].clone(), result(id)["exitCode"].clone());
    assert_eq!(ran("args"), (json!("out"), json!(4)));
    assert_eq!(ran("line"), (json!("onetwo"), json!(0)));
    assert_eq!(ran("list"), (json!("three"), json!(0)));
    assert_eq!(result("args")["truncated"], false);
}

/// A login whose end is told by a notification, after an address was given.
#[test]
fn auth_complete() {
    let want = json!({ "reply": { "error": { "code": -32000, "message": "log in" } } });
    let played = go(&json!({
        "vars": { "logged_in": false },
        "on": {
            "initialize": { "merge": { "authMethods": [{ "id": "web", "name": "Browser" }] } },
            "session/new": [{ "if": { "when": { "logged_in": false }, "then": [want] } }],
            "authenticate": [
                { "reply": { "result": { "url": "https://example.org/login" } } },
                { "wait_file": "visited" }, { "set": { "logged_in": true } },
                { "notify": { "method": "auth_complete" } },
            ]
        },
        "prompts": [{ "steps": [{ "say": "hello" }] }]
    }));
    let world = &played.world;
    world.told("a login", |it| matches!(it, Tell::LoginRequired { .. }).then_some(()));
    world.wish(Wish::LogIn { session: played.session, method: "web".into() });
    let url = world.told("the address", |it| match it {
        Tell::OpenUrl { url, .. } => Some(url.clone()),
        _ => None,
    });
    assert_eq!(url, "https://example.org/login");
    std::fs::write(world.path("visited"), "").unwrap();
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let report = played.close();
    assert_eq!(report.calls("authenticate")[0]["authMethodId"], "web");
}

/// A plan, commands and tool calls in other words.
#[test]
fn updates_in_other_words() {
    let update = |fields: Value| json!({ "update": fields });
    let played = go(&turn(json!([
        update(
            json!({ "sessionUpdate": "plan", "plan": { "steps": [{ "id": 1, "description": "Look" }] } })
        ),
        update(
            json!({ "sessionUpdate": "available_commands", "availableCommands": [{ "name": "init", "input": { "unstructured": { "hint": "where" } } }] })
        ),
        update(json!({ "sessionUpdate": "thought_chunk", "content": "hm" })),
        update(
            json!({ "sessionUpdate": "tool_call", "toolCall": { "toolCallId": "a", "title": "Read", "kind": "read", "status": "success", "content": [{ "type": "text", "text": "x" }] } })
        ),
        update(
            json!({ "sessionUpdate": "agent_message_chunk", "content": [{ "type": "text", "text": "o" }, "ne"] })
        ),
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let text = played.transcript();
    assert!(text.contains("## Thinking\n\nhm") && text.contains("● read: Read"), "{text}");
    assert!(text.ends_with("one\n"), "{text}");
    let settings = played.world.settings(played.session).settings;
    assert_eq!(settings.commands[0].hint.as_deref(), Some("where"));
    assert_eq!(settings.plans.len(), 1);
    played.close();
}
