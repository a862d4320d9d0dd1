//! Permissions while the user types: no key is lost, none goes elsewhere, none answers. Everything is
//! typed through the screen.

use serde_json::{Value, json};

use crate::permissions::{
    ask, chosen, quiet_for, scenario, wait_no_window, wait_open, wait_window,
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

/// Long enough for a question to come by itself, if it wanted to.
fn pause(nvim: &mut Nvim) {
    quiet_for(nvim, 1500);
}

fn mode(nvim: &mut Nvim) -> String {
    nvim.request("nvim_get_mode", json!([]))["mode"].as_str().unwrap().to_owned()
}

/// How often the user was told that something waits.
fn announcements(nvim: &mut Nvim) -> usize {
    nvim.messages().matches(": :Acp permissions").count()
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
        assert!((1..=2).contains(&announcements(&mut nvim)), "{}", nvim.messages());
        assert!(answers(&nvim).is_empty());

        // In normal mode nothing comes either: it is not the chat.
        nvim.input("<Esc>");
        pause(&mut nvim);
        wait_no_window(&mut nvim);
        // On purpose each takes two keys.
        nvim.command("nmap <F2> <Plug>(acp-permission)");
        for number in 1..=10 {
            nvim.input(if number == 7 { "<F2>r" } else { "<F2>a" });
            wait_answers(&mut nvim, number);
        }
        finish(&mut nvim);
        let no = |it: &(String, String)| it.1 == "no";
        assert_eq!(chosen(&answers(&nvim)).iter().position(no), Some(6));
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
        pause(&mut nvim);
        wait_no_window(&mut nvim);
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
        // The key leads there from a terminal too, and back.
        nvim.command("tmap <F2> <Plug>(acp-permission)");
        nvim.input("<F2>");
        wait_window(&mut nvim, "fake asks (edit): Edit 1.lua");
        nvim.input("r");
        wait_answers(&mut nvim, 1);
        nvim.wait_until("terminal mode again", DEADLINE, |nvim| mode(nvim) == "t");
        nvim.input("<F2>r");
        wait_answers(&mut nvim, 2);
        nvim.wait_until("terminal mode again", DEADLINE, |nvim| mode(nvim) == "t");
        nvim.type_keys("more");
        nvim.input("<CR>");
        nvim.wait_until("the program has all of it", DEADLINE, |nvim| {
            nvim.lines(0).iter().filter(|line| line.trim_end() == "more").count() == 2
        });
        nvim.command("Acp cancel");
        finish(&mut nvim);
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
        // A selection is there again after the answer.
        nvim.command("xmap <F2> <Plug>(acp-permission)");
        nvim.input("ggvj");
        nvim.input("<F2>r");
        wait_answers(&mut nvim, 1);
        nvim.wait_until("visual mode again", DEADLINE, |nvim| mode(nvim) == "v");
        nvim.input("d");
        nvim.wait_until("the selection is gone", DEADLINE, |nvim| nvim.lines(0) == ["our", "five"]);
        nvim.command("Acp cancel");
        finish(&mut nvim);
        wait_no_window(&mut nvim);
    }

    fn it_opens_over_an_empty_prompt_and_goes_back_to_it(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("a");
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        nvim.input("r");
        wait_transcript(&mut nvim, "outcome: selected no.");
        nvim.type_keys("thanks");
        nvim.wait_until("one types on", DEADLINE, |nvim| nvim.lines(0) == ["thanks"]);
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_prompti");
        assert_eq!(announcements(&mut nvim), 0);
    }

    fn a_key_typed_as_it_opens_goes_where_it_was_meant_for(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.lua(INTERRUPT, json!(["aaa 1 more thing<CR>rY"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_until("the words are in the prompt", DEADLINE, |nvim| nvim.lines(0) == ["aaa 1 more thing", "rY"]);
        wait_no_window(&mut nvim);
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_prompti");
        assert!(answers(&nvim).is_empty());
        // Not again in the middle of it.
        pause(&mut nvim);
        wait_no_window(&mut nvim);
        nvim.input("<Esc>:Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("a");
        wait_transcript(&mut nvim, "outcome: selected yes.");
        assert_eq!(nvim.lines(0), ["aaa 1 more thing", "rY"]);
        assert_polite(&nvim);
    }

    fn all_sorts_of_keys_are_handed_on(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.lua(INTERRUPT, json!(["aÀ界…é<Left>b<BS>c<CR>rY<Esc>A!<lt>|\\<Space>1"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_until("the words are in the prompt", DEADLINE, |nvim| nvim.lines(0) == ["aÀ界…c", "rYé!<|\\ 1"]);
        assert_eq!(mode(&mut nvim), "i");
        wait_no_window(&mut nvim);
        assert!(answers(&nvim).is_empty());
    }

    fn what_is_pasted_as_it_opens_is_not_lost(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.lua("vim.api.nvim_create_autocmd('FileType', { pattern = 'acp_select', once = true, callback = function()
          vim.schedule(function() vim.api.nvim_paste('a pasted text', true, -1) end)
        end })", json!([]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_until("the text is in the prompt", DEADLINE, |nvim| nvim.lines(0) == ["a pasted text"]);
        wait_no_window(&mut nvim);
        assert!(answers(&nvim).is_empty());
    }

    fn keys_typed_in_the_transcript_as_it_opens_are_done_there(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.type_keys("go");
        nvim.lua(INTERRUPT, json!(["gg2j:let g:typed = 'a'<CR>"]));
        nvim.input("<C-s><Esc><C-w>k");
        nvim.wait_until("the command", DEADLINE, |nvim| nvim.lua("return vim.g.typed", json!([])) == "a");
        assert_eq!(nvim.lua("return vim.b.acp_role .. vim.fn.line('.')", json!([])), "transcript3");
        wait_no_window(&mut nvim);
        assert!(answers(&nvim).is_empty());
    }

    fn it_does_not_come_while_something_is_written(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.type_keys("and");
        wait_open(&mut nvim, 1);
        quiet_for(&mut nvim, 2500);
        wait_no_window(&mut nvim);
        nvim.type_keys(" then");
        nvim.wait_until("all keys", DEADLINE, |nvim| nvim.lines(0) == ["and then"]);
        // Not in insert mode any more: it comes.
        nvim.input("<Esc>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("r");
        wait_transcript(&mut nvim, "outcome: selected no.");
    }

    fn the_chat_of_another_session_is_not_the_place(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        nvim.type_keys("go");
        nvim.input("<C-s><Esc>:AcpChat!<CR>");
        nvim.wait_until("another session", DEADLINE, |nvim| nvim.lua("return vim.b.acp_session", json!([])) == 2);
        wait_open(&mut nvim, 1);
        quiet_for(&mut nvim, 2500);
        wait_no_window(&mut nvim);
        assert_eq!(nvim.lua("return vim.b.acp_session", json!([])), 2);
        nvim.wait_until("the user is told", DEADLINE, |nvim| announcements(nvim) == 1);
        nvim.input("<Esc>:Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("r");
        wait_answers(&mut nvim, 1);
    }

    fn the_second_press_of_a_key_answers_nothing(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.type_keys("go");
        nvim.input("<C-s><Esc>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("aa");
        wait_answers(&mut nvim, 1);
        // What `a` does in the prompt it does there.
        nvim.wait_until("insert mode", DEADLINE, |nvim| mode(nvim) == "i");
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "yes".into())]);
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        nvim.input("r");
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
        nvim.input("a");
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
