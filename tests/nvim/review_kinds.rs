//! Changes in files of every kind, and the ways from one to the next.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::files::lua;
use crate::report::{finish, send};
use crate::review::{
    WAYS, Way, change, new, old, only, start, text, three, to_hunk, turn, wait_gone, wait_lua,
    wait_pending,
};
use crate::support::nvim::{DEADLINE, Nvim, Options};

fn wait_bytes(nvim: &mut Nvim, path: &str, bytes: &[u8]) {
    let file = nvim.scratch().project().join(path);
    nvim.wait_until(
        &format!("{path} to be {:?}", String::from_utf8_lossy(bytes)),
        DEADLINE,
        |_| fs::read(&file).is_ok_and(|it| it == bytes),
    );
}

fn git(nvim: &Nvim, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(nvim.scratch().project())
        .args(["-c", "user.name=n", "-c", "user.email=e"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn in_git(nvim: &Nvim) {
    git(nvim, &["init", "-q", "-b", "main"]);
    git(nvim, &["add", "-A"]);
    git(nvim, &["commit", "-q", "-m", "x"]);
}

/// A command that copies files as they are, which the agent runs.
fn copy(from: &str, to: &str) -> [Value; 2] {
    let params = json!({ "command": "cp", "args": [from, to], "cwd": "{{cwd}}" });
    let terminal = json!({ "terminalId": "{{t.terminalId}}" });
    [
        json!({ "request": { "method": "terminal/create", "params": params, "save": "t" } }),
        json!({ "request": { "method": "terminal/wait_for_exit", "params": terminal } }),
    ]
}

fn wait_place(nvim: &mut Nvim, name: &str, line: u64) {
    wait_lua(nvim, "return { vim.fn.expand('%:t'), vim.fn.line('.') }", &json!([name, line]));
}

nvim_tests! {
    fn a_command_changes_files_of_every_kind(target: &Target) {
        let kinds: [(&str, &[u8], &[u8]); 4] = [
            ("dos.txt", b"one\r\ntwo\r\nthree\r\n", b"one\r\nTWO\r\nthree\r\n"),
            ("noeol.txt", b"one\ntwo\nthree", b"one\nTWO\nthree"),
            ("latin1.txt", b"\xe9ins\ntwo\ndr\xe9i\n", b"\xe9ins\nTWO\ndr\xe9i\n"),
            ("bom.txt", b"\xef\xbb\xbfone\ntwo\nthree\n", b"\xef\xbb\xbfone\nTWO\nthree\n"),
        ];
        for (open, with_git) in [(true, false), (false, true), (true, true), (false, false)] {
            let steps = kinds.iter().flat_map(|it| copy(&format!("../new-{}", it.0), it.0)).collect();
            let mut nvim = start(target, Options::default(), &[steps]);
            let project = nvim.scratch().project();
            for (name, old, new) in kinds {
                fs::write(project.join(name), old).unwrap();
                fs::write(project.join(format!("../new-{name}")), new).unwrap();
            }
            if with_git {
                in_git(&nvim);
            }
            if open {
                kinds.iter().for_each(|it| nvim.command(&format!("edit {}", it.0)));
            }
            turn(&mut nvim);
            let hunk = json!([[2, ["two"], ["TWO"], "pending"]]);
            let all: Value = ["bom.txt", "dos.txt", "latin1.txt", "noeol.txt"].iter().map(|it| json!([it, "changed", hunk])).collect();
            wait_pending(&mut nvim, &all);
            kinds.iter().for_each(|it| wait_bytes(&mut nvim, it.0, it.2));
            nvim.command("Acp reject all");
            wait_pending(&mut nvim, &json!([]));
            kinds.iter().for_each(|it| wait_bytes(&mut nvim, it.0, it.1));
        }
    }

    fn a_deleted_file_is_restored_to_the_byte(target: &Target) {
        let texts: [&[u8]; 4] = [b"one\r\ntwo\r\n", b"one\ntwo", b"\xe9ins\nzw\xe9i\n", b"\xef\xbb\xbfone\n"];
        for (text, open) in texts.into_iter().flat_map(|it| [(it, true), (it, false)]) {
            let mut nvim = start(target, Options::default(), &[vec![json!({ "delete_file": "a.txt" })]]);
            let path = nvim.scratch().write("a.txt", "");
            fs::write(&path, text).unwrap();
            if open {
                nvim.command("edit a.txt");
            }
            turn(&mut nvim);
            wait_lua(&mut nvim, "return (require('acp').changes()[1] or {}).kind", &json!("deleted"));
            wait_lua(&mut nvim, "return require('acp.review.store').count()", &json!(1));
            nvim.command("Acp reject all");
            wait_pending(&mut nvim, &json!([]));
            wait_bytes(&mut nvim, "a.txt", text);
            wait_lua(&mut nvim, "return vim.bo.modified", &json!(false));
        }
    }

    /// No agent works any more: Neovim would ask what to do, or read the file again.
    fn a_deletion_is_rejected_long_after_the_turn(target: &Target) {
        for option in ["autoread", "noautoread"] {
            let mut nvim = start(target, Options::default(), &[vec![json!({ "delete_file": "a.txt" })]]);
            nvim.scratch().write("a.txt", "one\ntwo\n");
            nvim.command("edit a.txt");
            nvim.command(&format!("set {option}"));
            lua(&mut nvim, "vim.api.nvim_buf_attach(0, false, { on_reload = function() _G.reloaded = true end })");
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("a.txt", "deleted", &json!([[1, ["one", "two"], [], "pending"]])));
            wait_lua(&mut nvim, "return #vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })", &json!(0));
            // The core may want another copy at any time.
            nvim.lua("require('acp.files.mirror').lost(vim.fn.bufnr()) vim.cmd('Acp reject all')", json!([]));
            wait_pending(&mut nvim, &json!([]));
            wait_bytes(&mut nvim, "a.txt", b"one\ntwo\n");
            wait_lua(&mut nvim, "return { vim.bo.modified, require('acp.files.watch').is_gone(vim.fn.bufnr()) }", &json!([false, false]));
            assert_eq!(lua(&mut nvim, "return { _G.reloaded == nil, vim.bo.autoread == nil, vim.go.autoread }"), json!([true, true, option == "autoread"]));
            assert_eq!(text(&mut nvim), "one\ntwo\n");
            nvim.command("checktime");
            nvim.command("1 substitute/one/mine/ | write");
            wait_bytes(&mut nvim, "a.txt", b"mine\ntwo\n");
        }
    }

    /// What waits in a buffer is part of what is gone with its file, and comes back with it.
    fn a_changed_file_is_deleted_under_its_buffer(target: &Target) {
        for end in ["reject", "save", "agent"] {
            let mut steps = change(Way::Told, "a.txt", Some(&old()), &new());
            let told = json!({ "update": { "sessionUpdate": "tool_call", "toolCallId": "rm", "title": "rm", "status": "completed" } });
            steps.extend([json!({ "wait_file": "go1" }), json!({ "delete_file": "a.txt" }), told, json!({ "wait_file": "go2" })]);
            if end == "agent" {
                steps.extend(change(Way::Told, "a.txt", None, &new().replace("line 1\n", "LINE 1\n")));
            }
            let mut nvim = start(target, Options::default(), &[steps]);
            nvim.scratch().write("a.txt", &old());
            nvim.command("edit a.txt");
            send(&mut nvim, "go");
            wait_bytes(&mut nvim, "a.txt", new().as_bytes());
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            nvim.command("$ substitute/line/mine/");
            nvim.scratch().write("go1", "");
            let path = nvim.scratch().project().join("a.txt");
            wait_gone(&mut nvim, &path);
            wait_lua(&mut nvim, "return require('acp.files.watch').is_gone(vim.fn.bufnr())", &json!(true));
            let base: Vec<String> = old().replace("line 30", "mine 30").lines().map(str::to_owned).collect();
            wait_pending(&mut nvim, &only("a.txt", "deleted", &json!([[1, base, [], "pending"]])));
            if end == "save" {
                nvim.command("write");
                wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
                wait_bytes(&mut nvim, "a.txt", new().replace("line 30", "mine 30").as_bytes());
            }
            nvim.scratch().write("go2", "");
            finish(&mut nvim);
            if end == "agent" {
                let first = json!([[1, ["line 1"], ["LINE 1"], "pending"], three()[0], three()[1], three()[2]]);
                wait_pending(&mut nvim, &only("a.txt", "changed", &first));
            }
            nvim.command("Acp reject all");
            wait_pending(&mut nvim, &json!([]));
            let restored = old().replace("line 30", "mine 30");
            nvim.wait_until("the buffer to be what it was", DEADLINE, |nvim| text(nvim) == restored);
            if end != "agent" {
                wait_bytes(&mut nvim, "a.txt", restored.as_bytes());
                wait_lua(&mut nvim, "return vim.bo.modified", &json!(false));
            }
        }
    }

    fn the_last_line_loses_its_end(target: &Target) {
        for (way, open) in WAYS.into_iter().flat_map(|it| [(it, true), (it, false)]) {
            let mut nvim = start(target, Options::default(), &[change(way, "a.txt", Some("one\ntwo\n"), "one\nTWO")]);
            nvim.scratch().write("a.txt", "one\ntwo\n");
            if open {
                nvim.command("edit a.txt");
            }
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("a.txt", "changed", &json!([[2, ["two"], ["TWO"], "pending"]])));
            nvim.command("Acp reject all");
            wait_pending(&mut nvim, &json!([]));
            wait_bytes(&mut nvim, "a.txt", b"one\ntwo\n");
        }
    }

    fn keys_go_through_files(target: &Target) {
        let mut steps = change(Way::Told, "a.txt", Some(&old()), &new());
        steps.extend(change(Way::Told, "b.txt", Some(&old()), &new()));
        let mut nvim = start(target, Options::default(), &[steps]);
        nvim.command("set statusline=%t");
        nvim.scratch().write("a.txt", &old());
        nvim.scratch().write("b.txt", &old());
        nvim.command("edit a.txt");
        turn(&mut nvim);
        wait_pending(&mut nvim, &json!([["a.txt", "changed", three()], ["b.txt", "changed", three()]]));
        nvim.input("gg]g]g]g");
        wait_place(&mut nvim, "a.txt", 27);
        nvim.input("]g");
        wait_place(&mut nvim, "b.txt", 3);
        nvim.wait_screen("1/3");
        nvim.assert_screen("review_next_file");
        nvim.input("[g");
        wait_place(&mut nvim, "a.txt", 27);
        nvim.input("4]g");
        wait_place(&mut nvim, "a.txt", 3);
        nvim.command("Acp review");
        nvim.wait_screen("b.txt:27");
        nvim.assert_screen("review_list");
        nvim.input("G<CR>");
        wait_place(&mut nvim, "b.txt", 27);
        nvim.command("cclose");
        nvim.command("Acp changes");
        nvim.wait_screen("3 changes");
        nvim.assert_screen("review_files");
        nvim.input("ggrja");
        wait_pending(&mut nvim, &json!([]));
        wait_bytes(&mut nvim, "a.txt", old().as_bytes());
        wait_bytes(&mut nvim, "b.txt", new().as_bytes());
    }

    fn a_part_of_a_hunk(target: &Target) {
        let changed = old().replace("line 9\nline 10\nline 11\nline 12\n", "nine\nten\neleven\ntwelve\n");
        let mut nvim = start(target, Options::default(), &[change(Way::Asked, "a.txt", None, &changed)]);
        nvim.scratch().write("a.txt", &old());
        nvim.command("edit a.txt");
        turn(&mut nvim);
        let hunk = json!([9, ["line 9", "line 10", "line 11", "line 12"], ["nine", "ten", "eleven", "twelve"], "pending"]);
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([hunk])));
        to_hunk(&mut nvim, 1);
        nvim.wait_screen("glr reject");
        nvim.input("jVglr");
        let (one, rest) = (json!([9, ["line 9"], ["nine"], "pending"]), json!([11, ["line 11", "line 12"], ["eleven", "twelve"], "pending"]));
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([one, rest])));
        wait_bytes(&mut nvim, "a.txt", changed.replace("ten\n", "line 10\n").as_bytes());
        nvim.input("12GVgla");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([one, [11, ["line 11"], ["eleven"], "pending"]])));
        nvim.input("glR");
        wait_pending(&mut nvim, &json!([]));
        assert_eq!(text(&mut nvim), old().replace("line 12\n", "twelve\n"));
        wait_bytes(&mut nvim, "a.txt", old().replace("line 12\n", "twelve\n").as_bytes());
    }

    fn a_big_file_with_many_changes(target: &Target) {
        let lines = |every: usize| -> String {
            (1..=10_000).map(|it| if it % every == 5 { format!("changed line {it} of the file\n") } else { format!("line {it} of the file\n") }).collect()
        };
        for way in [Way::Asked, Way::Told] {
            let mut nvim = start(target, Options::default(), &[change(way, "a.txt", None, &lines(20))]);
            nvim.scratch().write("a.txt", &lines(20_000).replace("changed line 5 ", "line 5 "));
            if way == Way::Asked {
                nvim.command("edit a.txt");
            }
            lua(&mut nvim, MEASURE);
            turn(&mut nvim);
            wait_lua(&mut nvim, "return require('acp.review.store').count()", &json!(500));
            if way == Way::Told {
                nvim.lua("measured('open', function() vim.cmd.edit('a.txt') vim.cmd.redraw() end)", json!([]));
            }
            nvim.wait_screen("┃ changed line 5 ");
            let mut keys = |keys: &str, count: u64| {
                nvim.lua("measured(...)", json!([keys]));
                wait_lua(&mut nvim, "return require('acp.review.store').count()", &json!(count));
            };
            (0..10).for_each(|_| keys("]g", 500));
            (1..=10).for_each(|it| keys("gla]g", 500 - it));
            (1..=10).for_each(|it| keys("glr]g", 490 - it));
            let figures = lua(&mut nvim, "return figures()");
            eprintln!("{target} {way:?}: {figures}");
            nvim.input("glR");
            wait_pending(&mut nvim, &json!([]));
        }
    }
}

/// How long the main thread is busy: with keys, and with whatever of ours runs later for them.
const MEASURE: &str = r"
    local all = {}
    local function note(what, began)
      local ms = (vim.uv.hrtime() - began) / 1e6
      all[what] = all[what] or { count = 0, max = 0, sum = 0 }
      local it = all[what]
      it.count, it.max, it.sum = it.count + 1, math.max(it.max, ms), it.sum + ms
    end
    function _G.measured(what, fn)
      local began = vim.uv.hrtime()
      if fn then fn() else vim.api.nvim_feedkeys(what, 'xm', false) vim.cmd.redraw() end
      note(what, began)
    end
    local review, job = require('acp.review'), require('acp.files.job')
    local told = review.told
    review.told = function(effect)
      local began = vim.uv.hrtime()
      told(effect)
      note('told of ' .. (effect.full and 'all' or 'some'), began)
    end
    local apply = require('acp.files.apply')
    local carry_out = apply.apply
    apply.apply = function(...)
      local began = vim.uv.hrtime()
      local result = carry_out(...)
      note('a change of the buffer', began)
      return result
    end
    function _G.figures()
      local words = {}
      for what, it in pairs(all) do
        table.insert(words, ('%s: %d times, %.2f ms, at most %.2f ms'):format(what, it.count, it.sum / it.count, it.max))
      end
      table.sort(words)
      return words
    end
";
