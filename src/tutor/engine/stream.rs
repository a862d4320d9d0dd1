//! Text as a stream of updates: at a readable pace, or as fast as the pipe takes it.
//!
//! It knows how chunks look on the wire and how to make very many of them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::player::Player;
use crate::tutor::scenario::step::{BigLine, Flood, Say};
use crate::tutor::template::{expand_text, merge};

/// Characters in a chunk when there is a pace but no size.
const PACED_CHUNK: usize = 4;
/// A flood is written in blocks of about this size.
const BLOCK: usize = 16 * 1024;

impl Player {
    pub(super) async fn say(&self, kind: &str, say: &Say) {
        let text = expand_text(&say.text, self);
        let message_id = say.message_id.as_ref().map(|it| expand_text(it, self));
        let size = match say.chunk {
            Some(size) => size,
            None if say.pace_ms > 0 => PACED_CHUNK,
            None => usize::MAX,
        };
        for _ in 0..say.repeat.unwrap_or(1) {
            let mut rest = text.as_str();
            loop {
                let end = rest.char_indices().nth(size).map_or(rest.len(), |it| it.0);
                let (chunk, after) = rest.split_at(end);
                let line = self.chunk_line(kind, chunk, message_id.as_deref());
                self.connection.peer.send(line.into_bytes().into()).await;
                self.sleep(say.pace_ms).await;
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// Sleeps for so many milliseconds at pace 1.
    pub(super) async fn sleep(&self, ms: u64) {
        let duration = Duration::from_millis(ms).mul_f64(self.connection.pace);
        if !duration.is_zero() {
            tokio::time::sleep(duration).await;
        }
    }

    pub(super) async fn flood(&self, flood: &Flood) {
        let kind = flood.kind.as_deref().unwrap_or("agent_message_chunk");
        let text = filler(flood.bytes.unwrap_or(16));
        let line = self.chunk_line(kind, &text, flood.message_id.as_deref());
        let per_block = u64::try_from(BLOCK / line.len()).unwrap_or(0).max(1);
        let block: Arc<[u8]> = repeat(&line, per_block);
        for _ in 0..flood.chunks / per_block {
            self.connection.peer.send(Arc::clone(&block)).await;
        }
        self.connection.peer.send(repeat(&line, flood.chunks % per_block)).await;
    }

    pub(super) async fn big_line(&self, big_line: &BigLine) {
        let length = usize::try_from(big_line.mb.saturating_mul(1_000_000)).unwrap_or(usize::MAX);
        let text = filler(length);
        let line = if big_line.garbage {
            format!("{text}\n")
        } else {
            self.chunk_line("agent_message_chunk", &text, None)
        };
        self.connection.peer.send(line.into_bytes().into()).await;
    }

    /// Sends a `session/update`.
    pub(super) async fn update(&self, update: Value) {
        let params = json!({"sessionId": self.session_id(), "update": update});
        let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        self.connection.peer.send_json(&message).await;
    }

    fn chunk_line(&self, kind: &str, text: &str, message_id: Option<&str>) -> String {
        let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        if let Some(message_id) = message_id {
            merge(&mut update, json!({"messageId": message_id}));
        }
        let params = json!({"sessionId": self.session_id(), "update": update});
        let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        format!("{message}\n")
    }
}

fn filler(bytes: usize) -> String {
    "all work and no play ".chars().cycle().take(bytes).collect()
}

fn repeat(line: &str, times: u64) -> Arc<[u8]> {
    line.repeat(usize::try_from(times).unwrap_or(0)).into_bytes().into()
}
