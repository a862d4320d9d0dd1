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
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::action::Action;
use super::agent::Agent;
use super::audit::Audit;
use super::bases::{self, Bases, InStep};
use super::buffers::{BufferId, Buffers, Known, News};
use super::disk::Disk;
use super::git;
use super::input::Input;
use super::kill_switch::KillSwitches;
use super::log::limit;
use super::merging::{self, Of, Plan, Refusal, Sides, Wanted};
use super::outbox::Outbox;
use super::placing;
use super::published::Published;
use super::reviews::{OnDisk, Reviews, Which};
use super::rewind::{self, Rewind};
use super::surfaces::Surfaces;
use super::taking_back::Held;
use super::terminal::Running;
use super::watcher::Watcher;
use crate::changes::mirror::Mirror;
use crate::protocol::peer::Peer;
use crate::session::event::{Event, Happened, Wish};
use crate::session::failure::Exit;
use crate::session::ids::{ConnectionId, SessionId};
use crate::session::outcome::Outcome;
use crate::session::state::{State, Turn};
use crate::session::terminal::TerminalKey;

/// The least time between two frames: about 60 a second.
const FRAME: Duration = Duration::from_millis(16);
/// How often what is under way says how long it takes.
const TICK: Duration = Duration::from_secs(1);
/// So many bytes with no end of a line are part of something long. The editor is asked to come
/// before it is all there: it is often busy for some milliseconds.
const LONG: usize = 32 << 10;
/// How long the agents' last lines may take to be written when Neovim goes.
const LAST_LINES: Duration = Duration::from_millis(60);
/// And what is under review, beyond that: on a busy disk, a while is better than to lose it.
const LAST_REVIEWS: Duration = Duration::from_secs(1);

/// Everything the core thread owns.
pub(super) struct Core {
    pub(super) state: State,
    pub(super) agents: BTreeMap<ConnectionId, (Agent, Peer)>,
    /// Commands that run for agents.
    pub(super) commands: BTreeMap<TerminalKey, Running>,
    pub(super) disk: Disk,
    pub(super) audit: Audit,
    pub(super) bases: Arc<Bases>,
    pub(super) buffers: Buffers,
    pub(super) reviews: Reviews,
    held: Held,
    pub(super) watcher: Watcher,
    pub(super) rewind: Rewind,
    pub(super) surfaces: Surfaces,
    /// When the core was started; times are counted from here.
    began: Instant,
    /// What has changed since it was last shown or published.
    dirty: BTreeMap<SessionId, BTreeSet<usize>>,
    last_frame: Instant,
    last_tick: Instant,
    pub(super) outbox: Arc<Outbox>,
    pub(super) published: Arc<Published>,
    pub(super) programs: PathBuf,
    pub(super) switches: Arc<KillSwitches>,
    pub(super) inputs: Sender<Input>,
}

impl Core {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        published: Arc<Published>,
        programs: PathBuf,
        inputs: Sender<Input>,
    ) -> Core {
        let bases: Arc<Bases> = Arc::default();
        Core {
            state: State::default(),
            agents: BTreeMap::new(),
            commands: BTreeMap::new(),
            disk: Disk::new(inputs.clone()),
            audit: Audit::default(),
            watcher: Watcher::new(bases.clone(), outbox.clone()),
            rewind: Rewind::new(inputs.clone(), outbox.clone(), bases.clone()),
            bases,
            buffers: Buffers::default(),
            reviews: Reviews::new(outbox.clone(), published.clone(), inputs.clone()),
            held: Held::default(),
            surfaces: Surfaces::new(outbox.clone()),
            began: Instant::now(),
            dirty: BTreeMap::new(),
            last_frame: Instant::now(),
            last_tick: Instant::now(),
            outbox,
            published,
            programs,
            switches: Arc::default(),
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
            let stale = !self.dirty.is_empty() || self.reviews.is_dirty();
            let showable = stale && outbox.is_empty();
            tokio::select! {
                biased;
                action = actions.recv() => match action {
                    Some(Action::Shutdown(done)) => return self.shutdown(done).await,
                    Some(action) => self.guarded(None, |core| core.act(action)),
                    None => return,
                },
                () = sleep_until(frame), if showable => self.guarded(None, Core::show),
                () = sleep_until(self.last_tick + TICK), if self.is_live() => self.tick(),
                Some(input) = inputs.recv() => {
                    let of = input.connection();
                    self.guarded(of, |core| core.take(input));
                }
                () = outbox.emptied(), if stale && !showable => {}
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
            Action::Show(id, surface) => {
                if let Some(session) = self.state.session(id) {
                    self.surfaces.show(session, surface);
                }
            }
            Action::Hide(surface) => self.surfaces.hide(surface),
            Action::Detail(surface, wish) => {
                self.surfaces.detail(surface, wish, &self.state);
            }
            Action::Look(look) => self.surfaces.set_look(look, &self.state),
            Action::Toggle { surface, entry, open } => {
                self.surfaces.toggle(surface, (entry, open), &self.state);
            }
            Action::Merge(wanted) => self.merge(*wanted),
            Action::Buffer(news) => self.news(news),
            Action::Accept(chosen) => self.reviews.accept(&chosen),
            Action::RejectFile(tag, path, which) => self.reviews.reject_file(tag, &path, &which),
            Action::TakingBack(it) => {
                let of = (&self.buffers, &self.reviews);
                self.held.take(it, of, (&self.bases, &self.outbox));
            }
            Action::Keep(config) => self.reviews.set(config),
            Action::HunksAgain(path) => self.reviews.again(&path),
            Action::Track(files) => self.track(files),
            Action::Place(wanted) => placing::start(*wanted, &self.state, self.outbox.clone()),
            Action::MaxRead(bytes) => self.disk.most = bytes,
            Action::Forget(path) => self.bases.forget(&path),
            Action::Check(tag, paths) => self.bases.check(tag, paths, self.outbox.clone()),
            Action::Lost(lost) => self.lost(lost),
            Action::Rewind(wanted) => self.rewind(wanted),
            Action::Git(question) => git::start(question, self.outbox.clone()),
            Action::Ping(asker) => {
                if asker.send(()).is_err() {
                    tracing::debug!("whoever asked is gone");
                }
            }
            Action::Shutdown(_) => {}
        }
    }

    /// The editor tells of a buffer; what is under review learns of it.
    fn news(&mut self, news: News) {
        let Some(id) = news.buffer() else { return self.buffers.take(news) };
        if let (News::Lines(splice), Some((known, copy))) = (&news, self.buffers.get(id)) {
            self.reviews.lines(splice, known, copy);
        }
        match &news {
            News::Tick(_, tick) => self.reviews.tick(id, *tick),
            News::Known(..) => self.reviews.rests(id),
            News::Gone(_) => self.reviews.closed(id),
            _ => {}
        }
        let seed = matches!(news, News::Seed(_) | News::Empty(..));
        self.buffers.take(news);
        if let (true, Some((known, Some(copy)))) = (seed, self.buffers.get(id)) {
            self.reviews.read(id, known, copy);
            if !known.modified {
                self.compare(id, (known.clone(), copy.clone()));
            }
        }
    }

    /// Looks whether a buffer that was just copied or written has what its file has.
    fn compare(&self, id: BufferId, (known, copy): (Known, Mirror)) {
        let inputs = self.inputs.clone();
        tokio::task::spawn_blocking(move || {
            let Ok((stamp, text)) = bases::read(&known.path) else { return };
            let same = *text == *copy.slice(1, None, known.format);
            let news = Input::Buffer(News::InStep(id, copy, stamp));
            if same && inputs.blocking_send(news).is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    fn track(&mut self, mut files: Vec<InStep>) {
        for file in &mut files {
            let Some((buffer, by_user)) = file.written else {
                let buffer = file.buffer.and_then(|it| Some((it, self.buffers.get(it)?.0)));
                let as_read = buffer.filter(|it| !it.1.modified);
                file.likely = as_read.and_then(|it| self.buffers.text(it.0));
                continue;
            };
            file.text = self.buffers.text(buffer);
            if let Some((known, Some(copy))) = self.buffers.get(buffer) {
                self.compare(buffer, (known.clone(), copy.clone()));
                if let (true, Some(text)) = (by_user, &file.text) {
                    self.reviews.saved(buffer, (known, copy), text.0.text());
                }
            }
        }
        let paths: Vec<_> =
            files.iter().map(|it| (it.path.clone(), it.written.is_some())).collect();
        self.bases.track(files);
        for (path, written) in paths {
            self.watcher.open(&path);
            if written {
                self.watcher.saved(&path);
            }
        }
    }

    fn rewind(&mut self, mut wanted: rewind::Wanted) {
        wanted.fill(&self.buffers);
        match wanted {
            rewind::Wanted::Config(config) => {
                let recorded = config.is_some();
                self.rewind.set(config);
                self.apply(Event::User(Wish::SetRewind(recorded)));
            }
            rewind::Wanted::Has(session, turn, having) => self.rewind.has(session, turn, having),
            rewind::Wanted::To { session, .. } => {
                self.rewind.to(self.state.session(session), wanted);
            }
            rewind::Wanted::Done(tag, having) => {
                self.rewind.done(tag, having);
                self.reviews.refresh();
            }
        }
    }

    pub(super) fn merge(&mut self, mut wanted: Wanted) {
        if let Some(buffer) = wanted.text_of {
            match self.buffers.copy(buffer, wanted.live.tick) {
                Some(copy) => wanted.copy = Some(copy.clone()),
                None => return self.outbox.push([wanted.refused(Refusal::NoCopy)]),
            }
        }
        let sides = match &wanted.of {
            Of::Disk(path) => Sides::Disk(path.clone()),
            Of::Review(which) => return self.reject(&wanted, which),
            Of::Rewind(tag, path) => match self.rewind.sides(*tag, path) {
                Some((base, theirs)) => Sides::Given(base, theirs),
                None => return,
            },
            Of::Write(ask, name) => match self.state.write_of(*ask) {
                Some(it) => {
                    let begun = self.bases.at_begin(it.session, name);
                    Sides::Write { name: name.clone(), seen: it.seen, begun, theirs: it.text }
                }
                // Answered or withdrawn meanwhile, and the editor has been told.
                None => return,
            },
        };
        merging::start(wanted, sides, self.bases.clone(), self.outbox.clone());
    }

    /// Rejects hunks of an open file: the editor makes the edits.
    fn reject(&self, wanted: &Wanted, which: &Which) {
        let (tag, live) = (wanted.tag, &wanted.live);
        let edits = wanted.text_of.and_then(|id| self.reviews.rejection(id, live.tick, which));
        let item = match edits {
            Some((edits, format)) => wanted.planned(Plan::of_edits(edits, format, live)),
            None => wanted.refused(Refusal::NoCopy),
        };
        tracing::debug!(tag, ?which, "rejecting");
        self.outbox.push([item]);
    }

    pub(super) fn take(&mut self, input: Input) {
        match input {
            Input::Event(event) => {
                if let Event::TerminalExited(key, _) = &event {
                    self.commands.remove(key);
                }
                self.apply(event);
            }
            Input::Happened(id, happened) => self.happened(id, happened),
            Input::Buffer(news) => self.news(news),
            Input::Found(changes) => self.found(changes),
            Input::Closed(path, text) => self.reviews.found_closed(&path, text.as_deref()),
            Input::Rejected(rejected) => self.reviews.rejected(rejected),
            Input::Keep => self.reviews.keep(),
            Input::Kept(ready, kept) => self.reviews.taken_up(ready, kept, &self.buffers),
            Input::Bytes(id, bytes) => {
                if bytes.len() >= LONG && memchr::memchr(b'\n', &bytes).is_none() {
                    self.outbox.ring();
                }
                self.read(id, |peer, each| peer.receive(&bytes, each));
            }
        }
    }

    /// What happens to an open file is told by its buffer.
    fn found(&mut self, changes: Vec<OnDisk>) {
        let mut closed = Vec::new();
        for change in changes {
            match self.buffers.copy_of(&change.path) {
                Some((id, known, copy)) => self.reviews.found_open(change, known, (id, copy)),
                None => closed.push(change),
            }
        }
        self.reviews.found(closed);
        self.reviews.look_again();
    }

    fn happened(&mut self, id: ConnectionId, happened: Happened) {
        if let Happened::Exited { .. } | Happened::NotStarted(_) = happened {
            self.read(id, Peer::finish);
            limit::forget(id);
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
        state.apply(Event::Clock(self.began.elapsed()), &mut out);
        limit::on_behalf(id, || {
            read(peer, &mut |happened| {
                state.apply(Event::Agent { connection: id, happened }, &mut out);
            });
        });
        limit::on_behalf(id, || self.follow(out));
    }

    pub(super) fn apply(&mut self, event: Event) {
        let mut out = Outcome::default();
        self.state.apply(Event::Clock(self.began.elapsed()), &mut out);
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

    /// Whether something is shown that says how long it takes.
    fn is_live(&self) -> bool {
        let mut sessions = self.surfaces.sessions();
        sessions.any(|id| self.state.session(id).is_some_and(|it| it.turn != Turn::Idle))
    }

    /// What is under way says how long it takes, and that has changed.
    fn tick(&mut self) {
        self.last_tick = Instant::now();
        let shown: BTreeSet<SessionId> = self.surfaces.sessions().collect();
        self.apply(Event::Clock(self.began.elapsed()));
        for session in shown.into_iter().filter_map(|id| self.state.session(id)) {
            self.dirty.entry(session.id).or_default().extend(session.live());
        }
    }

    /// Publishes and shows what has changed.
    pub(super) fn show(&mut self) {
        if self.dirty.is_empty() && !self.reviews.is_dirty() {
            return;
        }
        self.last_frame = Instant::now();
        self.reviews.tell();
        for (id, entries) in std::mem::take(&mut self.dirty) {
            let Some(session) = self.state.session(id) else { continue };
            for index in &entries {
                self.published.entry(session, *index);
            }
            self.surfaces.update(session, &entries);
        }
    }

    /// Says the last words to the agents, closes their stdins, ends all commands, and goes.
    async fn shutdown(mut self, done: std::sync::mpsc::Sender<()>) {
        let kept = self.reviews.keep_last();
        self.apply(Event::Shutdown);
        let any = !self.agents.is_empty() || !self.commands.is_empty();
        self.agents.clear();
        self.commands.clear();
        if any {
            sleep(LAST_LINES).await;
        }
        if let Some(kept) = kept
            && timeout(LAST_REVIEWS, kept).await.is_err()
        {
            tracing::warn!("what is under review could not be kept in time");
        }
        // Waits until all is written.
        drop(std::mem::take(&mut self.audit));
        if done.send(()).is_err() {
            tracing::debug!("Neovim did not wait for us");
        }
    }
}
