//! Tools: what the agent reads and changes, what it asks the user before, and a session that
//! another process takes up again. The model does as told, so the files tell what the agent did.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::chat::{Chat, PATIENCE};
use crate::opencode;
use crate::plugin::{states, transcript};
use crate::support::nvim::Nvim;
use crate::support::scratch::Scratch;
use crate::support::target;

const HELLO: &str = "hello world\nsecond line\n";

/// A chat in a project with one file, whose path is returned too.
fn chat_on_a_file() -> (Chat, String) {
    let it = opencode::chat(target::newest());
    let path = it.scratch().write("hello.txt", HELLO);
    (it, path.to_str().unwrap().to_owned())
}

/// What is in the chat behind the prompt.
fn after(prompt: &str, it: &mut Chat) -> String {
    let text = transcript(it);
    let Some((_, after)) = text.split_once(prompt) else { panic!("no {prompt:?} in {text}") };
    after.to_owned()
}

fn permissions(nvim: &mut Nvim) -> Vec<Value> {
    let list = nvim.lua("return require('acp').permissions()", json!([]));
    list.as_array().cloned().unwrap_or_default()
}

/// Waits for the agent to ask, and returns the one question.
fn wait_permission(it: &mut Chat, kind: &str) -> Value {
    let asked = it.wait_for("the agent to ask", PATIENCE, |nvim| {
        let asked = permissions(nvim);
        (!asked.is_empty()).then_some(asked)
    });
    let [permission] = asked.as_slice() else { panic!("one question at a time: {asked:?}") };
    assert_eq!(permission["kind"], kind, "{permission}");
    let options: Vec<_> = permission["options"].as_array().unwrap().iter().collect();
    let kinds: Vec<_> = options.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"], "{permission}");
    permission.clone()
}

/// Chooses the option of this kind; the question is gone then, though another may have come.
fn answer(it: &mut Chat, permission: &Value, kind: &str) {
    let options = permission["options"].as_array().unwrap();
    let option = options.iter().find(|it| it["kind"] == kind).unwrap();
    let choice = json!([permission["id"], option["id"]]);
    it.lua("assert(require('acp').respond(...))", choice);
    it.wait_until("the question to go", PATIENCE, |nvim| {
        permissions(nvim).iter().all(|it| it["id"] != permission["id"])
    });
}

#[test]
fn reads_without_asking() {
    let (mut it, path) = chat_on_a_file();
    let prompt = format!("read {path}; say I have read it.");
    it.prompt(&prompt);
    it.wait_done("end_turn");
    assert_eq!(permissions(&mut it), Vec::<Value>::new());
    let results = it.model.tool_results();
    assert!(results.concat().contains("hello world"), "{results:?}");
    let after = after(&prompt, &mut it);
    let (tool, said) = (after.find("hello.txt"), after.find("I have read it."));
    assert!(tool.is_some() && tool < said, "{after}");
}

#[test]
fn edits_when_allowed() {
    let (mut it, path) = chat_on_a_file();
    let prompt = format!("read {path}; edit {path} hello => goodbye; say I have changed it.");
    it.prompt(&prompt);
    let permission = wait_permission(&mut it, "edit");
    assert!(permission["title"].as_str().unwrap().contains("hello.txt"), "{permission}");
    assert_eq!(it.scratch().read("hello.txt"), HELLO, "not before it is allowed");
    answer(&mut it, &permission, "allow_once");
    it.wait_done("end_turn");
    assert_eq!(it.scratch().read("hello.txt"), HELLO.replace("hello", "goodbye"));
    let after = after(&prompt, &mut it);
    assert!(after.contains("hello.txt") && after.contains("I have changed it."), "{after}");
}

#[test]
fn edits_nothing_when_rejected() {
    let (mut it, path) = chat_on_a_file();
    let prompt = format!("read {path}; edit {path} hello => goodbye; say I have changed it.");
    it.prompt(&prompt);
    let permission = wait_permission(&mut it, "edit");
    answer(&mut it, &permission, "reject_once");
    // OpenCode ends the turn without asking the model again.
    it.wait_done("end_turn");
    assert_eq!(it.scratch().read("hello.txt"), HELLO);
    let after = after(&prompt, &mut it);
    assert!(!after.contains("I have changed it."), "{after}");
    it.prompt("say still alive");
    it.wait_done("end_turn");
    let told = it.model.conversation();
    assert!(told.contains("rejected"), "the model was told: {told}");
}

#[test]
fn runs_a_command_when_allowed() {
    let (mut it, _) = chat_on_a_file();
    let prompt = "bash wc -l hello.txt | tee made.txt; say It has run.";
    it.prompt(prompt);
    let permission = wait_permission(&mut it, "execute");
    assert!(permission["title"].as_str().unwrap().contains("wc -l"), "{permission}");
    assert!(!it.scratch().project().join("made.txt").exists(), "not before it is allowed");
    answer(&mut it, &permission, "allow_once");
    it.wait_done("end_turn");
    assert_eq!(it.scratch().read("made.txt"), "2 hello.txt\n");
    assert!(it.model.tool_results().concat().contains("2 hello.txt"));
    let after = after(prompt, &mut it);
    assert!(after.contains("wc -l") && after.contains("It has run."), "{after}");
}

#[test]
fn asks_again_until_it_is_always_allowed() {
    let (mut it, _) = chat_on_a_file();
    let prompt = "bash touch one; bash touch two; bash touch three; say All have run.";
    it.prompt(prompt);
    let permission = wait_permission(&mut it, "execute");
    answer(&mut it, &permission, "allow_once");
    let permission = wait_permission(&mut it, "execute");
    answer(&mut it, &permission, "allow_always");
    it.wait_done("end_turn");
    for name in ["one", "two", "three"] {
        assert!(it.scratch().project().join(name).exists(), "{name}");
    }
}

#[test]
fn stops_while_it_asks() {
    let (mut it, _) = chat_on_a_file();
    let prompt = "bash touch unseen; say It has run.";
    it.prompt(prompt);
    wait_permission(&mut it, "execute");
    it.lua("assert(require('acp').cancel())", json!([]));
    it.wait_done("cancelled");
    assert_eq!(permissions(&mut it), Vec::<Value>::new());
    it.wait_transcript("*cancelled*");
    it.prompt("say still alive");
    it.wait_done("end_turn");
    assert!(transcript(&mut it).contains("\nstill alive"));
    assert!(!it.scratch().project().join("unseen").exists());
    let after = after(prompt, &mut it);
    assert!(!after.contains("It has run."), "{after}");
}

#[test]
fn a_fresh_process_takes_a_session_up_again() {
    let scratch = Rc::new(Scratch::new());
    let path = scratch.write("hello.txt", HELLO);
    let prompt = format!("think Let me see; read {}; say remember this", path.display());
    let remote = {
        let mut it = opencode::start_in(target::newest(), &scratch);
        it.lua("assert(require('acp').open())", json!([]));
        it.wait_state("ready");
        it.prompt(&prompt);
        it.wait_done("end_turn");
        it.lua("return require('acp').sessions()[1].remote", json!([]))
    };
    assert!(remote.is_string(), "the agent's own name of the session: {remote}");

    let mut it = opencode::start_in(target::newest(), &scratch);
    let code = "assert(require('acp').open({ agent = 'opencode', load = (...) }))";
    it.lua(code, json!([remote]));
    it.wait_state("ready");
    assert_eq!(states(&mut it), ["ready"]);
    // Not the prompt, which has the same words.
    it.wait_transcript("\nremember this");
    let after = after(&prompt, &mut it);
    let places = ["Let me see", "hello.txt", "remember this"].map(|it| after.find(it));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{after}");

    it.prompt("say after that");
    it.wait_done("end_turn");
    assert!(transcript(&mut it).contains("\nafter that"));
    let told = it.model.conversation();
    assert!(told.contains("\nremember this") && told.contains("say after that"), "{told}");
}
