//! What each kind of thing in a chat looks like, on a small and on a big screen, on either background.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, with_options};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::screen::Frame;
use crate::support::target::Target;

const MARKDOWN: &str = "# A heading\n\nSome *emphasis*, **strong** words, ~~struck~~ ones, `code`, a [link](https://example.org) and <https://example.com>.\n\n\
## A smaller one\n\n- an item\n  - below it\n1. a number\n- [x] done\n- [ ] to do\n\n> a quote\n> of two rows\n\n\
| Name | Size |\n|------|-----:|\n| one  |    1 |\n\n---\n\n```lua\nlocal x = { 1, 'two' } -- code\nreturn x\n```\n\n";

fn tool_call(id: &str, title: &str, kind: &str, status: &str) -> Value {
    json!({ "update": { "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": status } })
}

/// What agents say in a turn that is rich.
fn scenario() -> Value {
    let mut edit = tool_call("t2", "Edit main.lua", "edit", "completed");
    edit["update"]["content"] = json!([{ "type": "diff", "path": "{{cwd}}/main.lua", "oldText": "local a = 1\nlocal b = 2\n", "newText": "local a = 1\nlocal b = 3\nlocal c = 4\n" }]);
    let mut run = tool_call("t3", "`make test`", "execute", "failed");
    run["update"]["content"] = json!([{ "type": "content", "content": { "type": "text", "text": "make: *** No rule to make target 'test'.  Stop." } }]);
    json!({ "prompts": [
        { "turn": 1, "steps": [
            { "think": "The user wants everything at once.\nSo be it." },
            { "say": MARKDOWN },
            { "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" } } },
            tool_call("t1", "Read main.lua", "read", "completed"), edit, run,
            tool_call("t4", "Look for words", "search", "completed"),
            tool_call("t5", "Think about it", "think", "completed"),
            { "say": "That was all." },
        ], "stop": "max_tokens" },
        { "turn": 2, "error": { "code": -32603, "message": "the model is down" } },
    ] })
}

/// The chat after both turns, everything collapsed, in normal mode in the transcript.
fn talked(target: &Target, (width, height): (u16, u16), before: &str) -> Nvim {
    let options = Options { width, height, before: before.to_owned(), ..Options::default() };
    let mut nvim = with_options(target, options, &scenario());
    open(&mut nvim, "AcpChat");
    for prompt in ["show me everything", "and again"] {
        nvim.type_keys(prompt);
        nvim.input("<C-s>");
        wait_state(&mut nvim, "ready");
    }
    nvim.wait_screen("You can go on");
    nvim.input("<Esc><C-w>kgg");
    nvim.wait_until("the beginning", DEADLINE, |nvim| {
        nvim.lua("return { vim.b.acp_role, vim.fn.line('.') }", json!([]))
            == json!(["transcript", 1])
    });
    nvim
}

/// Waits until the code has its colours, so that the screen is what it stays.
fn wait_code(nvim: &mut Nvim) {
    nvim.wait_until("colours", DEADLINE, |nvim| {
        let frame = nvim.screen();
        frame.find("-- code").is_some_and(|(row, col)| {
            frame.highlight(row, col).groups.contains(&"Comment".to_owned())
        })
    });
}

/// How well two colours can be told apart, from 1 to 21.
fn contrast(one: u32, other: u32) -> f64 {
    let light = |color: u32| {
        let part = |shift: u32| {
            let value = f64::from(color >> shift & 0xff) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    };
    let (a, b) = (light(one) + 0.05, light(other) + 0.05);
    a.max(b) / a.min(b)
}

/// Every character on the screen can be read.
pub(crate) fn assert_readable(frame: &Frame) {
    for row in 0..frame.height {
        for col in 0..frame.width {
            let (text, look) = (frame.cell(row, col), frame.highlight(row, col));
            // Neovim's own marks past the end are faint by intention.
            let faint = look
                .groups
                .iter()
                .any(|it| ["NonText", "EndOfBuffer", "LineNr", "AcpLineNr"].contains(&it.as_str()));
            if !text.trim().is_empty() && !faint {
                let contrast = contrast(look.foreground, look.background);
                assert!(
                    contrast >= 3.0,
                    "{text:?} in {row}, {col}: {contrast:.1} {look:?}\n{}",
                    frame.text()
                );
            }
        }
    }
}

nvim_tests! {
    fn on_a_big_screen(target: &Target) {
        let mut nvim = talked(target, (200, 50), "");
        wait_code(&mut nvim);
        nvim.assert_screen("blocks");
        // What is collapsed shows what it has when asked for.
        nvim.input("zRG");
        nvim.wait_screen("No rule to make");
        nvim.assert_screen("blocks_expanded");
    }

    fn on_a_small_screen(target: &Target) {
        let mut nvim = talked(target, (80, 24), "");
        nvim.assert_screen("blocks_small");
    }

    fn with_nothing_but_ascii(target: &Target) {
        let mut nvim = talked(target, (200, 50), "vim.g.acp = { icons = 'ascii' }");
        wait_code(&mut nvim);
        nvim.input("zRG");
        let frame = nvim.wait_screen("No rule to make");
        let chat: String = frame.rows().iter().map(|row| row.chars().skip(121).collect::<String>() + "\n").collect();
        assert!(chat.is_ascii(), "{chat}");
        nvim.assert_screen("blocks_ascii");
    }

    fn marks_can_be_hidden(target: &Target) {
        let mut nvim = talked(target, (200, 50), "vim.g.acp = { chat = { conceal = true } }");
        wait_code(&mut nvim);
        nvim.assert_screen("blocks_conceal");
    }

    fn everything_can_be_read_on_either_background(target: &Target) {
        for background in ["dark", "light"] {
            let mut nvim = talked(target, (200, 50), "");
            nvim.command(&format!("set background={background}"));
            wait_code(&mut nvim);
            assert_readable(&nvim.screen());
            nvim.input("/Edit main<CR>K");
            nvim.wait_screen("local c = 4");
            nvim.wait_until("colours", DEADLINE, |nvim| {
                let frame = nvim.screen();
                frame.find("local c").is_some_and(|(row, col)| frame.highlight(row, col).groups.contains(&"Statement".to_owned()))
            });
            assert_readable(&nvim.screen());
        }
    }
}
