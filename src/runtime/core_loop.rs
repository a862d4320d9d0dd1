//! The loop: what happened → [`State::apply`] → what follows (`perform`) → what changed on the
//! screen.
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
use super::disk::Disk;
use super::input::Input;
use super::outbox::{Item, Outbox};
use super::published::Published;
use super::terminal::Running;
use crate::protocol::peer::Peer;
use crate::session::event::{Event, Happened, Wish};
use crate::session::failure::Exit;
use crate::session::ids::{ConnectionId, SessionId};
use crate::session::outcome::Outcome;
use crate::session::state::State;
use crate::session::tool_call::TerminalId;
use crate::view::screen::Screen;

/// The least time between two frames: about 60 a second.
const FRAME: Duration = Duration::from_millis(16);
/// How long the agents' last lines may take to be written when Neovim goes.
const LAST_LINES: Duration = Duration::from_millis(60);

/// What comes from Neovim.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "few at a time, moved once")]
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
    pub(super) state: State,
    pub(super) agents: BTreeMap<ConnectionId, (Agent, Peer)>,
    /// Commands that run for agents.
    pub(super) commands: BTreeMap<TerminalId, Running>,
    pub(super) disk: Disk,
    pub(super) screens: BTreeMap<SessionId, Screen>,
    /// What has changed since it was last shown or published.
    dirty: BTreeMap<SessionId, BTreeSet<usize>>,
    last_frame: Instant,
    pub(super) outbox: Arc<Outbox>,
    pub(super) published: Arc<Published>,
    pub(super) programs: PathBuf,
    pub(super) inputs: Sender<Input>,
}

impl Core {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        published: Arc<Published>,
        programs: PathBuf,
        inputs: Sender<Input>,
    ) -> Core {
        Core {
            state: State::default(),
            agents: BTreeMap::new(),
            commands: BTreeMap::new(),
            disk: Disk::new(inputs.clone()),
            screens: BTreeMap::new(),
            dirty: BTreeMap::new(),
            last_frame: Instant::now(),
            outbox,
            published,
            programs,
            inputs,
        }
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
                () = outbox.emptied(), if !self.dirty.is_empty() && !showable => {}
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

    pub(super) fn take(&mut self, input: Input) {
        match input {
            Input::Event(event) => {
                if let Event::TerminalExited(terminal, _) = &event {
                    self.commands.remove(terminal);
                }
                self.apply(event);
            }
            Input::Happened(id, happened) => self.happened(id, happened),
            Input::Bytes(id, bytes) => self.read(id, |peer, each| peer.receive(&bytes, each)),
        }
    }

    fn happened(&mut self, id: ConnectionId, happened: Happened) {
        if let Happened::Exited { .. } | Happened::NotStarted(_) = happened {
            self.read(id, Peer::finish);
            if self.agents.remove(&id).is_some() {
                tracing::warn!(connection = %id, ?happened, "an agent ended by itself");
            }
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

    /// Publishes and shows what has changed.
    pub(super) fn show(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
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

    /// Says the last words to the agents, closes their stdins, ends all commands, and goes.
    async fn shutdown(mut self, done: std::sync::mpsc::Sender<()>) {
        self.apply(Event::Shutdown);
        let any = !self.agents.is_empty() || !self.commands.is_empty();
        self.agents.clear();
        self.commands.clear();
        if any {
            sleep(LAST_LINES).await;
        }
        if done.send(()).is_err() {
            tracing::debug!("Neovim did not wait for us");
        }
    }
}
