//! Rules in the user's place, and what the audit log says of it.

use acp_nvim::session::audit::By;
use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::session::question::Reaction;
use acp_nvim::session::rule::{Rule, Verdict};
use serde_json::{Value, json};

use crate::world::{World, turn};

fn may_run(command: &str) -> Value {
    json!({ "request": {
        "method": "session/request_permission",
        "id": command,
        "params": {
            "toolCall": {
                "toolCallId": command, "title": "A command", "kind": "execute",
                "rawInput": { "command": command }
            },
            "options": [
                { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
                { "optionId": "no", "name": "Reject", "kind": "reject_once" }
            ]
        }
    } })
}

fn audit(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path("log/audit.log")).unwrap_or_default();
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rules_answer_and_the_rest_is_asked() {
    let world = World::new();
    let rule = |verdict, command: &str| Rule {
        verdict,
        kinds: vec!["execute".into()],
        command: Some(command.into()),
        source: "user".into(),
        ..Default::default()
    };
    let rules = vec![rule(Verdict::Reject, "rm *"), rule(Verdict::Allow, "git status")];
    world.wish(Wish::SetRules(rules));
    let commands = ["git status", "git status; rm -rf /", "git status && ls"];
    let scenario = turn(commands.map(may_run).to_vec().into());
    let session = world.open(world.launch(&scenario), Origin::New);
    let tag = world.prompt(session, "go");
    let (ask, _) = world.asked(0);
    let reaction = Reaction::Option("no".into());
    world.wish(Wish::Answer { ask, reaction, by: By::User });
    assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    let ruled = world.count(|it| matches!(it, Tell::Ruled { .. }));
    let asked = world.count(|it| matches!(it, Tell::Asked(..)));
    assert_eq!((ruled, asked), (2, 1));
    let report = world.close(session);
    let chosen = |id: &str| report.answer(&id.into())["result"]["outcome"]["optionId"].clone();
    assert_eq!(commands.map(chosen), ["yes", "no", "no"]);
    let lines = world.until("six lines", |world| Some(audit(world)).filter(|it| it.len() == 6));
    let column = |name: &str| -> Vec<&str> {
        lines.iter().map(|line| line[name].as_str().unwrap_or_default()).collect()
    };
    assert_eq!(column("event"), ["asked", "ruled", "asked", "ruled", "asked", "answered"]);
    assert_eq!(column("verdict"), ["", "allow", "", "reject", "", "reject"]);
    assert_eq!(column("by"), ["", "rule", "", "rule", "", "user"]);
    assert_eq!(lines[0]["command"], "git status");
    assert_eq!(lines[3]["rule"], "reject execute command `rm *` (user)");
}
