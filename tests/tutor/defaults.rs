//! What an agent does that was told nothing, and how handlers change it.

use serde_json::json;

use crate::client::Client;

#[tokio::test]
async fn an_empty_scenario_is_a_polite_agent() {
    let mut client = Client::start(&json!({}));
    let hello = client.initialize().await;
    assert_eq!(hello["result"]["protocolVersion"], 1);
    assert_eq!(hello["result"]["agentInfo"]["name"], "acp-tutor");
    assert!(hello["result"]["agentCapabilities"].is_object());
    let first = client.new_session().await;
    let second = client.new_session().await;
    assert_ne!(first, second);
    assert_eq!(client.turn(&first, "hi").await, "end_turn");
    client.cancel(&first).await;
    assert_eq!(client.turn(&first, "hi").await, "end_turn");
    assert!(client.passed.is_empty());
    client.close_clean().await;
}

#[tokio::test]
async fn ids_are_echoed_as_they_came() {
    let mut client = Client::start(&json!({}));
    for id in ["0", "\"a-b\"", "-3", "12345678901234567890", "1.0"] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"nope\"}}\n");
        client.send_bytes(line.as_bytes()).await;
        let answer = String::from_utf8(client.next_line().await.unwrap()).unwrap();
        assert!(answer.contains(&format!("\"id\":{id},")), "{answer}");
        assert!(answer.contains("-32601"), "{answer}");
    }
}

#[tokio::test]
async fn any_chunking_of_input_gives_the_same_messages() {
    let mut client = Client::start(&json!({}));
    let text = "\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"x\":\"ä\"}}\r\n\n";
    for byte in text.as_bytes() {
        client.send_bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.answer_to(1).await["result"]["protocolVersion"], 1);
    client.close_clean().await;
}

#[tokio::test]
async fn results_are_fixed_merged_or_errors() {
    let mut client = Client::start(&json!({
        "capabilities": {"loadSession": true, "promptCapabilities": {"image": true}},
        "on": {
            "initialize": {"merge": {"protocolVersion": "{{params.protocolVersion}}"}},
            "session/new": {"merge": {"sessionId": "fixed", "modes": {"currentModeId": "a"}}},
            "session/load": {"result": null},
            "session/set_mode": [],
            "authenticate": {"error": {"code": -32000, "message": "{{method}}"}},
        },
    }));
    let params = json!({"protocolVersion": 7});
    let hello = client.call("initialize", params).await["result"].clone();
    assert_eq!(hello["protocolVersion"], 7);
    assert_eq!(hello["agentCapabilities"]["loadSession"], true);
    assert_eq!(hello["agentCapabilities"]["promptCapabilities"]["image"], true);
    assert_eq!(hello["agentCapabilities"]["promptCapabilities"]["embeddedContext"], true);
    let made = client.call("session/new", json!({"cwd": "/project", "mcpServers": []})).await;
    assert_eq!(made["result"], json!({"sessionId": "fixed", "modes": {"currentModeId": "a"}}));
    let params = json!({"cwd": "/project", "mcpServers": [], "sessionId": "old"});
    let loaded = client.call("session/load", params).await;
    assert_eq!(loaded.get("result"), Some(&json!(null)));
    assert_eq!(client.turn("old", "hi").await, "end_turn");
    let params = json!({"sessionId": "old", "modeId": "b"});
    assert_eq!(client.call("session/set_mode", params).await["result"], json!({}));
    let refused = client.call("authenticate", json!({"methodId": "x"})).await;
    assert_eq!(refused["error"], json!({"code": -32000, "message": "authenticate"}));
    let kinds: Vec<_> = client.close().await.violations.into_iter().map(|it| it.kind).collect();
    assert_eq!(kinds, ["bad_params"], "the auth method was not offered");
}

#[tokio::test]
async fn prompts_are_chosen_by_text_and_number() {
    let (mut client, session) = Client::in_session(&json!({
        "on": {"session/prompt": [{"say": "other;"}]},
        "prompts": [
            {"is": "Stop", "stop": "refusal"},
            {"when": "red", "steps": [{"say": "red {{turn}};"}]},
            {"turn": 3, "steps": [{"say": "third: {{prompt}};"}], "merge": {"usage": 5}},
        ],
    }))
    .await;
    assert_eq!(client.turn(&session, " stop\n").await, "refusal");
    client.turn(&session, "a RED one").await;
    let id = client.prompt(&session, "x").await;
    let answer = client.answer_to(id).await;
    assert_eq!(answer["result"], json!({"stopReason": "end_turn", "usage": 5}));
    client.turn(&session, "stop it").await;
    let other = client.new_session().await;
    client.turn(&other, "red").await;
    assert_eq!(client.said(), "red 2;third: x;other;red 1;");
    client.close_clean().await;
}

#[tokio::test]
async fn calls_are_counted_and_variables_kept_between_handlers() {
    let mut client = Client::start(&json!({
        "vars": {"login": {"done": false}},
        "on": {
            "initialize": {"merge": {"authMethods": [{"id": "key", "name": "Key"}]}},
            "authenticate": [{"set": {"login": {"done": true, "with": "{{params.methodId}}"}}}],
            "session/new": [{"if": {
                "when": {"login.done": true},
                "then": [{"reply": {"merge": {"with": "{{login.with}}", "call": "{{call}}"}}}],
                "else": [{"reply": {"error": {"code": -32000, "message": "log in"}}}],
            }}],
        },
    }));
    client.initialize().await;
    let params = json!({"cwd": "/project", "mcpServers": []});
    let refused = client.call("session/new", params.clone()).await;
    assert_eq!(refused["error"]["code"], -32000);
    client.call("authenticate", json!({"methodId": "key"})).await;
    let made = client.call("session/new", params).await;
    assert_eq!(made["result"]["with"], "key");
    assert_eq!(made["result"]["call"], 2);
    client.close_clean().await;
}

#[tokio::test]
async fn the_tour_teaches_streaming_and_cancel() {
    let tour = acp_nvim::tutor::tour::Tour { pace: 0.0 };
    let mut client = Client::with(tour.scenario().unwrap());
    client.initialize().await;
    let session = client.new_session().await;
    assert_eq!(client.turn(&session, "what is this?").await, "end_turn");
    assert!(client.said().starts_with("# Welcome"), "{}", client.said());
    for (word, expected) in [("more", "npm install"), ("hello", "`g?`"), ("?", "know few words")] {
        client.passed.clear();
        assert_eq!(client.turn(&session, word).await, "end_turn");
        assert!(client.said().contains(expected), "{}", client.said());
    }
    client.passed.clear();
    assert_eq!(client.turn(&session, "count").await, "end_turn");
    assert!(client.said().contains("59 60 "), "{}", client.said());
    client.close_clean().await;
}
