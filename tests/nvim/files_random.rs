//! Whatever a user and an agent do to a file, in whatever order: no line of the user is lost.
//!
//! Every line has a name of its own, so that it can be told who made it. The user types new lines
//! and changes lines of their own; the agent adds, changes and removes lines that it knows. Where
//! both change the same, the user is asked, and keeps their own.
//!
//! `ACP_TEST_SEQUENCES` says how many sequences are run in each Neovim.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::files::lua;
use crate::plugin::with_options;
use crate::report::finish;
use crate::support::nvim::{DEADLINE, Nvim, Options};

/// A small generator of numbers: the same ones every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (sides as u64)).unwrap()
    }
}

/// How long one Neovim may be at it, unless told how many sequences to run.
const ENOUGH: Duration = Duration::from_secs(10);

/// In Neovim: conflicts are settled at once, for the user; `_G.log` has what was offered.
const SETUP: &str = "
    _G.offered = 0
    local conflict = require('acp.files.conflict')
    conflict.ask = function(job, _, _, chosen)
      _G.offered = _G.offered + 1
      chosen('ours')
      job.pick = 'ours'
      vim.schedule(function() require('acp.files.job').go_on(job) end)
    end
    _G.ns = vim.api.nvim_create_namespace('mine')
";

/// What the user does, in Neovim. The user's lines begin with `u`.
const USER: &str = "
    local kind, at, name = ...
    local count = vim.api.nvim_buf_line_count(0)
    local row = at % count
    local line = vim.api.nvim_buf_get_lines(0, row, row + 1, true)[1]
    if kind == 'insert' then
      vim.api.nvim_buf_set_lines(0, row, row, true, { 'u' .. name })
      vim.api.nvim_buf_set_extmark(0, ns, row, 1, {})
    elseif kind == 'change' and line:match('^u') then
      vim.api.nvim_buf_set_text(0, row, #line, row, #line, { 'u' .. name })
    elseif kind == 'save' then
      vim.cmd('silent write!')
    elseif kind == 'undo' then
      vim.cmd('silent undo')
    elseif kind == 'redo' then
      vim.cmd('silent redo')
    end
    -- What is done next is another step to undo.
    vim.bo.undolevels = vim.bo.undolevels
    return vim.api.nvim_buf_get_lines(0, 0, -1, true)
";

fn user_lines(lines: &[String]) -> Vec<String> {
    lines.iter().filter(|it| it.starts_with('u')).cloned().collect()
}

/// What an agent makes of a text that it knows.
fn revised(dice: &mut Dice, known: &str, name: &str) -> String {
    let mut lines: Vec<String> = known.lines().map(str::to_owned).collect();
    for change in 0..=dice.roll(3) {
        let at = dice.roll(lines.len() + 1);
        match (dice.roll(3), lines.get(at)) {
            (0, _) | (_, None) => lines.insert(at.min(lines.len()), format!("a{name}.{change}")),
            (1, Some(line)) if !line.starts_with('u') => {
                lines[at] = format!("a{name}.{change} changed")
            }
            (_, Some(line)) if !line.starts_with('u') && lines.len() > 2 => {
                lines.remove(at);
            }
            _ => {}
        }
    }
    lines.join("\n") + "\n"
}

fn do_as_user(nvim: &mut Nvim, dice: &mut Dice, name: &str) -> Vec<String> {
    let kinds = ["insert", "insert", "insert", "change", "change", "save", "undo", "redo"];
    let kind = kinds[dice.roll(kinds.len())];
    let lines = nvim.lua(USER, json!([kind, dice.roll(1000), name]));
    serde_json::from_value(lines).unwrap()
}

/// One sequence: the agent reads, the user goes on, the agent writes one way or the other, and
/// goes on from there.
fn sequence(nvim: &mut Nvim, dice: &mut Dice, number: usize) {
    let base: String = (0..6 + dice.roll(12)).map(|line| format!("line {line}\n")).collect();
    let file = format!("f{number}.txt");
    nvim.scratch().write(&file, &base);
    nvim.command(&format!("silent edit {file}"));
    ask_agent(nvim, "read", &file, "");
    let mut known = base;
    for round in 0..3 {
        let mut before = nvim.lines(0);
        for step in 0..dice.roll(4) {
            before = do_as_user(nvim, dice, &format!("{number}.{round}.{step}"));
        }
        let text = revised(dice, &known, &format!("{number}.{round}"));
        let by_disk = dice.roll(2) == 0;
        if by_disk {
            // What an agent writes by itself it bases on what the disk has.
            let disk = nvim.scratch().read(&file);
            let text = revised(dice, &disk, &format!("{number}.{round}"));
            ask_agent(nvim, "disk", &file, &text);
        } else {
            ask_agent(nvim, "write", &file, &text);
            known = text;
        }
        let after = wait_quiet(nvim, &file);
        let (mine, now) = (user_lines(&before), user_lines(&after));
        assert_eq!(
            now, mine,
            "sequence {number}, round {round}, by the disk: {by_disk}; before: {before:#?}, after: {after:#?}"
        );
        if lua(nvim, "return vim.bo.modified") == false {
            assert_eq!(
                nvim.scratch().read(&file),
                after.join("\n") + "\n",
                "sequence {number}, round {round}"
            );
        }
    }
    nvim.command("silent bwipeout!");
}

/// An agent that does what it is told by the texts of a prompt: how, to which file, and what.
fn scenario() -> Value {
    let (path, text) = ("{{params.prompt.1.text}}", "{{params.prompt.2.text}}");
    let write = json!({ "request": { "method": "fs/write_text_file", "params": { "path": path, "content": text } } });
    let disk = json!([
        { "write_file": { "path": path, "text": text } },
        { "update": { "sessionUpdate": "tool_call", "toolCallId": "call {{turn}}", "title": "Edit", "status": "completed" } },
    ]);
    let choice =
        json!({ "when": { "params.prompt.0.text": "disk" }, "then": disk, "else": [write] });
    let read =
        json!([{ "request": { "method": "fs/read_text_file", "params": { "path": path } } }]);
    let choice = json!({ "when": { "params.prompt.0.text": "read" }, "then": read, "else": [{ "if": choice }] });
    json!({ "prompts": [{ "steps": [{ "if": choice }] }] })
}

/// Lets the agent do something, and waits until it has.
fn ask_agent(nvim: &mut Nvim, how: &str, file: &str, text: &str) {
    let path = nvim.scratch().project().join(file);
    let code = "_G.turn = nil
        local blocks = vim.tbl_map(function(text) return { type = 'text', text = text } end, { ... })
        assert(require('acp').prompt(blocks, { on_done = function(err) _G.turn = { err = err } end }))";
    nvim.lua(code, json!([how, path, text]));
    finish(nvim);
}

/// The lines of the buffer, once nothing is under way for it.
fn wait_quiet(nvim: &mut Nvim, file: &str) -> Vec<String> {
    let code = "local name = ... local buf = vim.fn.bufnr(name)
        local behind = require('acp.files.watch').is_behind(buf)
        return { not require('acp.files.job').busy(buf) and not behind, vim.api.nvim_buf_get_lines(buf, 0, -1, true) }";
    nvim.wait_for("the buffer to come to rest", DEADLINE, |nvim| {
        let state: Value = nvim.lua(code, json!([file]));
        (state[0] == true).then(|| serde_json::from_value(state[1].clone()).unwrap())
    })
}

nvim_tests! {
    fn no_line_of_the_user_is_lost(target: &Target) {
        let wanted: Option<usize> = std::env::var("ACP_TEST_SEQUENCES").ok().and_then(|it| it.parse().ok());
        let options = Options { before: "vim.g.acp = { files = { after_write = 'keep' } }".into(), ..Options::default() };
        let mut nvim = with_options(target, options, &scenario());
        nvim.lua("assert(require('acp').open({ focus = false }))", json!([]));
        lua(&mut nvim, SETUP);
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let begin = Instant::now();
        let mut number = 0;
        while wanted.map_or(begin.elapsed() < ENOUGH, |wanted| number < wanted) {
            sequence(&mut nvim, &mut dice, number);
            number += 1;
        }
        eprintln!("{number} sequences, {} conflicts", lua(&mut nvim, "return offered"));
    }
}
