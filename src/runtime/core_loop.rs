//! The loop: what happened → [`State::apply`] → what follows → what changed on the screen.
//!
//! Everything that waits already is taken in before anything is shown, and nothing is shown while
//! Neovim has not fetched what it was shown last: the core runs at its own speed, Neovim at its.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver};
use tokio::time::{Instant, sleep, sleep_until};

use super::agent::Agent;
use super::outbox::{Item, Outbox};
use super::published::{Published, Summary};
use crate::protocol::peer::Peer;
use crate::session::effect::{Effect, Tell};
use crate::session::event::{Event, Happened, Wish};
use crate::session::failure::Exit;
use crate::session::ids::{ConnectionId, SessionId};
use crate::session::outcome::Outcome;
use crate::session::state::State;
use crate::view::screen::Screen;

/// The least time between two frames: about 60 a second.
const FRAME: Duration = Duration::from_millis(16);
/// How long the agents' last lines may take to be written when Neovim goes.
const LAST_LINES: Duration = Duration::from_millis(60);

/// What comes from the world.
#[derive(Debug)]
pub(super) enum Input {
    /// Bytes from an agent.
    Bytes(ConnectionId, Vec<u8>),
    /// Something else happened to an agent.
    Happened(ConnectionId, Happened),
    /// Time has passed.
    Event(Event),
}

/// What comes from Neovim.
#[derive(Debug)]
pub enum Action {
    /// The user wants something.
    Wish(Wish),
    /// A transcript is to be shown, from the beginning.
    Show(SessionId),
    /// A transcript is shown no more.
    Hide(SessionId),
    /// Neovim is going; answer when everything is said.
    Shutdown(std::sync::mpsc::Sender<()>),
}

/// Everything the core thread owns.
pub(super) struct Core {
    state: State,
    agents: BTreeMap<ConnectionId, (Agent, Peer)>,
    screens: BTreeMap<SessionId, Screen>,
    /// What has changed since it was last shown or published.
    dirty: BTreeMap<SessionId, BTreeSet<usize>>,
    last_frame: Instant,
    pub(super) outbox: Arc<Outbox>,
    pub(super) published: Arc<Published>,
    pub(super) programs: PathBuf,
    inputs: Sender<Input>,
}

impl Core {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        published: Arc<Published>,
        programs: PathBuf,
        inputs: Sender<Input>,
    ) -> Core {
        let (state, agents, screens, dirty) = Default::default();
        let last_frame = Instant::now();
        Core { state, agents, screens, dirty, last_frame, outbox, published, programs, inputs }
    }

    /// Runs until Neovim goes.
    pub(super) async fn run(
        mut self,
        mut actions: UnboundedReceiver<Action>,
        mut inputs: Receiver<Input>,
    ) {
        let outbox = self.outbox.clone();
        loop {
            let frame = self.last_frame + FRAME;
            let showable = !self.dirty.is_empty() && outbox.is_empty();
            tokio::select! {
                biased;
                action = actions.recv() => match action {
                    Some(Action::Shutdown(done)) => return self.shutdown(done).await,
                    Some(action) => self.guarded(None, |core| core.act(action)),
                    None => return,
                },
                () = sleep_until(frame), if showable => self.guarded(None, Core::show),
                Some(input) = inputs.recv() => {
                    let of = input.connection();
                    self.guarded(of, |core| core.take(input));
                }
                () = outbox.emptied() => {}
            }
        }
    }

    /// A panic ends one agent, not the core and not Neovim.
    fn guarded(&mut self, connection: Option<ConnectionId>, work: impl FnOnce(&mut Core)) {
        if catch_unwind(AssertUnwindSafe(|| work(self))).is_ok() {
            return;
        }
        if let Some(id) = connection {
            let happened = Happened::Exited { exit: Exit::Closed, stderr: Vec::new() };
            let work = AssertUnwindSafe(|| self.happened(id, happened));
            if catch_unwind(work).is_err() {
                tracing::error!(connection = %id, "the agent could not be given up");
            }
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Wish(wish) => self.apply(Event::User(wish)),
            Action::Show(id) => {
                let Some(session) = self.state.session(id) else { return };
                let mut patches = Vec::new();
                self.screens.entry(id).or_default().render_all(session, &mut patches);
                self.outbox.push(patches.into_iter().map(|patch| Item::Patch(id, patch)));
            }
            Action::Hide(id) => {
                self.screens.remove(&id);
            }
            Action::Shutdown(_) => {}
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Event(event) => self.apply(event),
            Input::Happened(id, happened) => self.happened(id, happened),
            Input::Bytes(id, bytes) => self.read(id, |peer, each| peer.receive(&bytes, each)),
        }
    }

    fn happened(&mut self, id: ConnectionId, happened: Happened) {
        if let Happened::Exited { .. } | Happened::NotStarted(_) = happened {
            self.read(id, Peer::finish);
            self.agents.remove(&id);
        }
        self.apply(Event::Agent { connection: id, happened });
    }

    /// Lets an agent's peer read, and takes in what it understood, all before anything is done
    /// about it.
    fn read(&mut self, id: ConnectionId, read: impl FnOnce(&mut Peer, &mut dyn FnMut(Happened))) {
        let Some((_, peer)) = self.agents.get_mut(&id) else { return };
        let mut out = Outcome::default();
        let state = &mut self.state;
        read(peer, &mut |happened| {
            state.apply(Event::Agent { connection: id, happened }, &mut out);
        });
        self.follow(out);
    }

    fn apply(&mut self, event: Event) {
        let mut out = Outcome::default();
        self.state.apply(event, &mut out);
        self.follow(out);
    }

    /// Does what follows.
    fn follow(&mut self, out: Outcome) {
        for (session, entry) in out.dirty {
            self.dirty.entry(session).or_default().insert(entry);
        }
        for effect in out.effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Spawn { connection, launch } => {
                tracing::info!(%connection, agent = launch.agent, "starting");
                let agent = Agent::start(connection, &launch, &self.programs, self.inputs.clone());
                self.agents.insert(connection, (agent, Peer::new(connection)));
            }
            Effect::Call { connection, call } => {
                self.send(connection, |peer| peer.call(call));
            }
            Effect::CancelTurn { connection, remote } => {
                self.send(connection, |peer| peer.cancel_turn(remote));
            }
            Effect::Reply { reply, answer } => {
                self.send(reply.connection, |peer| peer.reply(reply, &answer));
            }
            Effect::End(connection) => {
                tracing::info!(%connection, "ending");
                self.agents.remove(&connection);
            }
            Effect::SetTimer { timer, after } => {
                let inputs = self.inputs.clone();
                tokio::spawn(async move {
                    sleep(after).await;
                    if inputs.send(Input::Event(Event::TimerFired(timer))).await.is_err() {
                        tracing::debug!("a timer outlived the core");
                    }
                });
            }
            Effect::Tell(tell) => self.tell(tell),
        }
    }

    fn send(&mut self, connection: ConnectionId, line: impl FnOnce(&mut Peer) -> Vec<u8>) {
        if let Some((agent, peer)) = self.agents.get_mut(&connection) {
            agent.send(line(peer));
        }
    }

    /// Tells Neovim. What happened before in the chat is shown before.
    fn tell(&mut self, tell: Tell) {
        if let Tell::SessionChanged(id) = tell {
            if let Some(session) = self.state.session(id) {
                let summary = Summary::of(session);
                self.published.summary(summary.clone());
                self.outbox.push([Item::Session(summary)]);
            }
            return;
        }
        self.show();
        if let Tell::Closed(id) = tell {
            self.screens.remove(&id);
            self.published.close(id);
        }
        self.outbox.push([Item::Tell(tell)]);
    }

    /// Publishes and shows what has changed.
    fn show(&mut self) {
        self.last_frame = Instant::now();
        for (id, entries) in std::mem::take(&mut self.dirty) {
            let Some(session) = self.state.session(id) else { continue };
            let mut patches = Vec::new();
            for index in entries {
                self.published.entry(session, index);
                if let Some(screen) = self.screens.get_mut(&id) {
                    screen.update(session, index, &mut patches);
                }
            }
            if !patches.is_empty() {
                self.outbox.push(patches.into_iter().map(|patch| Item::Patch(id, patch)));
            }
        }
    }

    /// Says the last words to the agents, closes their stdins, and goes.
    async fn shutdown(mut self, done: std::sync::mpsc::Sender<()>) {
        self.apply(Event::Shutdown);
        let any = !self.agents.is_empty();
        self.agents.clear();
        if any {
            sleep(LAST_LINES).await;
        }
        if done.send(()).is_err() {
            tracing::debug!("Neovim did not wait for us");
        }
    }
}

impl Input {
    fn connection(&self) -> Option<ConnectionId> {
        match self {
            Input::Bytes(id, _) | Input::Happened(id, _) => Some(*id),
            Input::Event(_) => None,
        }
    }
}
