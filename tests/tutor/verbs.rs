//! Every verb that needs no process of its own.

use std::fs;

use acp_nvim::tutor::engine::End;
use acp_nvim::tutor::scenario::Scenario;
use serde_json::{Value, json};

use crate::client::{Client, soon};

/// Plays steps as a turn and gives the client after it.
async fn after(steps: Value) -> (Client, String) {
    let (mut client, session) = Client::in_session(&json!({"prompts": [{"steps": steps}]})).await;
    let reason = client.turn(&session, "go").await;
    (client, reason)
}

fn update(message: &Value) -> &Value {
    &message["params"]["update"]
}

#[tokio::test]
async fn say_think_and_user_stream_text() {
    let (client, _) = after(json!([
        {"say": {"text": "añb", "chunk": 2, "repeat": 2, "message_id": "m1"}},
        {"think": "hm"},
        {"user": {"text": "hello", "pace_ms": 1}},
        {"say": ""},
    ]))
    .await;
    let texts: Vec<_> =
        client.passed.iter().map(|it| update(it)["content"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["añ", "b", "añ", "b", "hm", "hell", "o", ""]);
    assert_eq!(update(&client.passed[0])["messageId"], "m1");
    assert_eq!(update(&client.passed[4])["sessionUpdate"], "agent_thought_chunk");
    assert_eq!(update(&client.passed[4]).get("messageId"), None);
    assert_eq!(update(&client.passed[5])["sessionUpdate"], "user_message_chunk");
    client.close_clean().await;
}

#[tokio::test]
async fn update_and_notify_take_any_json() {
    let plan = json!({"sessionUpdate": "plan", "entries": [{"content": "{{prompt}}"}]});
    let (client, _) = after(json!([
        {"note": "for people"},
        {"update": plan},
        {"notify": {"method": "_x/y", "params": {"n": "{{turn}}", "at": "{{cwd}}/a"}}},
        {"notify": {"method": "_z"}},
    ]))
    .await;
    let [first, second, third] = client.passed.as_slice() else { panic!() };
    assert_eq!(first["method"], "session/update");
    assert!(first["params"]["sessionId"].is_string());
    assert_eq!(update(first)["entries"], json!([{"content": "go"}]));
    assert_eq!(
        *second,
        json!({"jsonrpc": "2.0", "method": "_x/y", "params": {"n": 1, "at": "/project/a"}})
    );
    assert_eq!(third["params"], json!({}));
}

#[tokio::test]
async fn raw_and_bytes_go_out_as_they_are() {
    let scenario = json!({"prompts": [{"steps": [
        {"raw": "Banner of {{prompt}}"},
        {"raw": {"text": "no", "end": ""}},
        {"raw": {"text": " end", "end": "\r\n"}},
        {"bytes": [255, 254, 10]},
        {"bytes": {"base64": "/wo="}},
    ]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    client.prompt(&session, "go").await;
    for expected in [&b"Banner of go\n"[..], b"no end\r\n", b"\xff\xfe\n", b"\xff\n"] {
        assert_eq!(client.next_line().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_flood_has_as_many_chunks_as_told() {
    let steps = json!([
        {"flood": {"chunks": 10_001, "bytes": 20, "message_id": "m"}},
        {"flood": {"chunks": 3, "bytes": 200_000, "kind": "agent_thought_chunk"}},
    ]);
    let (client, reason) = after(steps).await;
    assert_eq!(reason, "end_turn");
    let count =
        |kind: &str| client.passed.iter().filter(|it| update(it)["sessionUpdate"] == kind).count();
    assert_eq!(count("agent_message_chunk"), 10_001);
    assert_eq!(count("agent_thought_chunk"), 3);
    assert_eq!(client.said().len(), 10_001 * 20);
    assert_eq!(client.text("agent_thought_chunk").len(), 600_000);
}

#[tokio::test]
async fn big_lines_are_valid_or_garbage() {
    let scenario = json!({"prompts": [{"steps": [
        {"big_line": 2},
        {"big_line": {"mb": 1, "garbage": true}},
    ]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    let id = client.prompt(&session, "go").await;
    let chunk = client.next().await.unwrap();
    assert_eq!(update(&chunk)["content"]["text"].as_str().unwrap().len(), 2_000_000);
    let garbage = client.next_line().await.unwrap();
    assert_eq!(garbage.len(), 1_000_001);
    assert!(serde_json::from_slice::<Value>(&garbage).is_err());
    assert_eq!(client.stop_reason(id).await, "end_turn");
}

#[tokio::test]
async fn output_can_be_chopped() {
    let scenario = json!({"chop": 1, "prompts": [{"steps": [{"say": "piece by piece"}]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    assert_eq!(client.turn(&session, "go").await, "end_turn");
    assert_eq!(client.said(), "piece by piece");
}

#[tokio::test]
async fn steps_repeat_and_branch_on_variables() {
    let (client, _) = after(json!([
        {"set": {"color": "red", "n": "{{turn}}"}},
        {"repeat": {"times": 2, "steps": [
            {"repeat": {"times": 2, "as": "j", "steps": [{"say": "{{i}}{{j}} "}]}},
        ]}},
        {"if": {"when": {"color": "red", "n": 1}, "then": [{"say": "yes "}], "else": [{"say": "no "}]}},
        {"if": {"when": {"prompt": {"$contains": "stop"}}, "then": [{"say": "no"}]}},
        {"if": {"when": {"cwd": "{{cwd}}", "color": {"$not": "red"}}, "else": [{"say": "else"}]}},
    ]))
    .await;
    assert_eq!(client.said(), "11 12 21 22 yes else");
}

#[tokio::test]
async fn files_are_written_and_deleted_in_the_session_directory() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = json!({"prompts": [{"steps": [
        {"write_file": {"path": "new/a.txt", "text": "one {{prompt}}\n"}},
        {"write_file": {"path": "{{cwd}}/new/a.txt", "text": "two\n", "append": true}},
        {"delete_file": "old.txt"},
        {"wait_file": {"path": "never", "timeout_ms": 1, "otherwise": [{"say": "not there"}]}},
        {"wait_file": "later"},
        {"say": ", now it is"},
    ]}]});
    fs::write(dir.path().join("old.txt"), "").unwrap();
    let mut client = Client::start(&scenario);
    client.initialize().await;
    let made = client.call("session/new", json!({"cwd": dir.path(), "mcpServers": []})).await;
    let session = made["result"]["sessionId"].as_str().unwrap();
    let id = client.prompt(session, "go").await;
    let chunk = client.next().await.unwrap();
    assert_eq!(update(&chunk)["content"]["text"], "not there");
    fs::write(dir.path().join("later"), "").unwrap();
    assert_eq!(client.stop_reason(id).await, "end_turn");
    assert_eq!(client.said(), ", now it is");
    assert_eq!(fs::read_to_string(dir.path().join("new/a.txt")).unwrap(), "one go\ntwo\n");
    assert!(!dir.path().join("old.txt").exists());
}

#[tokio::test]
async fn steps_after_a_reply_run_after_the_answer() {
    let scenario = json!({"prompts": [{"turn": 1, "steps": [
        {"reply": {"stop": "max_tokens"}},
        {"wait_until": {"when": {"second": true}}},
        {"say": "late"},
    ]}, {"steps": [{"set": {"second": true}}, {"sleep_ms": 1}]}], "vars": {"second": false}});
    let (mut client, session) = Client::in_session(&scenario).await;
    assert_eq!(client.turn(&session, "a").await, "max_tokens");
    // The session is free again although the first handler goes on.
    assert_eq!(client.turn(&session, "b").await, "end_turn");
    let late = match client.passed.pop() {
        Some(late) => late,
        None => client.next().await.unwrap(),
    };
    assert_eq!(update(&late)["content"]["text"], "late");
    client.close_clean().await;
}

#[tokio::test]
async fn replies_can_be_odd() {
    let text = r#"{"prompts": [
        {"is": "raw", "steps": [{"reply_raw": "{\"id\":{{id}},\"result\":{},\"error\":null}"}]},
        {"is": "id", "steps": [{"reply": {"id": 9.50, "result": [1]}}]},
        {"is": "ask", "steps": [{"request": {"method": "_m", "id": 1e2, "no_wait": true}}]},
        {"is": "null", "result": null}
    ]}"#;
    let mut client = Client::with(Scenario::parse(text).unwrap());
    client.initialize().await;
    let session = client.new_session().await;
    let id = client.prompt(&session, "raw").await;
    assert_eq!(client.answer_to(id).await, json!({"id": id, "result": {}, "error": null}));
    client.prompt(&session, "id").await;
    let line = client.next_line().await.unwrap();
    assert_eq!(line, b"{\"jsonrpc\":\"2.0\",\"id\":9.50,\"result\":[1]}\n");
    client.prompt(&session, "ask").await;
    let line = String::from_utf8(client.next_line().await.unwrap()).unwrap();
    assert!(line.contains("\"id\":1e2,"), "{line}");
    let id = client.prompt(&session, "null").await;
    assert_eq!(client.answer_to(id).await.get("result"), Some(&Value::Null));
}

#[tokio::test]
async fn updates_may_come_before_the_session_is_known() {
    let mut client = Client::start(&json!({"on": {"session/new": [
        {"update": {"sessionUpdate": "session_info_update", "title": "early"}},
        {"reply": {}},
        {"update": {"sessionUpdate": "session_info_update", "title": "late"}},
    ]}}));
    client.initialize().await;
    let session = client.new_session().await;
    assert_eq!(client.passed[0]["params"]["sessionId"], session.as_str());
    let late = client.next().await.unwrap();
    assert_eq!(late["params"]["sessionId"], session.as_str());
}

#[tokio::test]
async fn startup_comes_before_everything() {
    let mut client = Client::start(&json!({"startup": [{"raw": "Hello!"}, {"raw": "{{pid}}"}]}));
    client.ask("initialize", json!({"protocolVersion": 1})).await;
    assert_eq!(client.next_line().await.unwrap(), b"Hello!\n");
    let pid = client.next_line().await.unwrap();
    assert_eq!(pid, format!("{}\n", std::process::id()).as_bytes());
    assert_eq!(client.next().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn an_embedded_exit_only_ends_the_connection() {
    let scenario = json!({"prompts": [
        {"is": "exit", "steps": [{"say": "bye"}, {"exit": 3}]},
        {"is": "kill", "steps": [{"say": "bye"}, {"stderr": "x"}, {"ignore_sigterm": true}, {"kill_self": "SIGKILL"}]},
    ]});
    for (prompt, code) in [("exit", 3), ("kill", 1)] {
        let (mut client, session) = Client::in_session(&scenario).await;
        client.prompt(&session, prompt).await;
        let chunk = client.next().await.unwrap();
        assert_eq!(update(&chunk)["content"]["text"], "bye");
        assert!(client.next().await.is_none());
        assert_eq!(client.ended().await.end, End::Exit(code));
    }
}

#[tokio::test]
async fn a_closed_output_does_not_end_the_agent() {
    let scenario =
        json!({"prompts": [{"steps": [{"close_stdout": true}, {"say": "lost"}, {"hang": true}]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    client.prompt(&session, "go").await;
    assert!(client.next().await.is_none());
    assert_eq!(client.close().await.end, End::Eof);
}

#[tokio::test]
async fn reading_can_stop_for_a_while_or_for_ever() {
    let scenario = json!({"on": {
        "_pause": [{"stop_reading": 30}],
        "_stop": [{"stop_reading": true}],
    }});
    let (mut client, session) = Client::in_session(&scenario).await;
    client.call("_pause", json!({})).await;
    assert_eq!(client.turn(&session, "hi").await, "end_turn");
    client.call("_stop", json!({})).await;
    // More than the pipe holds: it must not get through.
    let line = [b' '; 64 * 1024];
    let stuck = async {
        loop {
            client.send_bytes(&line).await;
        }
    };
    let limit = std::time::Duration::from_millis(100);
    assert!(soon(tokio::time::timeout(limit, stuck)).await.is_err());
}

#[tokio::test]
async fn an_end_of_input_can_be_survived() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("last");
    let client = Client::start(&json!({"on_eof": [
        {"write_file": {"path": path, "text": "words"}},
    ]}));
    assert_eq!(client.close().await.end, End::Eof);
    assert_eq!(fs::read_to_string(path).unwrap(), "words");
}
