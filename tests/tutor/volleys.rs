//! Many requests at once or one after the other, and what is said about them.

use serde_json::{Value, json};

use crate::client::Client;

/// A scenario whose turn asks many times, then says what came of it.
fn asking(requests: &Value) -> Value {
    let said = "{{got.count}} {{got.failed}} {{got.different}} {{got.result.content}}";
    json!({"prompts": [{"steps": [{"requests": requests}, {"say": said}]}]})
}

fn reads(times: u64, in_flight: u64) -> Value {
    asking(&json!({
        "method": "fs/read_text_file", "params": {"path": "/a"},
        "times": times, "in_flight": in_flight, "save": "got",
    }))
}

#[tokio::test]
async fn one_is_answered_before_the_next_is_asked() {
    let (mut client, session) = Client::in_session(&reads(3, 1)).await;
    let id = client.prompt(&session, "go").await;
    for number in 0..3 {
        let read = client.request("fs/read_text_file").await;
        assert_eq!(read["id"], number);
        assert_eq!(read["params"], json!({"path": "/a", "sessionId": session}));
        client.reply(&read, json!({"content": "text"})).await;
    }
    assert_eq!(client.stop_reason(id).await, "end_turn");
    assert_eq!(client.said(), "3 0 0 text");
    client.close_clean().await;
}

#[tokio::test]
async fn so_many_are_open_at_once_and_answered_in_any_order() {
    let (mut client, session) = Client::in_session(&reads(6, 3)).await;
    let id = client.prompt(&session, "go").await;
    for _ in 0..2 {
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(client.request("fs/read_text_file").await);
        }
        // The fourth would come now; it waits for an answer.
        for read in open.iter().rev() {
            client.reply(read, json!({"content": "text"})).await;
        }
    }
    assert_eq!(client.stop_reason(id).await, "end_turn");
    assert_eq!(client.said(), "6 0 0 text");
    client.close_clean().await;
}

#[tokio::test]
async fn errors_and_other_answers_are_counted() {
    let (mut client, session) = Client::in_session(&reads(5, 1)).await;
    let id = client.prompt(&session, "go").await;
    for content in ["text", "text", "other", "", "text"] {
        let read = client.request("fs/read_text_file").await;
        if content.is_empty() {
            let error = json!({"code": -32603, "message": "no"});
            client.send(&json!({"jsonrpc": "2.0", "id": read["id"], "error": error})).await;
        } else {
            client.reply(&read, json!({"content": content})).await;
        }
    }
    assert_eq!(client.stop_reason(id).await, "end_turn");
    assert_eq!(client.said(), "5 1 1 text");
    client.close_clean().await;
}

#[tokio::test]
async fn what_is_wrong_is_still_found() {
    let (mut client, session) = Client::in_session(&reads(3, 1)).await;
    let id = client.prompt(&session, "go").await;
    for answer in [json!({"content": "text"}), json!({}), json!({"content": "text"})] {
        let read = client.request("fs/read_text_file").await;
        client.reply(&read, answer.clone()).await;
        if read["id"] == 2 {
            client.reply(&read, answer).await;
        }
    }
    assert_eq!(client.stop_reason(id).await, "end_turn");
    let kinds: Vec<_> = client.close().await.violations.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, ["bad_answer", "second_answer"]);
}

#[tokio::test]
async fn a_text_is_edited_from_request_to_request() {
    let (mut client, session) = Client::in_session(&asking(&json!({
        "method": "fs/write_text_file", "params": {"path": "/a", "content": "a\nb\nc"},
        "edit": {"param": "content", "every": 2, "add": "{{i}}"}, "times": 3, "save": "got",
    })))
    .await;
    let id = client.prompt(&session, "go").await;
    for content in ["a\nb\nc1", "a\nb2\nc1", "a3\nb2\nc1"] {
        let write = client.request("fs/write_text_file").await;
        assert_eq!(write["params"]["content"], content);
        client.reply(&write, json!({})).await;
    }
    assert_eq!(client.stop_reason(id).await, "end_turn");
    client.close_clean().await;
}

#[tokio::test]
async fn a_cancel_ends_it() {
    let (mut client, session) = Client::in_session(&reads(1000, 2)).await;
    let id = client.prompt(&session, "go").await;
    let read = client.request("fs/read_text_file").await;
    let other = client.request("fs/read_text_file").await;
    client.cancel(&session).await;
    assert_eq!(client.stop_reason(id).await, "cancelled");
    for read in [read, other] {
        client.reply(&read, json!({"content": "late"})).await;
    }
    client.close_clean().await;
}

#[tokio::test]
async fn the_times_are_told() {
    let said = "{{got.p50_us}} {{got.p99_us}} {{got.max_us}}";
    let requests = json!({"method": "_ask", "times": 3, "save": "got"});
    let scenario = json!({"prompts": [{"steps": [{"requests": requests}, {"say": said}]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    let id = client.prompt(&session, "go").await;
    for _ in 0..3 {
        let asked = client.request("_ask").await;
        client.reply(&asked, Value::Null).await;
    }
    assert_eq!(client.stop_reason(id).await, "end_turn");
    let said = client.said();
    let times: Vec<u64> = said.split(' ').map(|it| it.parse().unwrap()).collect();
    assert!(times.is_sorted() && times[2] > 0, "{times:?}");
    client.close_clean().await;
}
