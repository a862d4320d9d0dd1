//! Whatever a user and an agent do to a file, in whatever order: no word of the user is lost.
//!
//! `files_random.lua` is both of them. The user types, changes and removes lines, saves, undoes and
//! redoes; the agent reads, and writes with us or on the disk. Where both change the same, the user
//! is asked, and says anything. After each change of the agent it is looked at whether
//! - every word of the user is still there, unless it was offered and given up;
//! - nothing that the user removed has come back;
//! - marks, extmarks and the cursor are on the lines where they were;
//! - one undo takes back the agent's change and nothing else;
//! - a buffer that is not modified is what the disk has, and a write that was promised is there.
//!
//! A user in a hurry does all that while the agent works.
//!
//! `ACP_TEST_SEQUENCES` says how many sequences are run on each Neovim.

use std::time::Duration;

use serde_json::{Value, json};

use crate::plugin::with_options;
use crate::report::assert_polite;
use crate::support::nvim::Options;
use crate::support::target::Target;

/// How many sequences are run on each Neovim unless told otherwise.
const SEQUENCES: usize = 1000;
/// By so many tests.
const TESTS: usize = 4;
/// How many files are worked on at once.
const BATCH: usize = 20;

/// An agent that does what it is told by the texts of a prompt, three for each file: how, to which
/// file, and what.
fn scenario() -> Value {
    let mut steps = Vec::new();
    let mut awaits = Vec::new();
    for at in (0..BATCH * 3).step_by(3) {
        let param = |at: usize| format!("params.prompt.{at}.text");
        let value = |at: usize| format!("{{{{{}}}}}", param(at));
        let (how, path, text) = (param(at), value(at + 1), value(at + 2));
        let name = format!("request {at}");
        let request = |method: &str, params: Value| json!({ "request": { "method": method, "params": params, "no_wait": true, "as": name } });
        let call = format!("call {{{{turn}}}}.{at}");
        let mut when = |kind: &str, then: Value| {
            steps.push(json!({ "if": { "when": { &how: kind }, "then": then } }));
        };
        when("read", json!([request("fs/read_text_file", json!({ "path": path }))]));
        when(
            "write",
            json!([request("fs/write_text_file", json!({ "path": path, "content": text }))]),
        );
        when(
            "disk",
            json!([
                // Two that write the same bytes at the same time leave a file of neither.
                { "write_file": { "path": path, "text": text, "atomic": true } },
                { "update": { "sessionUpdate": "tool_call", "toolCallId": call, "title": "Edit", "status": "completed" } },
            ]),
        );
        let asked = json!({ &how: { "$any": ["read", "write"] } });
        awaits.push(json!({ "if": { "when": asked, "then": [{ "await": name }] } }));
    }
    steps.extend(awaits);
    json!({ "prompts": [{ "steps": steps }] })
}

fn run(target: &Target, seed: u32, save: bool, hurry: bool) {
    let wanted = std::env::var("ACP_TEST_SEQUENCES").ok().and_then(|it| it.parse().ok());
    let count = wanted.unwrap_or(SEQUENCES).div_ceil(TESTS);
    let after_write = if save { "save" } else { "keep" };
    let before = format!("vim.g.acp = {{ files = {{ after_write = '{after_write}' }} }}");
    let mut nvim = with_options(target, Options { before, ..Options::default() }, &scenario());
    nvim.lua("assert(require('acp').open({ focus = false }))", json!([]));
    let folder = nvim.scratch().project().to_owned();
    let options = json!({ "seed": seed, "save": save, "hurry": hurry, "count": count, "batch": BATCH, "folder": folder });
    nvim.lua(include_str!("files_random.lua"), json!([options]));
    let deadline =
        Duration::from_secs(120) + Duration::from_millis(200) * count.try_into().unwrap();
    let said = nvim.wait_notification_for("files_random", deadline);
    assert!(said[0].is_null(), "{}", said[0].as_str().unwrap_or_default());
    assert_polite(&nvim);
    eprintln!("sequences, conflicts, undone: {}", said[1]);
}

nvim_tests! {
    fn no_word_is_lost(target: &Target) {
        run(target, 0x9e37_79b9, false, false);
    }

    fn no_word_is_lost_when_writes_are_saved(target: &Target) {
        run(target, 0x7f4a_7c15, true, false);
    }

    fn no_word_is_lost_in_a_hurry(target: &Target) {
        run(target, 0x2545_f491, false, true);
    }

    fn no_word_is_lost_in_a_hurry_when_writes_are_saved(target: &Target) {
        run(target, 0x4f6c_dd1d, true, true);
    }
}
