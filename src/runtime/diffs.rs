//! What agents' changes to files look like: small ones at once, large ones by threads that may take
//! their time.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;

use super::input::Input;
use crate::changes::diff::file_diffs;
use crate::session::effect::Texts;
use crate::session::event::Event;
use crate::session::ids::SessionId;
use crate::session::tool_call::ToolCallId;

/// What is found in less time than a thread needs to begin, in bytes.
const SMALL: usize = 4 << 10;

/// One after the other: an agent may announce hundreds of changes at once.
static TURN: Semaphore = Semaphore::const_new(1);

/// Finds the differences; they are the answer, or go to `inputs`.
pub(super) fn find(
    (session, tool_call, revision): (SessionId, ToolCallId, u32),
    texts: Vec<Texts>,
    inputs: Sender<Input>,
) -> Option<Event> {
    let size = |it: &Texts| it.new.len() + it.old.as_ref().map_or(0, |old| old.len());
    let small = texts.iter().map(size).sum::<usize>() <= SMALL;
    let find = move || file_diffs(&texts).into_iter().map(Arc::new).collect();
    if small {
        return Some(Event::DiffsFound { session, tool_call, revision, diffs: find() });
    }
    tokio::spawn(async move {
        // It fails only if closed, which nobody does.
        let _turn = TURN.acquire().await;
        let diffs = tokio::task::spawn_blocking(find).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a difference could not be found");
            Vec::new()
        });
        let event = Event::DiffsFound { session, tool_call, revision, diffs };
        if inputs.send(Input::Event(event)).await.is_err() {
            tracing::debug!("the core is gone");
        }
    });
    None
}
