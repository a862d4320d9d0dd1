//! Logging in, when an agent wants it.

use crate::session::agent::{AuthKind, AuthMethod, How};
use crate::session::effect::{Call, Effect, Tell};
use crate::session::entry::Entry;
use crate::session::failure::{Failure, RpcError};
use crate::session::ids::{ConnectionId, SessionId};
use crate::session::outcome::Outcome;
use crate::session::state::{Link, Session, State};

/// How long the command of a login may be.
const LONGEST: usize = 4_000;

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
            // Its program is elsewhere, and so is what a login there would leave; and nobody elsewhere
            // chooses what is run here.
            AuthKind::Terminal { .. } | AuthKind::Command { .. }
                if !matches!(launch.how, How::Program(_)) =>
            {
                let agent = launch.agent.clone();
                let what = "be logged in from here: it runs elsewhere, and no command that it names is run on this machine";
                return self.end_with(connection, &Failure::NotSupported { agent, what }, out);
            }
            AuthKind::Command { command, env } if is_too_long(&command, &env) => {
                let agent = launch.agent.clone();
                let what = "be logged in by a command that is too long to be shown";
                return self.end_with(connection, &Failure::NotSupported { agent, what }, out);
            }
            AuthKind::Terminal { args: command, env } | AuthKind::Command { command, env } => {
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
        self.sessions.get(&id).map(|it| self.login_methods(it)).unwrap_or_default()
    }

    /// How one can log in to a session's agent, with the whole commands that would be run.
    pub fn login_methods(&self, session: &Session) -> Vec<AuthMethod> {
        let methods = self.agent_of(session).map(|it| it.auth_methods.clone()).unwrap_or_default();
        let whole = |method: AuthMethod| match (method.kind, &session.launch.how) {
            (AuthKind::Terminal { args, env }, How::Program(program)) => {
                let command = [program.clone(), args].concat();
                AuthMethod { kind: AuthKind::Command { command, env }, ..method }
            }
            // Whatever it names, it is not run here.
            (AuthKind::Command { .. }, How::Url(_)) => {
                AuthMethod { kind: AuthKind::Terminal { args: vec![], env: vec![] }, ..method }
            }
            (kind, _) => AuthMethod { kind, ..method },
        };
        methods.into_iter().map(whole).collect()
    }
}

/// Whether nobody could read the command of a login before agreeing to it.
fn is_too_long(command: &[String], env: &[(String, String)]) -> bool {
    let variables = env.iter().map(|(name, value)| name.len() + value.len());
    command.iter().map(String::len).chain(variables).sum::<usize>() > LONGEST
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
