//! Files that an agent reads and writes while the user has them open.

use std::fs;

use serde_json::{Value, json};

use crate::plugin::with_options;
use crate::report::{REPORT, answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// A Neovim whose agent makes these requests, each with its path within the project.
pub(crate) fn start(target: &Target, options: Options, requests: &[Value]) -> Nvim {
    let scenario = json!({ "report": REPORT, "prompts": [{ "steps": requests }] });
    with_options(target, options, &scenario)
}

pub(crate) fn read(path: &str) -> Value {
    read_part(path, json!({}))
}

pub(crate) fn read_part(path: &str, range: Value) -> Value {
    let mut params = range;
    params["path"] = json!(format!("{{{{cwd}}}}/{path}"));
    json!({ "request": { "method": "fs/read_text_file", "params": params } })
}

pub(crate) fn write(path: &str, text: &str) -> Value {
    let params = json!({ "path": format!("{{{{cwd}}}}/{path}"), "content": text });
    json!({ "request": { "method": "fs/write_text_file", "params": params } })
}

/// Lets the agent make its requests.
pub(crate) fn run(nvim: &mut Nvim) -> Vec<Value> {
    send(nvim, "go");
    finish(nvim);
    answers(nvim)
}

/// The same for reads that succeed.
fn texts(nvim: &mut Nvim) -> Vec<String> {
    let text =
        |it: Value| it["result"]["content"].as_str().unwrap_or_else(|| panic!("{it}")).into();
    run(nvim).into_iter().map(text).collect()
}

/// For users who save what an agent writes by themselves.
pub(crate) fn keep() -> Options {
    Options {
        before: "vim.g.acp = { files = { after_write = 'keep' } }".into(),
        ..Options::default()
    }
}

pub(crate) fn lua(nvim: &mut Nvim, code: &str) -> Value {
    nvim.lua(code, json!([]))
}

nvim_tests! {
    fn unsaved_text_is_read(target: &Target) {
        let mut nvim = start(target, Options::default(), &[
            read("a.txt"),
            read_part("a.txt", json!({ "line": 2, "limit": 1 })),
            read_part("a.txt", json!({ "line": 3 })),
            read_part("a.txt", json!({ "limit": 2 })),
            read_part("a.txt", json!({ "line": 9, "limit": 1 })),
        ]);
        nvim.scratch().write("a.txt", "one\ntwo\nthree\n");
        nvim.command("edit a.txt");
        nvim.command("2 substitute/two/2 unsaved/");
        assert_eq!(
            texts(&mut nvim),
            ["one\n2 unsaved\nthree\n", "2 unsaved\n", "three\n", "one\n2 unsaved\n", ""]
        );
        assert_eq!(nvim.scratch().read("a.txt"), "one\ntwo\nthree\n");
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true);
    }

    fn unsaved_text_is_read_while_neovim_is_busy(target: &Target) {
        let mut nvim = start(target, Options::default(), &[
            read("a.txt"), json!({ "write_file": { "path": "{{cwd}}/read", "text": "" } }),
        ]);
        nvim.scratch().write("a.txt", "one\ntwo\n");
        nvim.command("edit a.txt");
        nvim.lua("assert(require('acp').open({ focus = false }))", json!([]));
        nvim.wait_for("a copy of the buffer", DEADLINE, |nvim| {
            (lua(nvim, "return require('acp.files.mirror').has(vim.fn.bufnr())") == true).then_some(())
        });
        nvim.command("2 substitute/two/typed/");
        let busy = "
            require('acp').prompt('go', { on_done = function(err) _G.turn = { err = err } end })
            local deadline = vim.uv.hrtime() + 25e9
            repeat local read = vim.uv.fs_stat('read') until read or vim.uv.hrtime() > deadline
            return vim.uv.fs_stat('read') ~= nil
        ";
        assert_eq!(lua(&mut nvim, busy), true, "the agent waits for Neovim");
        finish(&mut nvim);
        assert_eq!(answers(&nvim)[0]["result"]["content"], "one\ntyped\n");
    }

    fn unsaved_text_is_read_through_a_link(target: &Target) {
        let mut nvim = start(target, Options::default(), &[read("link.txt"), read("folder/../a.txt")]);
        let path = nvim.scratch().write("a.txt", "old\n");
        nvim.scratch().write("folder/b.txt", "");
        std::os::unix::fs::symlink(path, nvim.scratch().project().join("link.txt")).unwrap();
        nvim.command("edit a.txt");
        nvim.command("substitute/old/new/");
        assert_eq!(texts(&mut nvim), ["new\n", "new\n"]);
    }

    fn text_changed_outside_is_read_from_the_disk(target: &Target) {
        let mut nvim = start(target, Options::default(), &[read("a.txt")]);
        nvim.scratch().write("a.txt", "before\n");
        nvim.command("edit a.txt");
        nvim.scratch().write("a.txt", "changed by somebody else\n");
        assert_eq!(texts(&mut nvim), ["changed by somebody else\n"]);
        assert_eq!(nvim.lines(0), ["before"]);
    }

    fn files_that_are_not_open(target: &Target) {
        let mut nvim = start(target, Options::default(), &[
            read("a.txt"), read("missing.txt"), write("deep/er/new.txt", "made\n"), read("deep/er/new.txt"),
        ]);
        nvim.scratch().write("a.txt", "on the disk\n");
        let answers = run(&mut nvim);
        assert_eq!(answers[0]["result"]["content"], "on the disk\n");
        assert_eq!(answers[1]["error"]["code"], -32002, "{}", answers[1]);
        assert!(answers[2]["error"].is_null(), "{}", answers[2]);
        assert_eq!(answers[3]["result"]["content"], "made\n");
        assert_eq!(nvim.scratch().read("deep/er/new.txt"), "made\n");
        assert_eq!(lua(&mut nvim, "return #vim.fn.getbufinfo()"), 1, "no buffer was made for them");
    }

    fn a_write_is_one_step_to_undo(target: &Target) {
        let mut nvim = start(target, Options::default(), &[write("a.txt", "one\nTWO\nnew\nthree\nfour\n")]);
        nvim.scratch().write("a.txt", "one\ntwo\nthree\n");
        nvim.command("edit a.txt");
        nvim.input("Gofour<Esc>");
        lua(&mut nvim, "
            vim.api.nvim_buf_set_mark(0, 'a', 1, 1, {})
            vim.api.nvim_buf_set_mark(0, 'b', 3, 2, {})
            _G.ns = vim.api.nvim_create_namespace('mine')
            _G.marks = { vim.api.nvim_buf_set_extmark(0, ns, 0, 2, {}), vim.api.nvim_buf_set_extmark(0, ns, 2, 3, {}) }
            vim.api.nvim_win_set_cursor(0, { 3, 1 })
        ");
        run(&mut nvim);
        assert_eq!(nvim.lines(0), ["one", "TWO", "new", "three", "four"]);
        assert_eq!(nvim.scratch().read("a.txt"), "one\nTWO\nnew\nthree\nfour\n");
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
        let places = lua(&mut nvim, "
            local at = vim.tbl_map(function(id) return vim.api.nvim_buf_get_extmark_by_id(0, ns, id, {}) end, marks)
            local function mark(name) return vim.api.nvim_buf_get_mark(0, name) end
            return { mark('a'), mark('b'), at[1], at[2], vim.api.nvim_win_get_cursor(0) }
        ");
        assert_eq!(places, json!([[1, 1], [4, 2], [0, 2], [3, 3], [4, 1]]));
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "two", "three", "four"]);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "two", "three"]);
        nvim.command("redo | redo");
        assert_eq!(nvim.lines(0), ["one", "TWO", "new", "three", "four"]);
    }

    fn a_write_while_the_user_types(target: &Target) {
        let mut nvim = start(target, keep(), &[write("a.txt", "one\ntyped\nTHREE\n")]);
        nvim.scratch().write("a.txt", "one\ntwo\nthree\n");
        nvim.command("edit a.txt");
        nvim.input("2GS");
        nvim.type_keys("typed");
        nvim.wait_screen("typed");
        run(&mut nvim);
        assert_eq!(lua(&mut nvim, "return vim.fn.mode()"), "i");
        nvim.type_keys(" on");
        nvim.input("<Esc>");
        nvim.wait_screen("typed on");
        assert_eq!(nvim.lines(0), ["one", "typed on", "THREE"]);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "typed", "THREE"]);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "typed", "three"]);
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["one", "two", "three"]);
    }

    fn a_write_can_be_left_to_be_saved(target: &Target) {
        let mut nvim = start(target, keep(), &[write("a.txt", "new\n"), read("a.txt")]);
        nvim.scratch().write("a.txt", "old\n");
        nvim.command("edit a.txt");
        let answers = run(&mut nvim);
        assert_eq!(answers[1]["result"]["content"], "new\n");
        assert_eq!(nvim.lines(0), ["new"]);
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true);
        assert_eq!(nvim.scratch().read("a.txt"), "old\n");
    }

    fn a_hidden_buffer_is_written_where_it_is(target: &Target) {
        let mut nvim = start(target, Options::default(), &[write("a.txt", "new\n")]);
        nvim.scratch().write("a.txt", "old\n");
        nvim.command("edit a.txt");
        lua(&mut nvim, "_G.buf = vim.api.nvim_get_current_buf() _G.events = {}
            for _, event in ipairs({ 'BufWritePre', 'BufWritePost' }) do
              vim.api.nvim_create_autocmd(event, { callback = function(ev) table.insert(events, { event, ev.buf == buf }) end })
            end");
        nvim.command("edit other.txt");
        run(&mut nvim);
        let (path, expected) = (nvim.scratch().project().join("other.txt"), json!(["new"]));
        assert_eq!(lua(&mut nvim, "return vim.api.nvim_buf_get_lines(buf, 0, -1, true)"), expected);
        assert_eq!(nvim.scratch().read("a.txt"), "new\n");
        assert_eq!(lua(&mut nvim, "return vim.api.nvim_buf_get_name(0)"), json!(path.to_str().unwrap()));
        assert_eq!(lua(&mut nvim, "return #vim.api.nvim_list_wins()"), 1);
        // Formatters and other plugins see a write like any other.
        assert_eq!(lua(&mut nvim, "return events"), json!([["BufWritePre", true], ["BufWritePost", true]]));
        nvim.command("buffer a.txt | undo");
        assert_eq!(nvim.lines(0), ["old"]);
    }

    fn a_write_asks_nothing_when_the_disk_has_changed(target: &Target) {
        let mut nvim = start(target, Options::default(), &[write("a.txt", "new\n")]);
        let path = nvim.scratch().write("a.txt", "old\n");
        nvim.command("edit a.txt");
        fs::write(&path, "changed by somebody else\n").unwrap();
        let later = fs::metadata(&path).unwrap().modified().unwrap() + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        run(&mut nvim);
        assert_eq!(nvim.scratch().read("a.txt"), "new\n");
        assert_eq!(nvim.lines(0), ["new"]);
        // Nor later, when Neovim looks at the file again.
        nvim.command("checktime");
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
        assert_eq!(nvim.messages(), "");
    }

    fn a_file_deleted_meanwhile_is_written_again(target: &Target) {
        let mut nvim = start(target, Options::default(), &[read("folder/a.txt"), write("folder/a.txt", "new\n")]);
        nvim.scratch().write("folder/a.txt", "old\n");
        nvim.command("edit folder/a.txt");
        fs::remove_dir_all(nvim.scratch().project().join("folder")).unwrap();
        let answers = run(&mut nvim);
        assert_eq!(answers[0]["result"]["content"], "old\n");
        assert!(answers[1]["error"].is_null(), "{}", answers[1]);
        assert_eq!(nvim.scratch().read("folder/a.txt"), "new\n");
    }

    fn protected_buffers_are_left_alone(target: &Target) {
        let names = ["fixed.txt", "readonly.txt", "special.txt"];
        let mut nvim = start(target, Options::default(), &names.map(|name| write(name, "new\n")));
        for (name, option) in names.into_iter().zip(["nomodifiable", "readonly", "buftype=nofile"]) {
            nvim.scratch().write(name, "old\n");
            nvim.command(&format!("split {name} | setlocal {option}"));
        }
        for (answer, words) in run(&mut nvim).iter().zip(["not modifiable", "read-only", "special buffer"]) {
            assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
        }
        for name in names {
            assert_eq!(nvim.scratch().read(name), "old\n");
            nvim.command(&format!("buffer {name}"));
            assert_eq!(nvim.lines(0), ["old"]);
        }
    }

    fn line_endings_of_dos_stay(target: &Target) {
        let mut nvim = start(target, Options::default(), &[
            read("a.txt"), write("a.txt", "one\r\n2\r\n"), write("b.txt", "one\n2\n"), read("a.txt"),
        ]);
        for name in ["b.txt", "a.txt"] {
            nvim.scratch().write(name, "one\r\ntwo\r\n");
            nvim.command(&format!("edit {name}"));
        }
        nvim.command("substitute/one/unsaved/");
        let answers = run(&mut nvim);
        assert_eq!(answers[0]["result"]["content"], "unsaved\r\ntwo\r\n");
        assert_eq!(answers[3]["result"]["content"], "one\r\n2\r\n");
        assert_eq!(nvim.lines(0), ["one", "2"]);
        assert_eq!(nvim.scratch().read("a.txt"), "one\r\n2\r\n");
        assert_eq!(nvim.scratch().read("b.txt"), "one\r\n2\r\n");
    }

    fn a_missing_end_of_line_stays_missing(target: &Target) {
        let mut nvim = start(target, Options::default(), &[
            write("a.txt", "one\n2"), read("a.txt"), write("a.txt", "one\n3\n"), read("a.txt"), write("b.txt", ""), read("b.txt"),
        ]);
        nvim.scratch().write("b.txt", "one");
        nvim.command("edit b.txt");
        nvim.scratch().write("a.txt", "one\ntwo");
        nvim.command("edit a.txt");
        let answers = run(&mut nvim);
        let texts: Vec<_> = [1, 3, 5].iter().map(|&at: &usize| &answers[at]["result"]["content"]).collect();
        assert_eq!(texts, ["one\n2", "one\n3\n", ""]);
        assert_eq!(nvim.scratch().read("b.txt"), "");
        assert_eq!(lua(&mut nvim, "return vim.bo.fixendofline"), true);
    }
}
