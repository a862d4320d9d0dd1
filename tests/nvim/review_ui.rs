//! Changes that wait for the user, in their buffers and in lists. The core is played by
//! `review_ui.lua`, so that every case is at hand.

use serde_json::{Value, json};

use crate::blocks::assert_readable;
use crate::plugin::{open, wait_state, wait_transcript, windows, with_options};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::screen::Frame;
use crate::support::target::Target;

const MAIN: &str = "fn main() {\n    let name = greet(\"world\");\n    println!(\"{name}\");\n\tlet added = 1;\n}\n\nfn other() {\n    other_call();\n}\n// last\n";
const LIB: &str = "pub fn greet(name: &str) -> String {\n    format!(\"Hello, {name}!\")\n}\n";

/// A Neovim in which `main.rs` is open with four changes, `lib.rs` has one and `new.rs` was made.
fn reviewing(target: &Target, (width, height): (u16, u16)) -> Nvim {
    let options = Options { width, height, ..Options::default() };
    let mut nvim = with_options(target, options, &json!({}));
    for (name, text) in [("main.rs", MAIN), ("lib.rs", LIB), ("new.rs", "made\nby the agent\n")] {
        nvim.scratch().write(name, text);
    }
    nvim.lua(include_str!("review_ui.lua"), json!([]));
    nvim.command("edit main.rs");
    nvim.lua(
        r#"
        core.add('main.rs', 'changed', {
          { id = 1, first = 0, last = 0, removed = { '// a header that went' } },
          { id = 2, first = 1, last = 4, removed = { { '    let name = "world";', 15, 22 }, "\tprintln!(name);" }, words = { { 1, 15, 29 } } },
          { id = 3, first = 7, last = 7, removed = { '    gone();\27[31m' } },
          { id = 4, first = 10, last = 10, removed = { '// the old end' } },
        })
        core.add('lib.rs', 'changed', { { id = 1, first = 1, last = 2, removed = { { '    format!("Hi {name}")', 13, 15 } }, words = { { 1, 13, 19 } } } })
        core.add('new.rs', 'made', { { id = 1, first = 0, last = 2 } })
        "#,
        json!([]),
    );
    nvim.wait_screen("a header that went");
    wait_count(&mut nvim, 6);
    nvim
}

fn lua(nvim: &mut Nvim, code: &str) -> Value {
    nvim.lua(code, json!([]))
}

fn wait_lua(nvim: &mut Nvim, code: &str, expected: &Value) {
    let mut seen = Value::Null;
    let what = format!("{code} to be {expected}");
    nvim.wait_until(&what, DEADLINE, |nvim| {
        seen = lua(nvim, code);
        seen == *expected
    });
}

fn wait_count(nvim: &mut Nvim, count: u64) {
    wait_lua(nvim, "return require('acp.review.store').count()", &json!(count));
}

/// The name of the file and the line that the cursor is in.
fn wait_place(nvim: &mut Nvim, name: &str, line: u64) {
    wait_lua(nvim, "return { vim.fn.expand('%:t'), vim.fn.line('.') }", &json!([name, line]));
}

fn sent(nvim: &mut Nvim) -> Value {
    lua(nvim, "return core.sent")
}

fn groups(frame: &Frame, text: &str) -> Vec<String> {
    let (row, col) = frame.find(text).unwrap_or_else(|| panic!("{text:?}\n{}", frame.text()));
    frame.highlight(row, col).groups
}

fn maps(nvim: &mut Nvim, keys: &str, mode: &str) -> Value {
    nvim.lua("return vim.fn.maparg(...)", json!([keys, mode]))
}

nvim_tests! {
    fn changes_are_shown_where_they_are(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("]g");
        let frame = nvim.wait_screen("2/4");
        nvim.assert_screen("review_inline_100");
        let edge = frame.width - 1;
        for (text, group) in [
            ("let name = greet", "AcpAdded"), ("greet(", "AcpAddedWord"), ("let added", "AcpAdded"),
            ("let name = \"w", "AcpRemoved"), ("\"world\";", "AcpRemovedWord"), ("// the old end", "AcpRemoved"),
        ] {
            assert!(groups(&frame, text).contains(&group.to_owned()), "{text}: {:?}", groups(&frame, text));
        }
        for (text, group) in [("let added", "AcpAdded"), ("// the old end", "AcpRemoved")] {
            let (row, _) = frame.find(text).unwrap();
            assert!(frame.highlight(row, edge).groups.contains(&group.to_owned()), "{text} to the edge");
        }
        assert!(groups(&frame, "fn other").is_empty());
        assert!(nvim.smuggled().is_empty());
        assert_readable(&frame);
        nvim.command("set background=light");
        nvim.wait_until("other colours", DEADLINE, |nvim| {
            let now = nvim.screen();
            let (row, col) = now.find("let added").unwrap();
            now.highlight(row, col).background != frame.highlight(row, col).background
        });
        assert_readable(&nvim.screen());
    }

    fn the_hint_fits_whatever_room_there_is(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("]g");
        nvim.wait_screen("]g next  2/4");
        nvim.resize(60, 24);
        nvim.wait_screen("gla  glr  2/4");
        nvim.resize(100, 24);
        nvim.wait_screen("]g next  2/4");
        nvim.command("vsplit");
        nvim.wait_screen("gla  glr  2/4");
        nvim.command("only");
        nvim.wait_screen("]g next  2/4");
    }

    fn the_hint_is_seen_at_rows_that_go_on_out_of_sight(target: &Target) {
        let mut nvim = reviewing(target, (25, 24));
        nvim.command("set nowrap");
        nvim.input("]g");
        nvim.wait_screen("let n gla  glr  2/4");
        // The cursor is not below it,
        nvim.input("013l");
        nvim.wait_until("no hint", DEADLINE, |nvim| nvim.screen().find("2/4").is_none());
        nvim.input("0");
        nvim.wait_screen("let n gla  glr  2/4");
        // and it covers nothing where there is room.
        nvim.input("$zs");
        nvim.wait_screen(";  gla  glr  2/4");
        nvim.command("set wrap");
        nvim.input("0");
        nvim.wait_screen("ld\");  gla  glr  2/4");
    }

    fn what_went_from_either_end_is_seen_from_there(target: &Target) {
        let mut nvim = reviewing(target, (100, 8));
        nvim.input("G");
        nvim.wait_screen("// the old end");
        nvim.input("gg");
        nvim.wait_screen("// a header that went");
        nvim.input("]g]g]g");
        nvim.wait_screen("// the old end");
    }

    fn narrow_windows_and_splits(target: &Target) {
        let mut nvim = reviewing(target, (60, 20));
        nvim.input("]g");
        nvim.wait_screen("2/4");
        nvim.assert_screen("review_inline_60");
        // What the keys are is told in one window only.
        nvim.command("vsplit");
        nvim.input("]g");
        let frame = nvim.wait_screen("3/4");
        assert_eq!(frame.text().matches("/4").count(), 1, "{}", frame.text());
        assert_eq!(frame.text().matches("gone();").count(), 2, "{}", frame.text());
        nvim.input("<C-w>w");
        nvim.wait_screen("2/4");
        nvim.command("only");
        nvim.command("enew");
        nvim.wait_until("no hint", DEADLINE, |nvim| nvim.screen().find("/4").is_none());
    }

    fn off_and_on(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.command("Acp review toggle");
        nvim.wait_until("nothing shown", DEADLINE, |nvim| nvim.screen().find("a header").is_none());
        let frame = nvim.screen();
        assert!(frame.find("1/4").is_none() && groups(&frame, "let added").is_empty(), "{}", frame.text());
        // The changes are still there.
        nvim.input("]g");
        wait_place(&mut nvim, "main.rs", 2);
        nvim.command("Acp review toggle");
        nvim.wait_screen("// the old end");
        nvim.lua("require('acp').setup({ review = { signs = false, hint = false } })", json!([]));
        nvim.wait_until("no signs", DEADLINE, |nvim| {
            let frame = nvim.screen();
            frame.find("┃").is_none() && frame.find("2/4").is_none() && frame.find("// the old end").is_some()
        });
    }

    fn from_change_to_change_through_all_files(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("2]g");
        wait_place(&mut nvim, "main.rs", 8);
        nvim.input("2]g");
        wait_place(&mut nvim, "new.rs", 1);
        nvim.input("<Plug>(acp-review-next)");
        wait_place(&mut nvim, "lib.rs", 2);
        nvim.input("<Plug>(acp-review-previous)");
        wait_place(&mut nvim, "new.rs", 1);
        nvim.input(":edit main.rs | normal gg<CR>");
        wait_place(&mut nvim, "main.rs", 1);
        // What is in a fold is opened.
        nvim.command("1,9fold");
        nvim.input("gg]g");
        wait_lua(&mut nvim, "return { vim.fn.line('.'), vim.fn.foldclosed(2) }", &json!([2, -1]));
    }

    fn marks_go_with_the_text(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("ggOa new line<Esc>");
        nvim.input("]g]g");
        wait_place(&mut nvim, "main.rs", 3);
        nvim.wait_screen("2/4");
        nvim.input("gla");
        wait_count(&mut nvim, 5);
        assert_eq!(sent(&mut nvim), json!([{ "type": "accept", "name": "main.rs", "hunks": [2] }]));
        // What was found for a text of a moment ago is put where that is now.
        nvim.lua("
            local tick = vim.api.nvim_buf_get_changedtick(0)
            vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'one', 'two' })
            core.add('main.rs', 'changed', { { id = 9, first = 3, last = 4 } }, tick)", json!([]));
        wait_count(&mut nvim, 3);
        nvim.input("gg]g");
        wait_place(&mut nvim, "main.rs", 6);
    }

    fn keys_are_there_while_they_are_needed(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        assert_eq!(maps(&mut nvim, "gla", "n"), "<Plug>(acp-review-accept)");
        assert_eq!(maps(&mut nvim, "glr", "x"), "<Plug>(acp-review-reject)");
        nvim.command("Acp accept file");
        wait_count(&mut nvim, 2);
        nvim.wait_until("no keys", DEADLINE, |nvim| maps(nvim, "gla", "n") == "" && maps(nvim, "]g", "n") == "");
        let frame = nvim.screen();
        assert!(frame.find("┃").is_none() && frame.find("gone").is_none(), "{}", frame.text());
        assert_eq!(lua(&mut nvim, "return #vim.api.nvim_get_autocmds({ event = 'CursorMoved', buffer = 0 })"), 0);
        // Keys of the user's stay the user's.
        nvim.command("nnoremap ]g <Nop>");
        nvim.command("nnoremap <buffer> glr <Nop>");
        nvim.lua("core.add('main.rs', 'changed', { { id = 5, first = 1, last = 2 } })", json!([]));
        nvim.wait_until("keys", DEADLINE, |nvim| maps(nvim, "gla", "n") != "");
        assert_eq!((maps(&mut nvim, "]g", "n"), maps(&mut nvim, "glr", "n")), (json!("<Nop>"), json!("<Nop>")));
        nvim.input("2G");
        let frame = nvim.wait_screen("gla accept  gle edit");
        assert!(frame.find("]g next").is_none(), "{}", frame.text());
        nvim.lua("require('acp').setup({ review = { keys = false } })", json!([]));
        nvim.wait_until("no keys", DEADLINE, |nvim| maps(nvim, "gla", "n") == "");
        assert_eq!(maps(&mut nvim, "glr", "n"), "<Nop>");
    }

    fn rejecting_is_one_step_to_undo_and_saved(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("]gglr");
        wait_count(&mut nvim, 5);
        let rejected = MAIN.replace(
            "    let name = greet(\"world\");\n    println!(\"{name}\");\n\tlet added = 1;\n",
            "    let name = \"world\";\n\tprintln!(name);\n",
        );
        nvim.wait_until("saved", DEADLINE, |nvim| nvim.scratch().read("main.rs") == rejected);
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
        assert_eq!(sent(&mut nvim)[0]["reject"], json!({ "hunks": [2] }));
        nvim.input("u");
        wait_lua(&mut nvim, "return vim.fn.getline(4)", &json!("\tlet added = 1;"));
        // What is not saved is for the user to save: the file gets back what was rejected, and no more.
        nvim.input("GAmore<Esc>");
        nvim.input("glr");
        wait_count(&mut nvim, 4);
        wait_lua(&mut nvim, "return { vim.fn.getline(vim.fn.line('$')), vim.bo.modified }", &json!(["// the old end", true]));
        let both = rejected + "// the old end\n";
        nvim.wait_until("both", DEADLINE, |nvim| nvim.scratch().read("main.rs") == both);
    }

    fn some_lines_a_file_or_all(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("3GVjgla");
        wait_count(&mut nvim, 5);
        assert_eq!(sent(&mut nvim)[0]["rows"], json!([2, 4]));
        assert_eq!(lua(&mut nvim, "return vim.fn.mode()"), "n");
        nvim.command("7,8Acp reject");
        wait_count(&mut nvim, 4);
        assert_eq!(sent(&mut nvim)[1]["reject"], json!({ "rows": [6, 8] }));
        nvim.command("Acp reject all");
        wait_count(&mut nvim, 0);
        assert_eq!(sent(&mut nvim).as_array().unwrap().len(), 5);
        assert!(!nvim.scratch().project().join("new.rs").exists());
        nvim.command("Acp accept");
        nvim.wait_screen("there is no change here");
        nvim.allow_errors();
        nvim.input(":Acp accept something<CR>");
        nvim.wait_screen("file or all");
        nvim.input("<CR>:1,2Acp changes<CR>");
        nvim.wait_screen("takes no range");
    }

    fn accepting_and_editing(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input("4Ggle");
        wait_count(&mut nvim, 5);
        wait_lua(&mut nvim, "return { vim.fn.line('.'), vim.fn.col('.') }", &json!([2, 5]));
    }

    fn what_an_agent_made_goes(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.command("edit new.rs");
        nvim.lua("core.add('new.rs', 'made', { { id = 1, first = 0, last = 2 } })", json!([]));
        nvim.wait_screen("1/1");
        nvim.input("glr");
        wait_lua(&mut nvim, "return vim.fn.bufexists('new.rs')", &json!(0));
        assert!(!nvim.scratch().project().join("new.rs").exists());
        assert_eq!(sent(&mut nvim), json!([{ "type": "reject_file", "name": "new.rs" }]));
    }

    fn buffers_come_and_go(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        // Marks go with the text, and come again with what the core says then.
        nvim.command("edit");
        nvim.wait_until("nothing shown", DEADLINE, |nvim| nvim.screen().find("a header").is_none());
        nvim.lua("core.add('main.rs', 'changed', { { id = 3, first = 7, last = 7, removed = { 'gone' } } })", json!([]));
        nvim.wait_screen("gone");
        nvim.input("gg]g");
        wait_place(&mut nvim, "main.rs", 8);
        assert_eq!(maps(&mut nvim, "gla", "n"), "<Plug>(acp-review-accept)");
        nvim.command("bwipeout!");
        wait_count(&mut nvim, 3);
        nvim.command("Acp review");
        nvim.wait_screen("main.rs:8");
    }

    fn a_reason_reaches_the_agent(target: &Target) {
        let scenario = json!({ "prompts": [{ "steps": [{ "say": "I see" }] }] });
        let mut nvim = with_options(target, Options::default(), &scenario);
        nvim.scratch().write("main.rs", MAIN);
        nvim.lua(include_str!("review_ui.lua"), json!([]));
        open(&mut nvim, "AcpChat");
        wait_state(&mut nvim, "ready");
        nvim.input("<Esc>");
        nvim.command("wincmd h");
        nvim.command("edit main.rs");
        nvim.lua("
            local id = require('acp').sessions()[1].id
            core.add('main.rs', 'changed', { { id = 7, session = id, first = 1, last = 3, removed = { '```', 'old' } } })", json!([]));
        nvim.wait_screen("1 to review");
        nvim.input("2Gglw");
        nvim.wait_screen("Why is it rejected?");
        nvim.type_keys("too loud");
        nvim.input("<CR>");
        wait_count(&mut nvim, 0);
        let text = wait_transcript(&mut nvim, "I see");
        for part in ["main.rs, lines 2-3:", "````diff\n-```\n-old\n+    let name", "Why: too loud"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!nvim.scratch().read("main.rs").contains("greet"));
    }

    fn the_diff_of_a_tool_call_has_the_verbs_too(target: &Target) {
        let diff = json!({ "update": {
            "sessionUpdate": "tool_call", "toolCallId": "edit", "title": "Edit main.rs", "kind": "edit", "status": "completed",
            "content": [{ "type": "diff", "path": "{{cwd}}/main.rs", "oldText": MAIN.replace("added = 1", "added = 0"), "newText": MAIN }],
        } });
        let scenario = json!({ "prompts": [{ "steps": [diff] }] });
        let mut nvim = with_options(target, Options { width: 80, ..Options::default() }, &scenario);
        nvim.scratch().write("main.rs", MAIN);
        nvim.lua(include_str!("review_ui.lua"), json!([]));
        open(&mut nvim, "AcpChat");
        nvim.input("go<C-s><Esc>");
        nvim.wait_screen("Edit main.rs");
        wait_state(&mut nvim, "ready");
        nvim.lua("core.add('main.rs', 'changed', { { id = 1, first = 0, last = 1 }, { id = 2, first = 3, last = 4, removed = { 'x' } } })", json!([]));
        nvim.input("<C-w>kgg/Edit main.rs<CR><CR>");
        nvim.wait_screen("let added = 1;");
        nvim.wait_screen("ga accept");
        nvim.input("]cgr");
        wait_count(&mut nvim, 1);
        assert_eq!(sent(&mut nvim), json!([{ "type": "reject_file", "name": "main.rs", "hunks": [2] }]));
        nvim.lua("core.add('main.rs', 'changed', {})", json!([]));
        wait_count(&mut nvim, 0);
        nvim.input("ga");
        nvim.wait_screen("no change here waits for you");
    }

    fn all_changes_in_a_list(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        nvim.input(":Acp review<CR>");
        nvim.wait_screen("+3 −2  let name");
        nvim.input("j");
        nvim.wait_screen("+    let name = greet");
        nvim.assert_screen("review_list_100");
        // What is dealt with leaves the list.
        nvim.input("gla");
        wait_count(&mut nvim, 5);
        nvim.wait_until("it is gone", DEADLINE, |nvim| nvim.screen().find("+3 −2").is_none());
        nvim.wait_screen("-    gone();");
        nvim.input("<CR>");
        wait_place(&mut nvim, "main.rs", 8);
        nvim.wait_until("no preview", DEADLINE, |nvim| windows(nvim) == 2);
        nvim.command("Acp accept all");
        wait_count(&mut nvim, 0);
        nvim.wait_until("no list", DEADLINE, |nvim| windows(nvim) == 1);
        nvim.input(":Acp review<CR>");
        nvim.wait_screen("There is nothing to review");
    }

    fn all_files_in_a_float(target: &Target) {
        let mut nvim = reviewing(target, (80, 20));
        nvim.input(":Acp changes<CR>");
        nvim.wait_screen("Changes: 3 files, +6 −6");
        nvim.assert_screen("review_changes_80");
        nvim.input("jr");
        wait_count(&mut nvim, 2);
        nvim.wait_screen("Changes: 2 files");
        nvim.input("g?");
        nvim.wait_screen("reject all files");
        nvim.input("q");
        nvim.wait_until("back", DEADLINE, |nvim| nvim.screen().find("reject all files").is_none());
        nvim.input("gg<CR>");
        wait_place(&mut nvim, "lib.rs", 2);
        nvim.input(":Acp changes<CR>");
        nvim.wait_screen("Changes: 2 files");
        nvim.input("R");
        nvim.wait_screen("Keep them");
        nvim.input("r");
        wait_count(&mut nvim, 0);
    }

    fn programs_have_a_way_too(target: &Target) {
        let mut nvim = reviewing(target, (100, 24));
        let changes = lua(&mut nvim, "return require('acp').changes()");
        assert_eq!(changes[1]["hunks"][1]["new"][2], "\tlet added = 1;");
        let call = |nvim: &mut Nvim, code: &str| {
            lua(nvim, &format!("local ok, err = require('acp').{code} return {{ ok or false, err and err.code or false }}"))
        };
        assert_eq!(call(&mut nvim, "accept({ path = 'main.rs', hunk = 9 })"), json!([false, "no_hunk"]));
        assert_eq!(call(&mut nvim, "accept({ path = 'other.rs' })"), json!([false, "no_change"]));
        assert_eq!(call(&mut nvim, "reject({ session = 77 })"), json!([false, "no_session"]));
        assert_eq!(call(&mut nvim, "reject({ hunk = 1 })"), json!([false, "bad_option"]));
        assert_eq!(call(&mut nvim, "accept({ path = 'main.rs', hunk = 2 })"), json!([true, false]));
        wait_count(&mut nvim, 5);
        assert_eq!(call(&mut nvim, "reject({ path = 'main.rs', id = 3 })"), json!([true, false]));
        wait_count(&mut nvim, 4);
        nvim.wait_until("saved", DEADLINE, |nvim| nvim.scratch().read("main.rs").contains("gone();"));
        assert_eq!(call(&mut nvim, "accept()"), json!([true, false]));
        wait_count(&mut nvim, 0);
        assert_eq!(call(&mut nvim, "accept()"), json!([false, "no_change"]));
    }

    fn many_changes_cost_no_more_than_few(target: &Target) {
        let mut nvim = with_options(target, Options::default(), &json!({}));
        let text: String = (1..=10_000).map(|it| format!("value {it} and some more text\n")).collect();
        nvim.scratch().write("big.txt", &text);
        nvim.lua(include_str!("review_ui.lua"), json!([]));
        nvim.command("edit big.txt");
        // Other programs may take the processor at any time: one of the better times counts.
        let best = nvim.lua("
            local hunks = {}
            for i = 1, 500 do
              local first = i * 20 - 10
              hunks[i] = { id = i, session = 1, state = 'pending', first = first, last = first + 5, words = { { first, 0, 5 } }, tick = vim.api.nvim_buf_get_changedtick(0), removed = {} }
              for k = 1, 4 do hunks[i].removed[k] = { text = 'removed line ' .. k, spans = { { 0, 7 } } } end
            end
            local function time(fn)
              local times = {}
              for i = 1, 21 do
                local at = vim.uv.hrtime()
                fn()
                times[i] = (vim.uv.hrtime() - at) / 1e6
              end
              table.sort(times)
              return times[5]
            end
            local path = vim.api.nvim_buf_get_name(0)
            local told = time(function()
              require('acp.review').told({ type = 'hunks', path = path, buf = vim.api.nvim_get_current_buf(), full = true, kind = 'changed', set = hunks, gone = {}, count = 500 })
              vim.cmd.redraw()
            end)
            local key = time(function()
              vim.api.nvim_feedkeys('7]g', 'xt', false)
              vim.api.nvim_exec_autocmds('CursorMoved', { buffer = 0 })
              vim.cmd.redraw()
            end)
            return { told, key }", json!([]));
        let best: Vec<f64> = serde_json::from_value(best).unwrap();
        assert!(best.iter().all(|it| *it < 16.0), "{best:?}");
        nvim.wait_screen("147/500");
    }
}
