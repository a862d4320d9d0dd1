//! Files the agent reads and writes while they are open in Neovim, changed and not saved.
//!
//! The agent measures how long it waits for each answer, and writes that and what it read beside
//! the project. Here is what must be in it, and in the buffer afterwards.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::scratch::Scratch;

/// What the agent does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// The length of the file.
    pub(crate) lines: usize,
    pub(crate) times: u32,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads all of it, with so many requests open at once.
    Read { in_flight: u32 },
    /// Reads so many lines from this one on, counted from 1.
    ReadPart { line: usize, limit: usize },
    /// Reads it, then writes it, each time with one more line changed.
    Write,
}

/// What came of it, as the agent and the editor see it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    max_us: f64,
    count: u32,
    failed: u32,
    different: u32,
    /// What is wrong with it; nothing, it is to be hoped.
    #[serde(skip)]
    pub(crate) faults: Vec<&'static str>,
}

impl Outcome {
    pub(crate) fn count(&self) -> f64 {
        f64::from(self.count)
    }

    /// The longest time the agent waited, in milliseconds.
    pub(crate) fn max_ms(&self) -> f64 {
        self.max_us / 1000.0
    }
}

/// So many lines on is the next one that the agent changes.
const STRIDE: usize = 97;

impl Work {
    /// Writes the file and says what the probe is to do with it.
    pub(crate) fn prepare(self, scratch: &Scratch) -> Value {
        let edits = self.edits().map(|row| json!({ "row": row, "text": edited(row) }));
        json!({
            "path": scratch.write("work.lua", &self.saved()),
            "edits": edits,
            "after": beside(scratch, "after"),
            "undone": beside(scratch, "undone"),
        })
    }

    /// What the agent does, in the scenario's words.
    pub(crate) fn steps(self) -> Vec<Value> {
        let path = "{{cwd}}/work.lua";
        let read = |more: Value| {
            let mut params = json!({ "path": path });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "method": "fs/read_text_file", "params": params, "save": "read" })
        };
        let many = |mut request: Value, more: Value| {
            let fields = request.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            fields.extend([("save".into(), "got".into()), ("times".into(), self.times.into())]);
            json!({ "requests": request })
        };
        let mut steps = match self.kind {
            Kind::Read { in_flight } => {
                vec![many(read(json!({})), json!({ "in_flight": in_flight }))]
            }
            Kind::ReadPart { line, limit } => {
                vec![many(read(json!({ "line": line, "limit": limit })), json!({}))]
            }
            Kind::Write => {
                let params = json!({ "path": path, "content": "{{read.content}}" });
                let write = json!({ "method": "fs/write_text_file", "params": params });
                let edit = json!({ "param": "content", "every": self.stride(), "add": ADDED });
                vec![json!({ "request": read(json!({})) }), many(write, json!({ "edit": edit }))]
            }
        };
        let keep = |name, text| json!({ "write_file": { "path": name, "text": text } });
        steps.push(keep("../outcome", OUTCOME));
        match self.kind {
            Kind::Write => steps.push(keep("../content", "{{read.content}}")),
            _ => steps.push(keep("../content", "{{got.result.content}}")),
        }
        steps
    }

    /// What came of it, once the turn is over and the probe has written down the buffer.
    pub(crate) fn outcome(self, scratch: &Scratch) -> Outcome {
        let text = |name| fs::read_to_string(beside(scratch, name)).unwrap();
        let mut outcome: Outcome = serde_json::from_str(&text("outcome")).unwrap();
        let open = self.open();
        let read = text("content");
        let as_open = match self.kind {
            // Whether a part has the end of its last line is a matter of taste.
            Kind::ReadPart { line, limit } => {
                read.trim_end() == part(&open, line, limit).trim_end()
            }
            _ => read == open,
        };
        let is_write = self.kind == Kind::Write;
        let after = if is_write { &self.written() } else { &open };
        let checks = [
            (outcome.failed == 0, "requests were refused"),
            (outcome.count == self.times, "requests were not answered"),
            (outcome.different == 0, "the same question had two answers"),
            (as_open, "what was read is not what was in the buffer"),
            (text("after") == *after, "the buffer has not what the user and the agent made of it"),
            (
                !is_write || self.times > 1 || text("undone") == open,
                "one undo does not take back just what the agent did",
            ),
        ];
        outcome.faults.extend(checks.iter().filter(|it| !it.0).map(|it| it.1));
        outcome
    }

    /// The rows that the user has changed, from 0: one is in any part that is read.
    fn edits(self) -> [usize; 2] {
        [0, self.lines / 2 + 40]
    }

    /// Not in the first line, nor one that the user has changed.
    fn stride(self) -> usize {
        STRIDE % self.lines
    }

    fn saved(self) -> String {
        (0..self.lines).map(line).collect::<Vec<_>>().concat()
    }

    /// What is in the buffer before the agent comes.
    fn open(self) -> String {
        let is_edited = |row| self.edits().contains(&row);
        let line = |row| if is_edited(row) { edited(row) + "\n" } else { line(row) };
        (0..self.lines).map(line).collect::<Vec<_>>().concat()
    }

    /// What is there when it has written.
    fn written(self) -> String {
        let open = self.open();
        let mut lines: Vec<String> = open.lines().map(str::to_owned).collect();
        for time in 1..=self.times as usize {
            let row = time * self.stride() % self.lines;
            lines[row].push_str(&ADDED.replace("{{i}}", &time.to_string()));
        }
        lines.join("\n") + "\n"
    }
}

/// Stays what the language allows, or the highlighter's patience would be measured.
const ADDED: &str = ", changed {{i}}";

const OUTCOME: &str = r#"{"p50_us":{{got.p50_us}},"p99_us":{{got.p99_us}},"max_us":{{got.max_us}},
"count":{{got.count}},"failed":{{got.failed}},"different":{{got.different}}}"#;

/// About 100 bytes.
fn line(row: usize) -> String {
    let words = "and this makes it as long as lines are";
    format!("local function step_{row:06}(a, b) return a * {row:06} + b end -- {words}\n")
}

fn edited(row: usize) -> String {
    format!("local mine_{row} = 'written by the user, saved by nobody'")
}

fn part(text: &str, line: usize, limit: usize) -> String {
    text.split_inclusive('\n').skip(line - 1).take(limit).collect()
}

fn beside(scratch: &Scratch, name: &str) -> std::path::PathBuf {
    let project = scratch.project();
    Path::parent(&project).unwrap().join(name)
}
