//! Prompts that wait while the agent works: seen, changed, reordered, removed, sent in order.

use serde_json::json;

use crate::plugin::{open, wait_state, with_agent};
use crate::prompt::wait_text;
use crate::report::{REPORT, assert_polite, calls};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// A chat whose agent works until there is a file `go`, with these prompts waiting, in insert mode.
fn busy(target: &Target, waiting: &[&str]) -> Nvim {
    let mut nvim = with_agent(
        target,
        &json!({
            "report": REPORT,
            "capabilities": { "promptCapabilities": { "embeddedContext": true } },
            "prompts": [
                { "is": "work", "steps": [{ "say": "I work." }, { "wait_file": "go" }] },
                { "is": "rest", "steps": [{ "say": "I rest." }, { "wait_file": "more" }] },
                { "steps": [{ "say": "you said {{prompt}}" }] }
            ]
        }),
    );
    open(&mut nvim, "AcpChat");
    nvim.type_keys("work");
    nvim.input("<C-s>");
    nvim.wait_screen("I work.");
    for (count, prompt) in waiting.iter().enumerate() {
        nvim.type_keys(prompt);
        nvim.input("<C-s>");
        nvim.wait_until("it waits", DEADLINE, |nvim| {
            nvim.lua("return require('acp').sessions()[1].queued", json!([])) == count + 1
        });
    }
    nvim
}

/// The rows of the list, once they are these.
fn wait_list(nvim: &mut Nvim, prompts: &[&str]) {
    let rows: Vec<_> =
        prompts.iter().enumerate().map(|(i, it)| format!(" {}  {it}", i + 1)).collect();
    nvim.wait_until(&format!("the list {prompts:?}"), DEADLINE, |nvim| {
        nvim.lines(0).iter().map(|it| it.trim_end()).eq(rows.iter().map(String::as_str))
    });
}

/// Lets the agent go on, and waits until it was told these.
fn finish(nvim: &mut Nvim, prompts: &[&str]) {
    for file in ["go", "more"] {
        nvim.scratch().write(file, "");
    }
    wait_state(nvim, "ready");
    let told = calls(nvim, "session/prompt");
    let told: Vec<_> = told.iter().map(|it| it["prompt"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(told, prompts);
    assert_polite(nvim);
}

nvim_tests! {
    fn what_waits_is_shown_above_the_prompt(target: &Target) {
        let mut nvim = busy(target, &["first of all\nthis", "then that"]);
        nvim.wait_screen("2 wait: first of all this");
        nvim.input("<Esc>:Acp queue<CR>");
        wait_list(&mut nvim, &["first of all this", "then that"]);
        let frame = nvim.wait_screen("<CR> edit  x remove  J K move  q close");
        assert!(frame.find("2  then that").is_some(), "{}", frame.text());
        nvim.input("q");
        finish(&mut nvim, &["work", "first of all\nthis", "then that"]);
        nvim.wait_until("nothing above the prompt", DEADLINE, |nvim| nvim.screen().find("wait: ").is_none());
    }

    fn what_waits_is_reordered_and_removed(target: &Target) {
        let mut nvim = busy(target, &["one", "two", "three", "four"]);
        nvim.input("<Esc>gQ");
        wait_list(&mut nvim, &["one", "two", "three", "four"]);
        nvim.input("J");
        wait_list(&mut nvim, &["two", "one", "three", "four"]);
        // The cursor goes with it.
        nvim.input("]e");
        wait_list(&mut nvim, &["two", "three", "one", "four"]);
        nvim.input("K");
        wait_list(&mut nvim, &["two", "one", "three", "four"]);
        nvim.input("x");
        wait_list(&mut nvim, &["two", "three", "four"]);
        nvim.input("Gdd");
        wait_list(&mut nvim, &["two", "three"]);
        nvim.input("ggK");
        nvim.input("<Esc>");
        finish(&mut nvim, &["work", "two", "three"]);
    }

    fn what_waits_is_taken_back(target: &Target) {
        let mut nvim = busy(target, &["one\nmore of it", "two"]);
        nvim.type_keys("a draft");
        nvim.input("<Esc>:Acp queue<CR>");
        wait_list(&mut nvim, &["one more of it", "two"]);
        nvim.input("<CR>");
        wait_text(&mut nvim, "one\nmore of it");
        nvim.wait_screen("1 waits: two");
        nvim.type_keys("!");
        wait_text(&mut nvim, "one\nmore of it!");
        nvim.input("<C-s>");
        wait_text(&mut nvim, "");
        // What was typed before is not lost.
        nvim.input("<Up><Up>");
        wait_text(&mut nvim, "a draft");
        finish(&mut nvim, &["work", "two", "one\nmore of it!"]);
    }

    fn what_was_mentioned_is_mentioned_again(target: &Target) {
        let mut nvim = busy(target, &[]);
        nvim.scratch().write("main.rs", "fn main() {}\n");
        nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'see @main.rs' })", json!([]));
        nvim.input("<C-s><Esc>");
        nvim.wait_screen("1 waits: see @main.rs");
        nvim.input(":Acp queue<CR>");
        wait_list(&mut nvim, &["see @main.rs  (+1)"]);
        nvim.input("e");
        wait_text(&mut nvim, "see @main.rs");
        nvim.wait_screen("│main.rs");
        nvim.input("<C-s>");
        finish(&mut nvim, &["work", "see @main.rs"]);
        assert_eq!(calls(&nvim, "session/prompt")[1]["prompt"].as_array().unwrap().len(), 2);
    }

    fn the_list_follows_what_is_sent(target: &Target) {
        let mut nvim = busy(target, &["rest", "two"]);
        nvim.input("<Esc>:Acp queue<CR>");
        wait_list(&mut nvim, &["rest", "two"]);
        nvim.scratch().write("go", "");
        wait_list(&mut nvim, &["two"]);
        nvim.scratch().write("more", "");
        nvim.wait_screen("Nothing waits.");
        nvim.input("xJ<CR>");
        nvim.wait_screen("Nothing waits.");
        finish(&mut nvim, &["work", "rest", "two"]);
    }

    fn nothing_waits(target: &Target) {
        let mut nvim = busy(target, &[]);
        nvim.input("<Esc>:Acp queue<CR>");
        nvim.wait_screen("no prompt is waiting");
        finish(&mut nvim, &["work"]);
    }
}
