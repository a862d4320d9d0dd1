//! What rules make of the parameters that agents really send, from the wire to the answer.

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::effect::{Effect, Reply, Tell};
use acp_nvim::session::event::Wish;
use acp_nvim::session::ids::ConnectionId;
use acp_nvim::session::rule::{Rule, Verdict};
use serde_json::{Value, json};

use crate::rules::command_rule;
use crate::world::World;

/// What becomes of a permission with this input: "yes", "no" or "asked".
fn verdict(rules: &[Rule], kind: &str, input: &Value) -> &'static str {
    let mut world = World::running();
    world.wish(Wish::SetRules(rules.to_vec()));
    let message = json!({
        "jsonrpc": "2.0", "id": 7, "method": "session/request_permission",
        "params": {
            "sessionId": "r1",
            "toolCall": { "toolCallId": "x", "kind": kind, "title": "t", "rawInput": input },
            "options": [
                { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
                { "optionId": "no", "name": "No", "kind": "reject_once" }
            ]
        }
    });
    let mut peer = Peer::new(ConnectionId(world.connection));
    let line = format!("{message}\n");
    peer.receive(line.as_bytes(), &mut |happened| {
        world.agent(happened);
    });
    world.without_links();
    let reply = world.last.iter().find_map(|it| match it {
        Effect::Reply { answer: Ok(Reply::Permission(Some(option))), .. } => Some(option.as_str()),
        _ => None,
    });
    match reply {
        Some("yes") => "yes",
        Some("no") => "no",
        _ if world.told(|it| matches!(it, Tell::Asked(..))) => "asked",
        _ => panic!("{input}: {:?}", world.last),
    }
}

#[test]
fn what_is_rejected_is_found_in_all_inputs() {
    let any = Rule { verdict: Verdict::Allow, ..Default::default() };
    let rules = [command_rule(Verdict::Reject, "rm *"), any];
    for input in [
        json!({ "command": "rm -rf x" }),
        json!({ "command": ["rm", "-rf", "x"] }),
        json!({ "commands": ["rm -rf x"] }),
        json!({ "commands": ["ls", "rm -rf x"] }),
        json!({ "commands": [{ "command": "ls" }, { "cmd": "rm x" }] }),
        json!({ "command": ["bash", "-lc", "ls; rm x"] }),
        json!({ "command": "rm", "args": ["x"] }),
        json!({ "command": "rm", "Arguments": ["x"] }),
        json!({ "command": "ls", "cmd": "rm x" }),
        json!({ "Command": "rm x" }),
        json!({ "program": "rm", "args": ["x"] }),
        json!({ "script": "ls\nrm x" }),
        json!({ "options": { "shell": { "exec": "rm x" } } }),
        json!("rm -rf x"),
        json!("{\"command\":\"rm -rf x\"}"),
        json!({ "command": format!("rm -rf x{}", " ".repeat(1 << 20)) }),
        json!({ "command": "bash --norc -c 'rm x'" }),
        json!({ "command": "sh -c -- 'rm x'" }),
        json!({ "command": "$'rm' x" }),
        json!({ "command": "su -c 'rm x'" }),
        json!({ "command": "rm\u{a0}-rf x" }),
    ] {
        for kind in ["execute", "other", "read"] {
            assert_eq!(verdict(&rules, kind, &input), "no", "{kind} {input:.80}");
        }
    }
    for input in [json!({ "command": "ls" }), json!({ "path": "rm", "content": "rm x" })] {
        assert_eq!(verdict(&rules, "other", &input), "yes", "{input}");
    }
}

#[test]
fn nothing_is_allowed_by_what_stands_beside_it() {
    let read = |inside| Rule {
        kinds: vec!["read".into()],
        inside,
        verdict: Verdict::Allow,
        ..Default::default()
    };
    let reads = [read(Some(true))];
    assert_eq!(verdict(&reads, "read", &json!({ "path": "src/a" })), "yes");
    for input in [
        json!({ "path": "src/a", "input_path": "/etc/shadow" }),
        json!({ "path": "src/a", "whatever": "~/.ssh/id_rsa" }),
        json!({ "path": "src/a", "deep": [{ "er": "../../x" }] }),
        json!({ "path": "src/a", "uri": "file:///etc/shadow" }),
        json!({ "path": "src/a", "program": "rm" }),
        json!({ "path": "src/a", "run": "rm x" }),
        json!({ "path": format!("src/{}", "x/".repeat(4_000)) }),
        json!({ "path": "src/a", "x": vec![json!(1); 20_000] }),
    ] {
        assert_eq!(verdict(&reads, "read", &input), "asked", "{input:.80}");
    }
    assert_eq!(verdict(&[read(None)], "read", &json!({ "path": "a", "program": "rm" })), "asked");
    let git = [command_rule(Verdict::Allow, "git status *")];
    assert_eq!(verdict(&git, "execute", &json!({ "command": "git status -s" })), "yes");
    for input in [
        json!({ "command": "git", "args": ["status"], "arguments": ["push", "--force"] }),
        json!({ "command": "git", "args": ["status"], "Args": ["push", "--force"] }),
        json!({ "command": "git status", "cmd": "git push" }),
        json!({ "command": "git status", "script": "rm x" }),
        json!({ "command": "git status", "env": { "GIT_PAGER": "rm" } }),
        json!({ "command": "git status", "cwd": "/etc" }),
        json!({ "command": "git status", "path": "/etc" }),
    ] {
        assert_eq!(verdict(&git, "execute", &input), "asked", "{input}");
    }
}
