//! What becomes of changes that wait: accepted, edited, reloaded, closed and opened again, in later
//! turns, and with several agents.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::files::{keep, lua};
use crate::plugin::wait_transcript;
use crate::report::{finish, send};
use crate::review::{
    WAYS, Way, change, new, old, only, start, text, three, to_hunk, tool_call, turn, wait_disk,
    wait_gone, wait_lua, wait_pending,
};
use crate::support::nvim::{DEADLINE, Nvim, Options};

fn on_disk(path: &str, text: &str) -> Value {
    json!({ "write_file": { "path": path, "text": text } })
}

/// Steps that let a test do something in between.
fn pause(name: &str) -> [Value; 2] {
    [on_disk("{{cwd}}/../begun", ""), json!({ "wait_file": format!("{{{{cwd}}}}/../{name}") })]
}

fn go_on(nvim: &Nvim, name: &str) {
    fs::write(nvim.scratch().project().join("..").join(name), "").unwrap();
}

fn wait_paused(nvim: &mut Nvim) {
    let path = nvim.scratch().project().join("../begun");
    nvim.wait_until("the agent to wait", DEADLINE, |_| path.exists());
}

fn session(nvim: &mut Nvim) -> Value {
    lua(nvim, "return require('acp').sessions()[1].id")
}

nvim_tests! {
    fn accepted_changes_are_not_asked_for_again(target: &Target) {
        for (way, open) in WAYS.into_iter().flat_map(|it| [(it, true), (it, false)]) {
            let mut first = change(way, "a.txt", Some(&old()), &new());
            first.extend(pause("go"));
            first.push(tool_call("b.txt", None, "b\n"));
            let second = vec![on_disk("b.txt", "b\n"), tool_call("b.txt", None, "b\n")];
            let mut nvim = start(target, Options::default(), &[first, second]);
            nvim.scratch().write("a.txt", &old());
            if open {
                nvim.command("edit a.txt");
            }
            send(&mut nvim, "go");
            wait_paused(&mut nvim);
            if way != Way::Silent || open {
                wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
                if open {
                    to_hunk(&mut nvim, 1);
                    nvim.wait_screen("gla accept");
                    nvim.input("gla");
                    wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[1], three()[2]])));
                    nvim.input("glA");
                } else {
                    nvim.command("Acp accept all");
                }
                wait_pending(&mut nvim, &json!([]));
                if open {
                    nvim.command("bdelete");
                }
            }
            go_on(&nvim, "go");
            finish(&mut nvim);
            if way == Way::Silent && !open {
                wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
                nvim.command("Acp changes");
                nvim.wait_screen("a.txt");
                nvim.input("a");
                wait_pending(&mut nvim, &json!([]));
            }
            assert_eq!(nvim.scratch().read("a.txt"), new());
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("b.txt", "made", &json!([[1, [], ["b"], "pending"]])));
            assert_eq!(nvim.scratch().read("a.txt"), new());
            nvim.command("edit a.txt");
            assert_eq!(text(&mut nvim), new());
        }
    }

    fn what_the_user_types_is_the_users(target: &Target) {
        let mut nvim = start(target, keep(), &[change(Way::Asked, "a.txt", None, &new())]);
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        to_hunk(&mut nvim, 2);
        nvim.input("Amine<Esc>");
        let mut all = three();
        all[1] = json!([16, [], ["addedmine", "added too"], "edited"]);
        wait_pending(&mut nvim, &only("a.txt", "changed", &all));
        nvim.input("u");
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        nvim.input("<C-r>ggOtop<Esc>Gobottom<Esc>10GAmore<Esc>");
        let moved = |it: &Value| json!([it[0].as_u64().unwrap() + 1, it[1], it[2], it[3]]);
        let moved: Vec<Value> = all.as_array().unwrap().iter().map(moved).collect();
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!(moved)));
        // What is typed in a hunk goes with it.
        to_hunk(&mut nvim, 2);
        nvim.input("glr");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([moved[0], [26, ["line 25"], [], "pending"]])));
    }

    fn pending_changes_survive_what_is_done_to_the_buffer(target: &Target) {
        for way in WAYS {
            let mut nvim = start(target, Options::default(), &[change(way, "a.txt", Some(&old()), &new())]);
            nvim.scratch().write("a.txt", &old());
            nvim.command("edit a.txt");
            turn(&mut nvim);
            let all = only("a.txt", "changed", &three());
            wait_pending(&mut nvim, &all);
            for command in ["edit", "edit!", "write", "split", "only", "enew", "buffer a.txt", "bdelete a.txt", "edit a.txt", "bwipeout", "edit a.txt"] {
                nvim.command(command);
                wait_pending(&mut nvim, &all);
            }
            nvim.wait_screen("┃ added too");
            nvim.command("only");
            to_hunk(&mut nvim, 1);
            nvim.wait_screen("glr reject");
            nvim.input("glr");
            wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[1], three()[2]])));
            wait_disk(&mut nvim, "a.txt", &new().replace("LINE 3", "line 3"));
        }
    }

    fn unsaved_agent_text_that_is_given_up_is_not_pending(target: &Target) {
        let mut nvim = start(target, keep(), &[change(Way::Asked, "a.txt", None, &new())]);
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        nvim.command("edit!");
        wait_pending(&mut nvim, &json!([]));
        assert_eq!(text(&mut nvim), old());
    }

    fn a_file_that_is_opened_after_it_was_changed(target: &Target) {
        let mut steps = vec![on_disk("a.txt", &new())];
        steps.extend(pause("go"));
        let mut nvim = start(target, Options::default(), &[steps]);
        nvim.scratch().write("a.txt", &old());
        send(&mut nvim, "go");
        wait_paused(&mut nvim);
        nvim.command("edit a.txt");
        nvim.input("9GStyped<Esc>");
        nvim.command("write");
        go_on(&nvim, "go");
        finish(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        to_hunk(&mut nvim, 3);
        nvim.wait_screen("glr reject");
        nvim.input("glr");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[0], three()[1]])));
        let rejected = new().replace("line 24\n", "line 24\nline 25\n").replace("line 9\n", "typed\n");
        wait_disk(&mut nvim, "a.txt", &rejected);
        nvim.input("u");
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
    }

    fn a_second_turn_changes_the_same_file(target: &Target) {
        for (way, open) in WAYS.into_iter().flat_map(|it| [(it, true), (it, false)]) {
            let later = new().replace("line 9\n", "LINE 9\n").replace("added too\n", "");
            let turns = [change(way, "a.txt", Some(&old()), &new()), change(way, "a.txt", Some(&new()), &later)];
            let mut nvim = start(target, Options::default(), &turns);
            nvim.scratch().write("a.txt", &old());
            if open {
                nvim.command("edit a.txt");
            }
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            turn(&mut nvim);
            let all = json!([
                three()[0],
                [9, ["line 9"], ["LINE 9"], "pending"],
                [16, [], ["added"], "pending"],
                [26, ["line 25"], [], "pending"],
            ]);
            wait_pending(&mut nvim, &only("a.txt", "changed", &all));
            nvim.command("Acp changes");
            nvim.wait_screen("4 changes");
            nvim.input("r");
            wait_pending(&mut nvim, &json!([]));
            wait_disk(&mut nvim, "a.txt", &old());
        }
    }

    fn an_agent_takes_its_changes_back_by_itself(target: &Target) {
        let mut steps = change(Way::Told, "a.txt", Some(&old()), &new());
        steps.extend(pause("go"));
        steps.push(on_disk("a.txt", &old()));
        let mut nvim = start(target, Options::default(), &[steps]);
        nvim.scratch().write("a.txt", &old());
        send(&mut nvim, "go");
        wait_paused(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        go_on(&nvim, "go");
        finish(&mut nvim);
        wait_pending(&mut nvim, &json!([]));
    }

    fn two_sessions_and_each_its_own(target: &Target) {
        let steps = json!([
            { "when": "first", "steps": change(Way::Asked, "a.txt", None, &new()) },
            { "when": "second", "steps": [{ "request": { "method": "fs/read_text_file", "params": { "path": "{{cwd}}/a.txt" } } },
                { "request": { "method": "fs/write_text_file", "params": { "path": "{{cwd}}/a.txt", "content": new().replace("line 9\n", "LINE 9\n") } } }] },
        ]);
        let mut nvim = crate::plugin::with_options(target, Options::default(), &json!({ "prompts": steps }));
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        send(&mut nvim, "first");
        finish(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        let one = session(&mut nvim);
        nvim.lua("_G.turn = nil
            local id = assert(require('acp').open({ focus = false, new = true }))
            require('acp').prompt('second', { session = id, on_done = function(err) _G.turn = { err = err } end })
            _G.other = id", json!([]));
        finish(&mut nvim);
        let whose = "return vim.tbl_map(function(it) return it.session end, require('acp').changes()[1].hunks)";
        let other = lua(&mut nvim, "return _G.other");
        wait_lua(&mut nvim, whose, &json!([one, other, one, one]));
        nvim.command(&format!("Acp accept all {other}"));
        wait_lua(&mut nvim, whose, &json!([one, one, one]));
        nvim.command(&format!("Acp reject all {one}"));
        wait_pending(&mut nvim, &json!([]));
        wait_disk(&mut nvim, "a.txt", &old().replace("line 9\n", "LINE 9\n"));
    }

    fn lines_of_the_user_in_a_file_that_an_agent_made(target: &Target) {
        for (accept, open) in [(true, true), (false, true), (true, false), (false, false)] {
            let mut nvim = start(target, Options::default(), &[change(Way::Told, "made.txt", None, "one\ntwo\nthree\n")]);
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("made.txt", "made", &json!([[1, [], ["one", "two", "three"], "pending"]])));
            nvim.command("edit made.txt");
            nvim.wait_screen("gla accept");
            let left = if accept {
                nvim.input("jVgla");
                wait_pending(&mut nvim, &only("made.txt", "changed", &json!([[1, [], ["one"], "pending"], [3, [], ["three"], "pending"]])));
                "two\n"
            } else {
                nvim.input("Gomine<Esc>");
                nvim.command("write");
                wait_pending(&mut nvim, &only("made.txt", "changed", &json!([[1, [], ["one", "two", "three"], "pending"]])));
                "mine\n"
            };
            if open {
                nvim.input("ggglR");
            } else {
                nvim.command("bdelete");
                wait_lua(&mut nvim, "return #require('acp.review.store').files() == 1 and require('acp.review.store').files()[1].buf == nil", &json!(true));
                nvim.command("Acp reject all");
            }
            wait_pending(&mut nvim, &json!([]));
            wait_disk(&mut nvim, "made.txt", left);
        }
    }

    fn a_rewind_leaves_nothing_to_review(target: &Target) {
        for open in [true, false] {
            let mut steps = change(Way::Told, "a.txt", Some(&old()), &new());
            steps.extend([on_disk("made.txt", "made\n"), json!({ "delete_file": "gone.txt" })]);
            let mut nvim = start(target, Options::default(), &[steps]);
            nvim.scratch().write("a.txt", &old());
            nvim.scratch().write("gone.txt", "gone\n");
            if open {
                nvim.command("edit a.txt");
            }
            turn(&mut nvim);
            let gone = json!(["gone.txt", "deleted", [[1, ["gone"], [], "pending"]]]);
            let made = json!(["made.txt", "made", [[1, [], ["made"], "pending"]]]);
            wait_pending(&mut nvim, &json!([["a.txt", "changed", three()], gone, made]));
            wait_lua(&mut nvim, "return #require('acp.rewind').turns((require('acp.session').resolve()))", &json!(1));
            lua(&mut nvim, "assert(require('acp').rewind({ turn = '1' }))");
            wait_pending(&mut nvim, &json!([]));
            wait_disk(&mut nvim, "a.txt", &old());
            wait_disk(&mut nvim, "gone.txt", "gone\n");
        }
    }

    fn an_agent_that_dies_leaves_its_changes(target: &Target) {
        let mut steps = change(Way::Asked, "a.txt", None, &new());
        steps.extend([on_disk("b.txt", "b\n"), json!({ "exit": 3 })]);
        let mut nvim = start(target, Options::default(), &[steps]);
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        send(&mut nvim, "go");
        wait_lua(&mut nvim, "return _G.turn ~= nil", &json!(true));
        let made = json!(["b.txt", "made", [[1, [], ["b"], "pending"]]]);
        wait_pending(&mut nvim, &json!([["a.txt", "changed", three()], made]));
        nvim.command("Acp reject all");
        wait_pending(&mut nvim, &json!([]));
        wait_disk(&mut nvim, "a.txt", &old());
        let path = nvim.scratch().project().join("b.txt");
        wait_gone(&mut nvim, Path::new(&path));
        nvim.allow_errors();
    }

    fn neovim_quits_with_pending_changes(target: &Target) {
        let mut nvim = start(target, Options::default(), &[change(Way::Told, "a.txt", None, &new())]);
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        assert!(nvim.quit().success());
    }

    fn a_reason_is_told_with_what_it_is_about(target: &Target) {
        let turns = [change(Way::Asked, "a.txt", None, &new()), vec![json!({ "say": "I was told: {{prompt}}" })]];
        let mut nvim = start(target, Options::default(), &turns);
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        to_hunk(&mut nvim, 1);
        nvim.wait_screen("glw why");
        nvim.input("glw");
        nvim.wait_screen("Why is it rejected?");
        nvim.input("too loud<CR>");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[1], three()[2]])));
        let told = wait_transcript(&mut nvim, "Why: too loud");
        assert!(told.contains("-line 3\n+LINE 3") && told.contains("a.txt"), "{told}");
    }
}
