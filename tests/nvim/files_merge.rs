//! Writes of an agent, put together with what the user has not saved.

use serde_json::{Value, json};

use crate::files::{keep, lua, read, run, start, write};
use crate::plugin::{open_choices, wait_choices, wait_state};
use crate::report::{answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// The agent waits for the test.
pub(crate) fn pause(name: &str) -> Value {
    json!({ "wait_file": name })
}

/// Sends a prompt and waits until the agent has so many answers.
pub(crate) fn begin(nvim: &mut Nvim, count: usize) {
    send(nvim, "go");
    nvim.wait_until("the agent to have read", DEADLINE, |nvim| answers(nvim).len() >= count);
}

/// Lets the agent go on.
pub(crate) fn release(nvim: &Nvim, name: &str) {
    nvim.scratch().write(name, "");
}

/// A Neovim whose agent has read `a.txt` and writes it after the user has changed it by a command.
fn clash(target: &Target, options: Options, theirs: &str, user: &str) -> Nvim {
    let steps = [read("a.txt"), pause("go1"), write("a.txt", theirs), read("a.txt")];
    let mut nvim = start(target, options, &steps);
    nvim.scratch().write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    nvim.command("edit a.txt");
    begin(&mut nvim, 1);
    nvim.command(user);
    release(&nvim, "go1");
    nvim
}

const CLASH: &str = "one\ntheirs\nthree\nfour\nfive\nsix\n";

nvim_tests! {
    fn changes_of_both_go_together(target: &Target) {
        let mut nvim = clash(target, keep(), "one\ntwo\nthree\nfour\nFIVE\nsix\n", "2 substitute/two/mine/");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["one", "mine", "three", "four", "FIVE", "six"]);
        assert_eq!(answers(&nvim)[2]["result"]["content"], "one\nmine\nthree\nfour\nFIVE\nsix\n");
        assert_eq!(nvim.scratch().read("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "mine", "three", "four", "five"]);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "two", "three", "four", "five"]);
    }

    fn writes_are_put_together_before_neovim_asks(target: &Target) {
        let steps = [read("a.txt"), write("a.txt", "ONE\ntwo\n"), write("a.txt", "ONE\nTWO\n")];
        let mut nvim = start(target, Options::default(), &steps);
        nvim.scratch().write("a.txt", "one\ntwo\n");
        nvim.command("edit a.txt");
        lua(&mut nvim, "assert(require('acp').open({ focus = false }))");
        nvim.wait_until("a copy of the buffer", DEADLINE, |nvim| {
            lua(nvim, "return require('acp.files.mirror').has(vim.fn.bufnr())") == true
        });
        lua(&mut nvim, "
            local client, merges = require('acp.client'), 0
            local send = client.send
            client.send = function(action)
              merges = merges + (action.type == 'merge' and 1 or 0)
              return send(action)
            end
            _G.merges = function() return merges end
        ");
        run(&mut nvim);
        assert_eq!(nvim.lines(0), ["ONE", "TWO"]);
        assert_eq!(nvim.scratch().read("a.txt"), "ONE\nTWO\n");
        assert_eq!(lua(&mut nvim, "return _G.merges()"), 0);
    }

    fn what_the_agent_does_not_know_survives_a_second_write(target: &Target) {
        let mut nvim = start(target, keep(), &[
            read("a.txt"), pause("go1"), write("a.txt", "ONE\ntwo\nthree\n"), write("a.txt", "ONE\ntwo\nTHREE\n"),
        ]);
        nvim.scratch().write("a.txt", "one\ntwo\nthree\n");
        nvim.command("edit a.txt");
        begin(&mut nvim, 1);
        nvim.command("2 substitute/two/mine/");
        release(&nvim, "go1");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["ONE", "mine", "THREE"]);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["ONE", "mine", "three"]);
    }

    fn the_same_lines_are_for_the_user_to_settle(target: &Target) {
        let choices: [(&str, &[&str]); 3] = [
            ("t", &["one", "theirs", "three", "four", "five", "six"]),
            ("2j<CR>", &["one", "mine", "three", "four", "five", "six"]),
            ("b", &["one", "mine", "theirs", "three", "four", "five", "six"]),
        ];
        for (keys, expected) in choices {
            let mut nvim = clash(target, keep(), CLASH, "2 substitute/two/mine/");
            wait_state(&mut nvim, "waiting");
            let frame = open_choices(&mut nvim, "Keep your lines");
            assert!(frame.find("theirs").is_some() && frame.find("same lines of a.txt").is_some(), "{}", frame.text());
            // Nothing is done before it is settled.
            assert_eq!(lua(&mut nvim, "return vim.fn.getbufline('a.txt', 1, '$')"), json!(["one", "mine", "three", "four", "five"]));
            nvim.input(keys);
            finish(&mut nvim);
            assert_eq!(nvim.lines(0), expected);
            let answer = &answers(&nvim)[1];
            match keys {
                "2j<CR>" => {
                    let words = answer["error"]["message"].as_str().unwrap();
                    assert!(words.contains("lines 2 of the buffer"), "{words}");
                }
                _ => assert!(answer["error"].is_null(), "{answer}"),
            }
            nvim.command("undo");
            assert_eq!(nvim.lines(0), ["one", "mine", "three", "four", "five"]);
        }
    }

    fn several_places_are_settled_one_by_one(target: &Target) {
        let (theirs, user) = ("ONE\ntwo\nTHREE\nfour\nFIVE\n", "%s/one\\|three\\|five/mine &/");
        let mut nvim = clash(target, keep(), theirs, user);
        open_choices(&mut nvim, "(1 of 3)");
        for (at, keys) in [("(1 of 3)", "t"), ("(2 of 3)", "o"), ("(3 of 3)", "b")] {
            let frame = wait_choices(&mut nvim, at);
            assert_eq!(frame.find("in all places").is_some(), at != "(3 of 3)", "{}", frame.text());
            nvim.input(keys);
        }
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["ONE", "two", "mine three", "four", "mine five", "FIVE"]);
        let answer = &answers(&nvim)[1];
        assert!(answer["error"]["message"].as_str().unwrap().contains("(lines 3 of the buffer)"), "{answer}");
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["mine one", "two", "mine three", "four", "mine five"]);
    }

    fn all_places_are_settled_at_once(target: &Target) {
        let (theirs, user) = ("ONE\ntwo\nTHREE\nfour\nFIVE\n", "%s/one\\|three\\|five/mine &/");
        let mut nvim = clash(target, keep(), theirs, user);
        open_choices(&mut nvim, "(1 of 3)");
        nvim.input("o");
        wait_choices(&mut nvim, "(2 of 3)");
        nvim.input("T");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["mine one", "two", "THREE", "four", "FIVE"]);
    }

    fn a_choice_is_not_for_what_was_typed_after_it(target: &Target) {
        let mut nvim = clash(target, keep(), "ONE\ntwo\nTHREE\nfour\nFIVE\n", "%s/one\\|three/mine &/");
        open_choices(&mut nvim, "(1 of 2)");
        nvim.input("t");
        wait_choices(&mut nvim, "(2 of 2)");
        lua(&mut nvim, "vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 4, 5, true, { 'typed since' })");
        nvim.input("t");
        let frame = open_choices(&mut nvim, "typed since");
        assert!(frame.find(" of ").is_none() || frame.find("(1 of").is_none(), "{}", frame.text());
        nvim.input("o");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["ONE", "two", "THREE", "four", "typed since"]);
    }

    fn a_conflict_is_edited_by_hand(target: &Target) {
        let mut nvim = clash(target, keep(), CLASH, "2 substitute/two/mine/");
        open_choices(&mut nvim, "Edit: put them");
        nvim.input("e");
        nvim.wait_screen("<<<<<<< yours");
        // With the markers in it, it is not settled.
        nvim.input(":write<CR>");
        nvim.wait_screen("still has a conflict marker");
        // Meanwhile the user goes on in the file itself.
        lua(&mut nvim, "vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 1, true, { 'ONE' })");
        lua(&mut nvim, "vim.cmd([[g/^[<=>]\\{7}/d]]) vim.cmd('%s/mine/ours/')");
        nvim.input(":write<CR>");
        finish(&mut nvim);
        nvim.wait_until("the editor to be gone", DEADLINE, |nvim| lua(nvim, "return #vim.api.nvim_list_wins()") == 1);
        assert_eq!(nvim.lines(0), ["ONE", "ours", "theirs", "three", "four", "five", "six"]);
        assert!(answers(&nvim)[1]["error"].is_null());
    }

    fn a_cancelled_conflict_changes_nothing(target: &Target) {
        let mut nvim = clash(target, keep(), CLASH, "2 substitute/two/mine/");
        open_choices(&mut nvim, "Keep your lines");
        lua(&mut nvim, "require('acp').cancel()");
        nvim.wait_until("the question to go", DEADLINE, |nvim| nvim.screen().find("Keep your lines").is_none());
        nvim.wait_until("an answer", DEADLINE, |nvim| answers(nvim).len() >= 2);
        assert!(answers(&nvim)[1]["error"].is_object(), "{}", answers(&nvim)[1]);
        assert_eq!(nvim.lines(0), ["one", "mine", "three", "four", "five"]);
    }

    fn a_write_waits_until_the_line_is_left(target: &Target) {
        let mut nvim = start(target, keep(), &[read("a.txt"), pause("go1"), write("a.txt", "one\ntwo words here\nTHREE\n")]);
        nvim.scratch().write("a.txt", "one\ntwo words\nthree\n");
        nvim.command("edit a.txt");
        begin(&mut nvim, 1);
        nvim.input("2GI");
        nvim.type_keys("my ");
        release(&nvim, "go1");
        nvim.type_keys("own ");
        nvim.wait_screen("my own two words");
        assert_eq!(answers(&nvim).len(), 1);
        assert_eq!(nvim.lines(0), ["one", "my own two words", "three"]);
        nvim.input("<Esc>");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["one", "my own two words here", "THREE"]);
    }

    fn what_a_formatter_makes_of_a_write_is_read_next(target: &Target) {
        let mut nvim = start(target, Options::default(), &[write("a.txt", "one  \ntwo\n"), read("a.txt")]);
        nvim.scratch().write("a.txt", "one\n");
        nvim.command("edit a.txt");
        nvim.command("autocmd BufWritePre a.txt silent! %s/ *$//");
        let answers = run(&mut nvim);
        assert!(answers[0]["error"].is_null(), "{}", answers[0]);
        assert_eq!(answers[1]["result"]["content"], "one\ntwo\n");
        assert_eq!(nvim.scratch().read("a.txt"), "one\ntwo\n");
    }

    fn views_and_marks_stay(target: &Target) {
        let old: Vec<String> = (1..=200).map(|i| format!("line {i}")).collect();
        let new: Vec<String> = (1..=200).flat_map(|i| match i {
            10 => vec!["inserted".to_owned(), "line 10".to_owned()],
            50 => vec!["line fifty".to_owned()],
            _ => vec![format!("line {i}")],
        }).collect();
        let (old, new) = (old.join("\n") + "\n", new.join("\n") + "\n");
        let mut nvim = start(target, keep(), &[read("a.txt"), write("a.txt", &new)]);
        nvim.scratch().write("a.txt", &old);
        nvim.command("edit a.txt");
        lua(&mut nvim, "
            _G.ns = vim.api.nvim_create_namespace('mine')
            _G.at = {}
            for row = 0, 199 do at[row] = vim.api.nvim_buf_set_extmark(0, ns, row, 2, {}) end
            vim.cmd('100 | normal! zt')
            vim.cmd('vsplit | 150 | normal! zb')
            vim.cmd('set foldmethod=manual | 160,170fold')
        ");
        let view = "local all = {} for _, win in ipairs(vim.api.nvim_list_wins()) do
            local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
            table.insert(all, { view.lnum, view.topline }) end return { all, vim.fn.foldclosed(161), vim.fn.foldclosed(162) }";
        let before = lua(&mut nvim, view);
        run(&mut nvim);
        let after = lua(&mut nvim, view);
        for at in 0..2 {
            for value in 0..2 {
                let shifted = before[0][at][value].as_u64().unwrap() + 1;
                assert_eq!(after[0][at][value].as_u64().unwrap(), shifted, "{before} {after}");
            }
        }
        assert_eq!((&before[1], &after[2]), (&json!(160), &json!(161)));
        let moved = lua(&mut nvim, "local moved = {} for row, id in pairs(at) do
            local now = vim.api.nvim_buf_get_extmark_by_id(0, ns, id, {})
            local wanted = row >= 9 and row + 1 or row
            if now[1] ~= wanted or now[2] ~= 2 then table.insert(moved, { row, now }) end end return moved");
        assert_eq!(moved, json!([]));
    }
}
