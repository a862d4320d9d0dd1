//! Requests of the agent to the client.

use serde_json::{Value, json};

use crate::client::Client;

fn permission(answered: &Value) -> Value {
    json!({"request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": {"toolCallId": "t"},
            "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
        },
        "answered": answered,
        "otherwise": [{"say": "otherwise"}],
    }})
}

#[tokio::test]
async fn answers_choose_the_steps() {
    let steps = json!([permission(&json!([
        {"when": {"outcome": {"optionId": "yes"}}, "steps": [{"say": "allowed"}]},
        {"when": {"outcome": {"outcome": "cancelled"}}, "steps": [{"say": "cancelled"}]},
        {"when": {"code": -32601}, "steps": [{"say": "unknown"}]},
    ]))]);
    let (mut client, session) = Client::in_session(&json!({"prompts": [{"steps": steps}]})).await;
    for (answer, said) in [
        (json!({"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}), "allowed"),
        (json!({"result": {"outcome": {"outcome": "cancelled"}}}), "cancelled"),
        (json!({"error": {"code": -32601, "message": ""}}), "unknown"),
        (json!({"error": {"code": -32603, "message": ""}}), "otherwise"),
    ] {
        let id = client.prompt(&session, "go").await;
        let request = client.request("session/request_permission").await;
        assert_eq!(request["params"]["sessionId"], session.as_str());
        let mut message = answer.clone();
        message["id"] = request["id"].clone();
        message["jsonrpc"] = json!("2.0");
        client.send(&message).await;
        assert_eq!(client.stop_reason(id).await, "end_turn");
        assert_eq!(client.said(), said, "for {answer}");
        client.passed.clear();
    }
    client.close_clean().await;
}

#[tokio::test]
async fn answers_are_saved_and_used() {
    let (mut client, session) = Client::in_session(&json!({"prompts": [{"steps": [
        {"request": {
            "method": "fs/read_text_file",
            "params": {"path": "{{cwd}}/a.txt", "sessionId": "other"},
            "save": "file",
        }},
        {"request": {
            "method": "fs/write_text_file",
            "params": {"path": "/b", "content": "<{{file.content}}>", "all": "{{file}}"},
        }},
    ]}]}))
    .await;
    let id = client.prompt(&session, "go").await;
    let read = client.request("fs/read_text_file").await;
    assert_eq!(read["id"], 0);
    assert_eq!(read["params"], json!({"path": "/project/a.txt", "sessionId": "other"}));
    client.reply(&read, json!({"content": "text"})).await;
    let write = client.request("fs/write_text_file").await;
    assert_eq!(write["params"]["content"], "<text>");
    assert_eq!(write["params"]["all"], json!({"content": "text"}));
    client.reply(&write, json!({})).await;
    assert_eq!(client.stop_reason(id).await, "end_turn");
    client.close_clean().await;
}

#[tokio::test]
async fn several_requests_can_be_open_at_once() {
    let ask = |name: &str, id: Value| json!({"request": {"method": "_ask", "params": {"n": name}, "id": id, "no_wait": true, "as": name}});
    let (mut client, session) = Client::in_session(&json!({"prompts": [{"steps": [
        ask("a", json!("id-a")),
        ask("b", json!(-7)),
        {"request": {"method": "_forgotten", "no_wait": true}},
        {"await": {"as": "a", "save": "a", "answered": [{"steps": [{"say": "a {{a}};"}]}]}},
        {"await": {"as": "b", "timeout_ms": 20_000, "answered": [{"when": {"ok": true}, "steps": [{"say": "b"}]}]}},
    ]}]}))
    .await;
    let id = client.prompt(&session, "go").await;
    let first = client.request("_ask").await;
    let second = client.request("_ask").await;
    let forgotten = client.request("_forgotten").await;
    assert_eq!([&first["id"], &second["id"]], [&json!("id-a"), &json!(-7)]);
    client.reply(&second, json!({"ok": true})).await;
    client.reply(&first, json!(1)).await;
    assert_eq!(client.stop_reason(id).await, "end_turn");
    assert_eq!(client.said(), "a 1;b");
    client.reply(&forgotten, Value::Null).await;
    client.close_clean().await;
}

#[tokio::test]
async fn no_answer_in_time_is_otherwise() {
    let (mut client, session) = Client::in_session(&json!({"prompts": [{"steps": [
        {"request": {"method": "_slow", "timeout_ms": 5, "otherwise": [{"say": "too slow"}]}},
    ]}]}))
    .await;
    client.turn(&session, "go").await;
    assert_eq!(client.said(), "too slow");
    let violations = client.close().await.violations;
    assert_eq!(violations[0].kind, "unanswered");
    assert!(violations[0].text.contains("_slow"), "{violations:?}");
}

#[tokio::test]
async fn a_permission_open_at_a_cancel_must_be_answered_cancelled() {
    for (outcome, kinds) in [
        (json!({"outcome": "cancelled"}), &[][..]),
        (json!({"outcome": "selected", "optionId": "yes"}), &["selected_after_cancel"][..]),
    ] {
        let steps = json!([permission(&json!([]))]);
        let scenario = json!({"prompts": [{"steps": steps}]});
        let (mut client, session) = Client::in_session(&scenario).await;
        let id = client.prompt(&session, "go").await;
        let request = client.request("session/request_permission").await;
        client.cancel(&session).await;
        assert_eq!(client.stop_reason(id).await, "cancelled");
        client.reply(&request, json!({"outcome": outcome})).await;
        let violations = client.close().await.violations;
        let found: Vec<_> = violations.iter().map(|it| it.kind).collect();
        assert_eq!(found, kinds);
    }
}
