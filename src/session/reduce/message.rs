//! What agents say: updates reach the right session and become messages, plans and notes.

use std::collections::HashMap;

use crate::session::content::append_plain;
use crate::session::effect::Tell;
use crate::session::entry::{Chunk, Entry, LeftOut, Note, Role};
use crate::session::event::Update;
use crate::session::ids::{ConnectionId, RemoteId};
use crate::session::message::Message;
use crate::session::outcome::Outcome;
use crate::session::settings::{ConfigOption, Plan, PlanBody, Setting, Usage};
use crate::session::state::{Link, Phase, Session, State, Turn};

/// How many updates for sessions not yet known are kept. An agent that sends more is talking to
/// itself.
const HELD: usize = 1000;
/// How many bytes they may have, as far as they are texts.
const HELD_BYTES: usize = 16 << 20;
/// The most options of a session, values of all of them together, plans, and steps of all of them.
const OPTIONS: usize = 1_000;
const VALUES: usize = 2_000;
const PLANS: usize = 100;
const STEPS: usize = 1_000;
/// How much of a compaction's summary is kept, more or less.
const SUMMARY: usize = 1 << 20;
/// Of how many things the user is told that there are too many.
const TOO_MANY: usize = 20;
/// How many updates of unknown kinds are kept.
const UNKNOWN: usize = 100;

impl State {
    pub(super) fn updated(
        &mut self,
        connection: ConnectionId,
        (remote, update): (RemoteId, Update),
        out: &mut Outcome,
    ) {
        match self.session_named(connection, &remote) {
            Some(session) => session.update(update, out),
            None => {
                let Some(connection) = self.connections.get_mut(&connection) else { return };
                let bytes = connection.held_bytes + update.weight();
                let room = connection.held.len() < HELD && bytes <= HELD_BYTES;
                if connection.phase != Phase::Ending && room {
                    connection.held_bytes = bytes;
                    connection.held.push_back((remote, update));
                }
            }
        }
    }

    /// Hands over what the agent said about a session before it had told us its name.
    pub(super) fn deliver_held(&mut self, id: ConnectionId, remote: &RemoteId, out: &mut Outcome) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let (ours, others) =
            std::mem::take(&mut connection.held).into_iter().partition(|(it, _)| it == remote);
        connection.held = others;
        connection.held_bytes = connection.held.iter().map(|(_, update)| update.weight()).sum();
        if let Some(session) = self.session_named(id, remote) {
            for (_, update) in ours {
                session.update(update, out);
            }
        }
    }
}

impl Session {
    fn update(&mut self, update: Update, out: &mut Outcome) {
        match update {
            // The agent's echo of a prompt that is in the chat already.
            Update::Chunk(Chunk { role: Role::User, .. }) if self.turn != Turn::Idle => {}
            // The past, which the chat shows already.
            Update::Chunk(_) | Update::ToolCall(..) | Update::Plan(_) if self.hears_the_past() => {}
            Update::Chunk(chunk) => self.chunk(chunk, out),
            Update::ToolCall(id, update) => self.tool_call(id, *update, out),
            Update::Note(note) => self.note(note, out),
            Update::CompactionSummary { id, content } => {
                self.compaction(&id, out, |_, summary, _| {
                    if summary.len() < SUMMARY {
                        append_plain(summary, &content);
                    }
                });
            }
            setting => self.setting(setting, out),
        }
    }

    fn hears_the_past(&self) -> bool {
        self.reattaching && matches!(self.link, Link::Creating(..))
    }

    fn setting(&mut self, update: Update, out: &mut Outcome) {
        let settings = &mut self.settings;
        match update {
            Update::Plan(plan) => settings.plan(plan),
            Update::PlanRemoved(id) => settings.plans.retain(|it| it.id.as_ref() != Some(&id)),
            Update::Commands(commands) => settings.commands = commands,
            Update::Mode(mode) => self.mode(mode, out),
            Update::Options { options, partial: false } => settings.options = options,
            Update::Options { options, partial: true } => settings.merge(options),
            Update::Title(title) => {
                self.title = title;
                return out.tell(Tell::SessionChanged(self.id));
            }
            Update::Usage(usage) => {
                // What the agent does not tell again is as it was.
                let old = settings.usage.take().unwrap_or_default();
                let size = if usage.size == 0 { old.size } else { usage.size };
                settings.usage = Some(Usage { size, cost: usage.cost.or(old.cost), ..usage });
                return out.tell(Tell::SessionChanged(self.id));
            }
            Update::Chunk(_)
            | Update::ToolCall(..)
            | Update::Note(_)
            | Update::CompactionSummary { .. }
            | Update::Nothing => return,
        }
        let left_out = self.settings.bound();
        self.too_many(left_out, out);
        out.tell(Tell::SettingsChanged(self.id));
    }

    /// Tells the user that there is more of something than is shown. Once is enough: a plan is sent
    /// again with each step.
    pub(super) fn too_many(&mut self, left_out: Vec<LeftOut>, out: &mut Outcome) {
        for left_out in left_out {
            if self.too_many.len() < TOO_MANY && self.too_many.insert(left_out.what.clone()) {
                self.push(Entry::Note(Note::TooMany(left_out)), out);
            }
        }
    }

    /// Continues the last message, or begins another: when somebody else spoke in between, or
    /// when the agent says that it is another one.
    fn chunk(&mut self, chunk: Chunk, out: &mut Outcome) {
        let Chunk { role, content, message: id } = chunk;
        let last = self.entries.len().wrapping_sub(1);
        if let Some(Entry::Message(message)) = self.entries.last_mut()
            && message.role == role
            && (id.is_none() || message.id == id)
        {
            message.append(content, self.now);
            return out.touch(self.id, last);
        }
        let mut message = Message { id, ..Message::new(role, self.now) };
        message.append(content, self.now);
        if !message.text.is_empty() {
            self.push(Entry::Message(message), out);
        }
    }

    fn mode(&mut self, mode: String, out: &mut Outcome) {
        let option = self.settings.option_for("mode").map(|it| it.id.clone());
        if let Some(Setting::Select(choice)) = option.and_then(|id| self.option(&id)) {
            choice.current.clone_from(&mode);
        }
        let Some(choice) = &mut self.settings.modes else { return };
        if choice.current == mode {
            return;
        }
        choice.current.clone_from(&mode);
        let name = choice.values.iter().find(|it| it.id == mode).map_or(mode, |it| it.name.clone());
        if self.turn != Turn::Idle {
            self.push(Entry::Note(Note::Mode(name)), out);
        }
    }

    fn note(&mut self, note: Note, out: &mut Outcome) {
        match note {
            Note::Unknown { kind, raw } => {
                if self.unknown.len() == UNKNOWN {
                    self.unknown.pop_front();
                }
                self.unknown.push_back((kind, raw));
            }
            Note::Compaction { id, status, summary, error } => {
                self.compaction(&id, out, |old_status, old_summary, old_error| {
                    *old_status = status;
                    if !summary.is_empty() {
                        *old_summary = summary;
                    }
                    *old_error = error.or(old_error.take());
                });
            }
            Note::Subagent { remote, title, description } => {
                self.subagent(remote, (title, description), out);
            }
            Note::Notice { severity, title, description } => {
                let message = match &description {
                    Some(description) => format!("{title}: {description}"),
                    None => title.clone(),
                };
                let tell = Tell::Notice { session: self.id, severity: severity.clone(), message };
                self.push(Entry::Note(Note::Notice { severity, title, description }), out);
                out.tell(tell);
            }
            Note::TooMany(left_out) => self.too_many(vec![left_out], out),
            other => self.push(Entry::Note(other), out),
        }
    }

    /// Changes a compaction, which stands where it was first seen.
    fn compaction(
        &mut self,
        wanted: &str,
        out: &mut Outcome,
        change: impl FnOnce(&mut String, &mut String, &mut Option<String>),
    ) {
        let found = self.compactions.get(wanted).copied();
        let index = found.unwrap_or_else(|| {
            let (id, status) = (wanted.to_owned(), "in_progress".to_owned());
            let note = Note::Compaction { id, status, summary: String::new(), error: None };
            self.compactions.insert(wanted.to_owned(), self.entries.len());
            self.entries.push(Entry::Note(note));
            self.entries.len() - 1
        });
        if let Some(Entry::Note(Note::Compaction { status, summary, error, .. })) =
            self.entries.get_mut(index)
        {
            change(status, summary, error);
        }
        out.touch(self.id, index);
    }

    /// A subagent, which stands where it was first seen.
    fn subagent(&mut self, name: String, news: (String, Option<String>), out: &mut Outcome) {
        let (new_title, new_description) = news;
        let Some(index) = self.subagents.get(&name).copied() else {
            let (title, description) = (new_title, new_description);
            self.subagents.insert(name.clone(), self.entries.len());
            let note = Note::Subagent { remote: name, title, description };
            return self.push(Entry::Note(note), out);
        };
        if let Some(Entry::Note(Note::Subagent { title, description, .. })) =
            self.entries.get_mut(index)
        {
            if !new_title.is_empty() {
                *title = new_title;
            }
            *description = new_description.or(description.take());
        }
        out.touch(self.id, index);
    }
}

impl crate::session::settings::Settings {
    /// Replaces the plan of the same name; the ordinary one stands first.
    fn plan(&mut self, plan: Plan) {
        match self.plans.iter_mut().find(|it| it.id == plan.id) {
            Some(old) => *old = plan,
            None if plan.id.is_none() => self.plans.insert(0, plan),
            None => self.plans.push(plan),
        }
    }

    fn merge(&mut self, options: Vec<ConfigOption>) {
        let known = self.options.iter().enumerate();
        let mut places: HashMap<String, usize> =
            known.map(|(at, it)| (it.id.clone(), at)).collect();
        for option in options {
            let end = self.options.len();
            let place = *places.entry(option.id.clone()).or_insert(end);
            match self.options.get_mut(place) {
                Some(old) => old.take(option),
                None => self.options.push(option),
            }
        }
    }

    /// Leaves out what is too much: each message is bounded, but they add up. Says of what how many
    /// were left out.
    fn bound(&mut self) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        let mut note = |what: &str, count: usize| {
            if count > 0 {
                left_out.push(LeftOut { what: what.to_owned(), count });
            }
        };
        note("options", cut_off(&mut self.options, OPTIONS));
        let (mut room, mut values) = (VALUES, 0);
        for option in &mut self.options {
            if let Setting::Select(choice) = &mut option.setting {
                values += cut_off(&mut choice.values, room);
                room -= choice.values.len();
            }
        }
        note("values of options", values);
        note("plans", cut_off(&mut self.plans, PLANS));
        let (mut room, mut steps) = (STEPS, 0);
        for plan in &mut self.plans {
            if let PlanBody::Items(entries) = &mut plan.body {
                steps += cut_off(entries, room);
                room -= entries.len();
            }
        }
        note("steps", steps);
        left_out
    }
}

/// Cuts a list, and says how many it had too many.
fn cut_off<T>(list: &mut Vec<T>, most: usize) -> usize {
    let too_many = list.len().saturating_sub(most);
    list.truncate(most);
    too_many
}

impl ConfigOption {
    /// A partial update may bring no more than what an option is set to now.
    fn take(&mut self, news: ConfigOption) {
        match (&mut self.setting, news.setting) {
            (Setting::Select(old), Setting::Select(new)) if new.values.is_empty() => {
                old.current = new.current;
            }
            (old, new) => *old = new,
        }
        if news.name != self.id {
            self.name = news.name;
        }
        self.description = news.description.or(self.description.take());
        self.category = news.category.or(self.category.take());
    }
}
