//! What the reducer asks for, done. Nothing here waits: what takes time becomes a task that
//! reports to the core.

use std::path::Path;
use std::sync::Arc;

use super::agent::{Agent, Surroundings};
use super::ahead;
use super::core_loop::Core;
use super::diffs;
use super::disk::{self, DiskQuestion, NewText};
use super::input::Input;
use super::nofollow;
use super::outbox::Item;
use super::published::{PermissionInfo, Summary};
use super::real_paths;
use super::reviews::OnDisk;
use super::terminal::Running;
use super::timer;
use crate::protocol::peer::Peer;
use crate::session::audit::By;
use crate::session::effect::{Effect, Tell};
use crate::session::event::{Event, RealPath, Wish};
use crate::session::ids::{AskId, ConnectionId, SessionId};
use crate::session::paths;
use crate::session::question::{Body, FileRange, Permission, Question, Reaction};

impl Core {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Spawn { connection, launch } => {
                tracing::info!(%connection, agent = launch.agent, "starting");
                let (programs, inputs) = (self.programs.clone(), self.inputs.clone());
                let surroundings =
                    Surroundings { programs, inputs, switches: self.switches.clone() };
                let agent = Agent::start(connection, &launch, &surroundings);
                self.agents.insert(connection, (agent, Peer::new(connection)));
            }
            Effect::Call { connection, call } => {
                self.send(connection, |peer| Some(peer.call(call)));
            }
            Effect::CancelTurn { connection, remote } => {
                self.send(connection, |peer| Some(peer.cancel_turn(remote)));
            }
            Effect::CancelLogin(connection) => self.send(connection, |peer| peer.cancel_login()),
            Effect::Reply { reply, answer } => {
                self.send(reply.connection, |peer| Some(peer.reply(reply, &answer)));
            }
            Effect::End(connection) => {
                tracing::info!(%connection, "ending");
                self.agents.remove(&connection);
            }
            Effect::Resolve { ask, path, roots } => self.resolve(ask, path, roots),
            Effect::ResolvePaths(wanted) => real_paths::resolve(wanted, self.inputs.clone()),
            Effect::ReadDisk(ask, range) => self.disk.read(self.question(ask), range),
            Effect::WriteDisk { ask, path, text } => self.write_disk(ask, (path, text)),
            Effect::ListDisk(ask, path) => self.disk.list(self.question(ask), path),
            Effect::Save { session, tag, path, content } => {
                self.disk.save((session, tag), path, content);
            }
            Effect::RunCommand { key, command } => {
                tracing::debug!(terminal = &*key.terminal, command = command.command, "running");
                let inputs = self.inputs.clone();
                let running = Running::start(key.clone(), command, &self.programs, inputs);
                self.commands.insert(key, running);
            }
            Effect::KillCommand(key) => {
                tracing::debug!(terminal = &*key.terminal, "killing");
                self.commands.remove(&key);
            }
            Effect::Record { session, turn } => {
                if let Some(session) = self.state.session(session) {
                    self.rewind.before(session, turn);
                }
            }
            Effect::FindDiffs { session, tool_call, revision, texts } => {
                let inputs = self.inputs.clone();
                if let Some(found) = diffs::find((session, tool_call, revision), texts, inputs) {
                    self.apply(found);
                }
            }
            Effect::SetTimer { timer, after } => timer::set(timer, after, self.inputs.clone()),
            Effect::Audit(record) => self.audit.note(&record),
            Effect::Tell(tell) => self.tell(tell),
        }
    }

    fn send(&mut self, connection: ConnectionId, line: impl FnOnce(&mut Peer) -> Option<Vec<u8>>) {
        if let Some((agent, peer)) = self.agents.get_mut(&connection)
            && let Some(line) = line(peer)
        {
            agent.send(line);
        }
    }

    fn question(&self, ask: AskId) -> DiskQuestion {
        let session = self.state.session_of(ask).unwrap_or(SessionId(0));
        DiskQuestion { ask, session }
    }

    /// Where an open file is was found out when it was opened; if it is still there, nobody waits.
    fn resolve(&mut self, ask: AskId, path: String, roots: Vec<String>) {
        if self.is_open_file(ask, &path, &roots) {
            let real = RealPath { path, inside: true, repository: false };
            return self.apply(Event::Resolved { ask, real });
        }
        self.disk.resolve(self.question(ask), path, roots);
    }

    /// Whether a path is that of a file of the project that is open, with no link in it, and there
    /// is nothing else that must be known of it. It takes one look, which need not wait its turn.
    fn is_open_file(&self, ask: AskId, path: &str, roots: &[String]) -> bool {
        let (file, write) = (Path::new(path), self.state.write_of(ask).is_some());
        self.buffers.is_open(path, roots)
            && nofollow::is_regular(file)
            && !((write || paths::is_configuration(path)) && disk::is_in_repository(file))
    }

    /// Writes a file that is not open: what it was before can be brought back, and is shown.
    fn write_disk(&self, ask: AskId, (path, text): (String, Arc<str>)) {
        let write = self.state.write_of(ask);
        let session = write.as_ref().map_or(SessionId(0), |it| it.session);
        let touched = self.rewind.touched(session).unwrap_or_default();
        let inputs = self.inputs.clone();
        let name = path.clone();
        let new = NewText { path, text, seen: write.and_then(|it| it.seen) };
        self.disk.write(ask, new, move |path| {
            touched.note(path);
            let before = OnDisk::before(session, name);
            move |after| {
                let found = before.map(|it| Input::Found(vec![it.after(Some(after))]));
                if found.is_some_and(|it| inputs.blocking_send(it).is_err()) {
                    tracing::debug!("the core is gone");
                }
            }
        });
    }

    fn read_buffer(&self, range: &FileRange) -> Option<Reaction> {
        self.buffers.read(range, self.disk.most, |name| self.bases.on_disk(name))
    }

    /// An agent names a file: it may be about to change it. What is not in the session's folders is
    /// none of our business.
    fn touched(&self, session: SessionId, path: String) {
        let Some((touched, session)) =
            self.rewind.touched(session).zip(self.state.session(session))
        else {
            return;
        };
        let launch = &session.launch;
        let roots: Vec<String> =
            std::iter::once(&launch.cwd).chain(&launch.directories).cloned().collect();
        let path = session.absolute(&path);
        tokio::task::spawn_blocking(move || {
            let real = disk::resolve(&path, &roots);
            if real.inside {
                touched.note(Path::new(&real.path));
            }
        });
    }

    fn closed(&mut self, session: SessionId) {
        self.disk.close(session);
        self.watcher.end(session);
        self.bases.end(session);
        self.reviews.end(session);
        self.reviews.left(session);
        self.surfaces.close(session);
        self.switches.set_session(session, None);
        self.published.close(session);
    }

    /// Tells Neovim. What happened before in the chat is shown before.
    fn tell(&mut self, tell: Tell) {
        if let Tell::SessionChanged(id) = tell {
            if let Some(session) = self.state.session(id) {
                let summary = Summary::of(session);
                self.switches.set_session(id, session.link.connection());
                self.published.summary(summary.clone());
                self.outbox.push([Item::Session(summary)]);
            }
            return;
        }
        if let Tell::Asked(ask, Question { body: Body::Read(range), .. }) = &tell
            && let Some(reaction) = self.read_buffer(range)
        {
            let answer = Wish::Answer { ask: *ask, reaction, by: By::Api };
            return self.apply(Event::User(answer));
        }
        // What happened before in the chat is shown before, but for what has no place in it.
        if !tell.is_beside_the_chat() {
            self.show();
        }
        let tell = as_shown(tell);
        self.publish(&tell);
        match &tell {
            Tell::TurnStarted { session, .. } => {
                let session = *session;
                self.bases.begin(session);
                self.reviews.turn_begins(session);
                self.hand_over(tell);
                // Afterwards: an editor that knows of no turn does nothing about what is found.
                return self.watcher.begin(session);
            }
            Tell::TurnFinished { session, turn, .. } => {
                self.watcher.end(*session);
                if let Some(turn) = turn {
                    self.rewind.after(*session, *turn);
                }
            }
            Tell::Touched { session, path, .. } => {
                self.touched(*session, path.clone());
            }
            Tell::Worked(session) => self.rewind.look(*session),
            Tell::Ready(id) => {
                if let Some(session) = self.state.session(*id) {
                    self.rewind.list(session);
                    self.reviews.take_up(session);
                }
            }
            Tell::Closed(id) => self.closed(*id),
            _ => {}
        }
        self.hand_over(tell);
    }

    /// Lets any thread read what has changed.
    fn publish(&self, tell: &Tell) {
        match tell {
            Tell::SettingsChanged(id) | Tell::LoginRequired { session: id, .. } => {
                if let Some(session) = self.state.session(*id) {
                    self.published.set_settings(&self.state, session);
                }
            }
            Tell::QueueChanged(id) => {
                if let Some(session) = self.state.session(*id) {
                    self.published.set_queue(session);
                }
            }
            Tell::Asked(ask, Question { session, body: Body::Permission(permission) }) => {
                let (ask, session) = (*ask, *session);
                let permission = Permission::clone(permission);
                self.published.asked(PermissionInfo { ask, session, permission });
            }
            Tell::Settled { ask, .. } => self.published.settled(*ask),
            _ => {}
        }
    }

    /// What is to become of a buffer that a write is for is found out meanwhile.
    fn hand_over(&mut self, tell: Tell) {
        if let Tell::Asked(ask, Question { body: Body::Write { .. }, .. }) = &tell
            && let Some((ahead, wanted)) = ahead::of(*ask, &self.state, &self.buffers)
        {
            ahead::tell(ahead, tell, &self.outbox);
            return self.merge(wanted);
        }
        self.outbox.push([Item::Tell(tell)]);
    }
}

/// What Neovim is told of a question: no more than can be shown.
fn as_shown(tell: Tell) -> Tell {
    match tell {
        Tell::Asked(ask, Question { session, body: Body::Permission(permission) }) => {
            let body = Body::Permission(Box::new(permission.shown()));
            Tell::Asked(ask, Question { session, body })
        }
        tell => tell,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::mpsc::channel;
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::runtime::bell::Bell;
    use crate::runtime::outbox::Outbox;
    use crate::session::effect::Timer;
    use crate::session::event::{CommandLine, DiskError, Event};
    use crate::session::terminal::TerminalKey;

    #[tokio::test]
    async fn what_was_asked_for_comes_back() {
        let (sender, mut inputs) = channel(8);
        let outbox = Arc::new(Outbox::new(Bell::new(|| ())));
        let mut core = Core::new(outbox, Arc::default(), "/no/such".into(), sender);
        let range = FileRange { path: "/no/such".into(), line: None, limit: None };
        core.perform(Effect::ReadDisk(AskId(1), range));
        core.perform(Effect::ListDisk(AskId(2), "/no/such".into()));
        let (command, cwd) = ("true".to_owned(), Some("/".to_owned()));
        let command = CommandLine { command, args: vec![], env: vec![], cwd, limit: None };
        let key = TerminalKey { session: SessionId(1), terminal: "t".into() };
        core.perform(Effect::RunCommand { key, command });
        assert_eq!(core.commands.len(), 1);
        // Nobody has such an agent or such a command any more.
        core.perform(Effect::CancelLogin(ConnectionId(1)));
        let key = TerminalKey { session: SessionId(1), terminal: "u".into() };
        core.perform(Effect::KillCommand(key));
        let mut seen = Vec::new();
        while seen.len() < 3 {
            let input = timeout(Duration::from_secs(20), inputs.recv()).await.unwrap().unwrap();
            match &input {
                Input::Event(Event::Disk { ask, result: Err(DiskError::NotFound) }) => {
                    seen.push(ask.0);
                }
                Input::Event(Event::TerminalExited(_, Err(words))) => {
                    assert_eq!(words, "/no/such/acp-guard: no such file or directory");
                    seen.push(3);
                }
                other => panic!("{other:?}"),
            }
            core.take(input);
        }
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3]);
        assert!(core.commands.is_empty(), "an ended command is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn timers() {
        let (sender, mut inputs) = channel(8);
        let outbox = Arc::new(Outbox::new(Bell::new(|| ())));
        let mut core = Core::new(outbox, Arc::default(), "/no/such".into(), sender);
        let reconnect = Timer::Reconnect { session: SessionId(1), attempt: 1 };
        for (timer, least, most) in [(Timer::NoEditor(AskId(1)), 4.0, 4.01), (reconnect, 3.0, 5.01)]
        {
            let begin = Instant::now();
            core.perform(Effect::SetTimer { timer, after: Duration::from_secs(4) });
            let Some(Input::Event(Event::TimerFired(fired))) = inputs.recv().await else {
                panic!()
            };
            assert_eq!(fired, timer);
            let passed = begin.elapsed().as_secs_f64();
            assert!((least..most).contains(&passed), "{timer:?} after {passed} s");
        }
    }
}
