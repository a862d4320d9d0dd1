//! Files and buffers that are not like others.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::files::{keep, lua, read, run, start, write};
use crate::files_merge::{begin, pause, release};
use crate::plugin::{open_choices, wait_choices, wait_state};
use crate::report::{answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

fn on_disk(path: &str, text: &str) -> Value {
    json!({ "write_file": { "path": path, "text": text } })
}

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A Neovim with `a.txt` open, in the middle of a turn that waits for `go`.
fn open(target: &Target, steps: &[Value]) -> Nvim {
    let mut all = vec![pause("go")];
    all.extend_from_slice(steps);
    let mut nvim = start(target, keep(), &all);
    nvim.scratch().write("a.txt", OLD);
    nvim.command("edit a.txt");
    send(&mut nvim, "go");
    wait_state(&mut nvim, "running");
    nvim
}

fn wait_lines(nvim: &mut Nvim, expected: &[&str]) {
    let code = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, true)";
    nvim.wait_until(&format!("the lines {expected:?}"), DEADLINE, |nvim| {
        lua(nvim, code) == json!(expected)
    });
}

/// Tells that the agent has got so far.
fn has_read(name: &str) -> Value {
    json!({ "write_file": { "path": name, "text": "" } })
}

/// A Neovim whose `a.txt` was moved in this way and has an unsaved change.
fn has_moved(target: &Target, go: fn(&Path, &Path)) -> Nvim {
    let mut nvim = open(target, &[pause("go2")]);
    nvim.command("1 substitute/one/mine/");
    let project = nvim.scratch().project().to_owned();
    fs::create_dir(project.join("folder")).unwrap();
    go(&project.join("a.txt"), &project.join("folder/b.txt"));
    nvim.wait_until("the news", DEADLINE, |nvim| {
        nvim.messages().contains("a.txt was moved to folder/b.txt")
    });
    assert_eq!(nvim.lines(0), ["mine", "two", "three", "four", "five"]);
    assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true);
    release(&nvim, "go");
    release(&nvim, "go2");
    finish(&mut nvim);
    nvim
}

nvim_tests! {
    fn a_moved_file_leaves_its_buffer_and_its_new_name(target: &Target) {
        let mut nvim = has_moved(target, |from, to| fs::rename(from, to).unwrap());
        nvim.command("write");
        assert_eq!(nvim.scratch().read("a.txt"), "mine\ntwo\nthree\nfour\nfive\n");
    }

    fn a_file_that_was_copied_and_deleted_has_moved(target: &Target) {
        has_moved(target, |from, to| {
            fs::copy(from, to).unwrap();
            fs::remove_file(from).unwrap();
        });
    }

    fn a_file_with_two_copies_was_deleted(target: &Target) {
        let mut nvim = open(target, &[pause("go2")]);
        let project = nvim.scratch().project().to_owned();
        for name in ["b.txt", "c.txt"] {
            fs::copy(project.join("a.txt"), project.join(name)).unwrap();
        }
        fs::remove_file(project.join("a.txt")).unwrap();
        nvim.wait_until("the news", DEADLINE, |nvim| nvim.messages().contains("a.txt was deleted; its buffer stays"));
        release(&nvim, "go");
        release(&nvim, "go2");
        finish(&mut nvim);
    }

    fn a_deletion_is_told_though_nobody_can_look_for_the_file(target: &Target) {
        let mut nvim = open(target, &[]);
        lua(&mut nvim, "local client = require('acp.client')
            local send = client.send
            client.send = function(action)
              if action.type == 'lost' then
                return nil, { code = 'not_running', message = 'the core has ended' }
              end
              return send(action)
            end");
        fs::remove_file(nvim.scratch().project().join("a.txt")).unwrap();
        nvim.wait_until("the news", DEADLINE, |nvim| nvim.messages().contains("a.txt was deleted; its buffer stays"));
        release(&nvim, "go");
        finish(&mut nvim);
    }

    fn each_search_for_a_file_is_answered(target: &Target) {
        let mut nvim = open(target, &[]);
        lua(&mut nvim, "_G.found = { 'first', 'second' }
            local moved, session = require('acp.files.moved'), require('acp.session').resolve()
            for i in ipairs(found) do
              moved.find('/nowhere/a.txt', session, function(to) found[i] = to or vim.NIL end)
            end");
        nvim.wait_until("both answers", DEADLINE, |nvim| lua(nvim, "return found") == json!([null, null]));
        release(&nvim, "go");
        finish(&mut nvim);
    }

    fn a_swap_file_of_another_neovim_is_in_nobodys_way(target: &Target) {
        let mut nvim = start(target, Options::default(), &[read("a.txt"), write("a.txt", "new\n")]);
        nvim.scratch().write("a.txt", "old\n");
        // As Neovim names it, for a process that lives.
        lua(&mut nvim, "vim.o.directory = '.' vim.o.updatecount = 200 vim.o.swapfile = true
            vim.cmd('edit a.txt') vim.cmd('silent preserve') local swap = vim.fn.swapname('%')
            vim.uv.fs_copyfile(swap, swap .. '.kept') vim.cmd('enew | bwipeout a.txt') vim.uv.fs_rename(swap .. '.kept', swap)");
        let answers = run(&mut nvim);
        assert!(answers[1]["error"].is_null(), "{}", answers[1]);
        assert_eq!(nvim.scratch().read("a.txt"), "new\n");
        assert_eq!(nvim.messages(), "");
    }

    fn hidden_and_unlisted_buffers_follow(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "1\ntwo\nthree\nfour\nfive\n"), pause("go2"), write("a.txt", "1\n2\nthree\nfour\nfive\n")]);
        nvim.command("setlocal bufhidden=hide nobuflisted | enew");
        release(&nvim, "go");
        wait_lines(&mut nvim, &["1", "two", "three", "four", "five"]);
        release(&nvim, "go2");
        finish(&mut nvim);
        wait_lines(&mut nvim, &["1", "2", "three", "four", "five"]);
        assert_eq!(lua(&mut nvim, "return { vim.fn.buflisted('a.txt'), #vim.api.nvim_list_wins() }"), json!([0, 1]));
    }

    fn protected_buffers_do_not_follow(target: &Target) {
        for option in ["nomodifiable", "readonly", "buftype=nofile", "buftype=nowrite"] {
            let mut nvim = open(target, &[on_disk("a.txt", "new\n")]);
            nvim.command(&format!("setlocal {option}"));
            lua(&mut nvim, "_G.tick = vim.b.changedtick");
            release(&nvim, "go");
            finish(&mut nvim);
            assert_eq!(lua(&mut nvim, "return vim.b.changedtick == tick"), true, "{option}");
            assert_eq!(nvim.lines(0), ["one", "two", "three", "four", "five"], "{option}");
        }
    }

    fn a_terminal_of_the_same_name_is_not_touched(target: &Target) {
        let mut nvim = start(target, Options::default(), &[write("a.txt", "new\n")]);
        nvim.scratch().write("a.txt", "old\n");
        nvim.command("terminal sleep 100");
        nvim.command("file a.txt");
        run(&mut nvim);
        assert_eq!(lua(&mut nvim, "return vim.bo.buftype"), "terminal");
        assert_ne!(nvim.lines(0)[0], "new");
        nvim.command("bwipeout!");
    }

    fn other_names_of_a_file_lead_to_its_buffer(target: &Target) {
        let mut nvim = start(target, keep(), &[
            write("folder/../a.txt", "1\ntwo\n"), write("link.txt", "1\n2\n"), write("linked/a.txt", "1\n2\n3\n"), write("name/A.txt", "big\n"),
        ]);
        let project = nvim.scratch().project().to_owned();
        nvim.scratch().write("folder/b.txt", "");
        let path = nvim.scratch().write("a.txt", "one\ntwo\n");
        std::os::unix::fs::symlink(&path, project.join("link.txt")).unwrap();
        std::os::unix::fs::symlink(&project, project.join("linked")).unwrap();
        // As a file system has them that does not tell the case of letters.
        let small = nvim.scratch().write("name/a.txt", "small\n");
        fs::hard_link(&small, project.join("name/A.txt")).unwrap();
        nvim.command("split name/a.txt | split a.txt");
        for answer in run(&mut nvim) {
            assert!(answer["error"].is_null(), "{answer}");
        }
        assert_eq!(nvim.lines(0), ["1", "2", "3"]);
        assert_eq!(nvim.scratch().read("a.txt"), "one\ntwo\n");
        assert_eq!(lua(&mut nvim, "return vim.fn.getbufline(vim.fn.bufnr('name/a.txt'), 1, '$')"), json!(["big"]));
        assert_eq!(nvim.scratch().read("name/a.txt"), "small\n");
    }

    fn a_very_long_line(target: &Target) {
        let long = "word ".repeat(200_000);
        let (old, new) = (format!("one\n{long}\nthree\n"), format!("one\n{long}changed\nthree\n"));
        let mut nvim = start(target, keep(), &[read("a.txt"), pause("go"), write("a.txt", &new)]);
        nvim.scratch().write("a.txt", &old);
        nvim.command("edit a.txt");
        begin(&mut nvim, 1);
        nvim.command("3 substitute/three/mine/");
        release(&nvim, "go");
        finish(&mut nvim);
        assert_eq!(lua(&mut nvim, "return { #vim.fn.getline(2), vim.fn.getline(2):sub(-8), vim.fn.getline(3) }"), json!([1_000_007, " changed", "mine"]));
        nvim.command("undo");
        assert_eq!(lua(&mut nvim, "return { #vim.fn.getline(2), vim.fn.getline(3) }"), json!([1_000_000, "mine"]));
    }

    fn a_nul_byte_is_no_reason_to_lose_anything(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\u{0}\ntwo\nthree\nfour\n5\n"), write("a.txt", "one\u{0}\ntwo\nthree\nFOUR\n5\n"), read("a.txt")]);
        nvim.command("2 substitute/two/mine/");
        release(&nvim, "go");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["one\u{0}", "mine", "three", "FOUR", "5"]);
        assert_eq!(answers(&nvim)[1]["result"]["content"], "one\u{0}\nmine\nthree\nFOUR\n5\n");
    }

    fn two_sessions_at_one_file(target: &Target) {
        let scenario = json!({ "prompts": [
            { "is": "first", "steps": [read("a.txt"), has_read("first"), pause("go1"), write("a.txt", "ONE\ntwo\nmine\nfour\nfive\n")] },
            { "is": "second", "steps": [read("a.txt"), has_read("second"), pause("go2"), write("a.txt", "one\ntwo\nmine\nfour\nFIVE\n")] },
        ] });
        let mut nvim = crate::plugin::with_options(target, keep(), &scenario);
        nvim.scratch().write("a.txt", OLD);
        nvim.command("edit a.txt");
        nvim.command("3 substitute/three/mine/");
        lua(&mut nvim, "local acp = require('acp') _G.ended = 0
            for _, name in ipairs({ 'first', 'second' }) do
              local session = assert(acp.open({ focus = false, new = true }))
              assert(acp.prompt(name, { session = session, on_done = function(err) assert(not err, vim.inspect(err)) _G.ended = _G.ended + 1 end }))
            end");
        nvim.wait_until("both to have read", DEADLINE, |nvim| {
            ["first", "second"].iter().all(|name| nvim.scratch().project().join(name).exists())
        });
        release(&nvim, "go1");
        release(&nvim, "go2");
        nvim.wait_until("the end of both", DEADLINE, |nvim| lua(nvim, "return _G.ended") == 2);
        let lines = nvim.lines(0);
        assert_eq!((lines[0].as_str(), lines[2].as_str(), lines[4].as_str()), ("ONE", "mine", "FIVE"));
    }

    fn typing_in_the_very_line_is_not_disturbed_by_the_disk(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo words\nthree\nfour\nfive\n"), pause("go2")]);
        nvim.input("2GI");
        nvim.type_keys("my ");
        nvim.wait_screen("my two");
        release(&nvim, "go");
        nvim.wait_until("the change to wait", DEADLINE, |nvim| lua(nvim, "return require('acp.files.job').busy(vim.api.nvim_get_current_buf())") == true);
        nvim.type_keys("own ");
        nvim.wait_screen("my own two");
        nvim.input("<Esc>");
        wait_lines(&mut nvim, &["one", "my own two words", "three", "four", "five"]);
        release(&nvim, "go2");
        finish(&mut nvim);
    }

    fn persistent_undo_is_good_after_a_merge(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo\nthree\nfour\n5\n")]);
        lua(&mut nvim, "vim.o.undodir = vim.fn.getcwd() vim.bo.undofile = true");
        nvim.command("1 substitute/one/mine/");
        release(&nvim, "go");
        finish(&mut nvim);
        wait_lines(&mut nvim, &["mine", "two", "three", "four", "5"]);
        for command in ["write", "wundo kept.undo", "bwipeout a.txt", "edit a.txt"] {
            nvim.command(command);
        }
        nvim.command("silent rundo kept.undo");
        nvim.command("silent undo");
        assert_eq!(nvim.lines(0), ["mine", "two", "three", "four", "five"]);
        nvim.command("silent undo");
        assert_eq!(nvim.lines(0), ["one", "two", "three", "four", "five"]);
        nvim.command("set noundofile");
    }

    fn diff_and_preview_windows_follow(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo\nTHREE\nfour\nfive\n"), pause("go2"), json!({ "note": "the end" })]);
        nvim.command("diffthis | vnew | setlocal buftype=nofile");
        lua(&mut nvim, "vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one', 'two', 'three', 'four', 'five' })");
        nvim.command("diffthis | pedit a.txt");
        release(&nvim, "go");
        wait_lines(&mut nvim, &["one", "two", "THREE", "four", "five"]);
        let diffed = "for _, win in ipairs(vim.api.nvim_list_wins()) do
            if vim.wo[win].diff and vim.fn.bufname(vim.api.nvim_win_get_buf(win)) == 'a.txt' then
              return vim.api.nvim_win_call(win, function() return vim.fn.diff_hlID(3, 1) ~= 0 end) end end";
        nvim.wait_until("the difference to show", DEADLINE, |nvim| lua(nvim, diffed) == true);
        let preview = "for _, win in ipairs(vim.api.nvim_list_wins()) do if vim.wo[win].previewwindow then return vim.fn.bufname(vim.api.nvim_win_get_buf(win)) end end";
        assert_eq!(lua(&mut nvim, preview), "a.txt");
        release(&nvim, "go2");
        finish(&mut nvim);
        assert_eq!(nvim.messages(), "");
    }

    fn with_and_without_autoread(target: &Target) {
        for option in ["autoread", "noautoread"] {
            let mut nvim = open(target, &[on_disk("a.txt", "1\ntwo\nthree\nfour\nfive\n"), pause("go2")]);
            nvim.command(&format!("set {option}"));
            lua(&mut nvim, "vim.api.nvim_buf_set_mark(0, 'a', 3, 1, {})");
            release(&nvim, "go");
            wait_lines(&mut nvim, &["1", "two", "three", "four", "five"]);
            nvim.command("checktime");
            assert_eq!(lua(&mut nvim, "return vim.api.nvim_buf_get_mark(0, 'a')"), json!([3, 1]));
            assert_eq!(nvim.messages(), "");
            release(&nvim, "go2");
            finish(&mut nvim);
            nvim.command("undo");
            assert_eq!(nvim.lines(0)[0], "one");
        }
    }

    fn folds_stay_as_they_are(target: &Target) {
        let block = |name: &str| format!("{name}\n\tone\n\ttwo\n");
        let old = ["a", "b", "c", "d"].map(block).concat();
        for setting in ["foldmethod=manual", "foldmethod=indent", "foldmethod=expr foldexpr=getline(v:lnum)=~'^\\\\t'"] {
            let new = old.replace("b\n", "b\nnew\n");
            let mut nvim = start(target, keep(), &[read("a.txt"), write("a.txt", &new)]);
            nvim.scratch().write("a.txt", &old);
            nvim.command("edit a.txt");
            nvim.command(&format!("set {setting} foldlevel=0"));
            if setting.ends_with("manual") {
                nvim.command("2,3fold | 5,6fold | 8,9fold | 11,12fold");
            }
            nvim.command("normal! 8Gzo");
            let closed = "return vim.tbl_map(function(l) return vim.fn.foldclosed(l) end, { ... })";
            let before = nvim.lua(closed, json!([2, 8, 11]));
            assert_eq!(before, json!([2, -1, 11]), "{setting}");
            run(&mut nvim);
            assert_eq!(nvim.lua(closed, json!([2, 9, 12])), json!([2, -1, 12]), "{setting}");
        }
    }

    fn what_a_formatter_makes_is_read_next_or_not_made(target: &Target) {
        for autocmds in [true, false] {
            let before = format!("vim.g.acp = {{ files = {{ save_autocmds = {autocmds} }} }}");
            let options = Options { before, ..Options::default() };
            let mut nvim = start(target, options, &[read("a.txt"), write("a.txt", "one  \ntwo\n"), read("a.txt"), write("a.txt", "one  \ntwo\nthree\n"), read("a.txt")]);
            nvim.scratch().write("a.txt", "one\n");
            nvim.command("edit a.txt");
            nvim.command("autocmd BufWritePre a.txt silent! %s/ *$//");
            let answers = run(&mut nvim);
            assert!(answers[1]["error"].is_null() && answers[3]["error"].is_null(), "{answers:?}");
            let (first, second) = if autocmds { ("one\ntwo\n", "one\ntwo\nthree\n") } else { ("one  \ntwo\n", "one  \ntwo\nthree\n") };
            assert_eq!(answers[2]["result"]["content"], first);
            assert_eq!(nvim.scratch().read("a.txt"), second);
            assert_eq!(answers[4]["result"]["content"], second);
            assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
            nvim.command("checktime");
            assert_eq!(nvim.messages(), "");
        }
    }

    fn a_conflict_on_the_disk_is_settled_place_by_place(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "ONE\ntwo\nthree\nfour\nFIVE\n")]);
        nvim.command("%s/one\\|five/mine &/");
        release(&nvim, "go");
        open_choices(&mut nvim, "(1 of 2)");
        nvim.input("t");
        wait_choices(&mut nvim, "(2 of 2)");
        nvim.input("o");
        finish(&mut nvim);
        wait_lines(&mut nvim, &["ONE", "two", "three", "four", "mine five"]);
        assert!(answers(&nvim).is_empty());
    }
}
