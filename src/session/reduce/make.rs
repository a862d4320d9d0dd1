//! Sessions: made, found again, branched off, closed.

use crate::session::agent::{AgentInfo, Capabilities, Launch, McpServer, McpTransport};
use crate::session::effect::{Call, Effect, Make, Place, Tell};
use crate::session::entry::{Entry, Note};
use crate::session::event::{Made, Origin};
use crate::session::failure::{Failure, RpcError};
use crate::session::ids::{ConnectionId, SessionId};
use crate::session::outcome::Outcome;
use crate::session::settings::{Choice, Value};
use crate::session::state::{Link, Phase, Session, State, Turn};

impl State {
    pub(super) fn open(&mut self, session: Session, out: &mut Outcome) {
        let id = session.id;
        if self.sessions.contains_key(&id) {
            return;
        }
        self.sessions.insert(id, session);
        self.connect(id, out);
    }

    /// Asks a ready agent for a session.
    pub(super) fn make(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(connection) = session.link.connection() else { return };
        let Some(Phase::Ready(info)) = self.connections.get(&connection).map(|it| &it.phase) else {
            return;
        };
        let how = match self.how_to_make(session, info.can) {
            Ok(how) => how,
            Err(what) => {
                let agent = session.launch.agent.clone();
                self.fail(id, Failure::NotSupported { agent, what }, out);
                return self.end_if_unused(connection, out);
            }
        };
        let (place, left_out) = place_for(&session.launch, info);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !session.reattaching {
            for words in left_out {
                session.push(Entry::Note(Note::LeftOut(words)), out);
            }
        }
        session.link = Link::Creating(connection, how.clone());
        let call = Call::Session { session: id, how, place };
        out.effects.push(Effect::Call { connection, call });
    }

    fn how_to_make(&self, session: &Session, can: Capabilities) -> Result<Make, &'static str> {
        match (&session.remote, &session.origin) {
            // The chat shows the past already: silently is better.
            (Some(remote), _) if session.reattaching => Ok(match can {
                Capabilities { resume: true, .. } => Make::Resume(remote.clone()),
                Capabilities { load: true, .. } => Make::Load(remote.clone()),
                _ => Make::New,
            }),
            (Some(remote), _) if can.load => Ok(Make::Load(remote.clone())),
            (Some(remote), _) if can.resume => Ok(Make::Resume(remote.clone())),
            (Some(_), _) => Err("take up a session again"),
            (None, Origin::Fork(source)) => {
                let source = self.sessions.get(source).and_then(|it| it.remote.clone());
                match (can.fork, source) {
                    (true, Some(remote)) => Ok(Make::Fork(remote)),
                    _ => Err("branch off a session"),
                }
            }
            (None, _) => Ok(Make::New),
        }
    }

    pub(super) fn session_made(
        &mut self,
        connection: ConnectionId,
        (id, result): (SessionId, Result<Made, RpcError>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let how = match &session.link {
            Link::Creating(asked, how) if *asked == connection => how.clone(),
            _ => return,
        };
        match result {
            Ok(made) => self.session_ready(connection, (id, how, made), out),
            Err(error) if error.code == RpcError::AUTH_REQUIRED => {
                self.require_login(id, error, out)
            }
            // What the agent kept is gone; a new session is better than none.
            Err(error) if session.reattaching && how != Make::New => {
                session.push(Entry::Note(Note::LeftOut(error.to_string())), out);
                session.remote = None;
                session.link = Link::Connecting(connection);
                self.make(id, out);
            }
            Err(error) => {
                let (agent, what) = (session.launch.agent.clone(), method(&how));
                self.fail(id, Failure::Refused { agent, what, error }, out);
                self.end_if_unused(connection, out);
            }
        }
    }

    fn session_ready(
        &mut self,
        connection: ConnectionId,
        (id, how, mut made): (SessionId, Make, Made),
        out: &mut Outcome,
    ) {
        let named = match self.connections.get(&connection).map(|it| &it.phase) {
            Some(Phase::Ready(info)) => info.modes.clone(),
            _ => Vec::new(),
        };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let asked = match &how {
            Make::Load(remote) | Make::Resume(remote) => Some(remote.clone()),
            Make::New | Make::Fork(_) => None,
        };
        let Some(remote) = made.remote.clone().or(asked) else {
            let error = RpcError::new(RpcError::INTERNAL, "the agent gave the session no name");
            let agent = session.launch.agent.clone();
            return self.fail(id, Failure::Refused { agent, what: method(&how), error }, out);
        };
        session.link = Link::Ready(connection, remote.clone());
        session.remote = Some(remote.clone());
        session.attempts = 0;
        let left_out = std::mem::take(&mut made.left_out);
        session.take_settings(made, &named);
        if session.reattaching {
            let again = if how == Make::New { Note::StartedAgain } else { Note::Resumed };
            session.reattaching = false;
            if session.turns > 0 {
                session.push(Entry::Note(again), out);
            }
        }
        session.too_many(left_out, out);
        out.tell(Tell::SessionChanged(id));
        out.tell(Tell::SettingsChanged(id));
        out.tell(Tell::Ready(id));
        self.deliver_held(connection, &remote, out);
        // What was not closed then is not going on now.
        if let (Make::Load(_), Some(session)) = (&how, self.sessions.get_mut(&id)) {
            session.close_tool_calls(out);
        }
        self.next_prompt(id, out);
    }

    pub(super) fn close(&mut self, id: SessionId, out: &mut Outcome) {
        self.cancel_asks(id, out);
        self.drop_duties(id, out);
        let can_close =
            self.sessions.get(&id).and_then(|it| self.agent_of(it)).is_some_and(|it| it.can.close);
        let Some(mut session) = self.sessions.remove(&id) else { return };
        if let Turn::Running(_) = session.turn {
            session.send_cancel(out);
        }
        if let Link::Ready(connection, remote) = &session.link
            && can_close
        {
            let call = Call::Close(remote.clone());
            out.effects.push(Effect::Call { connection: *connection, call });
        }
        session.abandon(&Failure::Closed, out);
        out.tell(Tell::Closed(id));
        if let Some(connection) = session.link.connection() {
            self.end_if_unused(connection, out);
        }
    }
}

impl Session {
    /// What the agent says the session is set to. Modes it named at the start count when it names
    /// none now.
    fn take_settings(&mut self, made: Made, named: &[String]) {
        let Made { modes, models, options, steering, .. } = made;
        let by_name = || {
            let value = |name: &String| Value {
                id: name.clone(),
                name: name.clone(),
                description: None,
                group: None,
            };
            let current = named.first()?.clone();
            Some(Choice { current, values: named.iter().map(value).collect() })
        };
        self.settings.modes = modes.or_else(|| self.settings.modes.take()).or_else(by_name);
        self.settings.models = models.or_else(|| self.settings.models.take());
        if let Some(options) = options {
            self.settings.options = options;
        }
        self.steering = steering;
    }
}

/// What of the wishes for a session the agent can take, and what it can't, in words.
fn place_for(launch: &Launch, info: &AgentInfo) -> (Place, Vec<String>) {
    let mut left_out = Vec::new();
    let agent = &launch.agent;
    let fits = |server: &&McpServer| match server.transport {
        McpTransport::Stdio { .. } => true,
        McpTransport::Http { .. } => info.can.mcp_http,
        McpTransport::Sse { .. } => info.can.mcp_sse,
    };
    let (taken, refused): (Vec<&McpServer>, Vec<_>) = launch.mcp_servers.iter().partition(fits);
    for server in refused {
        left_out.push(format!("{agent} can't reach the tool server {} that way", server.name));
    }
    let directories = match info.can.directories {
        true => launch.directories.clone(),
        false => Vec::new(),
    };
    if directories.len() < launch.directories.len() {
        left_out.push(format!("{agent} takes no further folders"));
    }
    let mcp_servers = taken.into_iter().cloned().collect();
    (Place { cwd: launch.cwd.clone(), directories, mcp_servers }, left_out)
}

/// The method that makes a session so.
pub(super) fn method(how: &Make) -> &'static str {
    match how {
        Make::New => "session/new",
        Make::Load(_) => "session/load",
        Make::Resume(_) => "session/resume",
        Make::Fork(_) => "session/fork",
    }
}
