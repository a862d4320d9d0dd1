//! Commands that are under way when the user cancels: whoever runs them, they end.

use std::time::Duration;

use serde_json::json;

use crate::chat::{Chat, PATIENCE};
use crate::plugin::rows;
use crate::support::process;
use crate::support::target;
use crate::{goose, opencode};

/// How soon a command must be gone: the agent has two seconds, the command less than one.
const SOON: Duration = Duration::from_secs(20);

/// Waits until the command has told its process.
fn pid(it: &mut Chat) -> u32 {
    it.wait_for("the command to run", PATIENCE, |nvim| {
        let pid = std::fs::read_to_string(nvim.scratch().project().join("pid")).ok()?;
        pid.trim().parse().ok()
    })
}

fn cancel(it: &mut Chat) {
    it.lua("assert(require('acp').cancel())", json!([]));
}

/// The command and how the agent goes on afterwards.
fn is_over(it: &mut Chat, pid: u32) {
    it.wait_done("cancelled");
    process::wait_gone(&[pid], SOON);
    it.prompt("say still alive");
    it.wait_done("end_turn");
    it.wait_transcript("\nstill alive");
}

const COMMAND: &str = "bash echo $$ > pid && exec sleep 300; say It has run.";

#[test]
fn goose_is_cancelled_in_a_command() {
    let mut it = goose::chat(target::newest());
    it.prompt(COMMAND);
    let pid = pid(&mut it);
    assert!(process::descendants(it.pid()).contains(&pid), "it runs under Neovim");
    cancel(&mut it);
    is_over(&mut it, pid);
    let rows = rows(&mut it);
    assert!(
        rows.iter().any(|it| it.contains("command stopped") || it.contains("stopped the command")),
        "{rows:#?}"
    );
}

#[test]
fn goose_runs_nothing_that_a_rule_rejects() {
    let mut it = goose::chat(target::newest());
    let code = "
        local config = require('acp.config').get()
        require('acp').setup({ default_agent = 'goose', agents = config.agents, permissions = { rules = { { reject = true, command = 'touch *' } } } })";
    it.lua(code, json!([]));
    it.prompt("bash touch made; say It has tried.");
    it.wait_done("end_turn");
    it.wait_transcript("rejected by a rule: run");
    assert!(!it.scratch().project().join("made").exists());
}

#[test]
fn opencode_is_cancelled_in_a_command() {
    let mut it = opencode::chat(target::newest());
    it.prompt(COMMAND);
    let asked = it.wait_for("the agent to ask", PATIENCE, |nvim| {
        let asked = nvim.lua("return require('acp').permissions()", json!([]));
        asked.as_array().and_then(|it| it.first().cloned())
    });
    let option = asked["options"].as_array().unwrap().iter().find(|it| it["kind"] == "allow_once");
    it.lua("assert(require('acp').respond(...))", json!([asked["id"], option.unwrap()["id"]]));
    let pid = pid(&mut it);
    cancel(&mut it);
    is_over(&mut it, pid);
}
