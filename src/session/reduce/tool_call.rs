//! Tool calls: announced or not, changed, finished, cancelled.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::session::diff::FileDiff;
use crate::session::effect::{Effect, Tell, Texts};
use crate::session::entry::Entry;
use crate::session::outcome::Outcome;
use crate::session::state::{Session, Turn};
use crate::session::tool_call::{
    Location, RejectedBy, Subagent, ToolCall, ToolCallId, ToolCallUpdate, ToolContent, ToolKind,
    ToolStatus,
};

impl Session {
    /// Takes in what the agent says of a tool call; one that was never announced is new.
    pub(super) fn tool_call(&mut self, id: ToolCallId, update: ToolCallUpdate, out: &mut Outcome) {
        let mut update = update;
        for news in std::mem::take(&mut update.terminals) {
            self.terminals.told(news);
        }
        update.parent = update.parent.or_else(|| self.task_of(update.made_by.as_deref()?));
        let now = self.now;
        let index = *self.tool_calls.entry(id.clone()).or_insert_with(|| {
            self.entries.push(Entry::ToolCall(Box::new(ToolCall::new(id, now))));
            self.entries.len() - 1
        });
        if let Some(Entry::ToolCall(tool_call)) = self.entries.get_mut(index) {
            let parent = tool_call.parent.clone();
            let revision = tool_call.revision;
            let place = tool_call.locations.first().cloned();
            let was_final = tool_call.status.is_final();
            tool_call.change(update, now);
            if let Some(name) = tool_call.subagent.as_ref().and_then(|it| it.remote.as_ref()) {
                self.tasks.insert(name.clone(), index);
            }
            let above = tool_call.parent.clone();
            if above != parent {
                self.parts.moved(index, parent, above);
            }
            let Some(Entry::ToolCall(tool_call)) = self.entries.get(index) else { return };
            if tool_call.status.is_final() && !was_final && self.turn != Turn::Idle {
                out.tell(Tell::Worked(self.id));
            }
            if tool_call.revision != revision {
                for terminal in tool_call.terminals() {
                    self.terminals.show(terminal.clone(), index);
                }
                self.find_diffs(index, out);
            }
            self.touched(index, place.as_ref(), out);
        }
        out.touch(self.id, index);
    }

    /// The tool call that set a subagent to work.
    fn task_of(&self, name: &str) -> Option<ToolCallId> {
        match self.entries.get(*self.tasks.get(name)?)? {
            Entry::ToolCall(it) => Some(it.id.clone()),
            _ => None,
        }
    }

    /// Tells where the agent works now, if that is somewhere else than before.
    fn touched(&self, index: usize, before: Option<&Location>, out: &mut Outcome) {
        let Some(Entry::ToolCall(tool_call)) = self.entries.get(index) else { return };
        let Some(place) = tool_call.locations.first() else { return };
        let works = self.turn != Turn::Idle && !tool_call.status.is_final();
        let path = self.absolute(&place.path);
        // A command is said to be where the project is, which is nowhere in particular.
        let somewhere = path.trim_end_matches('/') != self.launch.cwd.trim_end_matches('/');
        if works && somewhere && before != Some(place) {
            out.tell(Tell::Touched { session: self.id, path, line: place.line });
        }
    }

    /// Has the changes to files looked at, elsewhere: that can take a while.
    fn find_diffs(&mut self, index: usize, out: &mut Outcome) {
        let Some(Entry::ToolCall(tool_call)) = self.entries.get_mut(index) else { return };
        let texts = tool_call.texts();
        if texts.is_empty() {
            tool_call.diffs.clear();
            return;
        }
        let (session, tool_call, revision) = (self.id, tool_call.id.clone(), tool_call.revision);
        out.effects.push(Effect::FindDiffs { session, tool_call, revision, texts });
    }

    /// Takes in what the changes of a tool call look like, unless it has others by now.
    pub(super) fn diffs_found(
        &mut self,
        (id, revision): (&ToolCallId, u32),
        diffs: Vec<Arc<FileDiff>>,
        out: &mut Outcome,
    ) {
        let Some(index) = self.tool_calls.get(id).copied() else { return };
        if let Some(Entry::ToolCall(tool_call)) = self.entries.get_mut(index)
            && tool_call.revision == revision
        {
            tool_call.diffs = diffs;
            out.touch(self.id, index);
        }
    }

    /// Marks what is not finished as cancelled, at once and whatever the agent does.
    pub(super) fn cancel_tool_calls(&mut self, out: &mut Outcome) {
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if let Entry::ToolCall(tool_call) = entry
                && !tool_call.status.is_final()
            {
                tool_call.status = ToolStatus::Cancelled;
                tool_call.ended = Some(self.now);
                out.touch(self.id, index);
            }
        }
    }

    /// The turn is over: what the agent has not closed will hardly be closed any more.
    pub(super) fn close_tool_calls(&mut self, out: &mut Outcome) {
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if let Entry::ToolCall(tool_call) = entry
                && !tool_call.status.is_final()
            {
                let rejected = tool_call.rejected_by.is_some();
                (tool_call.status, tool_call.ended) = match rejected {
                    true => (ToolStatus::Rejected, Some(self.now)),
                    // Nobody knows when.
                    false => (ToolStatus::Unfinished, None),
                };
                out.touch(self.id, index);
            }
        }
    }

    /// Notes who did not allow a tool call, or that it is allowed or asked about again.
    pub(super) fn set_rejected(
        &mut self,
        id: &ToolCallId,
        by: Option<RejectedBy>,
        out: &mut Outcome,
    ) {
        let Some(index) = self.tool_calls.get(id).copied() else { return };
        if let Some(Entry::ToolCall(tool_call)) = self.entries.get_mut(index)
            && tool_call.rejected_by != by
        {
            tool_call.rejected_by = by;
            out.touch(self.id, index);
        }
    }
}

impl ToolCall {
    /// The changes to files, each with the place that the agent says it is at: of a file that is shown
    /// in pieces, there is a location for each, and a piece has no line ending at its end.
    pub fn texts(&self) -> Vec<Texts> {
        let mut texts: Vec<Texts> = Vec::new();
        for content in &self.content {
            let ToolContent::Diff { path, old, new } = content else { continue };
            texts.push(Texts { path: path.clone(), old: old.clone(), new: new.clone(), first: 1 });
        }
        let mut lines: HashMap<&str, Vec<Option<u32>>> = HashMap::new();
        for location in &self.locations {
            lines.entry(&location.path).or_default().push(location.line);
        }
        let mut counts: HashMap<String, usize> = HashMap::new();
        for text in &texts {
            *counts.entry(text.path.clone()).or_default() += 1;
        }
        let mut before: HashMap<String, usize> = HashMap::new();
        for text in &mut texts {
            let index = before.entry(text.path.clone()).or_default();
            let lines = lines.get(text.path.as_str()).map_or(&[][..], Vec::as_slice);
            let piece = text.old.as_ref().is_some_and(|it| !it.ends_with('\n'));
            let all = counts.get(&text.path).copied().unwrap_or_default();
            if piece && !text.new.ends_with('\n') && lines.len() == all {
                let line = lines.get(*index).copied().flatten();
                text.first = line.map_or(1, |line| line.max(1) as usize);
            }
            *index += 1;
        }
        texts
    }

    /// How many changes to files it shows.
    pub fn changes(&self) -> usize {
        self.content.iter().filter(|it| matches!(it, ToolContent::Diff { .. })).count()
    }

    /// A tool call of which nothing but its id is known.
    fn new(id: ToolCallId, now: Duration) -> ToolCall {
        ToolCall { id, began: now, ..Default::default() }
    }

    fn change(&mut self, update: ToolCallUpdate, now: Duration) {
        let ToolCallUpdate { title, name, kind, status, .. } = update;
        self.name = name.or(self.name.take());
        // Permissions of some agents know less than what they ask about.
        if let Some(kind) = kind.filter(|it| *it != ToolKind::Other) {
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
        // Late news never turns back the clock; but the last word counts, even after a cancel, and
        // any word is better than a guess.
        let guessed = self.status == ToolStatus::Unfinished;
        if let Some(status) = status
            && (status.is_final() || status > self.status || guessed)
        {
            self.status = status;
            self.ended = status.is_final().then_some(now);
        }
        if let Some(content) = update.content
            && content != self.content
        {
            self.content = content;
            self.revision += 1;
        }
        if let Some(locations) = update.locations {
            self.locations = locations;
        }
        if let Some(given) = update.given {
            self.given = *given;
        }
        self.left_out = self.left_out.max(update.left_out);
        self.raw_input = update.raw_input.or(self.raw_input.take());
        self.raw_output = update.raw_output.or(self.raw_output.take());
        self.exit = update.exit.or(self.exit.take());
        self.parent = update.parent.or(self.parent.take());
        match (&mut self.subagent, update.subagent) {
            (Some(subagent), Some(news)) => subagent.learn(*news),
            (subagent, Some(news)) => *subagent = Some(news),
            (_, None) => {}
        }
    }
}

impl Subagent {
    fn learn(&mut self, news: Subagent) {
        let Subagent { kind, description, model, remote, tools } = news;
        self.kind = kind.or(self.kind.take());
        self.description = description.or(self.description.take());
        self.model = model.or(self.model.take());
        self.remote = remote.or(self.remote.take());
        if !tools.is_empty() {
            self.tools = tools;
        }
    }
}
