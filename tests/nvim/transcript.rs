//! The transcript as a place to read: what changes elsewhere moves nothing, what is under the cursor
//! can be opened.

use serde_json::json;

use crate::plugin::{chat, wait_state};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// What the user reads: the text at the top of the transcript's window, how much of it is scrolled
/// off, and the text the cursor is on.
const READING: &str = "
    local win = vim.fn.bufwinid(require('acp').buffer())
    return vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      return { vim.fn.getline('w0'), view.skipcol, vim.fn.getline('.'), view.col, vim.fn.screenpos(0, view.lnum, 1).row }
    end)";

/// Puts rows in the place of others, as the core would.
const PATCH: &str = "
    local first, last, lines = ...
    local surface = require('acp.ui.surface')
    surface.apply({ { surface = require('acp').buffer(), first = first, last = last, lines = lines } })
    surface.settle()
    vim.cmd.redraw()";

fn patch(nvim: &mut Nvim, first: usize, last: i64, lines: &[String]) {
    nvim.lua(PATCH, json!([first, last, lines]));
}

fn rows(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|it| format!("{name} {it} {}", "and more words ".repeat(it % 7))).collect()
}

/// 200 rows, of different heights, and the user in the middle of them.
fn reading(target: &Target, inside: bool) -> Nvim {
    let mut nvim = chat(target, &json!({}));
    wait_state(&mut nvim, "ready");
    nvim.input("<Esc>");
    patch(&mut nvim, 0, -1, &rows("row", 200));
    let win = "local win = vim.fn.bufwinid(require('acp').buffer())";
    nvim.lua(&format!("{win} vim.api.nvim_win_set_cursor(win, {{ 100, 3 }})"), json!([]));
    if inside {
        nvim.lua(
            &format!("{win} vim.api.nvim_set_current_win(win) vim.cmd('normal! zt2\\5')"),
            json!([]),
        );
    }
    nvim.lua("vim.cmd.redraw()", json!([]));
    nvim
}

fn stays(target: &Target, inside: bool) {
    let mut nvim = reading(target, inside);
    let before = nvim.lua(READING, json!([]));
    let changes: [(usize, i64, usize, &str); 8] = [
        (10, 11, 12, "a tool call above is expanded"),
        (10, 22, 1, "and collapsed"),
        (0, 1, 4, "something above comes before everything"),
        (50, 60, 0, "rows above go"),
        (70, 75, 9, "rows above become others"),
        (150, 151, 20, "a tool call below is expanded"),
        (150, 170, 1, "and collapsed"),
        (180, 180, 5, "rows come below"),
    ];
    for (first, last, count, what) in changes {
        patch(&mut nvim, first, last, &rows("new", count));
        assert_eq!(nvim.lua(READING, json!([])), before, "{what}");
    }
}

/// One of each: thoughts, tool calls, an image, a link.
fn scenario() -> serde_json::Value {
    json!({ "prompts": [
        { "turn": 1, "steps": [
            { "think": "first thought\nsecond thought\nthird thought" },
            { "say": "See [the page](https://example.org/page) and [the file](greet.lua#L2).\n\n" },
            { "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" } } },
            { "update": {
                "sessionUpdate": "tool_call", "toolCallId": "one", "title": "Run the tests", "kind": "execute", "status": "completed",
                "content": [{ "type": "content", "content": { "type": "text", "text": "all 12 tests passed\nin no time" } }],
            } },
            { "say": "The end." },
        ] },
        { "steps": [{ "say": "answer to {{prompt}}" }] },
    ] })
}

/// The chat after some turns, in normal mode in the transcript.
fn talked(target: &Target) -> Nvim {
    let mut nvim = chat(target, &scenario());
    nvim.scratch().write("greet.lua", "one\ntwo\nthree\n");
    for prompt in ["first", "second", "third"] {
        nvim.type_keys(prompt);
        nvim.input("<C-s>");
        wait_state(&mut nvim, "ready");
        nvim.wait_screen(if prompt == "first" { "The end." } else { prompt });
    }
    nvim.wait_screen("answer to third");
    nvim.input("<Esc><C-w>k");
    wait_line(&mut nvim, "");
    nvim
}

/// Waits until the cursor is in the transcript, on a row with this text.
fn wait_line(nvim: &mut Nvim, text: &str) {
    nvim.wait_until(&format!("the cursor on {text:?}"), DEADLINE, |nvim| {
        let line = nvim.lua(
            "return vim.b.acp_role == 'transcript' and vim.fn.getline('.') or vim.NIL",
            json!([]),
        );
        line.as_str().is_some_and(|it| it.contains(text))
    });
}

fn go_to(nvim: &mut Nvim, text: &str) {
    nvim.input(&format!("gg/{text}<CR>"));
    wait_line(nvim, text);
}

fn wait_rows(nvim: &mut Nvim, what: &str, fits: impl Fn(&[String]) -> bool) {
    nvim.wait_until(what, DEADLINE, |nvim| fits(&crate::plugin::rows(nvim)));
}

nvim_tests! {
    fn messages_can_be_stepped_through(target: &Target) {
        let mut nvim = talked(target);
        nvim.input("gg");
        for (keys, expected) in [("]]", "second"), ("]]", "third"), ("[[", "second"), ("2[[", "first"), ("2]]", "third")] {
            nvim.input(keys);
            nvim.wait_until(&format!("{keys} to {expected}"), DEADLINE, |nvim| {
                let below = nvim.lua("return vim.fn.getline(vim.fn.line('.') + 1)", json!([]));
                let here = nvim.lua("return vim.fn.getline('.')", json!([]));
                here.as_str().unwrap().contains("You") && below.as_str().unwrap().contains(expected)
            });
        }
    }

    fn thoughts_and_tool_calls_open_in_place(target: &Target) {
        let mut nvim = talked(target);
        let open = |rows: &[String]| rows.iter().any(|it| it.contains("second thought"));
        wait_rows(&mut nvim, "a closed thought", |rows| !open(rows));
        go_to(&mut nvim, "Thought");
        for (keys, wanted) in [("<CR>", true), ("<Tab>", false), ("za", true), ("zc", false), ("zo", true), ("jza", false)] {
            nvim.input(keys);
            wait_rows(&mut nvim, &format!("{keys} makes it open: {wanted}"), |rows| open(rows) == wanted);
            wait_line(&mut nvim, "Thought");
        }
        let output = |rows: &[String]| rows.iter().any(|it| it.contains("all 12 tests"));
        go_to(&mut nvim, "Run the tests");
        nvim.input("<Tab>");
        wait_rows(&mut nvim, "the output", output);
        nvim.input("zM");
        wait_rows(&mut nvim, "all closed", |rows| !output(rows) && !open(rows));
        nvim.input("zR");
        wait_rows(&mut nvim, "all open", |rows| output(rows) && open(rows));
    }

    fn a_link_is_shown_before_it_is_opened(target: &Target) {
        let mut nvim = talked(target);
        nvim.lua("vim.ui.open = function(url) vim.g.opened = url return {} end", json!([]));
        for at in ["the page", "example.org"] {
            go_to(&mut nvim, at);
            nvim.input("gx");
            nvim.wait_screen("Open example.org in the browser");
            assert_eq!(nvim.lua("return vim.g.opened", json!([])), json!(null));
            nvim.input("<Esc>");
            wait_line(&mut nvim, at);
        }
        nvim.input("gx");
        nvim.wait_screen("Open example.org in the browser");
        nvim.input("o");
        nvim.wait_until("opened", DEADLINE, |nvim| nvim.lua("return vim.g.opened", json!([])) == "https://example.org/page");
        go_to(&mut nvim, "the file");
        nvim.input("gx");
        nvim.wait_until("the file at its line", DEADLINE, |nvim| {
            nvim.lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }", json!([])) == json!(["greet.lua", 2])
        });
    }

    fn attachments_are_opened_or_saved(target: &Target) {
        let mut nvim = talked(target);
        nvim.lua("vim.ui.open = function(path) vim.g.opened = path return {} end
                  vim.ui.input = function(opts, fn) vim.g.default = opts.default fn(vim.fn.getcwd() .. '/saved.png') end", json!([]));
        go_to(&mut nvim, "image");
        nvim.input("s");
        let project = nvim.scratch().project();
        nvim.wait_until("the file", DEADLINE, |_| std::fs::read(project.join("saved.png")).is_ok_and(|it| it == b"\x89PNG\r\n\x1a\n"));
        assert!(nvim.lua("return vim.g.default", json!([])).as_str().unwrap().ends_with(".png"));
        nvim.input("<CR>");
        nvim.wait_screen("Open it with the program of the system");
        nvim.input("o");
        let path = nvim.wait_for("opened", DEADLINE, |nvim| nvim.lua("return vim.g.opened", json!([])).as_str().map(str::to_owned));
        assert!(path.ends_with(".png") && std::fs::read(&path).is_ok_and(|it| it.len() == 8), "{path}");
    }

    fn what_is_read_stays_from_the_prompt(target: &Target) {
        stays(target, false);
    }

    fn what_is_read_stays_in_the_transcript(target: &Target) {
        stays(target, true);
    }

    fn a_full_render_leaves_the_place(target: &Target) {
        let mut nvim = reading(target, true);
        let before = nvim.lua(READING, json!([]));
        nvim.lua("
            local surface, buf = require('acp.ui.surface'), require('acp').buffer()
            local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
            surface.apply({
              { surface = buf, first = 0, last = -1, lines = vim.list_slice(lines, 1, 50) },
              { surface = buf, first = 50, last = 50, lines = vim.list_slice(lines, 51, 200) },
            })
            surface.settle()
            vim.cmd.redraw()", json!([]));
        nvim.wait_until("the same place", DEADLINE, |nvim| nvim.lua(READING, json!([])) == before);
    }
}
