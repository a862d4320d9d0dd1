//! Questions to the editor and the user on behalf of an agent. Each is answered exactly once: by
//! them, by a cancel, by the agent's change of mind, or by the end.

use crate::session::audit::By;
use crate::session::effect::{Effect, Reply, Tell};
use crate::session::entry::{Entry, Note};
use crate::session::failure::RpcError;
use crate::session::ids::{AskId, ConnectionId, RemoteId, ReplyTo, SessionId};
use crate::session::outcome::Outcome;
use crate::session::pending::{self, PendingQuestion};
use crate::session::question::{Body, Elicitation, ElicitationMode, Question, Reaction};
use crate::session::state::{OpenAsk, Session, State, Turn, With};
use crate::session::terminal::Waiter;

/// How many questions of one session may wait for the user.
const QUESTIONS: usize = 100;

impl State {
    /// Opens a question and tells the editor.
    pub(super) fn ask(
        &mut self,
        (reply, session): (ReplyTo, SessionId),
        body: Body,
        out: &mut Outcome,
    ) -> AskId {
        self.next_ask += 1;
        let id = AskId(self.next_ask);
        out.tell(Tell::Asked(id, Question { session, body: body.clone() }));
        if body.waits_for_user()
            && let Some(session) = self.sessions.get_mut(&session)
        {
            session.wait_for_user(id, &body, out);
        }
        let open = OpenAsk { session, body, reply, with: With::Editor, then: None };
        self.asks.insert(id, open);
        id
    }

    /// Whether a session has as many questions for the user as anybody could answer.
    pub(super) fn asks_too_much(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|it| it.pending.len() >= QUESTIONS)
    }

    /// Answers a question and forgets it.
    pub(super) fn settle(&mut self, id: AskId, answer: Result<Reply, RpcError>, out: &mut Outcome) {
        let Some(OpenAsk { session, body, reply, with, .. }) = self.asks.remove(&id) else {
            return;
        };
        let option = match &answer {
            Ok(Reply::Permission(option)) => option.clone(),
            _ => None,
        };
        out.reply(reply, answer);
        let shown = match with {
            With::User => true,
            With::Editor => body.waits_for_user(),
            With::Disk | With::Nobody => false,
        };
        if !shown {
            return;
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            session.wait_no_longer(id, out);
        }
        out.tell(Tell::Settled { ask: id, session, option });
        out.tell(Tell::SessionChanged(session));
    }

    pub(super) fn elicit(
        &mut self,
        (reply, remote): (ReplyTo, Option<RemoteId>),
        elicitation: Elicitation,
        out: &mut Outcome,
    ) {
        let connection = reply.connection;
        let session = match &remote {
            Some(remote) => self.session_named(connection, remote).map(|it| it.id),
            // About one of our requests: any session that this agent serves can show it.
            None => self.sessions_on(connection).first().copied(),
        };
        let cancelling =
            |id| matches!(self.sessions.get(&id).map(|it| &it.turn), Some(Turn::Cancelling(_)));
        match session {
            Some(session) if self.asks_too_much(session) => {
                out.reply(reply, Err(too_many_questions()));
            }
            Some(session) if !cancelling(session) => {
                self.ask((reply, session), Body::Elicitation(elicitation), out);
            }
            _ => out.reply(reply, Ok(Reply::Dismiss)),
        }
    }

    /// The editor or the user answers.
    pub(super) fn react(&mut self, id: AskId, (reaction, by): (Reaction, By), out: &mut Outcome) {
        let Some(ask) = self.asks.get_mut(&id) else { return };
        if ask.is_looked_at() {
            // Nobody has been asked yet.
            return;
        }
        if ask.then.is_some() {
            return self.access_answered(id, (reaction, by), out);
        }
        let answer = match (&ask.body, reaction) {
            (Body::Read(range), Reaction::NotLoaded) => {
                ask.with = With::Disk;
                return out.effects.push(Effect::ReadDisk(id, range.clone()));
            }
            (Body::Write { path, text }, Reaction::NotLoaded) => {
                ask.with = With::Disk;
                let (path, text) = (path.clone(), text.clone());
                return out.effects.push(Effect::WriteDisk { ask: id, path, text });
            }
            (Body::Read(_), Reaction::Text(text)) => {
                self.saw(id, text.as_str().into());
                Ok(Reply::Text(text))
            }
            (Body::Read(_), Reaction::Part { text, whole }) => {
                if let Some(whole) = whole {
                    self.saw(id, whole);
                }
                Ok(Reply::Text(text))
            }
            (Body::Write { text, .. }, Reaction::Done) => {
                let text = text.clone().into();
                self.saw(id, text);
                Ok(Reply::Empty)
            }
            (Body::Write { .. }, Reaction::Conflict) => return self.conflict(id, out),
            (Body::Permission(permission), Reaction::Option(option)) => {
                if !permission.options.iter().any(|it| it.id == option) {
                    return;
                }
                Ok(Reply::Permission(Some(option)))
            }
            (Body::Permission(_), Reaction::Dismiss) => Ok(Reply::Permission(None)),
            (Body::Elicitation(_), Reaction::Accept(values)) => Ok(Reply::Accept(values)),
            (Body::Elicitation(_), Reaction::Decline) => Ok(Reply::Decline),
            (Body::Elicitation(_), Reaction::Dismiss) => Ok(Reply::Dismiss),
            (Body::Read(_) | Body::Write { .. }, Reaction::Failed(words)) => {
                Err(RpcError::new(RpcError::INTERNAL, words))
            }
            // An answer to another question than this one.
            _ => return,
        };
        if let Ok(answer) = &answer {
            self.audit_answer((id, by), answer, out);
            self.remember_allowed(id, answer);
            self.note_rejection(id, answer, out);
        }
        self.settle(id, answer, out);
    }

    /// The user cancels: everything that waits for the user is over.
    pub(super) fn cancel_asks(&mut self, session: SessionId, out: &mut Outcome) {
        let open = self.asks.iter().filter(|(_, it)| it.session == session && it.waits_for_user());
        let open: Vec<AskId> = open.map(|(id, _)| *id).collect();
        for id in open {
            self.settle_as_cancelled(id, By::Cancel, out);
        }
    }

    /// The agent of a session is gone, or the session is: nothing is owed any more, and what ran
    /// for it ends.
    pub(super) fn drop_duties(&mut self, session: SessionId, out: &mut Outcome) {
        let open = self.asks.iter().filter(|(_, it)| it.session == session);
        let open: Vec<AskId> = open.map(|(id, _)| *id).collect();
        for id in open {
            self.settle_as_cancelled(id, By::Gone, out);
        }
        self.end_terminals(session, out);
    }

    fn settle_as_cancelled(&mut self, id: AskId, by: By, out: &mut Outcome) {
        let Some(ask) = self.asks.get(&id) else { return };
        let answer = match ask.body {
            Body::Permission(_) if ask.then.is_some() => Err(cancelled()),
            Body::Permission(_) => Ok(Reply::Permission(None)),
            Body::Elicitation(_) => Ok(Reply::Dismiss),
            Body::Read(_) | Body::Write { .. } | Body::List(_) => Err(cancelled()),
        };
        // What a cancelled question is answered with is not what it asked for.
        self.audit_answer((id, by), &Reply::Permission(None), out);
        self.give_up_write(id, out);
        self.settle(id, answer, out);
    }

    /// The editor need not go on with a write: its answer is for nothing.
    pub(super) fn give_up_write(&mut self, id: AskId, out: &mut Outcome) {
        if let Some(OpenAsk { session, body: Body::Write { .. }, with: With::Editor, .. }) =
            self.asks.get(&id)
        {
            out.tell(Tell::Settled { ask: id, session: *session, option: None });
        }
    }

    /// The agent does not want an answer any more. It gets one all the same, as it must.
    pub(super) fn withdrawn(&mut self, connection: ConnectionId, id: &str, out: &mut Outcome) {
        let is_it = |reply: &ReplyTo| reply.connection == connection && &*reply.id == id;
        let ask = self.asks.iter().find(|(_, it)| is_it(&it.reply));
        if let Some((ask, session)) = ask.map(|(ask, it)| (*ask, it.session)) {
            self.settle_as_cancelled(ask, By::Withdrawn, out);
            return self.decide_in_order(session, out);
        }
        for session in self.sessions.values_mut() {
            for (_, terminal) in session.terminals.all_ours() {
                let (gone, stay) = std::mem::take(&mut terminal.waiters)
                    .into_iter()
                    .partition(|(Waiter::Exit(reply) | Waiter::Run(reply))| is_it(reply));
                terminal.waiters = stay;
                let gone: Vec<Waiter> = gone;
                for Waiter::Exit(reply) | Waiter::Run(reply) in gone {
                    out.reply(reply, Err(cancelled()));
                }
            }
        }
    }

    /// A visit to an address has done its work: the question about it, if still open, is over.
    pub(super) fn elicitation_complete(
        &mut self,
        connection: ConnectionId,
        wanted: &str,
        out: &mut Outcome,
    ) {
        let done = self.asks.iter().find(|(_, it)| {
            it.reply.connection == connection
                && matches!(&it.body, Body::Elicitation(Elicitation { mode: ElicitationMode::Url { id, .. }, .. }) if id == wanted)
        });
        if let Some(id) = done.map(|(id, _)| *id) {
            self.settle(id, Ok(Reply::Accept(Vec::new())), out);
        }
    }
}

impl Session {
    /// A question waits for the user, and the chat says so: at its tool call, or in a line of its
    /// own.
    pub(super) fn wait_for_user(&mut self, id: AskId, body: &Body, out: &mut Outcome) {
        let entry = match body {
            Body::Permission(permission) => permission.entry,
            Body::Elicitation(it) => {
                it.tool_call.as_ref().and_then(|it| self.tool_calls.get(it).copied())
            }
            Body::Read(_) | Body::Write { .. } | Body::List(_) => None,
        };
        let entry = entry.or_else(|| {
            let note = Note::Question(pending::words(body)?);
            self.push(Entry::Note(note), out);
            self.entries.len().checked_sub(1)
        });
        if let Some(entry) = entry {
            out.touch(self.id, entry);
        }
        self.pending.add(id, PendingQuestion::new(body, entry));
        out.tell(Tell::SessionChanged(self.id));
    }

    /// It is settled.
    pub(super) fn wait_no_longer(&mut self, id: AskId, out: &mut Outcome) {
        if let Some(entry) = self.pending.remove(id).and_then(|it| it.entry) {
            out.touch(self.id, entry);
        }
    }
}

impl OpenAsk {
    fn waits_for_user(&self) -> bool {
        self.body.waits_for_user() || self.with == With::User
    }
}

impl Body {
    /// Whether a person answers this, rather than the editor by itself.
    fn waits_for_user(&self) -> bool {
        matches!(self, Body::Permission(_) | Body::Elicitation(_))
    }
}

/// The answer to a request about a session that this client does not know.
pub(super) fn no_session(remote: &RemoteId) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("there is no session {remote}"))
}

/// The answer to one question more than the user could be asked.
pub(super) fn too_many_questions() -> RpcError {
    let words = format!("{QUESTIONS} questions of this session wait for the user already");
    RpcError::new(RpcError::INTERNAL, words)
}

fn cancelled() -> RpcError {
    RpcError::new(RpcError::CANCELLED, "cancelled")
}
