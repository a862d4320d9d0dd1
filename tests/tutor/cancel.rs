//! `session/cancel`, wherever a turn happens to be, and several turns at once.

use serde_json::{Value, json};

use crate::client::Client;

/// Cancels as soon as the first chunk was seen; gives the answer to the prompt.
async fn cancelled_answer(scenario: &Value) -> (Client, Value) {
    let (mut client, session) = Client::in_session(scenario).await;
    let id = client.prompt(&session, "go").await;
    let chunk = client.until(|it| it["method"] == "session/update").await;
    client.passed.push(chunk);
    client.cancel(&session).await;
    let answer = client.answer_to(id).await;
    (client, answer)
}

async fn stops_in(step: Value) {
    let steps = json!([{"say": "x"}, step, {"say": "too late"}]);
    let (client, answer) = cancelled_answer(&json!({"prompts": [{"steps": steps}]})).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled", "in {step}");
    assert!(!client.said().contains("too late"), "in {step}");
    drop(client);
}

#[tokio::test]
async fn a_turn_stops_wherever_it_is() {
    stops_in(json!({"sleep_ms": 600_000})).await;
    stops_in(json!({"say": {"text": "abcdef", "chunk": 1, "pace_ms": 600_000}})).await;
    stops_in(json!({"repeat": {"times": 1000, "steps": [{"sleep_ms": 60_000}]}})).await;
    stops_in(json!({"request": {"method": "fs/read_text_file", "params": {"path": "/a"}}})).await;
    stops_in(json!({"wait_until": {"when": {"call": 77}}})).await;
    stops_in(json!({"wait_file": "/nowhere/at/all"})).await;
}

#[tokio::test]
async fn a_flood_stops_and_no_line_is_torn() {
    let steps = json!([{"flood": {"chunks": 50_000_000, "bytes": 100}}]);
    let (client, answer) = cancelled_answer(&json!({"prompts": [{"steps": steps}]})).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (first, last) = (&client.passed[0], client.passed.last().unwrap());
    assert_eq!(first, last);
}

#[tokio::test]
async fn what_on_cancel_says_comes_before_the_answer() {
    let (client, answer) = cancelled_answer(&json!({"prompts": [{
        "steps": [{"say": "one"}, {"sleep_ms": 600_000}],
        "on_cancel": [{"say": " bye"}],
        "stop": "max_tokens",
    }]}))
    .await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert_eq!(client.said(), "one bye");
    client.close_clean().await;
}

#[tokio::test]
async fn on_cancel_can_answer_wrongly() {
    let (client, answer) = cancelled_answer(&json!({"prompts": [{
        "steps": [{"say": "one"}, {"sleep_ms": 600_000}],
        "on_cancel": [{"reply": {"error": {"code": -32603, "message": "aborted"}}}],
    }]}))
    .await;
    assert_eq!(answer["error"]["code"], -32603);
    client.close_clean().await;
}

#[tokio::test]
async fn a_turn_can_ignore_the_cancel() {
    let (client, answer) = cancelled_answer(&json!({"prompts": [{
        "ignore_cancel": true,
        "steps": [
            {"say": "one"},
            {"wait_until": {"when": {"cancelled": true}}},
            {"say": " two"},
        ],
    }]}))
    .await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(client.said(), "one two");
    client.close_clean().await;
}

#[tokio::test]
async fn wait_cancel_takes_the_cancel_over() {
    let (client, answer) = cancelled_answer(&json!({"prompts": [{"steps": [
        {"wait_cancel": {"timeout_ms": 1, "then": [{"say": "no"}], "otherwise": [{"say": "one"}]}},
        {"wait_cancel": {"then": [{"say": " then"}], "otherwise": [{"say": "no"}]}},
        {"say": " after {{cancelled}}"},
    ]}]}))
    .await;
    assert_eq!(client.said(), "one then after true");
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    client.close_clean().await;
}

#[tokio::test]
async fn a_hanging_turn_never_answers_but_others_do() {
    let scenario = json!({"prompts": [{"when": "hang", "steps": [{"say": "x"}, {"hang": true}]}]});
    let (mut client, session) = Client::in_session(&scenario).await;
    let hanging = client.prompt(&session, "hang").await;
    client.until(|it| it["method"] == "session/update").await;
    client.cancel(&session).await;
    let other = client.new_session().await;
    assert_eq!(client.turn(&other, "hi").await, "end_turn");
    assert!(!client.passed.iter().any(|it| it["id"] == hanging));
    client.close_clean().await;
}

#[tokio::test]
async fn only_the_session_that_was_cancelled_stops() {
    let scenario = json!({"prompts": [{"steps": [
        {"say": "x"},
        {"wait_until": {"when": {"go": {"$exists": true}}}},
    ]}], "on": {"_go": [{"set": {"go": true}}]}});
    let (mut client, first) = Client::in_session(&scenario).await;
    let second = client.new_session().await;
    let one = client.prompt(&first, "a").await;
    let two = client.prompt(&second, "b").await;
    client.cancel(&second).await;
    assert_eq!(client.stop_reason(two).await, "cancelled");
    client.call("_go", json!({})).await;
    assert_eq!(client.stop_reason(one).await, "end_turn");
    client.close_clean().await;
}

#[tokio::test]
async fn requests_are_handled_while_a_turn_runs() {
    let scenario = json!({
        "on": {"session/set_mode": [{"set": {"mode": "{{params.modeId}}"}}]},
        "prompts": [{"steps": [
            {"wait_until": {"when": {"mode": "plan"}}},
            {"say": "mode {{mode}}"},
        ]}],
    });
    let (mut client, session) = Client::in_session(&scenario).await;
    let id = client.prompt(&session, "a").await;
    client.new_session().await;
    let params = json!({"sessionId": session, "modeId": "plan"});
    client.ask("session/set_mode", params).await;
    assert_eq!(client.stop_reason(id).await, "end_turn");
    assert_eq!(client.said(), "mode plan");
}

#[tokio::test]
async fn a_request_can_be_withdrawn() {
    let scenario =
        json!({"on": {"authenticate": [{"notify": {"method": "_busy"}}, {"sleep_ms": 600_000}]}});
    let (mut client, session) = Client::in_session(&scenario).await;
    let id = client.ask("authenticate", json!({"methodId": "x"})).await;
    client.until(|it| it["method"] == "_busy").await;
    client.notify("$/cancel_request", json!({"requestId": id})).await;
    assert_eq!(client.answer_to(id).await["error"]["code"], -32800);
    assert_eq!(client.turn(&session, "hi").await, "end_turn");
}

#[tokio::test]
async fn a_second_prompt_is_rejected_queued_or_takes_over() {
    let scenario = |busy: &str| {
        json!({"busy": busy, "on": {"_go": [{"set": {"go": true}}]}, "prompts": [
            {"is": "slow", "steps": [{"say": "slow "}, {"wait_until": {"when": {"go": true}}}]},
            {"steps": [{"say": "{{prompt}} "}]},
        ], "vars": {"go": false}})
    };
    for (busy, first, second, said) in [
        ("reject", "end_turn", None, "slow "),
        ("queue", "end_turn", Some("end_turn"), "slow next "),
        ("cancel", "cancelled", Some("end_turn"), "slow next "),
    ] {
        let (mut client, session) = Client::in_session(&scenario(busy)).await;
        let slow = client.prompt(&session, "slow").await;
        let chunk = client.until(|it| it["method"] == "session/update").await;
        client.passed.push(chunk);
        let next = client.prompt(&session, "next").await;
        if second.is_none() {
            assert_eq!(client.answer_to(next).await["error"]["code"], -32600);
        }
        client.ask("_go", json!({})).await;
        // Answers may come in any order: look for the second among what passed.
        assert_eq!(client.stop_reason(slow).await, first, "{busy}");
        if let Some(second) = second {
            let passed = client.passed.iter().find(|it| it["id"] == next).cloned();
            let answer = match passed {
                Some(answer) => answer,
                None => client.answer_to(next).await,
            };
            assert_eq!(answer["result"]["stopReason"], second, "{busy}");
        }
        assert_eq!(client.said(), said, "{busy}");
        let kinds: Vec<_> = client.close().await.violations.into_iter().map(|it| it.kind).collect();
        assert_eq!(kinds.as_slice(), if busy == "reject" { &["busy_session"][..] } else { &[] });
    }
}
