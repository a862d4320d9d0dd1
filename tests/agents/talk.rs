//! Words only: answers, thoughts, and stopping in the midst of them.

use serde_json::json;

use crate::chat::{Chat, PATIENCE};
use crate::opencode;
use crate::plugin::{rows, transcript};
use crate::support::process;
use crate::support::target;

nvim_tests! {
    fn says(target: &Target) {
        let mut it = opencode::chat(target);
        it.type_keys("say Hello from the model.\\nAnd a second line.");
        it.input("<C-s>");
        it.wait_transcript("And a second line.");
        it.wait_state("ready");
        assert_eq!(rows(&mut it), [
            "▌ You", "say Hello from the model.\\nAnd a second line.", "",
            "▌ opencode", "Hello from the model.", "And a second line.",
        ]);
        it.wait_screen("And a second line.");
    }
}

#[test]
fn thinks() {
    let mut it = opencode::chat(target::newest());
    it.prompt("think Let me see; say I have seen");
    it.wait_done("end_turn");
    assert_eq!(rows(&mut it)[3..], ["▌ opencode", "▸ Thought · 3 words", "", "I have seen"]);
}

#[test]
fn remembers_what_was_said() {
    let mut it = opencode::chat(target::newest());
    it.prompt("say the first answer");
    it.prompt("slow 5");
    it.wait_done("end_turn");
    let text = it.wait_transcript("word1 word2 word3 word4 word5");
    let at = |what: &str| text.find(what).unwrap();
    assert!(at("\nthe first answer") < at("slow 5"), "{text}");
    let told = it.model.conversation();
    assert!(told.contains("\nthe first answer\nslow 5"), "{told}");
}

#[test]
fn stops_in_the_midst_of_an_answer() {
    let mut it = opencode::chat(target::newest());
    it.type_keys("say Beginning; hold");
    it.input("<C-s>");
    // Not the prompt, which has the same word.
    it.wait_transcript("## opencode\n\nBeginning");
    it.wait_state("running");
    it.input("<C-c>");
    it.wait_transcript("*cancelled*");
    it.wait_state("ready");
    it.prompt("say still alive");
    it.wait_done("end_turn");
    assert!(transcript(&mut it).contains("\nstill alive"));
    let Chat { nvim, model } = &mut it;
    nvim.wait_until("the agent to hang up on the model", PATIENCE, |_| model.cut() == 1);
}

#[test]
fn is_gone_with_its_session() {
    let mut it = opencode::chat(target::newest());
    let family = process::descendants(it.pid());
    assert!(!family.is_empty());
    it.lua("assert(require('acp').close())", json!([]));
    process::wait_gone(&family, PATIENCE);
}

#[test]
fn answers_after_a_tool() {
    let mut it = opencode::chat(target::newest());
    it.prompt("say Planning.; todo Look around, Go home; say Planned.");
    it.wait_done("end_turn");
    let results = it.model.tool_results();
    let [result] = results.as_slice() else { panic!("one tool was used: {results:?}") };
    assert!(result.contains("Look around") && result.contains("Go home"), "{result}");
    let text = transcript(&mut it);
    let (before, after) = (text.rfind("Planning.").unwrap(), text.rfind("Planned.").unwrap());
    assert!(before < after, "{text}");
}
