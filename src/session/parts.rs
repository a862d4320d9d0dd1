//! Which tool calls are parts of which, so that nobody has to walk the whole chat to find out.

use std::collections::{BTreeSet, HashMap};

use super::tool_call::ToolCallId;

/// The places of tool calls in the chat, by the id of the one they are a part of.
#[derive(Debug, Default)]
pub struct Parts(HashMap<ToolCallId, BTreeSet<usize>>);

impl Parts {
    /// A tool call is part of another one than before.
    pub fn moved(&mut self, place: usize, from: Option<ToolCallId>, to: Option<ToolCallId>) {
        if let Some(parts) = from.and_then(|from| self.0.get_mut(&from)) {
            parts.remove(&place);
        }
        if let Some(to) = to {
            self.0.entry(to).or_default().insert(place);
        }
    }

    /// The places of what is part of this one, in order.
    pub fn of(&self, tool_call: &ToolCallId) -> impl Iterator<Item = usize> {
        self.0.get(tool_call).into_iter().flatten().copied()
    }
}
