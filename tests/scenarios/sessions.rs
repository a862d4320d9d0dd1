//! Sessions: who is spoken of, when, and what is told of the past.

use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Ask, Origin, Wish};
use acp_nvim::session::failure::Failure;
use acp_nvim::session::ids::SessionId;
use acp_nvim::session::settings::Setting;
use serde_json::{Value, json};

use crate::world::{World, go, said, turn};

#[test]
fn update_before_response() {
    let command = json!({ "name": "init", "description": "Begins." });
    let played = go(&json!({
        "on": { "session/new": [
            { "update": { "sessionUpdate": "session_info_update", "title": "early" } },
            { "update": { "sessionUpdate": "available_commands_update", "availableCommands": [command] } },
        ] },
        "prompts": [{ "turn": 1, "steps": [{ "say": "one" }] }]
    }));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert_eq!(played.world.summary(played.session).title, "early");
    assert_eq!(played.world.settings(played.session).settings.commands[0].name, "init");
    played.says("one");
}

#[test]
fn update_after_response() {
    let played = go(&turn(json!([
        { "say": "one" }, { "reply": {} }, { "say": ", late" },
        { "update": { "sessionUpdate": "session_info_update", "title": "late" } },
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    played.world.shows(played.session, "one, late");
    let title = |world: &World| (world.summary(played.session).title == "late").then_some(());
    played.world.until("the title", title);
    played.says("one, late");
}

#[test]
fn update_for_other_session() {
    let chunk = |text: &str| json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    let other = json!({ "notify": { "method": "session/update", "params": { "sessionId": "another", "update": chunk("not for you") } } });
    let question = json!({ "request": { "method": "fs/read_text_file", "params": { "sessionId": "another", "path": "/etc/hostname" } } });
    let played = go(&turn(json!([other, question, { "say": "one" }, other])));
    let report = played.says("one");
    assert_eq!(report.answer(&json!(0))["error"]["code"], -32602);
}

/// What is said in a turn belongs where the turn runs, even if both sessions have the same name.
#[test]
fn duplicate_session_id() {
    let world = World::new();
    let scenario = json!({
        "on": { "session/new": { "merge": { "sessionId": "the-only-one" } } },
        "prompts": [{ "steps": [{ "say": "to {{prompt}}" }] }]
    });
    let (one, two) = (
        world.open(world.launch(&scenario), Origin::New),
        world.open(world.launch(&scenario), Origin::New),
    );
    world.ready(one);
    world.ready(two);
    for (session, text) in [(one, "first"), (two, "second"), (one, "third")] {
        let tag = world.prompt(session, text);
        assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    }
    let (first, second) = (world.transcript(one), world.transcript(two));
    assert_eq!(second, "## You\n\nsecond\n\n## fake\n\nto second\n");
    assert!(first.contains("to first") && first.contains("to third"), "{first}");
    world.wish(Wish::Close(one));
    world.close(two);
}

fn kept(scenario: &Value) -> (World, SessionId) {
    let world = World::new();
    let session = world.open(world.launch(scenario), Origin::Kept("old".into()));
    world.ready(session);
    (world, session)
}

const PAST: &str = "## You\n\nHi.\n\n## fake\n\nHello.\n";

fn past() -> Value {
    json!([
        { "user": "Hi." }, { "say": "Hello." },
        { "update": { "sessionUpdate": "session_info_update", "title": "kept" } }
    ])
}

#[test]
fn load_returns_null() {
    let (world, session) = kept(&json!({
        "capabilities": { "loadSession": true },
        "on": { "session/load": { "steps": past(), "result": null } },
        "prompts": [{ "steps": [{ "say": "And on." }] }]
    }));
    world.shows(session, "Hello.");
    assert_eq!(world.transcript(session), PAST);
    let tag = world.prompt(session, "go");
    assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    assert_eq!(world.transcript(session), format!("{PAST}\n{}", said("And on.")));
    assert_eq!(world.summary(session).title, "kept");
    let report = world.close(session);
    assert_eq!(report.calls("session/load")[0]["sessionId"], "old");
    assert!(report.calls("session/new").is_empty());
}

#[test]
fn load_replays_after_response() {
    let mut steps = past();
    steps.as_array_mut().unwrap().insert(0, json!({ "reply": { "result": {} } }));
    let (world, session) = kept(&json!({
        "capabilities": { "loadSession": true },
        "on": { "session/load": steps },
    }));
    world.shows(session, "Hello.");
    assert_eq!(world.transcript(session), PAST);
    world.close(session);
}

#[test]
fn load_of_what_is_gone() {
    let world = World::new();
    let error =
        json!({ "code": -32002, "message": "no such session", "data": { "sessionId": "old" } });
    let launch = world.launch(&json!({
        "capabilities": { "loadSession": true }, "on": { "session/load": { "error": error } }
    }));
    let session = world.open(launch, Origin::Kept("old".into()));
    let tag = world.prompt(session, "go");
    assert!(matches!(world.finished(tag), Err(Failure::Refused { what: "session/load", .. })));
    world.close(session);
}

/// Resuming is silent; what the agent tells all the same is told once.
#[test]
fn resume_replays() {
    let (world, session) = kept(&json!({
        "capabilities": { "sessionCapabilities": { "resume": {} } },
        "on": { "session/resume": { "steps": past(), "result": {} } },
    }));
    world.shows(session, "Hello.");
    assert_eq!(world.transcript(session), PAST);
    let report = world.close(session);
    assert_eq!(report.calls("session/resume").len(), 1);
}

/// The chat shows the past already when an agent that died is started again.
#[test]
fn resume_replays_what_the_chat_shows() {
    for (can, method) in [
        (json!({ "loadSession": true }), "session/load"),
        (json!({ "sessionCapabilities": { "resume": true } }), "session/resume"),
    ] {
        let played = go(&json!({
            "capabilities": can,
            "on": { method: { "steps": [{ "user": "go" }, { "say": "one" }], "result": null } },
            "prompts": [
                { "is": "go", "steps": [{ "say": "one" }, { "reply": {} }, { "exit": 1 }] },
                { "steps": [{ "say": "two" }] }
            ]
        }));
        assert_eq!(played.finished(), Ok(StopReason::EndTurn));
        played.world.told("the death", |it| matches!(it, Tell::Failed { .. }).then_some(()));
        let tag = played.world.prompt(played.session, "more");
        assert_eq!(played.world.finished(tag), Ok(StopReason::EndTurn));
        let text = played.transcript();
        assert_eq!(text.matches("one").count(), 1, "{text}");
        assert!(text.ends_with("two\n"), "{text}");
        assert!(text.contains("took up the session"), "{text}");
        let report = played.close();
        assert_eq!(report.calls(method).len(), 1);
    }
}

#[test]
fn mode_update_with_mode_id() {
    let mode = |id: &str| json!({ "id": id, "name": id.to_uppercase() });
    let modes = json!({ "currentModeId": "ask", "availableModes": [mode("ask"), mode("code")] });
    let played = go(&json!({
        "on": { "session/new": { "merge": { "modes": modes } }, "session/set_mode": [] },
        "prompts": [{ "turn": 1, "steps": [
            { "update": { "sessionUpdate": "current_mode_update", "modeId": "code" } }
        ] }]
    }));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let current = || played.world.settings(played.session).settings.modes.unwrap().current;
    assert_eq!(current(), "code");
    assert!(played.transcript().contains("mode: CODE"));
    let ask = Ask::SetMode("ask".into());
    played.world.wish(Wish::Ask { session: played.session, ask, tag: 70 });
    asked(&played.world, 70).unwrap();
    assert_eq!(current(), "ask");
    let report = played.close();
    assert_eq!(report.calls("session/set_mode")[0]["modeId"], "ask");
}

fn asked(world: &World, wanted: u64) -> Result<(), Failure> {
    world.told("the answer", |it| match it {
        Tell::AskDone { tag, result, .. } if *tag == wanted => Some(result.clone().map(drop)),
        _ => None,
    })
}

/// Whether or not the agent looked at what we advertise, such an option works.
#[test]
fn boolean_option() {
    let options = |on: bool| {
        json!([
            { "id": "web", "name": "Web", "type": "boolean", "currentValue": on },
            { "id": "odd", "name": "Odd", "type": "slider", "currentValue": 5 },
        ])
    };
    let played = go(&json!({ "on": {
        "session/new": { "merge": { "configOptions": options(false) } },
        "session/set_config_option": { "result": { "configOptions": options(true) } },
    } }));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let settings = || played.world.settings(played.session).settings.options;
    assert_eq!(settings().len(), 1, "an option of an unknown type is left out");
    assert_eq!(settings()[0].setting, Setting::Boolean(false));
    let ask = Ask::SetSwitch("web".into(), true);
    played.world.wish(Wish::Ask { session: played.session, ask, tag: 70 });
    asked(&played.world, 70).unwrap();
    assert_eq!(settings()[0].setting, Setting::Boolean(true));
    let report = played.close();
    let call = report.calls("session/set_config_option")[0];
    assert_eq!((&call["configId"], &call["value"]), (&json!("web"), &json!(true)));
}

/// The past is told under the name of the branch before the answer that gives this name.
#[test]
fn fork_replays_before_the_response() {
    let scenario = json!({
        "capabilities": { "sessionCapabilities": { "fork": {} } },
        "on": { "session/fork": { "steps": past(), "merge": { "sessionId": "branch" } } },
    });
    let played = go(&scenario);
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let world = &played.world;
    let trunk = world.summary(played.session).remote.unwrap();
    let branch = world.open(world.launch(&scenario), Origin::Fork(played.session));
    world.ready(branch);
    world.shows(branch, "Hello.");
    assert_eq!(world.transcript(branch), PAST);
    assert!(!played.transcript().contains("Hello."), "the trunk is as it was");
    let tag = world.prompt(branch, "go");
    assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    world.wish(Wish::Close(branch));
    let report = played.close();
    assert_eq!(report.calls("session/fork")[0]["sessionId"], *trunk);
    assert_eq!(report.calls("session/prompt")[1]["sessionId"], "branch");
}
