//! Files that an agent changes on the disk by itself while the user has them open.

use std::fs;

use serde_json::{Value, json};

use crate::files::{keep, lua, start, write};
use crate::files_merge::{pause, release};
use crate::plugin::{open_choices, wait_state};
use crate::report::{answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

pub(crate) fn on_disk(path: &str, text: &str) -> Value {
    json!({ "write_file": { "path": path, "text": text } })
}

/// A tool call, as agents that write by themselves tell of it afterwards.
pub(crate) fn edited(path: &str) -> Value {
    json!({ "update": {
        "sessionUpdate": "tool_call", "toolCallId": "call", "title": "Edit", "kind": "edit", "status": "completed",
        "content": [{ "type": "diff", "path": format!("{{{{cwd}}}}/{path}"), "oldText": "a", "newText": "b" }],
    } })
}

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A Neovim with `a.txt` open, whose agent does this once it is released.
pub(crate) fn open(target: &Target, steps: &[Value]) -> Nvim {
    open_with(target, Options::default(), steps)
}

fn open_with(target: &Target, options: Options, steps: &[Value]) -> Nvim {
    let mut all = vec![pause("go1")];
    all.extend_from_slice(steps);
    let mut nvim = start(target, options, &all);
    nvim.scratch().write("a.txt", OLD);
    nvim.command("edit a.txt");
    lua(&mut nvim, "_G.changes = {} vim.api.nvim_create_autocmd('User', { pattern = 'AcpFileChanged', callback = function(ev)
        table.insert(changes, ev.data.kind) end })");
    send(&mut nvim, "go");
    wait_state(&mut nvim, "running");
    nvim
}

fn wait_changes(nvim: &mut Nvim, kinds: &Value) {
    nvim.wait_until(&format!("the changes {kinds}"), DEADLINE, |nvim| {
        lua(nvim, "return changes") == *kinds
    });
}

pub(crate) fn modified(nvim: &mut Nvim) -> bool {
    lua(nvim, "return vim.bo.modified") == true
}

const COUNT_JOBS: &str = "
    local job = require('acp.files.job')
    local start = job.start
    _G.jobs = 0
    function job.start(...)
      _G.jobs = _G.jobs + 1
      return start(...)
    end";

const MERGED: &str = "one\nTWO\nthree\nfour\nfive\n";

/// The buffer has followed [`MERGED`], with a change of the user's in the last line. The user saves
/// it, is asked nothing, and it happens once.
fn is_written_once(nvim: &mut Nvim) {
    assert_eq!(nvim.lines(0), ["one", "TWO", "three", "four", "mine"]);
    assert_eq!(nvim.scratch().read("a.txt"), MERGED, "nothing is written for that");
    assert_eq!(lua(nvim, "return { vim.bo.modified, vim.bo.buftype }"), json!([true, ""]));
    // The backup is what the file was: written twice, it would be what the buffer is.
    lua(nvim, "_G.events = {} vim.o.backup = true vim.o.backupskip = '' vim.o.backupcopy = 'yes' vim.o.backupdir = '.'
        vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost' }, { callback = function(ev)
            table.insert(events, ev.event) end })");
    nvim.input(":write<CR>");
    nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
    assert_eq!(nvim.scratch().read("a.txt"), MERGED.replace("five", "mine"));
    assert_eq!(nvim.scratch().read("a.txt~"), MERGED);
    assert_eq!(lua(nvim, "return events"), json!(["BufWritePre", "BufWritePost"]));
    release(nvim, "go2");
    finish(nvim);
}

nvim_tests! {
    fn an_unmodified_buffer_follows(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\nTWO\nthree\nfour\nfive\nsix\n"), edited("a.txt"), pause("go2")]);
        lua(&mut nvim, "_G.ns = vim.api.nvim_create_namespace('mine') _G.id = vim.api.nvim_buf_set_extmark(0, ns, 3, 2, {})
            vim.api.nvim_buf_set_mark(0, 'a', 5, 1, {}) vim.api.nvim_win_set_cursor(0, { 4, 2 })");
        release(&nvim, "go1");
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(nvim.lines(0), ["one", "TWO", "three", "four", "five", "six"]);
        assert!(!modified(&mut nvim));
        let places = lua(&mut nvim, "return { vim.api.nvim_buf_get_extmark_by_id(0, ns, id, {}), vim.api.nvim_buf_get_mark(0, 'a'), vim.api.nvim_win_get_cursor(0) }");
        assert_eq!(places, json!([[3, 2], [5, 1], [4, 2]]));
        nvim.command("checktime");
        assert_eq!(nvim.messages(), "");
        release(&nvim, "go2");
        finish(&mut nvim);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "two", "three", "four", "five"]);
        assert!(modified(&mut nvim));
        nvim.command("redo");
        // Neovim asks nothing when the user goes on and saves.
        nvim.input("Goseven<Esc>:write<CR>");
        nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
        assert_eq!(nvim.scratch().read("a.txt"), "one\nTWO\nthree\nfour\nfive\nsix\nseven\n");
    }

    fn what_the_buffer_followed_is_overwritten_once_and_without_a_question(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", MERGED), edited("a.txt"), pause("go2")]);
        nvim.command("5 substitute/five/mine/");
        release(&nvim, "go1");
        wait_changes(&mut nvim, &json!(["disk"]));
        is_written_once(&mut nvim);
    }

    fn a_buffer_follows_in_the_middle_of_an_autocommand(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", MERGED), edited("a.txt"), pause("go2")]);
        // As a formatter does that waits for its server: all goes on but autocommands.
        lua(&mut nvim, "vim.api.nvim_create_autocmd('User', { pattern = 'Waiting', callback = function()
              vim.fn.writefile({}, 'go1')
              _G.followed = vim.wait(15000, function() return #changes == 1 end)
            end })");
        nvim.command("5 substitute/five/mine/");
        nvim.command("doautocmd User Waiting");
        assert_eq!(lua(&mut nvim, "return followed"), true);
        is_written_once(&mut nvim);
    }

    fn a_buffer_follows_in_the_middle_of_its_own_writing(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", MERGED), edited("a.txt"), pause("go2")]);
        lua(&mut nvim, "vim.api.nvim_create_autocmd('BufWritePre', { callback = function()
              vim.fn.writefile({}, 'go1')
              vim.wait(15000, function() return #changes == 1 end)
            end })");
        nvim.command("5 substitute/five/mine/");
        nvim.input(":write<CR>");
        wait_changes(&mut nvim, &json!(["disk"]));
        nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
        assert_eq!(nvim.scratch().read("a.txt"), MERGED.replace("five", "mine"));
        release(&nvim, "go2");
        finish(&mut nvim);
    }

    fn a_buffer_follows_where_no_autocommand_is_called(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", MERGED), edited("a.txt"), pause("go2")]);
        nvim.command("5 substitute/five/mine/");
        nvim.command("set eventignore=all");
        release(&nvim, "go1");
        nvim.wait_until("the change", DEADLINE, |nvim| nvim.lines(0)[1] == "TWO");
        nvim.wait_until("it to be settled", DEADLINE, |nvim| {
            lua(nvim, "return #vim.api.nvim_get_autocmds({ event = 'BufWritePre', buffer = 0 })") == 1
        });
        nvim.command("set eventignore=");
        is_written_once(&mut nvim);
    }

    fn whoever_writes_a_file_in_the_place_of_neovim_is_not_called_when_it_is_followed(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "1\ntwo\nthree\nfour\nfive\n"), edited("a.txt"), pause("go2")]);
        lua(&mut nvim, "_G.called = 0 vim.api.nvim_create_autocmd('BufWriteCmd', { pattern = '*.txt', callback = function()
            called = called + 1 end })");
        release(&nvim, "go1");
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(lua(&mut nvim, "return { called, vim.bo.buftype, vim.bo.modified }"), json!([0, "", false]));
        release(&nvim, "go2");
        finish(&mut nvim);
    }

    fn in_the_middle_of_a_turn_buffers_follow_unannounced_changes(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "1\ntwo\nthree\nfour\nfive\n"), pause("go2"), on_disk("b.txt", "new\n"), pause("go3")]);
        nvim.command("5 substitute/five/mine/");
        release(&nvim, "go1");
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(nvim.lines(0), ["1", "two", "three", "four", "mine"]);
        // A file that was opened meanwhile, in another folder.
        nvim.scratch().write("folder/b.txt", "old\n");
        std::os::unix::fs::symlink("folder/b.txt", nvim.scratch().project().join("b.txt")).unwrap();
        nvim.command("split b.txt");
        release(&nvim, "go2");
        nvim.wait_until("the other file", DEADLINE, |nvim| nvim.lines(0) == ["new"]);
        assert!(!modified(&mut nvim));
        release(&nvim, "go3");
        finish(&mut nvim);
        assert_eq!(nvim.messages(), "");
    }

    fn a_change_that_leaves_no_trace_is_noticed(target: &Target) {
        let mut nvim = open(target, &[pause("go2")]);
        nvim.command("5 substitute/five/mine/");
        let path = nvim.scratch().project().join("a.txt");
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, OLD.replace("two", "TWO")).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        nvim.wait_until("the change", DEADLINE, |nvim| nvim.lines(0) == ["one", "TWO", "three", "four", "mine"]);
        for name in ["go1", "go2"] {
            release(&nvim, name);
        }
        finish(&mut nvim);
    }

    /// Neovim is busy from the start of the session until the agent has written.
    fn what_is_written_before_neovim_has_heard_of_the_session_is_noticed(target: &Target) {
        let mut nvim = start(target, Options::default(), &[pause("go1")]);
        nvim.scratch().write("a.txt", OLD);
        nvim.command("edit a.txt");
        let busy = "
            local acp, sessions, deadline = require('acp'), nil, vim.uv.hrtime() + 25e9
            assert(acp.open({ focus = false }))
            acp.prompt('go', { on_done = function(err) _G.turn = { err = err } end })
            repeat
              vim.uv.sleep(1)
              sessions = acp.sessions()
            until sessions[1].state == 'running' or vim.uv.hrtime() > deadline
            vim.cmd('5 substitute/five/mine/')
            local file = assert(io.open('a.txt', 'w'))
            file:write(...)
            file:close()
            return sessions[1].state";
        assert_eq!(nvim.lua(busy, json!([OLD.replace("two", "TWO")])), "running");
        nvim.wait_until("the change", DEADLINE, |nvim| nvim.lines(0) == ["one", "TWO", "three", "four", "mine"]);
        release(&nvim, "go1");
        finish(&mut nvim);
    }

    fn a_save_that_the_agent_has_not_seen_is_kept(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo\nthree\nFOUR\nfive\n"), edited("a.txt")]);
        nvim.command("1 substitute/one/mine/ | write");
        release(&nvim, "go1");
        finish(&mut nvim);
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(nvim.lines(0), ["mine", "two", "three", "FOUR", "five"]);
        assert!(modified(&mut nvim));
    }

    fn at_the_end_of_a_turn_all_buffers_follow(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "1\ntwo\nthree\nfour\nfive\n")]);
        release(&nvim, "go1");
        finish(&mut nvim);
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(nvim.lines(0)[0], "1");
    }

    fn a_modified_buffer_is_merged(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo\nthree\nFOUR\nfive\n"), edited("a.txt")]);
        nvim.command("1 substitute/one/mine/");
        release(&nvim, "go1");
        finish(&mut nvim);
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(nvim.lines(0), ["mine", "two", "three", "FOUR", "five"]);
        assert!(modified(&mut nvim));
        nvim.command("checktime");
        assert_eq!(nvim.messages(), "");
        nvim.input(":write<CR>");
        nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
        assert_eq!(nvim.scratch().read("a.txt"), "mine\ntwo\nthree\nFOUR\nfive\n");
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["mine", "two", "three", "four", "five"]);
    }

    fn an_undo_of_everything_is_not_what_the_disk_has(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo\nthree\nFOUR\nfive\n"), edited("a.txt")]);
        nvim.command("1 substitute/one/mine/");
        release(&nvim, "go1");
        finish(&mut nvim);
        wait_changes(&mut nvim, &json!(["disk"]));
        nvim.input("uu");
        nvim.wait_until("the undo", DEADLINE, |nvim| nvim.lines(0) == ["one", "two", "three", "four", "five"]);
        nvim.wait_until("the buffer to be modified", DEADLINE, modified);
    }

    fn a_buffer_modified_before_the_session_is_merged(target: &Target) {
        let mut nvim = start(target, Options::default(), &[pause("go1"), on_disk("a.txt", "one\ntwo\nthree\nFOUR\nfive\n"), edited("a.txt")]);
        nvim.scratch().write("a.txt", OLD);
        nvim.command("edit a.txt");
        nvim.command("1 substitute/one/mine/");
        send(&mut nvim, "go");
        wait_state(&mut nvim, "running");
        release(&nvim, "go1");
        finish(&mut nvim);
        nvim.wait_until("the merge", DEADLINE, |nvim| nvim.lines(0) == ["mine", "two", "three", "FOUR", "five"]);
    }

    fn the_same_lines_on_the_disk_are_for_the_user_to_settle(target: &Target) {
        for (keys, expected) in [("t", "THEIRS"), ("o", "mine")] {
            let mut nvim = open(target, &[on_disk("a.txt", "THEIRS\ntwo\nthree\nfour\n5\n"), edited("a.txt")]);
            nvim.command("1 substitute/one/mine/");
            release(&nvim, "go1");
            finish(&mut nvim);
            open_choices(&mut nvim, "Keep your lines");
            nvim.input(keys);
            wait_changes(&mut nvim, &json!(["disk"]));
            assert_eq!(nvim.lines(0), [expected, "two", "three", "four", "5"]);
            assert_eq!(modified(&mut nvim), expected == "mine");
            nvim.command("undo");
            assert_eq!(nvim.lines(0)[0], "mine");
        }
    }

    fn changes_in_a_row_all_arrive(target: &Target) {
        let mut nvim = open(target, &[
            on_disk("a.txt", "1\ntwo\nthree\nfour\nfive\n"), edited("a.txt"),
            on_disk("a.txt", "1\n2\nthree\nfour\nfive\n"), edited("a.txt"),
            on_disk("a.txt", "1\n2\n3\nfour\nfive\nsix\n"),
        ]);
        nvim.command("4 substitute/four/mine/");
        release(&nvim, "go1");
        finish(&mut nvim);
        nvim.wait_until("all changes", DEADLINE, |nvim| nvim.lines(0) == ["1", "2", "3", "mine", "five", "six"]);
        assert!(modified(&mut nvim));
    }

    fn a_deleted_file_leaves_its_buffer(target: &Target) {
        let mut nvim = open(target, &[json!({ "delete_file": "a.txt" }), edited("a.txt"), pause("go2"), on_disk("a.txt", "one\nback\n"), edited("b.txt")]);
        lua(&mut nvim, COUNT_JOBS);
        release(&nvim, "go1");
        wait_changes(&mut nvim, &json!(["deleted"]));
        assert_eq!(nvim.lines(0), ["one", "two", "three", "four", "five"]);
        assert!(modified(&mut nvim));
        nvim.wait_until("the news", DEADLINE, |nvim| nvim.messages().contains("a.txt was deleted"));
        let jobs = (0..50).map(|_| lua(&mut nvim, "return _G.jobs")).last().unwrap();
        assert!(jobs.as_u64().unwrap() <= 4, "a file that stays gone is looked at {jobs} times");
        release(&nvim, "go2");
        finish(&mut nvim);
        nvim.wait_until("the file to be back", DEADLINE, |nvim| nvim.lines(0) == ["one", "back"]);
        assert!(!modified(&mut nvim));
    }

    fn what_the_agent_wrote_on_the_disk_is_not_undone_by_its_other_writes(target: &Target) {
        let mut nvim = open(target, &[on_disk("a.txt", "one\ntwo\nthree\nfour\n5\n"), write("a.txt", "1\ntwo\nthree\nfour\n5\n")]);
        nvim.command("3 substitute/three/mine/");
        release(&nvim, "go1");
        finish(&mut nvim);
        assert_eq!(nvim.lines(0), ["1", "two", "mine", "four", "5"]);
        assert_eq!(nvim.scratch().read("a.txt"), "1\ntwo\nmine\nfour\n5\n");
        assert!(answers(&nvim)[0]["error"].is_null());
    }

    fn a_save_of_the_user_meanwhile_is_kept(target: &Target) {
        let mut nvim = open_with(target, keep(), &[on_disk("a.txt", "one\ntwo\nmine\nfour\nFIVE!\n"), edited("a.txt")]);
        nvim.command("3 substitute/three/mine/");
        nvim.command("write");
        nvim.command("1 substitute/one/unsaved/");
        release(&nvim, "go1");
        finish(&mut nvim);
        wait_changes(&mut nvim, &json!(["disk"]));
        assert_eq!(nvim.lines(0), ["unsaved", "two", "mine", "four", "FIVE!"]);
    }

    fn between_turns_files_are_neovims(target: &Target) {
        let mut nvim = open(target, &[]);
        release(&nvim, "go1");
        finish(&mut nvim);
        nvim.wait_until("the turn to be over for good", DEADLINE, |nvim| {
            lua(nvim, "return #vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })") == 0
        });
        assert_eq!(lua(&mut nvim, "return { vim.bo.autoread == nil, vim.go.autoread }"), json!([true, true]));
        let path = nvim.scratch().project().join("a.txt");
        fs::write(&path, "somebody else\n").unwrap();
        let later = fs::metadata(&path).unwrap().modified().unwrap() + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        nvim.command("checktime");
        assert_eq!(nvim.lines(0), ["somebody else"]);
        assert_eq!(lua(&mut nvim, "return changes"), json!([]));
    }
}
