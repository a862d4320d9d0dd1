//! Permissions while the user types: no key is lost, none goes elsewhere, none answers. Everything is
//! typed through the screen.

use serde_json::{Value, json};

use crate::permissions::{
    PICKER, ask, chosen, scenario, wait_no_window, wait_open, wait_picker, wait_window,
};
use crate::plugin::{chat, wait_transcript, with_agent};
use crate::report::{REPORT, answers, assert_polite, finish, send, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim};

/// Letters that would choose, move, confirm and dismiss.
const WORDS: &str = "1 and 3, then jjk and y and q: all of these are mine; 2 too 5";

/// Types this at the moment when a window to choose from comes up.
const INTERRUPT: &str = "
    local keys = ...
    vim.api.nvim_create_autocmd('FileType', { pattern = 'acp_select', once = true, callback = function()
      vim.api.nvim_input(keys)
    end })";

/// An agent that asks ten times, with short pauses.
fn ten() -> Value {
    let mut steps = Vec::new();
    for number in 1..=10 {
        steps.push(ask(&format!("t{number}"), &format!("Edit {number}.lua")));
        steps.push(json!({ "sleep_ms": 20 }));
    }
    steps.extend((1..=10).map(|number| json!({ "await": format!("t{number}") })));
    json!({ "report": REPORT, "prompts": [{ "steps": steps }] })
}

/// Lets time pass, as a user who thinks does.
fn pause(nvim: &mut Nvim) {
    nvim.lua("_G.paused = nil vim.defer_fn(function() _G.paused = true end, 800)", json!([]));
    nvim.wait_until("the pause", DEADLINE, |nvim| nvim.lua("return _G.paused", json!([])) == true);
}

fn mode(nvim: &mut Nvim) -> String {
    nvim.request("nvim_get_mode", json!([]))["mode"].as_str().unwrap().to_owned()
}

/// How often the user was told that something waits.
fn announcements(nvim: &mut Nvim) -> usize {
    nvim.messages().matches(":Acp permissions answers").count()
}

nvim_tests! {
    fn ten_arrive_while_one_types_code(target: &Target) {
        let mut nvim = with_agent(target, &ten());
        nvim.command("edit main.lua");
        nvim.input("i");
        nvim.wait_until("insert mode", DEADLINE, |nvim| mode(nvim) == "i");
        send(&mut nvim, "go");
        let mut typed = Vec::new();
        for _ in 0..100 {
            for key in WORDS.chars() {
                nvim.type_keys(&key.to_string());
            }
            nvim.input("<CR>");
            typed.push(WORDS);
            if nvim.lua("return #require('acp').permissions()", json!([])) == 10 {
                break;
            }
        }
        wait_open(&mut nvim, 10);
        pause(&mut nvim);
        nvim.type_keys(WORDS);
        typed.push(WORDS);
        nvim.wait_until("all keys", DEADLINE, |nvim| nvim.lines(0) == typed);
        assert_eq!(nvim.lua("return vim.fn.expand('%:t') .. vim.fn.mode()", json!([])), "main.luai");
        assert_eq!(announcements(&mut nvim), 1, "{}", nvim.messages());
        assert!(answers(&nvim).is_empty());

        // Answered in an order of one's own.
        nvim.input("<Esc>");
        wait_window(&mut nvim, "fake asks (edit): Edit 1.lua");
        nvim.input("<Esc>:Acp permissions<CR>");
        wait_window(&mut nvim, "Waiting for your answer");
        nvim.input("7");
        wait_window(&mut nvim, "fake asks (edit): Edit 7.lua");
        nvim.input("3");
        assert_eq!(chosen(&wait_answers(&mut nvim, 1)), [("t7".into(), "no".into())]);
        for number in [2, 3, 4, 5, 6, 8, 9, 10] {
            wait_window(&mut nvim, &format!("fake asks (edit): Edit {number}.lua"));
            nvim.input("1");
        }
        nvim.wait_until("one is left", DEADLINE, |nvim| answers(nvim).len() == 9);
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit 1.lua");
        nvim.input("1");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), typed);
        assert_eq!(nvim.lua("return vim.fn.expand('%:t') .. vim.fn.mode()", json!([])), "main.luan");
    }

    fn ten_arrive_while_one_types_a_command(target: &Target) {
        let mut nvim = with_agent(target, &ten());
        nvim.input(":let g:typed = 'before");
        nvim.wait_screen("'before");
        send(&mut nvim, "go");
        wait_open(&mut nvim, 10);
        pause(&mut nvim);
        nvim.type_keys(" 1 and 3, then j, y and q'");
        nvim.wait_screen(":let g:typed = 'before 1 and 3, then j, y and q'");
        assert_eq!(mode(&mut nvim), "c");
        nvim.input("<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit 1.lua");
        assert_eq!(nvim.lua("return vim.g.typed", json!([])), "before 1 and 3, then j, y and q");
        assert!(answers(&nvim).is_empty());
        nvim.command("Acp cancel");
        finish(&mut nvim);
        wait_no_window(&mut nvim);
    }

    fn ten_arrive_while_one_types_into_a_terminal(target: &Target) {
        let mut nvim = with_agent(target, &ten());
        nvim.input(":terminal cat<CR>i");
        nvim.wait_until("terminal mode", DEADLINE, |nvim| mode(nvim) == "t");
        send(&mut nvim, "go");
        wait_open(&mut nvim, 10);
        pause(&mut nvim);
        nvim.type_keys(WORDS);
        nvim.input("<CR>");
        // Once as it was typed, once from the program.
        nvim.wait_until("the program has all of it", DEADLINE, |nvim| {
            nvim.lines(0).iter().filter(|line| line.trim_end() == WORDS).count() == 2
        });
        assert_eq!(mode(&mut nvim), "t");
        assert!(answers(&nvim).is_empty());
        nvim.input("<C-\\><C-n>");
        wait_window(&mut nvim, "fake asks (edit): Edit 1.lua");
        nvim.command("Acp cancel");
        finish(&mut nvim);
        wait_no_window(&mut nvim);
        nvim.command("bwipeout!");
    }

    fn ten_arrive_in_the_middle_of_a_command_of_keys(target: &Target) {
        let mut nvim = with_agent(target, &ten());
        nvim.request("nvim_buf_set_lines", json!([0, 0, -1, true, ["one two", "three", "four", "five"]]));
        nvim.input("v");
        nvim.wait_until("visual mode", DEADLINE, |nvim| mode(nvim) == "v");
        send(&mut nvim, "go");
        wait_open(&mut nvim, 10);
        pause(&mut nvim);
        // A register, a count and an operator, each waiting for the rest.
        nvim.input("e\"");
        pause_raw(&mut nvim);
        nvim.input("a");
        pause_raw(&mut nvim);
        nvim.input("y\"b");
        pause_raw(&mut nvim);
        nvim.input("2");
        pause_raw(&mut nvim);
        nvim.input("y");
        pause_raw(&mut nvim);
        nvim.input("yjd");
        pause_raw(&mut nvim);
        nvim.input("d");
        nvim.wait_until("the line is gone", DEADLINE, |nvim| nvim.lines(0) == ["one two", "four", "five"]);
        assert_eq!(nvim.lua("return { vim.fn.getreg('a'), vim.fn.getreg('b') }", json!([])), json!(["one", "one two\nthree\n"]));
        assert!(answers(&nvim).is_empty());
        wait_window(&mut nvim, "fake asks (edit): Edit 1.lua");
        nvim.command("Acp cancel");
        finish(&mut nvim);
        wait_no_window(&mut nvim);
    }

    fn it_opens_over_an_empty_prompt_and_goes_back_to_it(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("1");
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        nvim.input("3");
        wait_transcript(&mut nvim, "outcome: selected no.");
        nvim.type_keys("thanks");
        nvim.wait_until("one types on", DEADLINE, |nvim| nvim.lines(0) == ["thanks"]);
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_prompti");
        assert_eq!(announcements(&mut nvim), 0);
    }

    fn a_key_typed_as_it_opens_is_not_an_answer(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.lua(INTERRUPT, json!(["1 more thing"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_until("the words are in the prompt", DEADLINE, |nvim| nvim.lines(0) == ["1 more thing"]);
        wait_no_window(&mut nvim);
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_prompti");
        nvim.wait_until("the user is told", DEADLINE, |nvim| announcements(nvim) == 1);
        assert!(answers(&nvim).is_empty());
        nvim.input("<Esc>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("1");
        wait_transcript(&mut nvim, "outcome: selected yes.");
        assert_eq!(nvim.lines(0), ["1 more thing"]);
        assert_polite(&nvim);
    }

    fn a_key_typed_in_normal_mode_as_it_opens_is_not_an_answer(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.request("nvim_buf_set_lines", json!([0, 0, -1, true, ["one", "two", "three"]]));
        nvim.lua(INTERRUPT, json!(["2dd"]));
        send(&mut nvim, "go");
        nvim.wait_until("the lines are gone", DEADLINE, |nvim| nvim.lines(0) == ["three"]);
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        assert!(answers(&nvim).is_empty());
        nvim.input("3");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["three"]);
    }

    fn the_second_press_of_a_key_answers_nothing(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        send(&mut nvim, "go");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.lua(INTERRUPT, json!(["1"]));
        nvim.input("1");
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        pause(&mut nvim);
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "yes".into())]);
        nvim.input("3");
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim))[1], ("t2".into(), "no".into()));
    }

    fn another_picker_waits_for_a_free_keyboard_too(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.lua(PICKER, json!([]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        for key in WORDS.chars() {
            nvim.type_keys(&key.to_string());
        }
        wait_open(&mut nvim, 2);
        pause(&mut nvim);
        nvim.wait_until("all keys", DEADLINE, |nvim| nvim.lines(0) == [WORDS]);
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 0);
        nvim.input("<C-u>");
        // Sent or taken back: nothing is being typed.
        wait_picker(&mut nvim, 1);
        assert_eq!(mode(&mut nvim), "n");
        nvim.lua("_G.pickers[1].choose(1)", json!([]));
        wait_picker(&mut nvim, 2);
        nvim.lua("_G.pickers[2].choose(3)", json!([]));
        wait_transcript(&mut nvim, "outcome: selected no.");
    }

    fn asked_for_in_the_middle_of_a_word(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.command("imap <F2> <Plug>(acp-permission)");
        nvim.input("iHello world<Left><Left>");
        send(&mut nvim, "go");
        nvim.wait_until("the user is told", DEADLINE, |nvim| announcements(nvim) == 1);
        nvim.input("<F2>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("1");
        finish(&mut nvim);
        nvim.wait_until("insert mode again", DEADLINE, |nvim| mode(nvim) == "i");
        nvim.type_keys("!");
        nvim.wait_until("one types on", DEADLINE, |nvim| nvim.lines(0) == ["Hello wor!ld"]);
    }
}

/// The same when Neovim may be waiting for the rest of a command, and answers no call.
fn pause_raw(nvim: &mut Nvim) {
    let until = std::time::Instant::now() + std::time::Duration::from_millis(500);
    nvim.wait_until("the pause", DEADLINE, |_| std::time::Instant::now() >= until);
}
