//! What the client sent and what it did wrong, kept for the test that watches.
//!
//! Every entry is written at once, so that the report survives a kill. It knows files and lines;
//! it must not know what counts as wrong.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

/// Something the client must not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// A fixed word, listed in `tests/scenarios/README.md`.
    pub kind: &'static str,
    /// What happened.
    pub text: String,
}

impl Violation {
    pub(crate) fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// Takes the entries.
#[derive(Debug)]
pub(crate) struct Report {
    begin: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Option<File>,
    violations: Vec<Violation>,
    ended: bool,
}

impl Report {
    /// Entries go nowhere without a path; an existing file is continued.
    pub(crate) fn new(path: Option<&Path>) -> io::Result<Self> {
        let open = |path| File::options().create(true).append(true).open(path);
        let file = path.map(open).transpose()?;
        let state = Mutex::new(State { file, violations: Vec::new(), ended: false });
        Ok(Self { begin: Instant::now(), state })
    }

    /// A line that was received; JSON is kept as it is.
    pub(crate) fn received(&self, line: &[u8], is_json: bool) {
        if self.lock().file.is_none() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        if is_json {
            self.write(&format!("\"in\":{text}"));
        } else {
            self.write(&format!("\"in_text\":{}", Value::from(text)));
        }
    }

    pub(crate) fn violation(&self, violation: Violation) {
        let text = json!({"kind": violation.kind, "text": violation.text});
        self.write(&format!("\"violation\":{text}"));
        self.lock().violations.push(violation);
    }

    /// The last entry; the first reason counts.
    pub(crate) fn end(&self, reason: &str) {
        let count = {
            let mut state = self.lock();
            if std::mem::replace(&mut state.ended, true) {
                return;
            }
            state.violations.len()
        };
        self.write(&format!("\"end\":{},\"violations\":{count}", Value::from(reason)));
    }

    pub(crate) fn violations(&self) -> Vec<Violation> {
        self.lock().violations.clone()
    }

    fn write(&self, entry: &str) {
        let ms = self.begin.elapsed().as_millis();
        if let Some(file) = &mut self.lock().file {
            // One write for the whole line: readers never see half an entry. A full disk must not
            // change what the agent does.
            file.write_all(format!("{{\"t\":{ms},{entry}}}\n").as_bytes()).ok();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
