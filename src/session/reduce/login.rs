//! Logging in, when an agent wants it.

use crate::session::agent::{AuthKind, AuthMethod, How};
use crate::session::effect::{Call, Effect, Tell};
use crate::session::entry::Entry;
use crate::session::failure::{Failure, RpcError};
use crate::session::ids::{ConnectionId, SessionId};
use crate::session::outcome::Outcome;
use crate::session::state::{Link, Session, State};

impl State {
    /// The agent wants a login: the user is asked how.
    pub(super) fn require_login(&mut self, id: SessionId, error: RpcError, out: &mut Outcome) {
        let methods = self.methods(id);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(connection) = session.link.connection() else { return };
        if methods.is_empty() {
            let agent = session.launch.agent.clone();
            self.fail(id, Failure::Refused { agent, what: "session/new", error }, out);
            return self.end_if_unused(connection, out);
        }
        let known = match &session.link {
            Link::Ready(_, remote) => Some(remote.clone()),
            Link::LoggedOut(_, known) | Link::LoggingIn(_, known) => known.clone(),
            _ => None,
        };
        session.link = Link::LoggedOut(connection, known);
        let agent = session.launch.agent.clone();
        session.say_once(Failure::NotLoggedIn { agent, variables: Vec::new() }, out);
        out.tell(Tell::SessionChanged(id));
        out.tell(Tell::LoginRequired { session: id, methods });
    }

    pub(super) fn log_in(&mut self, id: SessionId, method: &str, out: &mut Outcome) {
        let chosen = self.methods(id).into_iter().find(|it| it.id == method);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let (Some(connection), Some(chosen)) = (session.link.connection(), chosen) else { return };
        let launch = &session.launch;
        match chosen.kind {
            AuthKind::Agent => {
                let call = Call::Authenticate { session: id, method: chosen.id };
                out.effects.push(Effect::Call { connection, call });
            }
            AuthKind::Terminal { args, env } => {
                let mut command = match &launch.how {
                    How::Program(command) => command.clone(),
                    // Its program is elsewhere, and so is what a login there would leave.
                    How::Url(_) | How::Tutor { .. } => {
                        let (agent, what) = (launch.agent.clone(), "be logged in from here");
                        let failure = Failure::NotSupported { agent, what };
                        return self.end_with(connection, &failure, out);
                    }
                };
                command.extend(args);
                let env = launch.env.iter().cloned().chain(env).collect();
                out.tell(Tell::LoginInTerminal {
                    session: id,
                    command,
                    env,
                    cwd: launch.cwd.clone(),
                });
            }
            AuthKind::Command { command, env } => {
                let env = launch.env.iter().cloned().chain(env).collect();
                out.tell(Tell::LoginInTerminal {
                    session: id,
                    command,
                    env,
                    cwd: launch.cwd.clone(),
                });
            }
            AuthKind::Variables(variables) => {
                let agent = launch.agent.clone();
                return self.end_with(connection, &Failure::NotLoggedIn { agent, variables }, out);
            }
        }
        if let Link::LoggedOut(_, known) = &session.link {
            session.link = Link::LoggingIn(connection, known.clone());
        }
        out.tell(Tell::SessionChanged(id));
    }

    /// The agent has answered `authenticate`.
    pub(super) fn authenticated(
        &mut self,
        id: SessionId,
        result: Result<Option<String>, RpcError>,
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(connection) = session.link.connection() else { return };
        match result {
            Ok(Some(url)) => out.tell(Tell::OpenUrl { session: id, url }),
            Ok(None) => self.auth_complete(connection, out),
            Err(error) => {
                let agent = session.launch.agent.clone();
                session
                    .push(Entry::Failure(Failure::AskRefused { agent, error: error.clone() }), out);
                if let Link::LoggingIn(..) = session.link {
                    self.require_login(id, error, out);
                }
            }
        }
    }

    /// The login has worked: everybody who waited for it goes on.
    pub(super) fn auth_complete(&mut self, connection: ConnectionId, out: &mut Outcome) {
        for id in self.sessions_on(connection) {
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            let (Link::LoggedOut(_, known) | Link::LoggingIn(_, known)) = session.link.clone()
            else {
                continue;
            };
            out.tell(Tell::SessionChanged(id));
            match known {
                Some(remote) => {
                    session.link = Link::Ready(connection, remote);
                    self.next_prompt(id, out);
                }
                None => {
                    session.link = Link::Connecting(connection);
                    self.make(id, out);
                }
            }
        }
    }

    /// A login in a terminal has ended. The agent reads what it left at its next start.
    pub(super) fn logged_in(&mut self, id: SessionId, ok: bool, out: &mut Outcome) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(connection) = session.link.connection() else { return };
        if !ok {
            let words = "the login did not succeed";
            let waits = matches!(session.link, Link::LoggingIn(..));
            if waits {
                self.require_login(id, RpcError::new(RpcError::AUTH_REQUIRED, words), out);
            }
            return;
        }
        let served = self.end(connection, out);
        for id in served {
            if let Some(session) = self.sessions.get_mut(&id) {
                let agent = session.launch.agent.clone();
                session.end_turn_with(&Failure::Killed { agent }, out);
                session.reattaching = session.remote.is_some() && !session.entries.is_empty();
                session.link = Link::Lost { attempt: 0 };
                self.drop_duties(id, out);
                self.connect(id, out);
            }
        }
    }

    /// The user does not want to log in.
    pub(super) fn cancel_login(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(connection) = session.link.connection() else { return };
        let agent = session.launch.agent.clone();
        out.effects.push(Effect::CancelLogin(connection));
        self.fail(id, Failure::NotLoggedIn { agent, variables: Vec::new() }, out);
        self.end_if_unused(connection, out);
    }

    fn methods(&self, id: SessionId) -> Vec<AuthMethod> {
        let session = self.sessions.get(&id);
        let info = session.and_then(|it| self.agent_of(it));
        info.map(|it| it.auth_methods.clone()).unwrap_or_default()
    }
}

impl Session {
    /// Puts a failure into the chat unless it stands there as the last word already.
    pub(super) fn say_once(&mut self, failure: Failure, out: &mut Outcome) {
        let entry = Entry::Failure(failure);
        if self.entries.last() != Some(&entry) {
            self.push(entry, out);
        }
    }
}
