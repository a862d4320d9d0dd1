//! What agents say: chunks become messages, in the right session.

use crate::session::effect::Tell;
use crate::session::event::{Chunk, Update};
use crate::session::ids::{ConnectionId, RemoteId};
use crate::session::outcome::Outcome;
use crate::session::state::{Entry, Link, Phase, Role, Session, State, Turn, append_plain};

/// How many updates for sessions not yet known are kept. An agent that sends more is talking to
/// itself.
const HELD: usize = 1000;

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
                if connection.phase != Phase::Ending && connection.held.len() < HELD {
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
        if let Some(session) = self.session_named(id, remote) {
            for (_, update) in ours {
                session.update(update, out);
            }
        }
    }

    fn session_named(&mut self, id: ConnectionId, name: &RemoteId) -> Option<&mut Session> {
        self.sessions.values_mut().find(
            |it| matches!(&it.link, Link::Ready(connection, remote) if *connection == id && remote == name),
        )
    }
}

impl Session {
    fn update(&mut self, update: Update, out: &mut Outcome) {
        match update {
            // The agent's echo of a prompt that is in the chat already.
            Update::Chunk(Chunk { role: Role::User, .. }) if self.turn != Turn::Idle => {}
            Update::Chunk(chunk) => self.chunk(chunk, out),
            Update::Title(title) => {
                self.title = title;
                out.tell(Tell::SessionChanged(self.id));
            }
            Update::Other => {}
        }
    }

    /// Continues the last message, or begins another: when somebody else spoke in between, or
    /// when the agent says that it is another one.
    fn chunk(&mut self, chunk: Chunk, out: &mut Outcome) {
        let Chunk { role, content, message: id } = chunk;
        let last = self.entries.len().wrapping_sub(1);
        if let Some(Entry::Message { role: last_role, text, message }) = self.entries.last_mut()
            && *last_role == role
            && (id.is_none() || message.is_none() || *message == id)
            && role != Role::User
        {
            if message.is_none() {
                *message = id;
            }
            append_plain(text, &content);
            return out.touch(self.id, last);
        }
        let mut text = String::new();
        append_plain(&mut text, &content);
        self.push(Entry::Message { role, text, message: id }, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::ids::SessionId;
    use crate::session::state::Content;

    fn chunk(text: &str, message: Option<&str>) -> Update {
        let (content, message) = (Content::Text(text.into()), message.map(Into::into));
        Update::Chunk(Chunk { role: Role::Agent, content, message })
    }

    fn session() -> Session {
        Session {
            id: SessionId(1),
            launch: crate::session::state::Launch {
                agent: "a".into(),
                how: crate::session::state::How::Tutor { pauses: 0 },
                env: vec![],
                cwd: "/".into(),
                install: None,
                patience: std::time::Duration::ZERO,
            },
            link: Link::Connecting(ConnectionId(1)),
            turn: Turn::Idle,
            queue: Default::default(),
            entries: vec![],
            title: None,
            turns: 0,
        }
    }

    fn texts(session: &Session) -> Vec<&str> {
        let mut texts = Vec::new();
        for entry in &session.entries {
            if let Entry::Message { text, .. } = entry {
                texts.push(text.as_str());
            }
        }
        texts
    }

    #[test]
    fn chunks_without_ids_join() {
        let (mut session, mut out) = (session(), Outcome::default());
        session.update(chunk("a", None), &mut out);
        session.update(chunk("b", None), &mut out);
        assert_eq!(texts(&session), ["ab"]);
        assert_eq!(out.dirty, [(SessionId(1), 0)]);
    }

    #[test]
    fn another_message_id_is_another_message() {
        let (mut session, mut out) = (session(), Outcome::default());
        session.update(chunk("a", Some("1")), &mut out);
        session.update(chunk("b", Some("1")), &mut out);
        session.update(chunk("c", Some("2")), &mut out);
        session.update(chunk("d", None), &mut out);
        assert_eq!(texts(&session), ["ab", "cd"]);
    }
}
