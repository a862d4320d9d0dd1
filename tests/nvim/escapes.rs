//! Nothing an agent sends reaches the terminal as a control sequence, or looks like ours.

use serde_json::{Value, json};

use crate::plugin::{chat, rows, wait_state};
use crate::support::nvim::{DEADLINE, Nvim};

/// What terminals would obey, what turns text around, and what nobody sees.
const EVIL: &str = "a\u{1b}[31mred\u{1b}]0;owned\u{7}\u{9b}2Jb\u{85}\u{202e}dnim\u{2066}c\u{200b}\u{61c}\u{feff}\u{2028}d\u{e0041}\u{8}\u{7f}e";

fn evil(name: &str) -> String {
    format!("{name} {EVIL} {name}-end")
}

fn tool_call(id: &str, content: Value) -> Value {
    json!({ "update": {
        "sessionUpdate": "tool_call", "toolCallId": id, "title": evil("title"), "kind": "execute", "status": "completed",
        "content": content, "rawInput": { "command": evil("command") }, "rawOutput": { "out": evil("raw") },
        "locations": [{ "path": format!("/tmp/{}", evil("location")), "line": 3 }],
    } })
}

/// An agent that puts it everywhere.
fn scenario() -> Value {
    let diff = json!([{ "type": "diff", "path": format!("/tmp/{}", evil("path")), "oldText": evil("old"), "newText": evil("new") }]);
    let output =
        json!([{ "type": "content", "content": { "type": "text", "text": evil("output") } }]);
    let ask = json!({ "request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": { "toolCallId": "asked", "title": evil("permission"), "kind": "edit", "status": "pending", "content": diff },
            "options": [{ "optionId": "yes", "name": evil("option"), "kind": "allow_once" }, { "optionId": "no", "name": "Rather not", "kind": "reject_once" }],
        },
        "id": "asked",
    } });
    json!({ "prompts": [{ "steps": [
        { "update": { "sessionUpdate": "session_info_update", "title": evil("session") } },
        { "think": evil("thought") },
        { "say": format!("{}\n\n# {}\n\n```{}\n{}\n```\n\n", evil("message"), evil("heading"), evil("language"), evil("code")) },
        { "update": { "sessionUpdate": "plan", "entries": [{ "content": evil("plan"), "priority": "high", "status": "in_progress" }] } },
        { "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "mimeType": evil("mime"), "data": "AAAA" } } },
        { "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "resource_link", "name": evil("link"), "uri": evil("file:///tmp") } } },
        tool_call("one", diff.clone()),
        tool_call("two", output),
        { "update": { "sessionUpdate": "current_mode_update", "currentModeId": evil("mode") } },
        { "update": { "sessionUpdate": evil("mystery") } },
        ask,
        { "say": "the end" },
    ] }] })
}

fn assert_clean(nvim: &mut Nvim, where_: &str) {
    let smuggled = nvim.smuggled();
    assert!(smuggled.is_empty(), "{where_}: {smuggled:?}");
}

/// No line of a buffer has what a terminal would obey, should it ever be printed as it is.
fn assert_lines_clean(lines: &[String], where_: &str) {
    let odd = |it: char| {
        it.is_control()
            || matches!(it, '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    for line in lines {
        assert!(!line.contains(odd), "{where_}: {line:?}");
    }
}

nvim_tests! {
    fn nothing_is_smuggled_to_the_terminal(target: &Target) {
        let mut nvim = chat(target, &scenario());
        nvim.command("set title titlestring=%t columns=160");
        assert!(nvim.smuggled().is_empty());
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_until("a permission", DEADLINE, |nvim| nvim.lua("return #require('acp').permissions()", json!([])) == 1);
        nvim.input("<Esc>");
        nvim.wait_screen("Rather not");
        assert_clean(&mut nvim, "asking");
        nvim.lua("local acp = require('acp') acp.respond(acp.permissions()[1].id, 'no')", json!([]));
        wait_state(&mut nvim, "ready");
        nvim.wait_screen("the end");
        let lines = rows(&mut nvim);
        assert_lines_clean(&lines, "the transcript");
        // Every row of the transcript, and every tool call.
        nvim.input("<Esc><C-w>k");
        for keys in ["zR", "gg", "<C-f>", "<C-f>", "G"] {
            nvim.input(keys);
            nvim.wait_until("drawn", DEADLINE, |nvim| nvim.lua("vim.cmd.redraw() return true", json!([])) == true);
        }
        assert_clean(&mut nvim, "the transcript");
        let calls = rows(&mut nvim).iter().filter(|it| it.contains("title-end") && it.starts_with('●')).count();
        assert_eq!(calls, 2);
        for number in 1..=calls {
            nvim.input(&format!("gg{number}/^●.*title-end<CR>K"));
            nvim.wait_screen("q closes");
            nvim.input("s");
            for _ in 0..4 {
                assert_clean(&mut nvim, "a tool call");
                let lines = nvim.lines(0);
                assert_lines_clean(&lines, "a tool call");
                nvim.input("<Tab>");
                nvim.wait_until("drawn", DEADLINE, |nvim| nvim.lua("vim.cmd.redraw() return true", json!([])) == true);
            }
            nvim.input("q");
            nvim.wait_until("closed", DEADLINE, |nvim| nvim.lua("return vim.b.acp_role", json!([])) == "transcript");
        }
        for command in ["Acp plan", "Acp sessions", "messages"] {
            nvim.input(&format!(":{command}<CR>"));
            nvim.wait_until("drawn", DEADLINE, |nvim| nvim.try_lua("vim.cmd.redraw() return true", json!([])).is_ok());
            assert_clean(&mut nvim, command);
            nvim.input("<Esc><Esc>");
        }
    }

    fn nobody_else_writes_rows_that_look_like_ours(target: &Target) {
        let text = "▌ You\nplease delete everything\n● ✎ Edit main.lua +1\n─ mode: plan\n  ✗ failed\n▸ Thought";
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [{ "say": text }] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_state(&mut nvim, "ready");
        nvim.wait_screen("please delete");
        let ours: Vec<_> = rows(&mut nvim).into_iter().filter(|it| it.starts_with(['▌', '●', '─', '✗', '▸'])).collect();
        assert_eq!(ours, ["▌ You", "▌ fake"]);
        // And none of them is one for the keys.
        nvim.input("<Esc><C-w>kgg/Edit main<CR>");
        nvim.wait_until("the row", DEADLINE, |nvim| nvim.lua("return vim.fn.getline('.')", json!([])).as_str().unwrap().contains("Edit main"));
        nvim.input("K]]");
        nvim.wait_until("nowhere", DEADLINE, |nvim| nvim.lua("return #vim.api.nvim_tabpage_list_wins(0)", json!([])) == 3);
        assert!(nvim.lua("return vim.fn.getline('.')", json!([])).as_str().unwrap().contains("Edit main"));
    }
}
