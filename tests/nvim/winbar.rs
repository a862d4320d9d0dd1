//! What winbar and statusline say of a session, and which characters everything is drawn with.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, with_options};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// An agent with a mode, a model, a title, a plan and costs.
fn talkative() -> Value {
    json!({
        "on": { "session/new": { "merge": {
            "modes": { "currentModeId": "ask", "availableModes": [{ "id": "ask", "name": "Ask" }] },
            "models": { "currentModelId": "s", "availableModels": [{ "modelId": "s", "name": "Small" }] }
        } } },
        "prompts": [{ "steps": [
            { "update": { "sessionUpdate": "session_info_update", "title": "100%\n{evil}% done and more of it" } },
            { "update": { "sessionUpdate": "usage_update", "used": 50000, "size": 200_000, "cost": { "amount": 0.125, "currency": "USD" } } },
            { "update": { "sessionUpdate": "plan", "entries": [
                { "content": "Read", "priority": "high", "status": "completed" },
                { "content": "Write a line that is much too long for the small window at the corner of the chat", "priority": "medium", "status": "in_progress" },
                { "content": "Test", "priority": "low", "status": "pending" }
            ] } },
            { "wait_file": "go" }
        ] }]
    })
}

fn working(target: &Target, options: Options) -> Nvim {
    let mut nvim = with_options(target, options, &talkative());
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    nvim.input("go<C-s><Esc>");
    wait_state(&mut nvim, "running");
    nvim.wait_screen("plan 1/3");
    nvim
}

fn bar(nvim: &mut Nvim) -> String {
    let line = nvim.lua(
        "for _, win in ipairs(vim.api.nvim_list_wins()) do
           if vim.w[win].acp_role == 'transcript' then
             local opts = { winid = win, use_winbar = true }
             return vim.api.nvim_eval_statusline(vim.wo[win].winbar, opts).str
           end
         end",
        json!([]),
    );
    line.as_str().unwrap().to_owned()
}

/// The winbar without what changes from one moment to the next.
fn still(nvim: &mut Nvim) -> String {
    let bar = bar(nvim);
    let at = bar.find("working").unwrap();
    let before: Vec<char> = bar[..at].chars().collect();
    let (words, spinner) = before.split_at(before.len() - 2);
    assert!(spinner[1] == ' ' && bar.ends_with("s "), "{bar:?}");
    words.iter().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wait_still(nvim: &mut Nvim, expected: &str) {
    let mut last = String::new();
    let until = std::time::Instant::now() + DEADLINE;
    while last != expected {
        assert!(std::time::Instant::now() < until, "{last:?}, not {expected:?}");
        last = still(nvim);
    }
}

nvim_tests! {
    fn what_there_is_room_for(target: &Target) {
        let mut nvim = working(target, Options { width: 300, ..Options::default() });
        let all = "plan 1/3 Ask · Small 25% context $0.13";
        wait_still(&mut nvim, &format!("fake 100% {{evil}}% done and more of it {all}"));
        for (width, expected) in [
            (220, "fake 100% {evil}% done a… plan 1/3 Ask · Small 25% context $0.13"),
            (200, "fake 100% {evil}% done … plan 1/3 Ask · Small 25% context"),
            (160, "fake 100% {evil}% do… plan 1/3 25% context"),
            (130, "fake plan 1/3 25% context"),
            (80, "fake plan 1/3"),
        ] {
            nvim.resize(width, 30);
            wait_still(&mut nvim, expected);
        }
    }

    fn a_statusline_has_it_in_short(target: &Target) {
        let mut nvim = working(target, Options::default());
        nvim.command("set laststatus=3 statusline=%{v:lua.require'acp'.status()}");
        let frame = nvim.wait_screen("fake: working");
        assert_eq!(frame.find("fake: working").unwrap().0, 28);
        nvim.scratch().write("go", "");
        nvim.wait_screen("fake: ready");
        nvim.command("Acp close");
        nvim.wait_until("no session", DEADLINE, |nvim| {
            nvim.lua("return require('acp').status()", json!([])) == ""
        });
    }

    fn plain_characters(target: &Target) {
        let before = "vim.g.acp = { icons = 'ascii' }".to_owned();
        let mut nvim = working(target, Options { before, width: 200, ..Options::default() });
        nvim.input(":Acp usage<CR>");
        nvim.wait_screen("Usage");
        let text = nvim.screen().text();
        // What was said is not ours to change.
        let foreign: Vec<char> = text.chars().filter(|it| !it.is_ascii() && !"▌│".contains(*it)).collect();
        assert!(foreign.is_empty(), "{foreign:?}\n{text}");
        for part in ["Ask | Small", "> Write a line", "x Read", "- Test", "########......"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    fn poor_terminals_get_plain_characters(target: &Target) {
        for (term, no_color, ascii) in [("linux", "", true), ("xterm-256color", "1", false), ("dumb", "", true)] {
            let env = vec![("TERM".to_owned(), term.to_owned()), ("NO_COLOR".to_owned(), no_color.to_owned())];
            let mut nvim = Nvim::start(target, Options { env, ..Options::default() });
            assert_eq!(nvim.lua("return require('acp.ui.look').ascii()", json!([])), ascii, "{term}");
            nvim.lua("require('acp').setup({ icons = 'unicode' })", json!([]));
            assert_eq!(nvim.lua("return require('acp.ui.look').ascii()", json!([])), false, "{term}");
        }
    }
}
