//! The wire, message by message: what an agent's words become, and what our words look like.
//!
//! `heard/*.txt` has what agents say, one message a line, each followed by what it becomes
//! (indented); `said.txt` has what we say. `ACP_UPDATE_SNAPSHOTS=1` writes both anew: look at the
//! change before you keep it. How the lines are written is told in `script.rs`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod calls;
mod fuzz;
mod script;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use acp_nvim::session::entry::Note;
use acp_nvim::session::event::{Happened, Request, Update};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol")
}

/// Compares a file with what it should be, or writes it.
fn check(path: &Path, actual: &str) {
    if std::env::var_os("ACP_UPDATE_SNAPSHOTS").is_some() {
        fs::write(path, actual).unwrap();
    }
    let reviewed = fs::read_to_string(path).unwrap_or_default();
    for (at, (actual, reviewed)) in actual.lines().zip(reviewed.lines()).enumerate() {
        assert_eq!(actual, reviewed, "{}:{}", path.display(), at + 1);
    }
    assert_eq!(actual.len(), reviewed.len(), "{}", path.display());
}

fn scripts() -> Vec<PathBuf> {
    let files = fs::read_dir(folder().join("heard")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn what_is_heard_is_as_reviewed() {
    for path in scripts() {
        let script = fs::read_to_string(&path).unwrap();
        check(&path, &script::played(&script));
    }
}

#[test]
fn what_is_said_is_as_reviewed() {
    check(&folder().join("said.txt"), &calls::said());
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What is written to the log meanwhile.
fn logged(work: impl FnOnce()) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
    tracing::subscriber::with_default(subscriber.finish(), work);
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn nothing_is_lost_without_a_line_in_the_log() {
    for path in scripts() {
        let text = fs::read_to_string(&path).unwrap();
        for line in script::lines(&text) {
            let mut lost = false;
            let log = logged(|| {
                lost = script::heard(line).iter().any(|happened| match happened {
                    Happened::Unrecognized => true,
                    Happened::Requested { request, .. } => {
                        matches!(request, Request::Unknown { .. } | Request::Invalid { .. })
                    }
                    Happened::Updated { update, .. } => {
                        matches!(update, Update::Note(Note::Unknown { .. }))
                    }
                    _ => false,
                });
            });
            assert!(!lost || !log.is_empty(), "{line}");
        }
    }
}
