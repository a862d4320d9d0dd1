//! Logging in, when an agent wants it.

use serde_json::{Value, json};

use crate::plugin::{
    chat, states, transcript, wait_choices, wait_state, wait_transcript, with_agent,
};
use crate::report::{REPORT, assert_polite, calls, wait_call};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// An agent that opens sessions once there is a token: a file that a login leaves. It may refuse
/// the first login.
fn scenario(methods: &Value, authenticate: &Value) -> Value {
    let refused =
        json!({ "reply": { "error": { "code": -32000, "message": "Authentication required" } } });
    let check =
        json!({ "wait_file": { "path": "token", "timeout_ms": 1, "otherwise": [refused] } });
    json!({
        "report": REPORT,
        "on": {
            "initialize": { "merge": { "authMethods": methods } },
            "authenticate": authenticate,
            "session/new": [check]
        },
        "prompts": [{ "steps": [{ "say": "welcome, {{prompt}}, to {{pid}}." }] }]
    })
}

fn ways() -> Value {
    json!([
        { "id": "browser", "name": "With the browser", "description": "opens a page" },
        { "id": "key", "name": "With a key", "type": "env_var", "vars": [{ "name": "FAKE_KEY" }] },
        { "id": "terminal", "name": "In a terminal", "_meta": { "terminal-auth": {
            "command": "sh",
            "args": ["-c", "until test -e seen; do sleep 0.01; done
                echo \"Your $WHAT, please\"; read word; test \"$word\" = sesame && touch token"],
            "env": { "WHAT": "password" }
        } } }
    ])
}

/// The chat with something typed before the login, in normal mode, and the picker on the screen.
fn asked(target: &Target, authenticate: &Value) -> Nvim {
    let mut nvim = chat(target, &scenario(&ways(), authenticate));
    nvim.type_keys("user");
    nvim.input("<C-s><Esc>");
    let frame = wait_choices(&mut nvim, "n  Do not log in");
    for text in [
        "Log in to fake",
        "w  With the browser (opens a page)",
        "a  With a key (set FAKE_KEY)",
        "i  In a terminal, runs in a terminal: WHAT=password sh -c 'until test -e seen;",
        "test \"$word\" = sesame && touch",
        "token'",
    ] {
        assert!(frame.find(text).is_some(), "{text}\n{}", frame.text());
    }
    nvim
}

/// Waits until the login asks in its terminal. What a program says before its terminal is there
/// is lost now and then, with the older Neovim on a busy machine.
fn wait_terminal(nvim: &mut Nvim) {
    nvim.wait_until("terminal mode", DEADLINE, |nvim| {
        nvim.request("nvim_get_mode", json!([]))["mode"] == "t"
    });
    nvim.scratch().write("seen", "");
    nvim.wait_screen("Your password, please");
}

fn grant() -> Value {
    json!([{ "write_file": { "path": "token", "text": "" } }])
}

nvim_tests! {
    fn the_agent_logs_in_by_itself(target: &Target) {
        let mut nvim = asked(target, &grant());
        nvim.input("w");
        // What was typed meanwhile is sent now.
        wait_transcript(&mut nvim, "welcome, user, to");
        wait_state(&mut nvim, "ready");
        assert_eq!(wait_call(&mut nvim, "authenticate")["methodId"], "browser");
        assert_eq!(calls(&nvim, "initialize").len(), 1);
        assert_eq!(calls(&nvim, "session/new").len(), 2);
        assert_polite(&nvim);
    }

    fn a_login_that_fails_is_asked_for_again(target: &Target) {
        let fails_once = json!([{ "if": {
            "when": { "call": 1 },
            "then": [{ "reply": { "error": { "code": -32603, "message": "the page was closed" } } }],
            "else": grant()
        } }]);
        let mut nvim = asked(target, &fails_once);
        nvim.input("w");
        wait_transcript(&mut nvim, "the page was closed");
        wait_choices(&mut nvim, "n  Do not log in");
        nvim.input("w");
        wait_transcript(&mut nvim, "welcome, user, to");
    }

    fn a_login_in_a_terminal(target: &Target) {
        let mut nvim = asked(target, &json!([]));
        nvim.input("i");
        wait_terminal(&mut nvim);
        nvim.type_keys("sesame\n");
        wait_transcript(&mut nvim, "welcome, user, to");
        wait_state(&mut nvim, "ready");
        // The agent reads what the login left when it starts.
        assert_eq!(calls(&nvim, "initialize").len(), 2);
        assert!(calls(&nvim, "authenticate").is_empty());
        nvim.wait_until("the terminal is gone", DEADLINE, |nvim| {
            let code = "return vim.tbl_filter(function(buf) return vim.bo[buf].buftype == 'terminal' end, vim.api.nvim_list_bufs())";
            nvim.lua(code, json!([])) == json!([])
        });
        assert_eq!(nvim.lua("return vim.bo.filetype", json!([])), "acp_prompt");
        assert_polite(&nvim);
    }

    fn a_login_in_a_terminal_that_fails(target: &Target) {
        let mut nvim = asked(target, &json!([]));
        nvim.input("i");
        wait_terminal(&mut nvim);
        nvim.type_keys("nonsense\n");
        // What it said can be read until a key is pressed; then it is asked again.
        nvim.wait_screen("[Process exited 1]");
        nvim.wait_until("the message", DEADLINE, |nvim| {
            nvim.messages().contains("The login has ended with exit code 1")
        });
        nvim.input("<CR>");
        nvim.wait_screen("fake wants you to log in: :Acp auth");
        nvim.input(":Acp auth<CR>");
        wait_choices(&mut nvim, "n  Do not log in");
        nvim.input("n");
        wait_state(&mut nvim, "failed");
        assert_eq!(calls(&nvim, "initialize").len(), 1);
    }

    fn the_user_may_decline(target: &Target) {
        let mut nvim = asked(target, &json!([]));
        nvim.input("n");
        wait_state(&mut nvim, "failed");
        assert!(transcript(&mut nvim).contains("wants a login first"), "{}", transcript(&mut nvim));
        assert!(calls(&nvim, "authenticate").is_empty());
        nvim.input(":Acp permissions<CR>");
        nvim.wait_screen("Nothing waits for your answer");
    }

    fn a_login_that_was_put_off(target: &Target) {
        let mut nvim = asked(target, &grant());
        nvim.input("<Esc>");
        nvim.wait_screen("Not answered yet: fake wants you to log in: :Acp auth");
        assert_eq!(states(&mut nvim), ["waiting"]);
        nvim.input(":Acp auth<CR>");
        wait_choices(&mut nvim, "n  Do not log in");
        nvim.input("w");
        wait_transcript(&mut nvim, "welcome, user, to");
    }

    fn a_login_that_hangs_is_cancelled(target: &Target) {
        let mut nvim = asked(target, &json!([{ "sleep_ms": 60000 }]));
        nvim.input("w");
        wait_call(&mut nvim, "authenticate");
        nvim.input(":Acp cancel<CR>");
        wait_state(&mut nvim, "failed");
        nvim.wait_screen("failed");
        assert_polite(&nvim);
    }

    fn variables_are_named(target: &Target) {
        let mut nvim = asked(target, &json!([]));
        nvim.input("a");
        let frame = nvim.wait_screen("fake reads FAKE_KEY from its environment");
        assert!(frame.find(":let $FAKE_KEY = ").is_some(), "{}", frame.text());
    }

    fn an_agent_that_names_no_way(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&json!([]), &json!([])));
        nvim.input(":AcpChat<CR>");
        wait_transcript(&mut nvim, "Authentication required");
        wait_state(&mut nvim, "failed");
        assert_eq!(calls(&nvim, "session/new").len(), 1);
    }
}
