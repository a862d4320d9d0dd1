//! `:Acp follow`: the files the agent works on, in one window, while the user is in another.

use serde_json::{Value, json};

use crate::plugin::{chat, wait_state};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// An agent that reads a file, then another one, then what is no file, then the first again.
fn reader() -> Value {
    let read = |id: &str, path: &str, line: u64| {
        json!({ "update": {
            "sessionUpdate": "tool_call", "toolCallId": id, "title": "Read", "kind": "read", "status": "in_progress",
            "locations": [{ "path": path, "line": line }],
        } })
    };
    json!({ "prompts": [{ "steps": [
        { "wait_file": "one" }, read("a", "{{cwd}}/first.txt", 30),
        { "wait_file": "two" }, read("b", "{{cwd}}/second.txt", 1000),
        { "wait_file": "three" }, read("c", "{{cwd}}/missing.txt", 1), read("d", "{{cwd}}", 1), read("e", "/dev/zero", 1), read("g", "{{cwd}}/../outside.txt", 1),
        { "say": "nothing to see" },
        { "wait_file": "four" }, read("f", "{{cwd}}/first.txt", 3),
        { "say": ", and the end" }
    ] }] })
}

/// The chat beside a window with code, the turn running, the cursor in the prompt.
fn following(target: &Target, command: &str) -> Nvim {
    let mut nvim = chat(target, &reader());
    for name in ["first", "second"] {
        let lines: Vec<String> = (1..=60).map(|n| format!("{name} {n}")).collect();
        nvim.scratch().write(&format!("{name}.txt"), &lines.join("\n"));
    }
    // To show it would be to read it, and an agent can name any file.
    let outside = nvim.scratch().project().parent().unwrap().join("outside.txt");
    std::fs::write(outside, "secret").unwrap();
    wait_state(&mut nvim, "ready");
    nvim.input(&format!("go<C-s><Esc>:{command}<CR>"));
    nvim.wait_screen("follows");
    nvim
}

/// What the code window shows: the end of its file's name, and its cursor's line.
fn shown(nvim: &mut Nvim) -> (String, u64) {
    let found = nvim.lua(
        "local win = vim.fn.win_getid(1)
         local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
         return { vim.fs.basename(name), vim.api.nvim_win_get_cursor(win)[1] }",
        json!([]),
    );
    serde_json::from_value(found).unwrap()
}

fn wait_shown(nvim: &mut Nvim, name: &str, line: u64) {
    let expected = (name.to_owned(), line);
    nvim.wait_until(&format!("{name} at {line}"), DEADLINE, |nvim| shown(nvim) == expected);
}

fn role(nvim: &mut Nvim) -> Value {
    nvim.lua("return vim.b.acp_role", json!([]))
}

nvim_tests! {
    fn files_are_shown_and_the_cursor_stays(target: &Target) {
        let mut nvim = following(target, "Acp follow on");
        nvim.input("i");
        nvim.scratch().write("one", "");
        wait_shown(&mut nvim, "first.txt", 30);
        let frame = nvim.wait_screen("first 30");
        let (row, col) = frame.find("first 30").unwrap();
        assert!(frame.highlight(row, col).groups.contains(&"Visual".to_owned()), "{:?}", frame.highlight(row, col));
        nvim.type_keys("typed on");
        nvim.wait_screen("typed on");
        nvim.wait_until("the mark goes", DEADLINE, |nvim| {
            !nvim.screen().highlight(row, col).groups.contains(&"Visual".to_owned())
        });
        // A line beyond the end is the last one.
        nvim.scratch().write("two", "");
        wait_shown(&mut nvim, "second.txt", 60);
        // What is no file changes nothing.
        nvim.scratch().write("three", "");
        nvim.wait_screen("nothing to see");
        assert_eq!(shown(&mut nvim), ("second.txt".to_owned(), 60));
        nvim.scratch().write("four", "");
        wait_shown(&mut nvim, "first.txt", 3);
        assert_eq!((role(&mut nvim), nvim.lua("return vim.fn.mode()", json!([]))), (json!("prompt"), json!("i")));
        assert_eq!(nvim.lua("return vim.fn.getline(1)", json!([])), "typed on");
        // The user can go back where the window was before.
        nvim.input("<Esc><C-w>h<C-o>");
        wait_shown(&mut nvim, "second.txt", 60);
    }

    fn it_can_be_stopped(target: &Target) {
        let mut nvim = following(target, "Acp follow");
        nvim.input(":Acp follow<CR>");
        nvim.wait_until("not followed", DEADLINE, |nvim| nvim.screen().find("follows").is_none());
        for file in ["one", "two", "three", "four"] {
            nvim.scratch().write(file, "");
        }
        nvim.wait_screen("and the end");
        assert_eq!(shown(&mut nvim).0, "");
    }

    fn closing_the_window_stops_it(target: &Target) {
        let mut nvim = following(target, "Acp follow");
        nvim.input("<C-w>h:new<CR><C-w>w:quit<CR>");
        nvim.wait_until("not followed", DEADLINE, |nvim| nvim.screen().find("follows").is_none());
        nvim.scratch().write("one", "");
        nvim.scratch().write("two", "");
        nvim.scratch().write("three", "");
        nvim.wait_screen("nothing to see");
        assert_eq!(shown(&mut nvim).0, "");
    }

    fn nothing_changes_under_the_hands_of_the_user(target: &Target) {
        let mut nvim = following(target, "wincmd h | Acp follow here");
        nvim.input("i");
        nvim.type_keys("I write");
        nvim.scratch().write("one", "");
        nvim.scratch().write("two", "");
        nvim.scratch().write("three", "");
        nvim.wait_screen("nothing to see");
        nvim.type_keys(" my text");
        assert_eq!(nvim.lua("return { vim.fn.getline(1), vim.fn.bufname() }", json!([])), json!(["I write my text", ""]));
        // When they are done, the newest place comes up.
        nvim.scratch().write("four", "");
        nvim.wait_screen("and the end");
        nvim.input("<Esc>");
        wait_shown(&mut nvim, "first.txt", 3);
        assert_eq!(nvim.lua("return vim.fn.getbufline(1, 1)", json!([])), json!(["I write my text"]));
    }

    fn unsaved_text_is_not_hidden_where_that_is_not_allowed(target: &Target) {
        let mut nvim = chat(target, &reader());
        nvim.scratch().write("first.txt", "first 1\n");
        wait_state(&mut nvim, "ready");
        nvim.command("set nohidden");
        nvim.input("go<C-s><Esc><C-w>hiunsaved<Esc>:Acp follow here<CR><C-w>l");
        nvim.wait_screen("follows");
        nvim.scratch().write("one", "");
        nvim.scratch().write("two", "");
        nvim.scratch().write("three", "");
        nvim.wait_screen("nothing to see");
        assert_eq!(nvim.lua("return vim.fn.getbufline(vim.fn.winbufnr(1), 1)", json!([])), json!(["unsaved"]));
        nvim.command("1windo set nomodified | wincmd l");
        nvim.scratch().write("four", "");
        wait_shown(&mut nvim, "first.txt", 1);
    }

    fn a_file_open_elsewhere_raises_no_question(target: &Target) {
        let mut nvim = following(target, "Acp follow");
        // As another Neovim leaves it while it has the file open.
        nvim.lua(
            "vim.o.swapfile, vim.o.updatecount, vim.o.directory = true, 200, vim.fn.getcwd()
             local path = vim.fn.getcwd() .. '/first.txt'
             local buf = vim.fn.bufadd(path)
             vim.fn.bufload(buf)
             local swap = vim.fn.swapname(buf)
             assert(vim.uv.fs_copyfile(swap, vim.fn.getcwd() .. '/kept'))
             vim.api.nvim_buf_delete(buf, { force = true })
             assert(vim.uv.fs_copyfile(vim.fn.getcwd() .. '/kept', swap))",
            json!([]),
        );
        nvim.scratch().write("one", "");
        wait_shown(&mut nvim, "first.txt", 30);
        assert_eq!(role(&mut nvim), "prompt");
    }
}
