//! Edits of real agents, message by message as they were recorded, in a file that the user has
//! open and changed.

use serde_json::{Value, json};

use crate::files::lua;
use crate::plugin::with_options;
use crate::report::{REPORT, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::scratch::fixture;
use crate::support::target::Target;

const OLD: &str = "hello world\nsecond line\n";
const NEW: &str = "goodbye world\nsecond line\n";

/// What the agent said in its turn, as steps. The disk is written before it says that the edit is
/// done, as it was then.
fn steps(recording: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixture(recording)).unwrap();
    let text = text.replace("/home/dev/project", "{{cwd}}");
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let turn = all.skip_while(|it| it["msg"]["method"] != "session/prompt");
    let mut steps = Vec::new();
    let mut edit = Value::Null;
    for message in turn.filter(|it| it["dir"] == "a2c").map(|it| it["msg"].clone()) {
        let update = &message["params"]["update"];
        if update["kind"] == "edit" {
            edit = update["toolCallId"].clone();
        }
        if update["toolCallId"] == edit && update["status"] == "completed" {
            steps.push(json!({ "write_file": { "path": "hello.txt", "text": NEW } }));
        }
        if message["method"] == "session/update" {
            steps.push(json!({ "update": update }));
        } else if message["method"].is_string() {
            let mut params = message["params"].clone();
            params.as_object_mut().unwrap().remove("sessionId");
            steps.push(json!({ "request": { "method": message["method"], "params": params } }));
        }
    }
    assert!(steps.iter().any(|it| it["write_file"].is_object()), "{recording} has no edit");
    steps
}

fn arrives_merged(target: &Target, recording: &str) {
    let scenario = json!({ "report": REPORT, "prompts": [{ "steps": steps(recording) }] });
    let before =
        "vim.g.acp = { permissions = { rules = { { action = 'allow', kind = 'edit' } } } }";
    let mut nvim =
        with_options(target, Options { before: before.into(), ..Options::default() }, &scenario);
    nvim.scratch().write("hello.txt", OLD);
    nvim.command("edit hello.txt");
    nvim.command("2 substitute/$/ of mine/");
    send(&mut nvim, "go");
    finish(&mut nvim);
    nvim.wait_until("both changes", DEADLINE, |nvim| {
        nvim.lines(0) == ["goodbye world", "second line of mine"]
    });
    nvim.command("checktime");
    assert_eq!(nvim.messages(), "");
    let undone = "while vim.fn.getline(1) ~= 'hello world' do vim.cmd('silent undo') end return vim.fn.getline(2)";
    assert_eq!(lua(&mut nvim, undone), "second line of mine");
}

/// Runs a turn in which the agent writes the file by a request and at once by itself, as OpenCode
/// does. The lines of the buffer, when all has come.
fn written_twice(target: &Target, last: &str, user: &str) -> (Nvim, Vec<String>) {
    let params = json!({ "path": "{{cwd}}/hello.txt", "content": NEW });
    let steps = json!([
        { "request": { "method": "fs/write_text_file", "params": params } },
        { "write_file": { "path": "hello.txt", "text": last } },
    ]);
    let scenario = json!({ "report": REPORT, "prompts": [{ "steps": steps }] });
    let mut nvim = with_options(target, Options::default(), &scenario);
    nvim.scratch().write("hello.txt", OLD);
    nvim.command("edit hello.txt");
    nvim.command(user);
    send(&mut nvim, "go");
    finish(&mut nvim);
    nvim.wait_until("the buffer to be in step with its file", DEADLINE, |nvim| {
        let busy =
            "return require('acp.files.job').busy() or require('acp.files.watch').is_behind(vim.fn.bufnr())";
        lua(nvim, busy) == false
    });
    let lines = nvim.lines(0);
    nvim.command("checktime");
    assert_eq!(nvim.messages(), "");
    (nvim, lines)
}

nvim_tests! {
    fn a_file_that_is_written_by_request_and_on_the_disk_too(target: &Target) {
        for last in [NEW, "goodbye world\nsecond line\nthird\n"] {
            let (mut nvim, lines) = written_twice(target, last, "");
            assert_eq!(lines.join("\n") + "\n", last);
            assert_eq!(nvim.scratch().read("hello.txt"), last);
            assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
        }
    }

    fn what_is_not_saved_survives_a_file_that_is_written_twice(target: &Target) {
        let (mut nvim, lines) = written_twice(target, NEW, "2 substitute/$/ of mine/");
        assert_eq!(lines, ["goodbye world", "second line of mine"]);
        // The agent's own write was the last one, and knows nothing of it.
        assert_eq!(nvim.scratch().read("hello.txt"), NEW);
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true);
        nvim.command("write");
        assert_eq!(nvim.scratch().read("hello.txt"), "goodbye world\nsecond line of mine\n");
    }

    fn an_edit_of_opencode_is_merged(target: &Target) {
        arrives_merged(target, "opencode/edit.ndjson");
    }

    fn an_edit_of_claude_is_merged(target: &Target) {
        arrives_merged(target, "claude/edit.ndjson");
    }

    fn an_edit_of_codex_is_merged(target: &Target) {
        arrives_merged(target, "codex/edit.ndjson");
    }
}
