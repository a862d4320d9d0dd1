//! Changes to files that are not open, where turns are not kept to be undone.

use std::fs;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::files::lua;
use crate::plugin::{wait_transcript, with_options};
use crate::report::send;
use crate::review::{start, turn, wait_disk, wait_gone, wait_lua, wait_pending};
use crate::support::nvim::{DEADLINE, Nvim, Options};

fn with(options: &str) -> Options {
    Options { before: format!("vim.g.acp = {options}"), ..Options::default() }
}

/// One file is changed, one made, one deleted; nobody is told.
fn silently() -> Vec<Value> {
    vec![
        json!({ "write_file": { "path": "a.txt", "text": "one\nTWO\n" } }),
        json!({ "write_file": { "path": "made.txt", "text": "made\n" } }),
        json!({ "delete_file": "gone.txt" }),
    ]
}

fn files(nvim: &Nvim) {
    nvim.scratch().write("a.txt", "one\ntwo\n");
    nvim.scratch().write("gone.txt", "gone\n");
}

fn git(nvim: &Nvim) {
    let output = std::process::Command::new("git")
        .current_dir(nvim.scratch().project())
        .args(["init", "-q", "-b", "main"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// How many turns are written down, of all projects.
fn written_down(nvim: &mut Nvim) -> usize {
    let folder = lua(nvim, "return require('acp.rewind').folder()");
    let projects = fs::read_dir(folder.as_str().unwrap()).into_iter().flatten().flatten();
    let turns = projects.flat_map(|it| fs::read_dir(it.path().join("turns")).into_iter().flatten());
    turns.count()
}

nvim_tests! {
    fn changes_are_found_though_no_turn_is_kept(target: &Target) {
        for with_git in [true, false] {
            let options = with("{ rewind = { enabled = false } }");
            let mut nvim = start(target, options, &[silently(), silently()]);
            files(&nvim);
            if with_git {
                git(&nvim);
            }
            let made = nvim.scratch().project().join("made.txt");
            // What is left of the first turn must not matter to the second.
            for _ in 0..2 {
                turn(&mut nvim);
                wait_pending(&mut nvim, &json!([
                    ["a.txt", "changed", [[2, ["two"], ["TWO"], "pending"]]],
                    ["gone.txt", "deleted", [[1, ["gone"], [], "pending"]]],
                    ["made.txt", "made", [[1, [], ["made"], "pending"]]],
                ]));
                nvim.command("Acp reject all");
                wait_pending(&mut nvim, &json!([]));
                wait_disk(&mut nvim, "a.txt", "one\ntwo\n");
                wait_disk(&mut nvim, "gone.txt", "gone\n");
                wait_gone(&mut nvim, &made);
            }
            nvim.wait_for("nothing to be kept", DEADLINE, |nvim| (written_down(nvim) == 0).then_some(()));
            assert_eq!(lua(&mut nvim, "return #require('acp.rewind').turns(require('acp').sessions()[1].id)"), 0);
            nvim.command("Acp rewind");
            wait_lua(&mut nvim, "return vim.fn.execute('messages'):find('Turns are not recorded', 1, true) ~= nil", &json!(true));
        }
    }

    fn nothing_is_left_of_a_turn_that_neovim_did_not_survive(target: &Target) {
        let agent = json!({
            "capabilities": { "loadSession": true },
            "on": { "session/new": { "merge": { "sessionId": "one" } }, "session/load": { "result": {} } },
            "prompts": [{ "steps": [{ "say": "working" }, { "hang": true }] }],
        });
        let mut nvim = with_options(target, with("{ rewind = { enabled = false } }"), &agent);
        let scratch = nvim.scratch().clone();
        files(&nvim);
        send(&mut nvim, "go");
        wait_transcript(&mut nvim, "working");
        // While it lasts, nobody else may sweep away what it is compared with.
        nvim.wait_for("a record", DEADLINE, |nvim| (written_down(nvim) == 1).then_some(()));
        nvim.kill(rustix::process::Signal::KILL);
        nvim.wait_exit(DEADLINE);
        drop(nvim);
        let options = Options { scratch: Some(Rc::clone(&scratch)), ..Options::default() };
        let mut nvim = with_options(target, options, &agent);
        lua(&mut nvim, "return require('acp').open({ load = 'one', focus = false })");
        nvim.wait_for("no record", DEADLINE, |nvim| (written_down(nvim) == 0).then_some(()));
        assert_eq!(lua(&mut nvim, "return #require('acp.rewind').turns(require('acp').sessions()[1].id)"), 0);
    }

    fn files_that_are_not_open_may_be_left_out(target: &Target) {
        let mut steps = silently();
        steps.push(json!({ "write_file": { "path": "open.txt", "text": "OPEN\n" } }));
        let options = with("{ rewind = { enabled = false }, review = { unopened = false } }");
        let mut nvim = start(target, options, &[steps]);
        files(&nvim);
        nvim.scratch().write("open.txt", "open\n");
        nvim.command("edit open.txt");
        turn(&mut nvim);
        wait_pending(&mut nvim, &json!([["open.txt", "changed", [[1, ["open"], ["OPEN"], "pending"]]]]));
        // Nothing was looked at, let alone copied.
        let folder = lua(&mut nvim, "return require('acp.rewind').folder()");
        assert!(!std::path::Path::new(folder.as_str().unwrap()).exists());
    }
}
