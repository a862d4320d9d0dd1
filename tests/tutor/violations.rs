//! What a client must not do is noticed.

use acp_nvim::tutor::engine::End;
use serde_json::{Value, json};

use crate::client::Client;

async fn kinds(client: Client) -> Vec<&'static str> {
    client.close().await.violations.into_iter().map(|it| it.kind).collect()
}

#[tokio::test]
async fn broken_lines_and_envelopes() {
    let mut client = Client::start(&json!({}));
    client.initialize().await;
    client.send_bytes(b"hello\n\xff\xfe\n[]\n{}\n").await;
    client
        .send(&json!({"id": 90, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}))
        .await;
    client.answer_to(90).await;
    let found = kinds(client).await;
    assert_eq!(found[..2], ["not_json", "not_json"]);
    assert!(found[2..].iter().all(|it| *it == "bad_envelope"), "{found:?}");
    assert_eq!(found.len(), 6, "{found:?}");
}

#[tokio::test]
async fn wrong_answers() {
    let permission = json!({"request": {
        "method": "session/request_permission",
        "params": {"options": [{"optionId": "yes"}]},
    }});
    let scenario = json!({"prompts": [{"steps": [permission]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    client.send(&json!({"jsonrpc": "2.0", "id": 0, "result": {}})).await;
    let id = client.prompt(&session, "go").await;
    let request = client.request("session/request_permission").await;
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    client.reply(&request, outcome.clone()).await;
    client.reply(&request, outcome).await;
    client.stop_reason(id).await;
    assert_eq!(kinds(client).await, ["unknown_answer", "bad_answer", "second_answer"]);
}

#[tokio::test]
async fn requests_out_of_order_or_out_of_place() {
    let mut client = Client::start(&json!({"on": {"x/known": []}}));
    let call = |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let steps: [(Value, &[&str]); 9] = [
        (call(1, "session/new", json!({"cwd": "/", "mcpServers": []})), &["too_early"]),
        (call(2, "initialize", json!({"protocolVersion": 1})), &[]),
        (
            call(3, "initialize", json!({"protocolVersion": "1"})),
            &["second_initialize", "bad_params"],
        ),
        (call(3, "x/known", json!({})), &["reused_id"]),
        (call(4, "x/unknown", json!({})), &["unknown_method"]),
        (
            call(5, "session/load", json!({"cwd": "here", "mcpServers": []})),
            &["not_offered", "bad_params"],
        ),
        (call(6, "session/cancel", json!({})), &["wrong_kind"]),
        (
            call(7, "session/prompt", json!({"sessionId": "?", "prompt": []})),
            &["bad_params", "unknown_session"],
        ),
        (call(8, "_extension", json!({})), &[]),
    ];
    let mut expected = Vec::new();
    for (message, kinds) in steps {
        client.send(&message).await;
        client.answer_to(message["id"].as_u64().unwrap()).await;
        expected.extend_from_slice(kinds);
    }
    let session = client.new_session().await;
    let image = json!([{"type": "image", "data": "", "mimeType": "image/png"}]);
    client.call("session/prompt", json!({"sessionId": session, "prompt": image})).await;
    expected.extend(["reused_id", "not_offered"]);
    client.cancel("nobody").await;
    client.notify("x/unknown", json!({})).await;
    expected.extend(["unknown_session", "unknown_method"]);
    // `new_session` used id 1 again, and the prompt id 2.
    expected.insert(expected.len() - 3, "reused_id");
    assert_eq!(kinds(client).await, expected);
}

#[tokio::test]
async fn expectations_of_the_scenario() {
    let (mut client, session) = Client::in_session(&json!({"prompts": [{"steps": [
        {"expect": {"prompt": "hello", "client.clientCapabilities": {}}},
        {"expect": {"prompt": {"$contains": "bye"}}},
    ]}]}))
    .await;
    client.turn(&session, "hello").await;
    let violations = client.close().await.violations;
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0].kind, "expectation");
    assert!(violations[0].text.ends_with(r#"found prompt = "hello""#), "{violations:?}");
}

#[tokio::test]
async fn a_step_that_cannot_be_done_fails_the_request() {
    let scenario = json!({"prompts": [{"steps": [{"delete_file": "/nowhere/at/all"}]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    let id = client.prompt(&session, "go").await;
    let answer = client.answer_to(id).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("/nowhere/at/all"));
    assert_eq!(kinds(client).await, ["scenario"]);
}

#[tokio::test]
async fn strict_scenarios_end_at_once() {
    let mut client = Client::start(&json!({"strict": true}));
    client.send_bytes(b"what?\n").await;
    assert!(client.next().await.is_none());
    assert_eq!(client.ended().await.end, End::Strict);
}
