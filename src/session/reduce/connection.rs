//! Runs of agents: starting, being known, dying, and the sessions tied to them.

use std::collections::VecDeque;
use std::time::Duration;

use super::make::method;
use crate::session::agent::{AgentInfo, How, Launch};
use crate::session::effect::{Call, Effect, Tell, Timer};
use crate::session::entry::Entry;
use crate::session::failure::{Exit, Failure, RpcError, SpawnError};
use crate::session::ids::{ConnectionId, SessionId, Tag};
use crate::session::outcome::Outcome;
use crate::session::state::{Connection, Link, Phase, State, Turn};

/// How often a lost agent is sought before the session is given up.
const ATTEMPTS: u32 = 8;
/// The first pause between two attempts; each is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many lines are kept of what an agent prints before it speaks the protocol.
const PRINTED: usize = 8;

impl State {
    /// Ties a session to a run of its agent: a running one if there is one, else a new one.
    pub(super) fn connect(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let running = self.connections.iter_mut().find(|(_, it)| {
            it.launch == session.launch && it.probe.is_none() && it.phase != Phase::Ending
        });
        match running {
            Some((&connection, run)) if matches!(run.phase, Phase::Ready(_)) => {
                run.expect_answer(connection, out);
                session.link = Link::Connecting(connection);
                self.make(id, out);
            }
            Some((&connection, _)) => session.link = Link::Connecting(connection),
            None => {
                let launch = session.launch.clone();
                let connection = self.spawn(launch, None, out);
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.link = Link::Connecting(connection);
                }
            }
        }
        out.tell(Tell::SessionChanged(id));
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
            held_bytes: 0,
            served: Vec::new(),
            printed: VecDeque::new(),
        };
        connection.expect_answer(id, out);
        self.connections.insert(id, connection);
        id
    }

    pub(super) fn probe(&mut self, tag: Tag, launch: Launch, out: &mut Outcome) {
        self.spawn(launch, Some(tag), out);
    }

    pub(super) fn started(&mut self, id: ConnectionId, out: &mut Outcome) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.phase == Phase::Starting {
            connection.initialize(id, false, out);
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
        let Some(mut connection) = self.connections.remove(&id) else { return };
        let agent = connection.launch.agent.clone();
        let expected = connection.phase == Phase::Ending;
        let last_words = stderr.into_iter().chain(connection.printed.drain(..)).collect();
        let served = match expected {
            true => connection.served.clone(),
            false => self.sessions_on(id),
        };
        for session in served {
            out.tell(Tell::AgentExited { session, agent: agent.clone(), exit, expected });
        }
        let failure = match expected {
            true => Failure::Killed { agent },
            false => Failure::Died { agent, exit, last_words },
        };
        self.lost((id, connection), &failure, out);
    }

    /// An agent that ends before it speaks the protocol may say why in words for people. Later such
    /// lines are noise.
    pub(super) fn printed(&mut self, id: ConnectionId, line: String) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if let Phase::Starting | Phase::Initializing { .. } = connection.phase {
            connection.printed.push_back(line);
            if connection.printed.len() > PRINTED {
                connection.printed.pop_front();
            }
        }
    }

    /// A run of an agent is gone: whoever depended on it learns why, or seeks it again.
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
        let remote = matches!(connection.launch.how, How::Url(_));
        for session in self.sessions_on(id) {
            let sought = self
                .sessions
                .get(&session)
                .is_some_and(|it| it.remote.is_some() && it.attempts < ATTEMPTS);
            match remote && sought {
                true => self.seek(session, failure, out),
                false => self.fail(session, failure.clone(), out),
            }
        }
    }

    /// The way to an agent that runs elsewhere was lost: it is sought again after a pause.
    fn seek(&mut self, id: SessionId, failure: &Failure, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.attempts == 0 {
            session.push(Entry::Failure(failure.clone()), out);
        }
        session.attempts += 1;
        let attempt = session.attempts;
        session.link = Link::Lost { attempt };
        session.reattaching = true;
        out.tell(Tell::SessionChanged(id));
        self.drop_duties(id, out);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.end_turn_with(failure, out);
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(10)).min(LONGEST_PAUSE);
        let timer = Timer::Reconnect { session: id, attempt };
        out.effects.push(Effect::SetTimer { timer, after: pause });
    }

    pub(super) fn seek_again(&mut self, id: SessionId, attempt: u32, out: &mut Outcome) {
        if self.sessions.get(&id).is_some_and(|it| it.link == Link::Lost { attempt }) {
            self.connect(id, out);
        }
    }

    pub(super) fn initialized(
        &mut self,
        id: ConnectionId,
        result: Result<AgentInfo, RpcError>,
        out: &mut Outcome,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Phase::Initializing { old_form } = connection.phase else { return };
        let agent = connection.launch.agent.clone();
        let info = match result {
            Ok(info) if info.protocol == "1" => info,
            Ok(info) => {
                return self.end_with(id, &Failure::Version { agent, version: info.protocol }, out);
            }
            Err(error) if !old_form && wants_old_form(&error) => {
                return connection.initialize(id, true, out);
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
        connection.printed.clear();
        connection.expect_answer(id, out);
        for session in self.sessions_on(id) {
            self.make(session, out);
        }
    }

    /// Ends a run that is of no use, telling its sessions why.
    pub(super) fn end_with(&mut self, id: ConnectionId, failure: &Failure, out: &mut Outcome) {
        let served = self.end(id, out);
        if let Some(tag) = self.connections.get(&id).and_then(|it| it.probe) {
            out.tell(Tell::Probed { tag, result: Err(failure.clone()) });
        }
        for session in served {
            self.fail(session, failure.clone(), out);
        }
    }

    /// Ends a run that no session depends on any more.
    pub(super) fn end_if_unused(&mut self, id: ConnectionId, out: &mut Outcome) {
        if self.sessions_on(id).is_empty() {
            self.end(id, out);
        }
    }

    /// Tells a run to end, once; the sessions it served.
    pub(super) fn end(&mut self, id: ConnectionId, out: &mut Outcome) -> Vec<SessionId> {
        let served = self.sessions_on(id);
        let Some(connection) = self.connections.get_mut(&id) else { return served };
        if connection.phase == Phase::Ending {
            return served;
        }
        if let Phase::Ready(info) = &connection.phase
            && info.can.wants_shutdown
        {
            out.effects.push(Effect::Call { connection: id, call: Call::Shutdown });
        }
        connection.phase = Phase::Ending;
        connection.served.clone_from(&served);
        out.effects.push(Effect::End(id));
        served
    }

    /// Takes the agent away from a session: what it was doing has failed.
    pub(super) fn fail(&mut self, id: SessionId, failure: Failure, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.link = Link::Failed(failure.clone());
        session.reattaching = session.remote.is_some() && !session.entries.is_empty();
        session.say_once(failure.clone(), out);
        // Whoever hears that a prompt is done with finds the session's state as it is now.
        out.tell(Tell::SessionChanged(id));
        self.drop_duties(id, out);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.abandon(&failure, out);
        }
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
        self.connect(id, out);
    }

    pub(super) fn wait_longer(&mut self, id: SessionId, out: &mut Outcome) {
        if let Some(session) = self.sessions.get_mut(&id)
            && let Turn::Cancelling(running) = &mut session.turn
        {
            running.waits += 1;
            return session.expect_stop(out);
        }
        let connection = self.sessions.get(&id).and_then(|it| it.link.connection());
        if let Some(id) = connection
            && let Some(connection) = self.connections.get_mut(&id)
        {
            connection.expect_answer(id, out);
        }
    }

    pub(super) fn no_answer(&mut self, id: ConnectionId, patience: u32, out: &mut Outcome) {
        let Some(connection) = self.connections.get(&id) else { return };
        if connection.patience != patience || connection.phase == Phase::Ending {
            return;
        }
        let seconds = connection.launch.patience.as_secs();
        let agent = connection.launch.agent.clone();
        if connection.probe.is_some() {
            return self.end_with(id, &Failure::Silent { agent, what: "initialize" }, out);
        }
        for session in self.sessions.values_mut() {
            let what = match &session.link {
                Link::Connecting(waits_for) if *waits_for == id => "initialize",
                Link::Creating(waits_for, how) if *waits_for == id => method(how),
                _ => continue,
            };
            session.push(Entry::Failure(Failure::Silent { agent: agent.clone(), what }), out);
            out.tell(Tell::NoAnswer { session: session.id, what, seconds });
        }
    }

    pub(super) fn sessions_on(&self, id: ConnectionId) -> Vec<SessionId> {
        let on = self.sessions.values().filter(|it| it.link.connection() == Some(id));
        on.map(|it| it.id).collect()
    }
}

/// An agent of an old dialect calls today's form of `initialize` wrong in one of these ways.
fn wants_old_form(error: &RpcError) -> bool {
    [RpcError::INVALID_REQUEST, RpcError::INVALID_PARAMS, RpcError::INTERNAL].contains(&error.code)
}

impl Connection {
    fn initialize(&mut self, id: ConnectionId, old_form: bool, out: &mut Outcome) {
        self.phase = Phase::Initializing { old_form };
        out.effects.push(Effect::Call { connection: id, call: Call::Initialize { old_form } });
    }

    /// Starts the clock for the next answer; earlier clocks become stale.
    pub(super) fn expect_answer(&mut self, id: ConnectionId, out: &mut Outcome) {
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
            How::Url(url) => url,
            How::Tutor { .. } => "tutor",
        }
    }
}
