//! What an agent wrote last to stderr: kept for the message when it dies, and passed to the log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::session::ids::ConnectionId;

/// How many lines are kept, and how much of each.
const LINES: usize = 50;
const LINE: usize = 500;

/// The last lines.
#[derive(Debug, Default)]
pub(super) struct LastWords(Mutex<VecDeque<String>>);

impl LastWords {
    /// What there is; nothing is left.
    pub(super) fn take(&self) -> Vec<String> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *lines).into()
    }

    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Listens until nobody can say anything any more.
pub(super) async fn listen(
    mut stderr: impl AsyncRead + Unpin,
    words: Arc<LastWords>,
    id: ConnectionId,
) {
    let mut buf = vec![0; 4096];
    let mut line = Vec::new();
    while let Ok(length @ 1..) = stderr.read(&mut buf).await {
        for &byte in buf.get(..length).unwrap_or_default() {
            if byte == b'\n' {
                end_line(&mut line, &words, id);
            } else if line.len() < LINE {
                line.push(byte);
            }
        }
    }
    end_line(&mut line, &words, id);
}

fn end_line(line: &mut Vec<u8>, words: &LastWords, id: ConnectionId) {
    let text = String::from_utf8_lossy(line).trim_end().to_owned();
    line.clear();
    if !text.is_empty() {
        tracing::debug!(connection = %id, stderr = %text);
        words.add(text);
    }
}
