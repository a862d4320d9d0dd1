//! What can go wrong with an agent, and what the user is told.

use serde_json::json;

use crate::plugin::{chat, open, wait_state, wait_transcript, with_agent};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::process;

nvim_tests! {
    fn a_missing_program_says_how_to_install_it(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua("require('acp').setup({ agents = { nope = { command = { 'no-such-program' }, install = 'npm install -g nope' } } })", json!([]));
        nvim.input(":AcpChat nope<CR>");
        nvim.wait_screen("nope is not installed");
        let text = wait_transcript(&mut nvim, "is not installed");
        assert!(text.contains("Install it with `npm install -g nope`"), "{text}");
        wait_state(&mut nvim, "failed");
        nvim.assert_screen("a_missing_program");
    }

    fn a_dead_agent_leaves_its_last_words_and_is_started_again(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [
                { "when": "die", "steps": [{ "say": "about to" }, { "stderr": "out of cheese" }, { "exit": 3 }] },
                { "steps": [{ "say": "alive" }] }
            ]
        }));
        nvim.type_keys("die");
        nvim.input("<C-s>");
        let text = wait_transcript(&mut nvim, "exit code 3");
        assert!(text.contains("out of cheese") && text.contains("Your next prompt starts it again"), "{text}");
        wait_state(&mut nvim, "failed");
        nvim.wait_screen("exit code 3");
        nvim.type_keys("again");
        nvim.input("<C-s>");
        let text = wait_transcript(&mut nvim, "alive");
        assert!(text.contains("does not remember"), "{text}");
        wait_state(&mut nvim, "ready");
    }

    fn a_killed_agent_is_reported_at_once(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [{ "say": "pid {{pid}}." }, { "hang": true }] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        let text = wait_transcript(&mut nvim, ".");
        let pid = text.split("pid ").nth(1).and_then(|it| it.split('.').next()).unwrap().parse().unwrap();
        process::signal(pid, rustix::process::Signal::KILL);
        wait_transcript(&mut nvim, "killed by signal 9");
        wait_state(&mut nvim, "failed");
    }

    fn an_agent_that_ends_at_once(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "startup": [{ "stderr": "no licence" }, { "exit": 1 }] }));
        open(&mut nvim, "AcpChat");
        let text = wait_transcript(&mut nvim, "exit code 1");
        assert!(text.contains("no licence"), "{text}");
    }

    /// Some say why on stdout, before they speak the protocol.
    fn an_agent_that_prints_why_it_ends(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua(r#"
            local words = [[printf '{"level":"info"}\nold is no longer maintained,\033[31m use new\nbye']]
            require('acp').setup({ agents = { old = { command = { 'sh', '-c', words } } } })
            require('acp').open({ agent = 'old', on_ready = function(err) _G.err = err end })
        "#, json!([]));
        let text = wait_transcript(&mut nvim, "exit code 0");
        assert!(text.contains("old is no longer maintained, use new\n") && text.contains("bye\n"), "{text}");
        nvim.wait_screen("old is no longer maintained, use new");
        let last = nvim.lua("return _G.err.last_words", json!([]));
        assert_eq!(last, json!(["{\"level\":\"info\"}", "old is no longer maintained, use new", "bye"]));
        nvim.command("checkhealth acp");
        let report = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')", json!([]));
        assert!(report.as_str().unwrap().contains("old is no longer maintained, use new"), "{report}");
    }

    fn a_refused_initialize(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "on": { "initialize": { "error": { "code": -32603, "message": "not today" } } } }));
        open(&mut nvim, "AcpChat");
        let text = wait_transcript(&mut nvim, "not today");
        assert!(text.contains("refused initialize") && text.contains(":checkhealth acp"), "{text}");
        wait_state(&mut nvim, "failed");
    }

    fn another_protocol_version(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "on": { "initialize": { "merge": { "protocolVersion": 7 } } } }));
        open(&mut nvim, "AcpChat");
        wait_transcript(&mut nvim, "speaks version 7");
    }

    fn noise_before_the_answer_is_survived(target: &Target) {
        let mut nvim = with_agent(target, &json!({
            "startup": [{ "raw": "Welcome to Fake Agent 1.0!" }, { "raw": "" }],
            "prompts": [{ "steps": [
                { "bytes": [255, 254, 128, 10] },
                { "big_line": { "mb": 10, "garbage": true } },
                { "raw": "[1, {\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}]" },
                { "raw": "{\"id\":99,\"result\":{}}" },
                { "say": "still here" }
            ] }]
        }));
        open(&mut nvim, "AcpChat");
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_transcript(&mut nvim, "still here");
        wait_state(&mut nvim, "ready");
    }

    fn a_huge_line_is_taken_whole(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [{ "big_line": { "mb": 10 } }, { "say": "\nend" }] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        // Asked inside: 10 MB at each look would keep a busy machine from ever getting there.
        let code = "local text = require('acp').transcript()
            return #text > 10e6 and text:find('\\nend', -100, true) ~= nil";
        nvim.wait_until("the whole line", DEADLINE, |nvim| nvim.lua(code, json!([])) == true);
        wait_state(&mut nvim, "ready");
    }

    fn unknown_requests_are_refused(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [
            { "request": { "method": "craft/drain", "params": {}, "save": "answer" } },
            { "say": "code {{answer.code}}" }
        ] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_transcript(&mut nvim, "code -32601");
    }

    fn a_silent_agent_can_be_waited_for_or_killed(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "on": { "initialize": { "steps": [{ "wait_file": { "path": "go", "timeout_ms": 60000 } }] } } }));
        nvim.lua("require('acp').setup({ default_agent = 'fake', start_timeout = 0.5, agents = { fake = require('acp.config').get().agents.fake } })", json!([]));
        nvim.input(":AcpChat<CR>");
        wait_transcript(&mut nvim, "did not answer initialize");
        std::fs::write(nvim.scratch().project().join("go"), "").unwrap();
        wait_state(&mut nvim, "ready");
        nvim.allow_errors();
    }

    fn a_silent_agent_is_killed_on_demand(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "on": { "initialize": [{ "hang": true }] } }));
        open(&mut nvim, "AcpChat");
        wait_state(&mut nvim, "starting");
        nvim.input("<Esc>:Acp kill<CR>");
        wait_transcript(&mut nvim, "was killed");
        wait_state(&mut nvim, "failed");
        let pids = process::descendants(nvim.pid());
        process::wait_gone(&pids, DEADLINE);
    }

    fn restart_gives_a_fresh_agent(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [{ "say": "turn {{turn}}." }] }] }));
        nvim.type_keys("one");
        nvim.input("<C-s>");
        wait_transcript(&mut nvim, "turn 1.");
        nvim.input("<Esc>:Acp restart<CR>");
        wait_transcript(&mut nvim, "started again");
        wait_state(&mut nvim, "ready");
        nvim.input("itwo<C-s>");
        nvim.wait_until("the second answer", DEADLINE, |nvim| {
            crate::plugin::transcript(nvim).matches("turn 1.").count() == 2
        });
    }
}
