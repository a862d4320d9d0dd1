//! Whatever an agent sends, Neovim stays at the user's service: no message and no flood of messages
//! keeps the main loop for longer than a frame.

use std::time::Duration;

use serde_json::{Value, json};

use crate::commands::{set_rules, wait_permission};
use crate::permissions::ask;
use crate::plugin::{chat, open, wait_state, with_agent};
use crate::support::nvim::Nvim;
use crate::support::target::Target;

/// The longest that the main loop may be busy, in milliseconds: a frame at 60 a second.
pub(crate) const FRAME: f64 = 16.0;
/// How long a flood may take to be dealt with, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Begins to measure how long the main loop is busy.
pub(crate) fn start_probe(nvim: &mut Nvim) {
    let probe = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvim/budgets.lua");
    nvim.lua("_G.probe = dofile(...) _G.probe.start()", json!([probe]));
}

/// The longest that the main loop was busy since then, in milliseconds.
pub(crate) fn stop_probe(nvim: &mut Nvim) -> f64 {
    nvim.lua("return _G.probe.stop()", json!([])).as_f64().unwrap()
}

/// Plays these steps in one turn.
fn turn(nvim: &mut Nvim) {
    let code = "require('acp').prompt('go', { on_done = function() _G.turn_over = true end })";
    nvim.lua(code, json!([]));
    nvim.wait_until("the turn is over", PATIENCE, |nvim| {
        nvim.lua("return _G.turn_over == true", json!([])) == json!(true)
    });
}

/// How long the main loop is busy at most while an agent does this.
fn longest(target: &Target, steps: &Value) -> f64 {
    let mut nvim = chat(target, &json!({ "prompts": [{ "steps": steps }] }));
    wait_state(&mut nvim, "ready");
    start_probe(&mut nvim);
    turn(&mut nvim);
    stop_probe(&mut nvim)
}

fn assert_smooth(target: &Target, steps: &Value) {
    let longest = longest(target, steps);
    assert!(longest < FRAME, "the main loop was busy for {longest} ms");
}

fn update(update: Value) -> Value {
    json!({ "update": update })
}

fn options(count: usize) -> Value {
    let values = json!([{ "value": "a", "name": "A" }, { "value": "b", "name": "B" }]);
    let option = |n: usize| {
        json!({ "id": format!("o{n}"), "name": format!("Option {n}"), "type": "select",
            "category": if n == 0 { "mode" } else { "other" }, "currentValue": "a", "options": values })
    };
    let options: Vec<Value> = (0..count).map(option).collect();
    update(json!({ "sessionUpdate": "config_option_update", "configOptions": options }))
}

/// Options, then many changes of the mode.
fn storm(count: usize) -> Value {
    let modes = (0..300).map(|n| {
        let mode = if n % 2 == 0 { "a" } else { "b" };
        update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode }))
    });
    std::iter::once(options(count)).chain(modes).collect()
}

fn step(n: usize) -> Value {
    json!({ "content": format!("step {n}"), "priority": "low", "status": "pending" })
}

nvim_tests! {
    fn changes_of_the_mode_among_many_options(target: &Target) {
        assert_smooth(target, &storm(2_000));
    }

    fn changes_of_the_mode_among_very_many_options(target: &Target) {
        assert_smooth(target, &storm(20_000));
    }

    fn many_named_plans(target: &Target) {
        let plans = (0..5_000).map(|n| {
            let plan = json!({ "planId": format!("p{n}"), "type": "items", "entries": [step(n)] });
            update(json!({ "sessionUpdate": "plan_update", "plan": plan }))
        });
        assert_smooth(target, &plans.collect());
    }

    fn a_plan_of_many_steps(target: &Target) {
        let entries: Vec<Value> = (0..100_000).map(step).collect();
        assert_smooth(target, &json!([update(json!({ "sessionUpdate": "plan", "entries": entries }))]));
    }

    fn many_commands(target: &Target) {
        let command = |n: usize| json!({ "name": format!("c{n}"), "description": "does it" });
        let commands: Vec<Value> = (0..100_000).map(command).collect();
        let commands = json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands });
        assert_smooth(target, &json!([update(commands)]));
    }

    fn a_flood_of_notices(target: &Target) {
        let notice = |n: usize| {
            let title = format!("notice {n}");
            update(json!({ "sessionUpdate": "notice", "severity": "info", "title": title }))
        };
        assert_smooth(target, &(0..2_000).map(notice).collect());
    }
}

/// Asks for a permission whose tool was given this, with rules and the window that asks, and
/// answers it once it is shown; how long the main loop was busy, and what was told of it.
fn asked_for(target: &Target, kind: &str, input: &Value) -> (f64, Value) {
    let mut ask = ask("t1", kind);
    let call = &mut ask["request"]["params"]["toolCall"];
    (call["kind"], call["rawInput"]) = (json!(kind), input.clone());
    let steps = json!([ask, { "await": { "as": "t1", "save": "answer" } }]);
    let mut nvim = with_agent(target, &json!({ "prompts": [{ "steps": steps }] }));
    set_rules(
        &mut nvim,
        &json!([
            { "allow": true, "path": "**/a*b*c/**" }, { "allow": true, "command": "ls *" }
        ]),
    );
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    start_probe(&mut nvim);
    nvim.lua("require('acp').prompt('go')", json!([]));
    let permission = wait_permission(&mut nvim);
    nvim.lua("vim.cmd('Acp permissions')", json!([]));
    nvim.wait_until("all of it is shown", PATIENCE, |nvim| {
        nvim.lua(LONGEST_DETAIL, json!([])) == json!(true)
    });
    let longest = stop_probe(&mut nvim);
    (longest, permission)
}

/// Whether the window of the tool call shows all of a long input, in rows that can be drawn.
const LONGEST_DETAIL: &str = "
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.w[win].acp_role == 'detail' then
        local bytes, longest = 0, 0
        for _, line in ipairs(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)) do
          bytes, longest = bytes + #line, math.max(longest, #line)
        end
        return bytes > 2000000 and longest <= 16 * 1024
      end
    end
    return false";

nvim_tests! {
    fn a_permission_for_a_very_long_path(target: &Target) {
        let input = json!({ "path": format!("/{}", "a/".repeat(1_000_000)) });
        let (longest, permission) = asked_for(target, "edit", &input);
        assert_eq!((&permission["cut"], &permission["paths"]), (&json!(true), &json!([])));
        assert!(longest < FRAME, "the main loop was busy for {longest} ms");
    }

    fn a_permission_for_a_very_long_command(target: &Target) {
        let input = json!({ "command": format!("echo {}", "a ".repeat(1_000_000)) });
        let (longest, permission) = asked_for(target, "execute", &input);
        let command = permission["command"].as_str().unwrap();
        assert!(command.len() < 5_000 && command.ends_with('…'), "{}", command.len());
        assert_eq!(permission["cut"], json!(true));
        assert!(longest < FRAME, "the main loop was busy for {longest} ms");
    }
}

/// What handlers of effects did, in order, while one of them waited for the last.
const WAITING: &str = "
    local client = require('acp.client')
    _G.order = {}
    for _, type in ipairs({ 'turn_started', 'notice', 'turn_finished' }) do
      client.subscribe(type, function(effect)
        table.insert(_G.order, type)
        if type == 'turn_started' then
          _G.waited = vim.wait(20000, function() return vim.list_contains(_G.order, 'turn_finished') end, 5)
        end
      end)
    end";

nvim_tests! {
    /// What comes after an effect whose handler waits is handled meanwhile, in order.
    fn a_handler_that_waits(target: &Target) {
        let notice = update(json!({ "sessionUpdate": "notice", "severity": "info", "title": "now" }));
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [notice] }] }));
        wait_state(&mut nvim, "ready");
        nvim.lua(WAITING, json!([]));
        turn(&mut nvim);
        let order = nvim.lua("return { _G.waited, _G.order }", json!([]));
        assert_eq!(order, json!([true, ["turn_started", "notice", "turn_finished"]]));
    }
}
