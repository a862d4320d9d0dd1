//! Messages of the plugin: one line that fits, at a moment when it disturbs nobody. Neovim never waits
//! for a key because of one.

use serde_json::{Value, json};

use crate::permissions::{quiet_for, wait_no_window, wait_window};
use crate::plugin::{wait_state, with_options};
use crate::report::send;
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// What leaves little room for messages, or none.
const SETTINGS: [&str; 4] = [
    "",
    "vim.o.cmdheight = 0",
    "vim.o.laststatus = 0 vim.o.showcmd = true vim.o.ruler = true",
    "vim.o.cmdheight = 2",
];

/// A small Neovim with a file of three lines, and an agent that is not shown.
fn hidden(target: &Target, before: &str, scenario: &Value) -> Nvim {
    let options = Options { width: 80, height: 24, before: before.into(), ..Options::default() };
    let mut nvim = with_options(target, options, scenario);
    nvim.request("nvim_buf_set_lines", json!([0, 0, -1, true, ["one", "two", "three"]]));
    nvim
}

/// Fails where Neovim waits for a key, or takes one that was typed for the file.
fn assert_free(nvim: &mut Nvim, why: &str) {
    let mode = nvim.request("nvim_get_mode", json!([]));
    assert_eq!(
        (&mode["mode"], &mode["blocking"]),
        (&json!("n"), &json!(false)),
        "{why}: {}",
        nvim.screen().text()
    );
    nvim.input("gg2x");
    nvim.wait_until("the keys do what they do", DEADLINE, |nvim| nvim.lines(0)[0] == "e");
    nvim.input("u");
    nvim.wait_until("undone", DEADLINE, |nvim| nvim.lines(0)[0] == "one");
}

nvim_tests! {
    fn what_an_agent_tells_does_not_wait_for_a_key(target: &Target) {
        let words = format!("bubblewrap is not\ninstalled {}", "and so on ".repeat(60));
        let notice = json!({ "update": { "sessionUpdate": "notice", "severity": "warning", "title": "No sandbox", "description": words } });
        let steps = vec![notice; 12];
        for setting in SETTINGS {
            let mut nvim = hidden(target, setting, &json!({ "prompts": [{ "steps": steps.clone() }] }));
            send(&mut nvim, "go");
            nvim.wait_until("the message", DEADLINE, |nvim| nvim.messages().contains("fake: No sandbox"));
            wait_state(&mut nvim, "ready");
            quiet_for(&mut nvim, 800);
            assert_free(&mut nvim, setting);
            // All of it can be read.
            nvim.input(":Acp messages<CR>");
            nvim.wait_screen("installed and so on");
        }
    }

    fn an_agent_that_dies_out_of_sight_does_not_wait_for_a_key(target: &Target) {
        for setting in SETTINGS {
            let mut nvim = hidden(target, setting, &json!({ "prompts": [{ "steps": [{ "stderr": "out of cheese" }, { "exit": 3 }] }] }));
            nvim.allow_errors();
            nvim.lua("require('acp').open({ focus = false }) require('acp').prompt('go')", json!([]));
            nvim.wait_until("the message", DEADLINE, |nvim| nvim.messages().contains("fake ended unexpectedly"));
            quiet_for(&mut nvim, 300);
            assert_free(&mut nvim, setting);
        }
    }

    fn many_messages_at_once_do_not_wait_for_a_key(target: &Target) {
        for setting in SETTINGS {
            let mut nvim = hidden(target, setting, &json!({}));
            nvim.allow_errors();
            nvim.lua("
                local notify = require('acp.notify')
                vim.schedule(function()
                  vim.cmd.echomsg([['something of somebody else']])
                  for i = 1, 8 do
                    notify.show(('wide 界 '):rep(40) .. i, ({ 'info', 'warn', 'error' })[i % 3 + 1])
                    notify.err({ code = 'x', message = 'first line\\nsecond line', hint = ('hint '):rep(50) })
                  end
                  notify.show('last', 'info', ': ' .. ('ending '):rep(40))
                end)", json!([]));
            nvim.wait_until("the last", DEADLINE, |nvim| nvim.messages().contains("last"));
            quiet_for(&mut nvim, 200);
            assert_free(&mut nvim, setting);
        }
    }

    fn a_message_waits_until_a_command_is_typed(target: &Target) {
        let mut nvim = hidden(target, "", &json!({}));
        nvim.input(":let g:typed = 'before");
        nvim.wait_screen("'before");
        nvim.lua("require('acp.notify').show('Something happened')", json!([]));
        quiet_for(&mut nvim, 300);
        let frame = nvim.screen();
        assert!(frame.find("Something happened").is_none() && frame.find(":let g:typed = 'before").is_some(), "{}", frame.text());
        nvim.type_keys(" and after'");
        nvim.input("<CR>");
        nvim.wait_screen("Something happened");
        assert_eq!(nvim.lua("return vim.g.typed", json!([])), "before and after");
    }

    fn a_silent_agent_that_answers_after_all_is_not_asked_about(target: &Target) {
        let slow = json!({ "initialize": { "steps": [{ "wait_file": { "path": "go", "timeout_ms": 60000 } }] } });
        let mut nvim = with_options(target, Options::default(), &json!({ "on": slow }));
        nvim.lua("require('acp').setup({ default_agent = 'fake', start_timeout = 1, agents = require('acp.config').get().agents })", json!([]));
        nvim.input(":AcpChat<CR>");
        let window = wait_window(&mut nvim, "fake has not answered \"initialize\" for 1 s");
        assert_eq!(window["lines"].as_array().unwrap()[1..], ["w  Wait 1 s more", "x  Kill the agent and stop", "r  Kill and start again"]);
        // A digit is no choice.
        nvim.input("2<Esc>");
        wait_no_window(&mut nvim);
        nvim.input("<Esc>:Acp permissions<CR>");
        wait_window(&mut nvim, "fake has not answered \"initialize\" for 1 s");
        std::fs::write(nvim.scratch().project().join("go"), "").unwrap();
        wait_no_window(&mut nvim);
        wait_state(&mut nvim, "ready");
        assert_eq!(nvim.lua("return vim.bo.filetype", json!([])), "acp_prompt");
        assert_eq!(nvim.lua("return require('acp.questions').count()", json!([])), 0);
        nvim.input(":Acp permissions<CR>");
        nvim.wait_screen("Nothing waits for your answer");
    }
}
