//! The detail of a tool call: a float with tabs, live, with a diff in one column or in two.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, windows, with_options};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::screen::Frame;
use crate::support::target::Target;

const OLD: &str =
    "local M = {}\n\nfunction M.greet(name)\n  print('hello ' .. name)\nend\n\nreturn M\n";
const NEW: &str = "local M = {}\n\n--- Says hello.\nfunction M.greet(name)\n  print('Hello, ' .. name)\nend\n\nreturn M\n";

/// Neither the size nor the place of what is shown may depend on how long something took.
fn edit() -> Value {
    json!({ "update": {
        "sessionUpdate": "tool_call", "toolCallId": "edit", "title": "Edit greet.lua", "kind": "edit", "status": "completed",
        "content": [
            { "type": "diff", "path": "{{cwd}}/greet.lua", "oldText": OLD, "newText": NEW },
            { "type": "content", "content": { "type": "text", "text": "The file was changed.\nSee greet.lua:5 for more." } }
        ],
        "rawInput": { "path": "greet.lua", "text": "anything" },
        "locations": [{ "path": "{{cwd}}/greet.lua", "line": 3 }],
    } })
}

/// An edit of so many lines, every tenth of them changed.
fn long_edit(lines: usize) -> Value {
    let old: String = (1..=lines).map(|it| format!("local line_{it} = {it}\n")).collect();
    let new: String = (1..=lines)
        .map(|it| format!("local line_{it} = {}\n", if it % 10 == 0 { 0 } else { it }))
        .collect();
    json!({ "update": {
        "sessionUpdate": "tool_call", "toolCallId": "edit", "title": "Edit greet.lua", "kind": "edit", "status": "completed",
        "content": [{ "type": "diff", "path": "{{cwd}}/greet.lua", "oldText": old, "newText": new }],
    } })
}

/// A command that runs until there is a file `go`, and what it writes.
fn command() -> Vec<Value> {
    let script = "printf '\\033[31mred\\033[0m \\033[1mbold\\033[0m\\n'; seq 1 60; echo waiting; \
                  until [ -e go ]; do sleep 0.02; done; echo more; until [ -e end ]; do sleep 0.02; done; echo finished";
    vec![
        json!({ "request": { "method": "terminal/create", "params": { "command": "sh", "args": ["-c", script], "cwd": "{{cwd}}" }, "save": "term" } }),
        json!({ "update": {
            "sessionUpdate": "tool_call", "toolCallId": "run", "title": "Run a command", "kind": "execute", "status": "in_progress",
            "content": [{ "type": "terminal", "terminalId": "{{term.terminalId}}" }], "rawInput": { "command": "sh" },
        } }),
        json!({ "request": { "method": "terminal/wait_for_exit", "params": { "terminalId": "{{term.terminalId}}" } } }),
        json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": "run", "status": "completed" } }),
        json!({ "request": { "method": "terminal/release", "params": { "terminalId": "{{term.terminalId}}" } } }),
    ]
}

/// The chat with the cursor on the row of the tool call, in normal mode.
fn on_tool_call(
    target: &Target,
    (width, height): (u16, u16),
    steps: &[Value],
    title: &str,
) -> Nvim {
    let options = Options { width, height, ..Options::default() };
    let mut nvim = with_options(target, options, &json!({ "prompts": [{ "steps": steps }] }));
    nvim.scratch().write("greet.lua", NEW);
    open(&mut nvim, "AcpChat");
    nvim.type_keys("go");
    nvim.input("<C-s>");
    nvim.wait_screen(title);
    nvim.input("<Esc><C-w>k");
    nvim.input(&format!("gg/{title}<CR>"));
    nvim.wait_until("the cursor on it", DEADLINE, |nvim| {
        let line = nvim
            .lua("return vim.b.acp_role == 'transcript' and vim.fn.getline('.') or ''", json!([]));
        line.as_str().unwrap().contains(title)
    });
    nvim.input(":<Esc>");
    nvim
}

fn on_edit(target: &Target, size: (u16, u16)) -> Nvim {
    let mut nvim = on_tool_call(target, size, &[edit()], "Edit greet.lua");
    wait_state(&mut nvim, "ready");
    nvim
}

fn groups(frame: &Frame, text: &str) -> Vec<String> {
    let (row, col) = frame.find(text).unwrap_or_else(|| panic!("{text:?}\n{}", frame.text()));
    frame.highlight(row, col).groups
}

fn wait_groups(nvim: &mut Nvim, text: &str, expected: &[&str]) {
    let mut seen = Vec::new();
    nvim.wait_until(&format!("{text:?} to be {expected:?}"), DEADLINE, |nvim| {
        let frame = nvim.screen();
        seen = frame.find(text).map(|_| groups(&frame, text)).unwrap_or_default();
        expected.iter().all(|it| seen.iter().any(|group| group == it))
    });
}

fn wait_closed(nvim: &mut Nvim) {
    nvim.wait_until("no float", DEADLINE, |nvim| windows(nvim) == 3);
}

/// Line numbers of the windows with a detail, from left to right: the cursor's and the first one's.
fn places(nvim: &mut Nvim) -> Value {
    nvim.lua("
        local found = {}
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          if vim.w[win].acp_role == 'detail' then
            table.insert(found, { vim.api.nvim_win_get_position(win)[2], vim.fn.line('.', win), vim.fn.line('w0', win) })
          end
        end
        table.sort(found, function(a, b) return a[1] < b[1] end)
        return vim.tbl_map(function(it) return { it[2], it[3] } end, found)", json!([]))
}

nvim_tests! {
    fn a_diff_in_one_column(target: &Target) {
        let mut nvim = on_edit(target, (80, 24));
        nvim.input("<CR>");
        let frame = nvim.wait_screen("Says hello");
        assert!(frame.find("3 + --- Says hello.").is_some(), "{}", frame.text());
        wait_groups(&mut nvim, "--- Says", &["AcpAdded", "Comment"]);
        wait_groups(&mut nvim, "print('hello", &["AcpRemoved"]);
        wait_groups(&mut nvim, "hello ' ..", &["AcpRemovedWord"]);
        wait_groups(&mut nvim, "return M", &["Statement"]);
        nvim.assert_screen("detail_diff");
        nvim.input("q");
        wait_closed(&mut nvim);
        assert_eq!(nvim.lua("return vim.b.acp_role", json!([])), "transcript");
    }

    fn a_diff_in_two_columns(target: &Target) {
        let mut nvim = on_edit(target, (200, 50));
        nvim.input("K");
        nvim.wait_screen("3 + --- Says hello.");
        nvim.wait_screen("4 - ");
        wait_groups(&mut nvim, "--- Says", &["AcpAdded", "Comment"]);
        assert_eq!(windows(&mut nvim), 5);
        nvim.assert_screen("detail_split");
        // Both go at once, whichever is closed, and however.
        nvim.input("<C-w>l");
        nvim.wait_until("the right side", DEADLINE, |nvim| nvim.lua("return vim.w.acp_column", json!([])) == "new");
        nvim.command("close");
        wait_closed(&mut nvim);
        nvim.input("K");
        nvim.wait_screen("3 + --- Says hello.");
        nvim.input("<Esc>");
        wait_closed(&mut nvim);
    }

    fn columns_change_by_key_and_width(target: &Target) {
        let mut nvim = on_edit(target, (200, 50));
        nvim.input("K");
        nvim.wait_until("two columns", DEADLINE, |nvim| windows(nvim) == 5);
        nvim.input("s");
        nvim.wait_until("one column", DEADLINE, |nvim| windows(nvim) == 4);
        nvim.wait_screen("    3 + --- Says hello.");
        nvim.input("s");
        nvim.wait_until("two columns", DEADLINE, |nvim| windows(nvim) == 5);
        nvim.input("q");
        wait_closed(&mut nvim);
        nvim.input("K");
        nvim.wait_until("two columns", DEADLINE, |nvim| windows(nvim) == 5);
        nvim.resize(90, 30);
        nvim.wait_until("no room for two", DEADLINE, |nvim| windows(nvim) == 4);
        nvim.wait_screen("    3 + --- Says hello.");
        nvim.resize(200, 50);
        nvim.wait_until("room again", DEADLINE, |nvim| windows(nvim) == 5);
        nvim.wait_screen("3 + --- Says hello.");
    }

    fn two_columns_move_together(target: &Target) {
        let mut nvim = on_tool_call(target, (200, 50), &[long_edit(300)], "Edit greet.lua");
        nvim.input("K");
        nvim.wait_until("two columns", DEADLINE, |nvim| windows(nvim) == 5);
        for keys in ["<C-d>", "<C-f>", "3<C-e>", "G", "gg", "]c]c]c", "zt"] {
            nvim.input(keys);
            nvim.wait_until(&format!("both after {keys}"), DEADLINE, |nvim| {
                nvim.lua("vim.cmd.redraw()", json!([]));
                let places = places(nvim);
                places[0] == places[1]
            });
        }
        let before = places(&mut nvim);
        nvim.input("<C-w>l");
        nvim.wait_until("the right side", DEADLINE, |nvim| nvim.lua("return vim.w.acp_column", json!([])) == "new");
        nvim.input("<C-e>j");
        nvim.wait_until("moved from there", DEADLINE, |nvim| {
            let places = places(nvim);
            places[0] == places[1] && places != before
        });
    }

    fn changes_can_be_stepped_through(target: &Target) {
        let mut nvim = on_tool_call(target, (100, 30), &[long_edit(300)], "Edit greet.lua");
        nvim.input("K");
        nvim.wait_screen("line_10 ");
        for (keys, expected) in [("]c", "line_10 "), ("]c", "line_20 "), ("3]c", "line_50 "), ("[c", "line_40 "), ("2[c", "line_20 ")] {
            nvim.input(keys);
            nvim.wait_until(&format!("{keys} to {expected}"), DEADLINE, |nvim| {
                nvim.lua("return vim.fn.getline('.')", json!([])).as_str().unwrap().contains(expected)
            });
        }
        // The same change in the other way to show it.
        nvim.input("s");
        nvim.wait_until("the line in two columns", DEADLINE, |nvim| {
            windows(nvim) == 5 && nvim.lua("return vim.fn.getline('.')", json!([])).as_str().unwrap().contains("line_20 ")
        });
    }

    fn tabs_have_keys(target: &Target) {
        let mut nvim = on_edit(target, (100, 30));
        nvim.input("K");
        nvim.wait_screen("Says hello");
        for (keys, text) in [("<Tab>", "The file was changed."), ("<Tab>", "anything"), ("<Tab>", "Says hello"), ("<S-Tab>", "anything"), ("1gt", "Says hello"), ("2gt", "The file was changed."), ("gt", "anything"), ("gT", "The file was changed.")] {
            nvim.input(keys);
            nvim.wait_screen(text);
        }
        nvim.assert_screen("detail_output");
        // Where one was is where one comes back to.
        nvim.input("1gt");
        nvim.wait_screen("Says hello");
        nvim.input("4G<Tab>");
        nvim.wait_screen("The file was changed.");
        nvim.input("<S-Tab>");
        nvim.wait_screen("Says hello");
        nvim.wait_until("the row of before", DEADLINE, |nvim| nvim.lua("return vim.fn.line('.')", json!([])) == 4);
    }

    fn a_row_leads_to_its_file(target: &Target) {
        let mut nvim = on_edit(target, (100, 30));
        let at = "return { vim.fn.expand('%:t'), vim.fn.line('.'), vim.api.nvim_win_get_config(0).relative }";
        for keys in ["gf", "gd", "<CR>"] {
            nvim.input("K");
            nvim.wait_screen("3 + --- Says hello.");
            nvim.input("/Hello,<CR>");
            nvim.wait_until("the row", DEADLINE, |nvim| nvim.lua("return vim.fn.getline('.')", json!([])).as_str().unwrap().contains("Hello,"));
            nvim.input(keys);
            nvim.wait_until(keys, DEADLINE, |nvim| nvim.lua(at, json!([])) == json!(["greet.lua", 5, ""]));
            wait_closed(&mut nvim);
            nvim.command("wincmd b | wincmd k");
        }
        // What is removed leads to where it was.
        nvim.input("K");
        nvim.wait_screen("3 + --- Says hello.");
        nvim.input("/hello '<CR><C-w>f");
        nvim.wait_until("a new window", DEADLINE, |nvim| windows(nvim) == 4 && nvim.lua(at, json!([])) == json!(["greet.lua", 5, ""]));
        nvim.command("close | wincmd b | wincmd k");
        // And so does a name in a text.
        nvim.input("K");
        nvim.wait_screen("3 + --- Says hello.");
        nvim.input("2gt");
        nvim.wait_screen("The file was changed.");
        nvim.input("/greet.lua:5<CR>gf");
        nvim.wait_until("the name", DEADLINE, |nvim| nvim.lua(at, json!([])) == json!(["greet.lua", 5, ""]));
    }

    fn a_terminal_is_live(target: &Target) {
        let mut nvim = on_tool_call(target, (100, 30), &command(), "Run a command");
        nvim.input("K");
        let frame = nvim.wait_screen("waiting");
        assert!(frame.find("runs").is_some(), "{}", frame.text());
        let project = nvim.scratch().project();
        // At the end it is followed, elsewhere it is not.
        std::fs::write(project.join("go"), "").unwrap();
        nvim.wait_screen("more");
        nvim.input("gg");
        let frame = nvim.wait_screen("red bold");
        let (row, col) = frame.find("red bold").unwrap();
        assert!(frame.highlight(row, col).groups.contains(&"AcpAnsi1".to_owned()), "{:?}", frame.highlight(row, col));
        assert!(frame.highlight(row, col + 4).bold);
        std::fs::write(project.join("end"), "").unwrap();
        nvim.wait_screen("done");
        wait_state(&mut nvim, "ready");
        assert_eq!(nvim.lua("return vim.fn.line('.')", json!([])), 1);
        nvim.input("G");
        nvim.wait_screen("finished");
    }

    fn what_was_shown_stays_when_it_is_gone(target: &Target) {
        let mut nvim = on_edit(target, (100, 30));
        nvim.input("K");
        nvim.wait_screen("Says hello");
        nvim.lua("require('acp.client').send({ type = 'close', session = 1 })", json!([]));
        let frame = nvim.wait_screen("gone");
        assert!(frame.find("Says hello").is_some(), "{}", frame.text());
        nvim.input("]cq");
        wait_closed(&mut nvim);
    }

    fn others_can_show_it_without_the_cursor(target: &Target) {
        let mut nvim = on_edit(target, (100, 30));
        nvim.lua("
            _G.handle = require('acp.ui.detail').open({
              session = 1, tool_call = 'edit', enter = false,
              place = function(room) return { row = room.row, col = room.col, width = 60, height = 12 } end,
              on_close = function() vim.g.closed = true end,
            })", json!([]));
        let frame = nvim.wait_screen("Says hello");
        assert_eq!(frame.find("╭"), Some((0, 0)));
        assert_eq!(nvim.lua("return { vim.b.acp_role, vim.api.nvim_win_is_valid(_G.handle.win) }", json!([])), json!(["transcript", true]));
        nvim.lua("_G.handle.close() _G.handle.close()", json!([]));
        wait_closed(&mut nvim);
        nvim.wait_until("told", DEADLINE, |nvim| nvim.lua("return vim.g.closed", json!([])) == true);
        // Nothing is left behind.
        nvim.wait_until("no buffers", DEADLINE, |nvim| {
            nvim.lua("return vim.tbl_filter(function(buf) return vim.b[buf].acp_role == 'detail' end, vim.api.nvim_list_bufs())", json!([])) == json!([])
        });
    }

    fn ten_thousand_lines_are_all_there(target: &Target) {
        let mut nvim = on_tool_call(target, (100, 30), &[long_edit(10_000)], "Edit greet.lua");
        nvim.input("K");
        nvim.wait_screen("line_7 ");
        nvim.wait_until("all rows", DEADLINE, |nvim| {
            nvim.lua("return vim.fn.line('$')", json!([])).as_u64().unwrap() > 8_990
        });
        nvim.input("G");
        nvim.wait_screen("line_10000 ");
        wait_groups(&mut nvim, "local line_10000 = 0", &["AcpAdded", "Statement"]);
    }

    fn odd_things_done_to_it(target: &Target) {
        let mut nvim = on_edit(target, (200, 50));
        // Closed before anything has come, twice, wiped, written to, and out of its tab page.
        nvim.lua("local it = require('acp.ui.detail').open({ session = 1, entry = 99 }) it.close() it.close()", json!([]));
        wait_closed(&mut nvim);
        for command in ["bwipeout!", "close", "quit", "tabnew | tabclose", "edit!", "only"] {
            nvim.input("K");
            nvim.wait_screen("Says hello");
            nvim.lua("pcall(vim.cmd, ...)", json!([command]));
            nvim.input("<Esc>");
            nvim.lua("require('acp.ui.window').show(1) vim.cmd('stopinsert | wincmd k')", json!([]));
            nvim.wait_until(command, DEADLINE, |nvim| {
                nvim.input("<Esc>");
                nvim.lua("return vim.tbl_filter(function(buf) return vim.b[buf].acp_role == 'detail' end, vim.api.nvim_list_bufs())", json!([])) == json!([])
            });
        }
        nvim.input("K");
        nvim.wait_screen("Says hello");
    }
}
