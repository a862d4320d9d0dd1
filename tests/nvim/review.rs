//! Changes of agents wait for the user and are accepted or rejected by keys: the whole way from an
//! agent's write to what the buffer and the disk have in the end.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::files::{keep, lua, write};
use crate::plugin::with_options;
use crate::report::{finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// How an agent changes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It asks the client to.
    Asked,
    /// It writes the disk and tells of it.
    Told,
    /// It writes the disk and says nothing.
    Silent,
}

pub(crate) const WAYS: [Way; 3] = [Way::Asked, Way::Told, Way::Silent];

/// What a tool call tells of a file that the agent has written by itself.
pub(crate) fn tool_call(path: &str, old: Option<&str>, new: &str) -> Value {
    json!({ "update": {
        "sessionUpdate": "tool_call", "toolCallId": format!("edit {path}"), "title": "Edit",
        "kind": "edit", "status": "completed", "locations": [{ "path": format!("{{{{cwd}}}}/{path}") }],
        "content": [{ "type": "diff", "path": format!("{{{{cwd}}}}/{path}"), "oldText": old, "newText": new }],
    } })
}

/// The steps by which an agent changes a file.
pub(crate) fn change(way: Way, path: &str, old: Option<&str>, new: &str) -> Vec<Value> {
    let on_disk = json!({ "write_file": { "path": path, "text": new } });
    match way {
        Way::Asked => vec![write(path, new)],
        Way::Told => vec![on_disk, tool_call(path, old, new)],
        Way::Silent => vec![on_disk],
    }
}

/// Thirty lines.
pub(crate) fn old() -> String {
    (1..=30).map(|it| format!("line {it}\n")).collect()
}

/// The same with three changes: one line is another, two are new, one is gone.
pub(crate) fn new() -> String {
    old()
        .replace("line 3\n", "LINE 3\n")
        .replace("line 15\n", "line 15\nadded\nadded too\n")
        .replace("line 25\n", "")
}

pub(crate) fn three() -> Value {
    json!([
        [3, ["line 3"], ["LINE 3"], "pending"],
        [16, [], ["added", "added too"], "pending"],
        [27, ["line 25"], [], "pending"],
    ])
}

/// A Neovim whose agent does this in its nth turn.
pub(crate) fn start(target: &Target, options: Options, turns: &[Vec<Value>]) -> Nvim {
    let prompts: Vec<Value> = turns
        .iter()
        .enumerate()
        .map(|(at, steps)| json!({ "turn": at + 1, "steps": steps }))
        .collect();
    with_options(target, options, &json!({ "prompts": prompts }))
}

/// Lets the agent play its next turn.
pub(crate) fn turn(nvim: &mut Nvim) {
    send(nvim, "go");
    finish(nvim);
}

const PENDING: &str = "
    local all = {}
    for _, file in ipairs(require('acp').changes()) do
      local hunks = vim.tbl_map(function(it) return { it.start, it.old, it.new, it.state } end, file.hunks)
      table.insert(all, { vim.fs.basename(file.path), file.kind, hunks })
    end
    return all";

/// Waits until these are the changes that wait: for each file its name, kind and hunks.
pub(crate) fn wait_pending(nvim: &mut Nvim, expected: &Value) {
    let until = Instant::now() + DEADLINE;
    nvim.wait_until("the changes", DEADLINE * 2, |nvim| {
        let seen = with_lists(lua(nvim, PENDING));
        if seen != *expected && Instant::now() > until {
            panic!("\nfound    {seen}\nexpected {expected}\n{}", nvim.messages());
        }
        seen == *expected
    });
    // And the editor shows the same.
    let count: u64 =
        expected.as_array().unwrap().iter().map(|it| it[2].as_array().unwrap().len() as u64).sum();
    wait_lua(nvim, "return require('acp.review.store').count()", &json!(count));
}

/// An empty table of Lua is a list here.
fn with_lists(value: Value) -> Value {
    match value {
        Value::Object(it) if it.is_empty() => json!([]),
        Value::Array(all) => all.into_iter().map(with_lists).collect(),
        other => other,
    }
}

pub(crate) fn wait_lua(nvim: &mut Nvim, code: &str, expected: &Value) {
    let until = Instant::now() + DEADLINE;
    nvim.wait_until(code, DEADLINE * 2, |nvim| {
        let seen = lua(nvim, code);
        assert!(
            seen == *expected || Instant::now() < until,
            "{code}\nis       {seen}\nexpected {expected}"
        );
        seen == *expected
    });
}

pub(crate) fn wait_disk(nvim: &mut Nvim, path: &str, text: &str) {
    let file = nvim.scratch().project().join(path);
    nvim.wait_until(&format!("{path} on the disk to be {text:?}"), DEADLINE, |_| {
        fs::read(&file).is_ok_and(|it| it == text.as_bytes())
    });
}

pub(crate) fn wait_gone(nvim: &mut Nvim, path: &Path) {
    nvim.wait_until("the file to be gone", DEADLINE, |_| !path.exists());
}

/// The text of the current buffer.
pub(crate) fn text(nvim: &mut Nvim) -> String {
    nvim.lines(0).iter().map(|it| format!("{it}\n")).collect()
}

/// Puts the cursor on the nth hunk of the file that is shown.
pub(crate) fn to_hunk(nvim: &mut Nvim, number: usize) {
    nvim.input("gg0");
    let here = "return require('acp.review.store').at(0, 0) == nil";
    let first = lua(nvim, &here.replace("at(0", "at(vim.api.nvim_get_current_buf()")) == true;
    let count = if first { number } else { number - 1 };
    if count > 0 {
        nvim.input(&format!("{count}]g"));
    }
}

pub(crate) fn only(name: &str, kind: &str, hunks: &Value) -> Value {
    json!([[name, kind, hunks]])
}

nvim_tests! {
    fn one_of_three_is_rejected_in_an_open_file(target: &Target) {
        for way in WAYS {
            let mut nvim = start(target, Options::default(), &[change(way, "a.txt", Some(&old()), &new())]);
            nvim.scratch().write("a.txt", &old());
            nvim.command("edit a.txt");
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            assert_eq!(text(&mut nvim), new(), "{way:?}");
            to_hunk(&mut nvim, 2);
            nvim.wait_screen("glr reject");
            if way == Way::Told {
                nvim.assert_screen("review_open_file");
            }
            nvim.input("glr");
            let rest = json!([three()[0], [25, ["line 25"], [], "pending"]]);
            wait_pending(&mut nvim, &only("a.txt", "changed", &rest));
            let rejected = new().replace("added\nadded too\n", "");
            assert_eq!(text(&mut nvim), rejected, "{way:?}");
            wait_disk(&mut nvim, "a.txt", &rejected);
            assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
            // Undone, it waits again.
            nvim.input("u");
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            assert_eq!(text(&mut nvim), new());
            nvim.input("<C-r>");
            wait_pending(&mut nvim, &only("a.txt", "changed", &rest));
            // The agent's write is undone with what is left of it, and redone.
            nvim.input("uu");
            wait_pending(&mut nvim, &json!([]));
            assert_eq!(text(&mut nvim), old());
            nvim.input("<C-r>");
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            assert_eq!(text(&mut nvim), new());
        }
    }

    fn one_of_three_is_rejected_beside_what_the_user_types(target: &Target) {
        for way in WAYS {
            let agent = if way == Way::Asked { new().replace("line 9\n", "typed\n") } else { new() };
            let mut nvim = start(target, keep(), &[change(way, "a.txt", Some(&old()), &agent)]);
            nvim.scratch().write("a.txt", &old());
            nvim.command("edit a.txt");
            nvim.input("9GStyped<Esc>");
            nvim.wait_screen("typed");
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            to_hunk(&mut nvim, 1);
            nvim.input("glr");
            let rest = json!([three()[1], three()[2]]);
            wait_pending(&mut nvim, &only("a.txt", "changed", &rest));
            let typed = new().replace("line 9\n", "typed\n").replace("LINE 3", "line 3");
            assert_eq!(text(&mut nvim), typed);
            assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true, "{way:?}");
            wait_disk(&mut nvim, "a.txt", &if way == Way::Asked { old() } else { new().replace("LINE 3", "line 3") });
            nvim.input("u");
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            nvim.input("<C-r>");
            wait_pending(&mut nvim, &only("a.txt", "changed", &rest));
            nvim.command("write");
            wait_disk(&mut nvim, "a.txt", &typed);
            wait_pending(&mut nvim, &only("a.txt", "changed", &rest));
        }
    }

    fn one_of_three_is_rejected_in_a_file_that_is_not_open(target: &Target) {
        for way in WAYS {
            let mut nvim = start(target, Options::default(), &[change(way, "a.txt", Some(&old()), &new())]);
            nvim.scratch().write("a.txt", &old());
            turn(&mut nvim);
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            nvim.command("Acp review");
            nvim.wait_screen("a.txt:16");
            nvim.input("jglr");
            let rest = json!([three()[0], [25, ["line 25"], [], "pending"]]);
            wait_pending(&mut nvim, &only("a.txt", "changed", &rest));
            let rejected = new().replace("added\nadded too\n", "");
            wait_disk(&mut nvim, "a.txt", &rejected);
            assert_eq!(lua(&mut nvim, "return vim.fn.bufloaded('a.txt')"), 0);
            // The list goes to what is left.
            nvim.wait_screen("a.txt:25");
            nvim.input("gg<CR>");
            wait_lua(&mut nvim, "return { vim.fn.expand('%:t'), vim.fn.line('.') }", &json!(["a.txt", 3]));
            assert_eq!(text(&mut nvim), rejected);
            nvim.wait_screen("glr reject");
            nvim.input("glr");
            wait_pending(&mut nvim, &only("a.txt", "changed", &json!([rest[1]])));
            wait_disk(&mut nvim, "a.txt", &rejected.replace("LINE 3", "line 3"));
        }
    }

    fn a_file_that_an_agent_made(target: &Target) {
        for (way, open) in WAYS.into_iter().flat_map(|it| [(it, true), (it, false)]) {
            let mut nvim = start(target, Options::default(), &[change(way, "made.txt", None, "one\ntwo\n")]);
            let path = nvim.scratch().project().join("made.txt");
            turn(&mut nvim);
            let made = json!([[1, [], ["one", "two"], "pending"]]);
            wait_pending(&mut nvim, &only("made.txt", "made", &made));
            if open {
                nvim.command("edit made.txt");
                nvim.wait_screen("glr reject");
                nvim.input("glr");
            } else {
                nvim.command("Acp changes");
                nvim.wait_screen("made.txt");
                nvim.input("r");
            }
            wait_pending(&mut nvim, &json!([]));
            wait_gone(&mut nvim, &path);
            wait_lua(&mut nvim, "return vim.fn.bufloaded('made.txt')", &json!(0));
        }
    }

    fn a_file_that_an_agent_deleted(target: &Target) {
        for (open, text) in [(true, "one\r\ntwo\r\n"), (false, "one\r\ntwo\r\n"), (true, "one\ntwo"), (false, "one\ntwo")] {
            let mut nvim = start(target, Options::default(), &[vec![json!({ "delete_file": "a.txt" })]]);
            let path = nvim.scratch().write("a.txt", text);
            if open {
                nvim.command("edit a.txt");
            }
            turn(&mut nvim);
            wait_gone(&mut nvim, &path);
            let gone = json!([[1, ["one", "two"], [], "pending"]]);
            wait_pending(&mut nvim, &only("a.txt", "deleted", &gone));
            nvim.command("Acp changes");
            nvim.wait_screen("✖  a.txt");
            nvim.input("r");
            wait_pending(&mut nvim, &json!([]));
            wait_disk(&mut nvim, "a.txt", text);
            if open {
                assert_eq!(nvim.lines(0), ["one", "two"]);
                wait_lua(&mut nvim, "return vim.bo.modified", &json!(false));
            }
        }
    }
}
