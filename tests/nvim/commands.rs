//! Commands that agents run by the plugin: what rules make of them, what the user is asked, and what
//! is left of them when a turn is cancelled.

use std::fs;

use serde_json::{Value, json};

use crate::plugin::{chat, wait_state, wait_transcript, with_agent};
use crate::report::{REPORT, answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::process;

/// An agent that has one command run for each prompt, and says so.
pub(crate) fn agent(command: &Value) -> Value {
    json!({ "report": REPORT, "prompts": [{ "steps": [
        { "request": { "method": "terminal/create", "params": command, "id": "run", "save": "t" } },
        { "say": "I have asked." },
    ] }] })
}

pub(crate) fn touch() -> Value {
    json!({ "command": "touch", "args": ["made"] })
}

pub(crate) fn made(nvim: &Nvim) -> bool {
    nvim.scratch().project().join("made").exists()
}

pub(crate) fn set_rules(nvim: &mut Nvim, rules: &Value) {
    let code = "
        local agents = require('acp.config').get().agents
        require('acp').setup({ default_agent = 'fake', agents = agents, permissions = { rules = ... } })";
    nvim.lua(code, json!([rules]));
}

pub(crate) fn wait_permission(nvim: &mut Nvim) -> Value {
    nvim.wait_for("the question", DEADLINE, |nvim| {
        let asked = nvim.lua("return require('acp').permissions()", json!([]));
        asked.as_array().and_then(|it| it.first().cloned())
    })
}

pub(crate) fn respond(nvim: &mut Nvim, permission: &Value, option: &str) {
    nvim.lua("assert(require('acp').respond(...))", json!([permission["id"], option]));
}

fn audit(nvim: &mut Nvim) -> Vec<Value> {
    let path = nvim.lua("return vim.fn.stdpath('log') .. '/audit.log'", json!([]));
    let text = fs::read_to_string(path.as_str().unwrap()).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

nvim_tests! {
    fn a_rule_keeps_a_command_from_running(target: &Target) {
        let mut nvim = with_agent(target, &agent(&touch()));
        set_rules(&mut nvim, &json!([{ "reject": true, "command": "touch *" }]));
        send(&mut nvim, "go");
        finish(&mut nvim);
        assert!(!made(&nvim));
        wait_transcript(&mut nvim, "rejected by a rule: run touch made");
        let error = &answers(&nvim)[0]["error"];
        assert!(error["message"].as_str().unwrap().contains("a rule of the user forbids it"), "{error}");
        let project = nvim.scratch().project().canonicalize().unwrap();
        let last = nvim.wait_for("the audit log", DEADLINE, |nvim| audit(nvim).pop().filter(|it| it["event"] == "ruled"));
        assert_eq!(last["verdict"], "reject");
        assert_eq!(last["command"], "touch made");
        assert_eq!(last["command_cwd"], project.to_str().unwrap());
    }

    fn a_rule_asks_before_a_command(target: &Target) {
        let command = json!({ "command": "touch made", "env": [{ "name": "SECRET_SWITCH", "value": "on" }] });
        let mut nvim = with_agent(target, &agent(&command));
        set_rules(&mut nvim, &json!([{ "ask": true, "kind": "execute" }]));
        send(&mut nvim, "go");
        let permission = wait_permission(&mut nvim);
        assert_eq!(permission["title"], "run with SECRET_SWITCH=on: touch made");
        assert_eq!(permission["kind"], "execute");
        assert!(!made(&nvim));
        respond(&mut nvim, &permission, "allow");
        finish(&mut nvim);
        nvim.wait_until("the command to run", DEADLINE, |nvim| made(nvim));
        let log = audit(&mut nvim);
        assert!(log.iter().all(|it| it["env"] == json!(["SECRET_SWITCH=on"])), "{log:?}");
    }

    /// The agent ends its turn and leaves the command alone.
    fn cancelling_ends_the_command_and_its_row_says_so(target: &Target) {
        let create = json!({ "command": "sh", "args": ["-c", "trap '' TERM; echo $$ > pid; sleep 300; sleep 300"] });
        let shown = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "sleep 300", "kind": "execute",
            "status": "in_progress", "content": [{ "type": "terminal", "terminalId": "{{t.terminalId}}" }] });
        let wait = json!({ "method": "terminal/wait_for_exit", "id": "wait", "params": { "terminalId": "{{t.terminalId}}" } });
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [
            { "request": { "method": "terminal/create", "params": create, "id": "run", "save": "t" } },
            { "update": shown },
            { "request": wait },
        ] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        let pid = nvim.wait_for("the command", DEADLINE, |nvim| {
            let pid = fs::read_to_string(nvim.scratch().project().join("pid")).ok()?;
            pid.trim().parse::<u32>().ok()
        });
        wait_transcript(&mut nvim, "execute: sleep 300");
        nvim.input("<C-c>");
        wait_state(&mut nvim, "ready");
        process::wait_gone(&[pid], DEADLINE);
        nvim.wait_screen("sleep 300 · command stopped");
    }

    fn an_audit_log_that_cannot_be_written_is_said(target: &Target) {
        let mut nvim = with_agent(target, &agent(&touch()));
        nvim.allow_errors();
        nvim.lua("vim.fn.mkdir(vim.fn.stdpath('log') .. '/audit.log', 'p')", json!([]));
        send(&mut nvim, "go");
        finish(&mut nvim);
        nvim.wait_screen("The audit log cannot be written");
        send(&mut nvim, "again");
        finish(&mut nvim);
        assert_eq!(nvim.messages().matches("The audit log cannot be written").count(), 1, "{}", nvim.messages());
        nvim.input(":checkhealth acp<CR>");
        nvim.wait_until("the report", DEADLINE, |nvim| {
            let lines = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)", json!([])).to_string();
            lines.contains("The audit log cannot be written") && lines.contains("it is a directory")
        });
    }
}
