//! Files that agents read and write: the editor has the first word, the disk the second.

use super::ask::no_session;
use crate::session::effect::{Effect, Reply, Tell};
use crate::session::event::DiskError;
use crate::session::failure::RpcError;
use crate::session::ids::{AskId, RemoteId, ReplyTo, SessionId, Tag};
use crate::session::live::Whole;
use crate::session::outcome::Outcome;
use crate::session::question::{Body, FileRange};
use crate::session::state::{Session, State, With};

impl State {
    pub(super) fn read_file(
        &mut self,
        (reply, remote): (ReplyTo, &RemoteId),
        (path, line, limit): (&str, Option<u32>, Option<u32>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.session_named(reply.connection, remote) else {
            return out.reply(reply, Err(no_session(remote)));
        };
        let range = FileRange { path: session.absolute(path), line, limit };
        let id = session.id;
        self.ask_about_file((reply, id), Body::Read(range), out);
    }

    pub(super) fn write_file(
        &mut self,
        (reply, remote): (ReplyTo, &RemoteId),
        (path, text): (&str, String),
        out: &mut Outcome,
    ) {
        let Some(session) = self.session_named(reply.connection, remote) else {
            return out.reply(reply, Err(no_session(remote)));
        };
        let (id, path) = (session.id, session.absolute(path));
        self.ask_about_file((reply, id), Body::Write { path, text: text.into() }, out);
    }

    pub(super) fn list(
        &mut self,
        (reply, remote): (ReplyTo, &RemoteId),
        path: &str,
        out: &mut Outcome,
    ) {
        let Some(session) = self.session_named(reply.connection, remote) else {
            return out.reply(reply, Err(no_session(remote)));
        };
        let (id, path) = (session.id, session.absolute(path));
        self.ask_about_file((reply, id), Body::List(path), out);
    }

    /// Saves what came with a message or a tool call.
    pub(super) fn save(
        &mut self,
        (session, entry, attachment): (SessionId, usize, usize),
        (tag, path): (Tag, String),
        out: &mut Outcome,
    ) {
        let entries = self.sessions.get(&session).map(|it| it.entries.as_slice());
        let entry = entries.unwrap_or_default().get(entry);
        match entry.and_then(|entry| entry.attachments().nth(attachment)) {
            Some(content) => {
                let content = content.clone();
                out.effects.push(Effect::Save { session, tag, path, content });
            }
            None => {
                let result = Err("there is nothing to save".to_owned());
                out.tell(Tell::Saved { session, tag, path, result });
            }
        }
    }

    /// The disk has been read, written or listed.
    pub(super) fn disk(&mut self, id: AskId, result: Result<String, DiskError>, out: &mut Outcome) {
        let Some(ask) = self.asks.get(&id) else { return };
        match (&ask.body, &result) {
            (Body::Write { text, .. }, Ok(_)) => {
                let text = text.clone().into();
                self.saw(id, text);
            }
            (Body::Read(FileRange { line: None, limit: None, .. }), Ok(text))
                if ask.with == With::Disk =>
            {
                self.saw(id, text.as_str().into());
            }
            _ => {}
        }
        let Some(ask) = self.asks.get(&id) else { return };
        let answer = match result {
            Ok(text) => Ok(match &ask.body {
                Body::List(_) => Reply::Entries(text.lines().map(entry).collect()),
                Body::Write { .. } => Reply::Empty,
                _ => Reply::Text(text),
            }),
            Err(DiskError::NotFound) => {
                let path = match &ask.body {
                    Body::Read(range) => range.path.as_str(),
                    Body::Write { path, .. } | Body::List(path) => path,
                    _ => "",
                };
                Err(RpcError::new(RpcError::NOT_FOUND, format!("No such file: {path}")))
            }
            Err(DiskError::Other(words)) => Err(RpcError::new(RpcError::INTERNAL, words)),
        };
        self.settle(id, answer, out);
    }

    /// What the agent of a question has seen of its file, from now on.
    pub(super) fn saw(&mut self, id: AskId, text: Whole) {
        let Some(ask) = self.asks.get(&id) else { return };
        let path = match &ask.body {
            Body::Read(range) => &range.path,
            Body::Write { path, .. } => path,
            Body::List(_) | Body::Permission(_) | Body::Elicitation(_) => return,
        };
        if let Some(session) = self.sessions.get_mut(&ask.session) {
            session.seen.put(path, text);
        }
    }

    /// The user has changed the same lines as a write: it waits for the user now.
    pub(super) fn conflict(&mut self, id: AskId, out: &mut Outcome) {
        let Some(ask) = self.asks.get_mut(&id).filter(|it| it.with == With::Editor) else { return };
        ask.with = With::User;
        if let Some(session) = self.sessions.get_mut(&ask.session) {
            session.wait_for_user(id, &ask.body, out);
        }
    }

    /// Neovim has not answered: an agent must not wait for ever because a key is wanted there.
    pub(super) fn no_editor(&mut self, id: AskId, out: &mut Outcome) {
        if self.asks.get(&id).is_some_and(|it| it.with == With::Editor) {
            let words = "Neovim is busy: it may be waiting for a key";
            self.give_up_write(id, out);
            self.settle(id, Err(RpcError::new(RpcError::INTERNAL, words)), out);
        }
    }
}

/// A line of a listing: folders end in a slash.
fn entry(line: &str) -> (String, bool) {
    match line.strip_suffix('/') {
        Some(name) => (name.to_owned(), true),
        None => (line.to_owned(), false),
    }
}

impl Session {
    /// Agents should give absolute paths, and some do not.
    pub fn absolute(&self, path: &str) -> String {
        let path = path.strip_prefix("file://").unwrap_or(path);
        match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("{}/{path}", self.launch.cwd.trim_end_matches('/')),
        }
    }

    /// Whether a path names something in the project or in its further folders, by its letters.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        let clean = !path.split('/').any(|it| it == "..");
        let roots = std::iter::once(&self.launch.cwd).chain(&self.launch.directories);
        clean
            && roots.map(|it| it.trim_end_matches('/')).any(|root| {
                path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}
