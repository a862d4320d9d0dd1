//! The plugin with a scripted agent, for all tests of what users see.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::screen::Frame;
use crate::support::target::Target;

/// A Neovim that knows one agent, `fake`, which plays this scenario.
pub(crate) fn with_agent(target: &Target, scenario: &Value) -> Nvim {
    with_options(target, Options::default(), scenario)
}

pub(crate) fn with_options(target: &Target, options: Options, scenario: &Value) -> Nvim {
    let mut nvim = Nvim::start(target, options);
    let command = nvim.scratch().scenario(scenario);
    // However slow the machine is, what an agent does is compared with what was before.
    let patient = json!({ "wait_ms": 60_000 });
    let setup = json!([{ "default_agent": "fake", "agents": { "fake": { "command": command } }, "rewind": patient }]);
    nvim.lua("require('acp').setup(...)", setup);
    nvim
}

/// The same, with the chat open and the cursor in the prompt, in insert mode.
pub(crate) fn chat(target: &Target, scenario: &Value) -> Nvim {
    let mut nvim = with_agent(target, scenario);
    open(&mut nvim, "AcpChat");
    nvim
}

/// Opens the chat by a command and waits until one can type.
pub(crate) fn open(nvim: &mut Nvim, command: &str) {
    nvim.input(&format!(":{command}<CR>"));
    nvim.wait_until("the prompt has the cursor", DEADLINE, |nvim| {
        nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([]))
            == json!("acp_prompt".to_owned() + "i")
    });
}

/// What `require("acp").sessions()` says, as `state` words in order.
pub(crate) fn states(nvim: &mut Nvim) -> Vec<String> {
    let states = nvim.lua(
        "return vim.tbl_map(function(s) return s.state end, require('acp').sessions())",
        json!([]),
    );
    serde_json::from_value(states).unwrap()
}

pub(crate) fn wait_state(nvim: &mut Nvim, state: &str) {
    nvim.wait_until(state, DEADLINE, |nvim| states(nvim).last().is_some_and(|it| it == state));
}

pub(crate) fn transcript(nvim: &mut Nvim) -> String {
    let text = nvim.lua("return require('acp').transcript()", json!([]));
    text.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn wait_transcript(nvim: &mut Nvim, text: &str) -> String {
    wait_transcript_for(nvim, text, DEADLINE)
}

pub(crate) fn wait_transcript_for(nvim: &mut Nvim, text: &str, deadline: Duration) -> String {
    nvim.wait_for(&format!("the transcript to have {text:?}"), deadline, |nvim| {
        let transcript = transcript(nvim);
        transcript.contains(text).then_some(transcript)
    })
}

/// Waits until this can be chosen in a window of ours, and the window takes keys.
pub(crate) fn wait_choices(nvim: &mut Nvim, text: &str) -> Frame {
    nvim.wait_for(&format!("the choice {text:?}"), DEADLINE, |nvim| {
        let frame = nvim.screen();
        (frame.find(text).is_some() && frame.find("chooses").is_some()).then_some(frame)
    })
}

/// Opens what waits with the user's own command, and waits for one of its choices.
pub(crate) fn open_choices(nvim: &mut Nvim, text: &str) -> Frame {
    nvim.wait_until("a question", DEADLINE, |nvim| {
        nvim.lua("return require('acp.questions').count() > 0", json!([])) == true
    });
    nvim.input(":Acp permissions<CR>");
    wait_choices(nvim, text)
}

/// The transcript's buffer, as lines.
pub(crate) fn rows(nvim: &mut Nvim) -> Vec<String> {
    let buf = nvim.lua("return require('acp').buffer()", json!([]));
    nvim.lines(buf.as_u64().expect("the transcript is shown"))
}

/// Waits until these are the rows of the transcript, from some row on: what the core has shown may
/// not have arrived in Neovim yet.
pub(crate) fn wait_rows(nvim: &mut Nvim, from: usize, expected: &[&str]) {
    let until = Instant::now() + DEADLINE;
    nvim.wait_until("the rows", DEADLINE * 2, |nvim| {
        let rows = rows(nvim);
        let found = rows.get(from..).unwrap_or_default();
        assert!(found == expected || Instant::now() < until, "{found:?} is not {expected:?}");
        found == expected
    });
}

/// How many windows the current tab page has.
pub(crate) fn windows(nvim: &mut Nvim) -> u64 {
    nvim.lua("return #vim.api.nvim_tabpage_list_wins(0)", json!([])).as_u64().unwrap()
}
