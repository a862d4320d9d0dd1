//! Tool calls: announced or not, changed, finished, cancelled.

use crate::session::entry::Entry;
use crate::session::outcome::Outcome;
use crate::session::state::Session;
use crate::session::terminal::Terminal;
use crate::session::tool_call::{TerminalNews, ToolCall, ToolCallId, ToolCallUpdate, ToolStatus};

impl Session {
    /// Takes in what the agent says of a tool call; one that was never announced is new.
    pub(super) fn tool_call(&mut self, id: ToolCallId, update: ToolCallUpdate, out: &mut Outcome) {
        let mut update = update;
        for news in std::mem::take(&mut update.terminals) {
            self.terminal_news(news);
        }
        let index = *self.tool_calls.entry(id.clone()).or_insert_with(|| {
            self.entries.push(Entry::ToolCall(Box::new(ToolCall::new(id))));
            self.entries.len() - 1
        });
        if let Some(Entry::ToolCall(tool_call)) = self.entries.get_mut(index) {
            tool_call.change(update);
        }
        out.touch(self.id, index);
    }

    /// Marks what is not finished as cancelled, at once and whatever the agent does.
    pub(super) fn cancel_tool_calls(&mut self, out: &mut Outcome) {
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if let Entry::ToolCall(tool_call) = entry
                && !tool_call.status.is_final()
            {
                tool_call.status = ToolStatus::Cancelled;
                out.touch(self.id, index);
            }
        }
    }

    /// A terminal of the agent's own, which may speak before anybody names it.
    fn terminal_news(&mut self, news: TerminalNews) {
        let id = self.id;
        let terminal =
            self.terminals.entry(news.terminal).or_insert_with(|| Terminal::new(id, None));
        if let Some(output) = news.output {
            terminal.append(&output);
        }
        if news.exit.is_some() {
            terminal.exit = news.exit;
        }
    }
}

impl ToolCall {
    /// A tool call of which nothing but its id is known.
    fn new(id: ToolCallId) -> ToolCall {
        ToolCall {
            title: String::new(),
            id,
            name: None,
            kind: Default::default(),
            status: ToolStatus::Pending,
            content: Vec::new(),
            locations: Vec::new(),
            raw_input: None,
            given: Default::default(),
            raw_output: None,
            parent: None,
        }
    }

    fn change(&mut self, update: ToolCallUpdate) {
        let ToolCallUpdate { title, name, kind, status, .. } = update;
        self.name = name.or(self.name.take());
        if let Some(kind) = kind {
            self.kind = kind;
        }
        if let Some(title) = title.filter(|it| !it.is_empty()) {
            self.title = title;
        } else if self.title.is_empty() {
            // Whatever tells it best from others.
            self.title = match (&self.name, self.kind.word()) {
                (Some(name), _) => name.clone(),
                (None, "other") => self.id.to_string(),
                (None, word) => word.to_owned(),
            };
        }
        // Late news never turns back the clock; but the last word counts, even after a cancel.
        if let Some(status) = status
            && (status.is_final() || status > self.status)
        {
            self.status = status;
        }
        if let Some(content) = update.content {
            self.content = content;
        }
        if let Some(locations) = update.locations {
            self.locations = locations;
        }
        if let Some(given) = update.given {
            self.given = *given;
        }
        self.raw_input = update.raw_input.or(self.raw_input.take());
        self.raw_output = update.raw_output.or(self.raw_output.take());
        self.parent = update.parent.or(self.parent.take());
    }
}
