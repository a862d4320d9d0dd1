//! Runs of agents: starting, being known, dying, and the sessions tied to them.

use std::collections::VecDeque;

use crate::session::effect::{Call, Effect, Tell, Timer};
use crate::session::event::Answer;
use crate::session::failure::{Exit, Failure, RpcError, SpawnError};
use crate::session::ids::{ConnectionId, RemoteId, SessionId, Tag};
use crate::session::outcome::Outcome;
use crate::session::state::{
    AgentInfo, Connection, Entry, How, Launch, Link, Note, Phase, Session, State, Turn,
};

impl State {
    pub(super) fn open(&mut self, id: SessionId, launch: Launch, out: &mut Outcome) {
        if self.sessions.contains_key(&id) {
            return;
        }
        let link = self.connect(id, &launch, out);
        let session = Session {
            id,
            launch,
            link,
            turn: Turn::Idle,
            queue: VecDeque::new(),
            entries: Vec::new(),
            title: None,
            turns: 0,
        };
        self.sessions.insert(id, session);
        out.tell(Tell::SessionChanged(id));
    }

    /// Ties a session to a run of its agent: a running one if there is one, else a new one.
    fn connect(&mut self, session: SessionId, launch: &Launch, out: &mut Outcome) -> Link {
        let running = self.connections.iter_mut().find(|(_, it)| {
            it.launch == *launch && it.probe.is_none() && it.phase != Phase::Ending
        });
        match running {
            Some((&id, connection)) if matches!(connection.phase, Phase::Ready(_)) => {
                connection.expect_answer(id, out);
                new_session(id, session, launch, out)
            }
            Some((&id, _)) => Link::Connecting(id),
            None => Link::Connecting(self.spawn(launch.clone(), None, out)),
        }
    }

    /// Starts a run of an agent.
    fn spawn(&mut self, launch: Launch, probe: Option<Tag>, out: &mut Outcome) -> ConnectionId {
        self.next_connection += 1;
        let id = ConnectionId(self.next_connection);
        out.effects.push(Effect::Spawn { connection: id, launch: launch.clone() });
        let mut connection = Connection {
            launch,
            phase: Phase::Starting,
            probe,
            patience: 0,
            held: VecDeque::new(),
        };
        connection.expect_answer(id, out);
        self.connections.insert(id, connection);
        id
    }

    pub(super) fn probe(&mut self, tag: Tag, launch: Launch, out: &mut Outcome) {
        self.spawn(launch, Some(tag), out);
    }

    /// Connects a failed session again. Its agent starts with an empty memory.
    pub(super) fn reconnect(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(launch) = self.sessions.get(&id).map(|it| it.launch.clone()) else { return };
        let link = self.connect(id, &launch, out);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.link = link;
        out.tell(Tell::SessionChanged(id));
    }

    pub(super) fn started(&mut self, id: ConnectionId, out: &mut Outcome) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.phase == Phase::Starting {
            connection.phase = Phase::Initializing;
            out.effects.push(Effect::Call { connection: id, call: Call::Initialize });
        }
    }

    pub(super) fn not_started(&mut self, id: ConnectionId, error: SpawnError, out: &mut Outcome) {
        let Some(connection) = self.connections.remove(&id) else { return };
        let agent = connection.launch.agent.clone();
        let failure = match error {
            SpawnError::NotFound => Failure::NotFound {
                agent,
                program: connection.launch.program().to_owned(),
                install: connection.launch.install.clone(),
            },
            SpawnError::Other(reason) => Failure::NotStarted { agent, reason },
        };
        self.lost((id, connection), &failure, out);
    }

    pub(super) fn exited(
        &mut self,
        id: ConnectionId,
        (exit, stderr): (Exit, Vec<String>),
        out: &mut Outcome,
    ) {
        let Some(connection) = self.connections.remove(&id) else { return };
        let agent = connection.launch.agent.clone();
        let expected = connection.phase == Phase::Ending;
        for session in self.sessions_on(id) {
            out.tell(Tell::AgentExited { session, agent: agent.clone(), exit, expected });
        }
        let failure = match expected {
            true => Failure::Killed { agent },
            false => Failure::Died { agent, exit, stderr },
        };
        self.lost((id, connection), &failure, out);
    }

    /// A run of an agent is gone: whoever depended on it learns why.
    fn lost(
        &mut self,
        (id, connection): (ConnectionId, Connection),
        failure: &Failure,
        out: &mut Outcome,
    ) {
        if let Some(tag) = connection.probe
            && connection.phase != Phase::Ending
        {
            out.tell(Tell::Probed { tag, result: Err(failure.clone()) });
        }
        for session in self.sessions_on(id) {
            self.fail(session, failure.clone(), out);
        }
    }

    pub(super) fn answered(&mut self, id: ConnectionId, answer: Answer, out: &mut Outcome) {
        match answer {
            Answer::Initialize(result) => self.initialized(id, result, out),
            Answer::NewSession { session, result } => self.session_made(id, (session, result), out),
            Answer::Prompt { session, turn, result } => {
                self.turn_ended(session, (turn, result), out)
            }
        }
    }

    fn initialized(
        &mut self,
        id: ConnectionId,
        result: Result<AgentInfo, RpcError>,
        out: &mut Outcome,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.phase != Phase::Initializing {
            return;
        }
        let agent = connection.launch.agent.clone();
        let info = match result {
            Ok(info) if info.protocol == "1" => info,
            Ok(info) => {
                return self.end_with(id, &Failure::Version { agent, version: info.protocol }, out);
            }
            Err(error) => {
                return self.end_with(
                    id,
                    &Failure::Refused { agent, what: "initialize", error },
                    out,
                );
            }
        };
        if let Some(tag) = connection.probe {
            out.tell(Tell::Probed { tag, result: Ok(info) });
            connection.phase = Phase::Ending;
            out.effects.push(Effect::End(id));
            return;
        }
        connection.phase = Phase::Ready(info);
        connection.expect_answer(id, out);
        for session in self.sessions.values_mut().filter(|it| it.link == Link::Connecting(id)) {
            session.link = new_session(id, session.id, &session.launch, out);
        }
    }

    fn session_made(
        &mut self,
        id: ConnectionId,
        (session_id, result): (SessionId, Result<RemoteId, RpcError>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        if session.link != Link::Creating(id) {
            return;
        }
        match result {
            Ok(remote) => {
                session.link = Link::Ready(id, remote.clone());
                if session.turns > 0 {
                    session.push(Entry::Note(Note::StartedAgain), out);
                }
                out.tell(Tell::SessionChanged(session_id));
                out.tell(Tell::Ready(session_id));
                self.deliver_held(id, &remote, out);
                self.next_prompt(session_id, out);
            }
            Err(error) => {
                let agent = session.launch.agent.clone();
                self.fail(session_id, Failure::Refused { agent, what: "session/new", error }, out);
                self.end_if_unused(id, out);
            }
        }
    }

    /// Ends a run that is of no use, telling its sessions why.
    fn end_with(&mut self, id: ConnectionId, failure: &Failure, out: &mut Outcome) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.phase = Phase::Ending;
        if let Some(tag) = connection.probe {
            out.tell(Tell::Probed { tag, result: Err(failure.clone()) });
        }
        out.effects.push(Effect::End(id));
        for session in self.sessions_on(id) {
            self.fail(session, failure.clone(), out);
        }
    }

    /// Ends a run that no session depends on any more.
    pub(super) fn end_if_unused(&mut self, id: ConnectionId, out: &mut Outcome) {
        if !self.sessions_on(id).is_empty() {
            return;
        }
        if let Some(connection) = self.connections.get_mut(&id)
            && connection.phase != Phase::Ending
        {
            connection.phase = Phase::Ending;
            out.effects.push(Effect::End(id));
        }
    }

    /// Takes the agent away from a session: what it was doing has failed.
    pub(super) fn fail(&mut self, id: SessionId, failure: Failure, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.link = Link::Failed(failure.clone());
        session.push(Entry::Failure(failure.clone()), out);
        session.abandon(&failure, out);
        out.tell(Tell::SessionChanged(id));
        out.tell(Tell::Failed { session: id, failure });
    }

    pub(super) fn kill(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get(&id) else { return };
        let agent = session.launch.agent.clone();
        if let Some(connection) = session.link.connection() {
            self.end_with(connection, &Failure::Killed { agent }, out);
        }
    }

    pub(super) fn restart(&mut self, id: SessionId, out: &mut Outcome) {
        self.kill(id, out);
        self.reconnect(id, out);
    }

    pub(super) fn wait_longer(&mut self, id: SessionId, out: &mut Outcome) {
        let connection = self.sessions.get(&id).and_then(|it| it.link.connection());
        if let Some(id) = connection
            && let Some(connection) = self.connections.get_mut(&id)
        {
            connection.expect_answer(id, out);
        }
    }

    pub(super) fn timer_fired(&mut self, timer: Timer, out: &mut Outcome) {
        let Timer::NoAnswer { connection: id, patience } = timer;
        let Some(connection) = self.connections.get(&id) else { return };
        if connection.patience != patience || connection.phase == Phase::Ending {
            return;
        }
        let what = match connection.phase {
            Phase::Ready(_) => "session/new",
            _ => "initialize",
        };
        let seconds = connection.launch.patience.as_secs();
        let failure = Failure::Silent { agent: connection.launch.agent.clone(), what };
        if connection.probe.is_some() {
            return self.end_with(id, &failure, out);
        }
        let waiting = [Link::Connecting(id), Link::Creating(id)];
        for session in self.sessions.values_mut().filter(|it| waiting.contains(&it.link)) {
            session.push(Entry::Failure(failure.clone()), out);
            out.tell(Tell::NoAnswer { session: session.id, what, seconds });
        }
    }

    pub(super) fn sessions_on(&self, id: ConnectionId) -> Vec<SessionId> {
        let on = self.sessions.values().filter(|it| it.link.connection() == Some(id));
        on.map(|it| it.id).collect()
    }
}

impl Connection {
    /// Starts the clock for the next answer; earlier clocks become stale.
    fn expect_answer(&mut self, id: ConnectionId, out: &mut Outcome) {
        self.patience += 1;
        let timer = Timer::NoAnswer { connection: id, patience: self.patience };
        out.effects.push(Effect::SetTimer { timer, after: self.launch.patience });
    }
}

impl Launch {
    /// The program, for messages.
    fn program(&self) -> &str {
        match &self.how {
            How::Program(command) => command.first().map_or("", String::as_str),
            How::Tutor { .. } => "tutor",
        }
    }
}

fn new_session(id: ConnectionId, session: SessionId, launch: &Launch, out: &mut Outcome) -> Link {
    let call = Call::NewSession { session, cwd: launch.cwd.clone() };
    out.effects.push(Effect::Call { connection: id, call });
    Link::Creating(id)
}
