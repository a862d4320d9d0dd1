//! Windows: opening, hiding, and everything users do to them.

use serde_json::json;

use crate::plugin::{
    chat, open, rows, states, transcript, wait_state, wait_transcript, windows, with_agent,
};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// A chat with one answered prompt, in normal mode in the prompt.
fn talked(target: &Target) -> Nvim {
    let mut nvim =
        chat(target, &json!({ "prompts": [{ "steps": [{ "say": "answer to {{prompt}}" }] }] }));
    nvim.type_keys("one");
    nvim.input("<C-s>");
    wait_transcript(&mut nvim, "answer to one");
    wait_state(&mut nvim, "ready");
    nvim.wait_screen("answer to one");
    nvim.input("<Esc>");
    nvim
}

fn ask_again(nvim: &mut Nvim) {
    nvim.type_keys("two");
    nvim.input("<C-s>");
    wait_transcript(nvim, "answer to two");
    nvim.wait_screen("answer to two");
    wait_state(nvim, "ready");
}

fn wait_windows(nvim: &mut Nvim, count: u64) {
    nvim.wait_until(&format!("{count} windows"), DEADLINE, |nvim| windows(nvim) == count);
}

nvim_tests! {
    fn q_hides_and_the_command_brings_back(target: &Target) {
        let mut nvim = talked(target);
        assert_eq!(windows(&mut nvim), 3);
        nvim.input("q");
        wait_windows(&mut nvim, 1);
        open(&mut nvim, "AcpChat");
        nvim.wait_screen("answer to one");
        assert_eq!(states(&mut nvim), ["ready"]);
        ask_again(&mut nvim);
    }

    fn a_draft_survives_hiding(target: &Target) {
        let mut nvim = talked(target);
        nvim.input("i");
        nvim.type_keys("half a thought");
        nvim.input("<Esc>q");
        wait_windows(&mut nvim, 1);
        nvim.input(":AcpChat<CR>");
        nvim.wait_screen("half a thought");
    }

    fn bang_starts_anew(target: &Target) {
        let mut nvim = talked(target);
        open(&mut nvim, "AcpChat!");
        nvim.wait_until("two sessions", DEADLINE, |nvim| states(nvim) == ["ready", "ready"]);
        assert_eq!(windows(&mut nvim), 3);
        assert!(!transcript(&mut nvim).contains("answer to one"));
        ask_again(&mut nvim);
    }

    fn closing_either_window_closes_both(target: &Target) {
        let mut nvim = talked(target);
        nvim.command("quit");
        wait_windows(&mut nvim, 1);
        open(&mut nvim, "AcpChat");
        nvim.input("<Esc><C-w>k");
        nvim.input(":quit<CR>");
        wait_windows(&mut nvim, 1);
        open(&mut nvim, "AcpChat");
        ask_again(&mut nvim);
    }

    fn only_leaves_one_and_the_command_restores(target: &Target) {
        let mut nvim = talked(target);
        nvim.command("only");
        wait_windows(&mut nvim, 1);
        nvim.input(":AcpChat<CR>");
        nvim.wait_screen("answer to one");
        wait_windows(&mut nvim, 2);
        nvim.input("<Esc><C-w>k:only<CR>");
        wait_windows(&mut nvim, 1);
        open(&mut nvim, "AcpChat");
        wait_windows(&mut nvim, 2);
        ask_again(&mut nvim);
    }

    fn a_second_tab_shows_the_same_session(target: &Target) {
        let mut nvim = talked(target);
        nvim.command("tabnew");
        open(&mut nvim, "AcpChat");
        nvim.wait_screen("answer to one");
        ask_again(&mut nvim);
        assert_eq!(states(&mut nvim), ["ready"]);
        nvim.input("<Esc>:tabclose<CR>");
        nvim.wait_screen("answer to two");
    }

    fn wiped_buffers_come_back(target: &Target) {
        let mut nvim = talked(target);
        let before = rows(&mut nvim);
        nvim.command("execute 'bwipeout!' bufnr('acp://1/fake')");
        nvim.wait_until("no buffer", DEADLINE, |nvim| nvim.lua("return require('acp').buffer()", json!([])).is_null());
        open(&mut nvim, "AcpChat");
        nvim.wait_screen("answer to one");
        assert_eq!(rows(&mut nvim), before);
        nvim.input("<Esc>");
        nvim.command("bwipeout!");
        open(&mut nvim, "AcpChat");
        ask_again(&mut nvim);
    }

    fn the_last_windows_of_neovim_can_be_quit(target: &Target) {
        let mut nvim = talked(target);
        nvim.input("<C-w>h:quit<CR>");
        wait_windows(&mut nvim, 2);
        nvim.quit();
    }

    fn the_screen_can_shrink_and_grow(target: &Target) {
        let mut nvim = talked(target);
        nvim.resize(40, 12);
        nvim.resize(120, 40);
        nvim.wait_screen("answer to one");
        nvim.input("i");
        ask_again(&mut nvim);
    }

    fn small_screen(target: &Target) {
        let mut nvim = talked(target);
        nvim.resize(80, 24);
        nvim.assert_screen("small_screen");
    }

    fn one_status_line_tells_what_a_float_is(target: &Target) {
        let mut nvim = talked(target);
        nvim.command("set laststatus=3");
        nvim.input("g?");
        nvim.wait_screen("acp://keys");
        nvim.input("q:Acp sessions<CR>");
        nvim.wait_screen("acp://choice");
    }

    fn one_status_line_and_light_background(target: &Target) {
        let mut nvim = talked(target);
        nvim.command("set laststatus=3 background=light");
        nvim.input("i");
        ask_again(&mut nvim);
        nvim.input("<Esc>");
        nvim.assert_screen("one_status_line");
    }

    fn agent_names_are_completed(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        let names = nvim.lua("return vim.fn.getcompletion('AcpChat ', 'cmdline')", json!([]));
        let names: Vec<String> = serde_json::from_value(names).unwrap();
        for name in ["fake", "opencode", "claude", "tutor"] {
            assert!(names.iter().any(|it| it == name), "{names:?}");
        }
        let subcommands = nvim.lua("return vim.fn.getcompletion('Acp ca', 'cmdline')", json!([]));
        assert_eq!(subcommands, json!(["cancel"]));
    }

    fn keys_are_explained(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        nvim.input("<Esc>g?");
        let frame = nvim.wait_screen("<C-c>");
        assert!(frame.find("g?").is_some() && frame.find("q ").is_some(), "{}", frame.text());
        nvim.input("q");
    }

    fn nothing_is_loaded_before_it_is_needed(target: &Target) {
        let mut nvim = Nvim::start(target, Default::default());
        let loaded = nvim.lua("return vim.tbl_filter(function(name) return name:find('^acp') end, vim.tbl_keys(package.loaded))", json!([]));
        assert_eq!(loaded, json!([]));
    }

    fn a_chat_opens_without_what_comes_later(target: &Target) {
        let mut nvim = with_agent(target, &json!({}));
        let loaded = nvim.lua("
            require('acp').open({ new = true })
            local later = { 'elicitation', 'files.disk', 'login', 'permission', 'review', 'rewind', 'ui.detail', 'ui.paint', 'ui.plan', 'ui.queue' }
            return vim.tbl_filter(function(name) return package.loaded['acp.' .. name] ~= nil end, later)
            ", json!([]));
        assert_eq!(loaded, json!([]));
    }
}
