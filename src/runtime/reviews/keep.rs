//! What is under review outlives Neovim: it is written down some time after it has changed and when
//! Neovim goes, and taken up again when a session of the same project is ready.
//!
//! Knows when, and whose. How it is written is known by `store`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::file::{File, lines_of};
use super::store::{Config, Folder, LARGE, Record, Side, now_in_seconds};
use super::{Kind, Reviews};
use crate::changes::format::{Ending, Format, split};
use crate::changes::mirror::Mirror;
use crate::changes::review::Review;
use crate::runtime::buffers::Buffers;
use crate::runtime::disk;
use crate::runtime::input::Input;
use crate::runtime::outbox::Item;
use crate::session::event::DiskError;
use crate::session::ids::SessionId;
use crate::session::question::FileRange;
use crate::session::state::Session;

/// How long a change waits for others before it is written down. What happens in between is lost
/// when Neovim is killed.
const PAUSE: Duration = Duration::from_millis(200);

/// Of the time no more than one part in so many is spent with writing.
const SHARE: u32 = 20;

/// A session whose changes are kept.
#[derive(Debug, Clone)]
struct Whose {
    agent: String,
    remote: String,
    folder: Folder,
    open: bool,
}

/// Where a file under review is written down.
#[derive(Debug, Clone)]
struct Home {
    whose: Whose,
    /// When an agent changed it last.
    time: u64,
}

/// Something to be done on the disk.
#[derive(Debug)]
enum Job {
    Put(Folder, Box<Draft>),
    Remove(Folder, String),
}

/// A record whose texts are still lines.
#[derive(Debug)]
struct Draft {
    path: String,
    kind: Kind,
    base: (Mirror, Format),
    now: (Mirror, Format),
    home: Home,
}

impl Draft {
    fn record(&self) -> Record {
        let sides = (Side::new(&self.base.0, self.base.1), Side::new(&self.now.0, self.now.1));
        let Home { whose, time } = &self.home;
        let mut record = Record::new(self.path.clone(), self.kind, sides);
        (record.agent, record.remote) = (whose.agent.clone(), whose.remote.clone());
        record.time = *time;
        record
    }
}

/// A file that was under review when another Neovim went, and what the disk has of it.
#[derive(Debug)]
pub struct Kept {
    record: Record,
    disk: Result<String, DiskError>,
}

impl Kept {
    fn new(record: Record) -> Kept {
        let range = FileRange { path: record.path.clone(), line: None, limit: None };
        Kept { disk: disk::read(&range), record }
    }

    /// The review, with what there is now: in a buffer, or else on the disk. Nothing if the file
    /// is none of which it could be a review.
    fn file(&self, buffers: &Buffers, who: u64) -> Option<File> {
        let Record { path, base, now: then, .. } = &self.record;
        let (kind, was) = (self.record.kind(), base.format());
        let restore = |now| Review::restore(base.mirror(), then.mirror(), now, who);
        if let (Kind::Deleted, Ok(_)) = (kind, &self.disk) {
            return None;
        }
        let open = buffers.copy_of(path).filter(|_| kind != Kind::Deleted);
        let mut file = if let Some((id, known, copy)) = open {
            let mut file = File::new(restore(copy.clone()), kind, was).opened(id, &known.name);
            file.format = known.format;
            file
        } else {
            let (now, format) = match (&self.disk, then.format()) {
                (Ok(text), Format { ending: Ending::Cr, .. }) => {
                    let split = split(text, Ending::Cr);
                    (Mirror::new(0, split.lines.iter().map(AsRef::as_ref)), split.format)
                }
                (Ok(text), _) => lines_of(text),
                (Err(DiskError::NotFound), format) if kind == Kind::Deleted => {
                    (Mirror::default(), format)
                }
                (Err(_), _) => return None,
            };
            let mut file = File::new(restore(now), kind, was);
            (file.name, file.format) = (path.clone(), format);
            file
        };
        file.review.written();
        (!file.review.hunks().is_empty()).then_some(file)
    }
}

/// What is kept, and what is still to be written.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    config: Option<Config>,
    sessions: BTreeMap<u64, Whose>,
    homes: BTreeMap<String, Home>,
    /// Files of which something is to be written.
    due: BTreeSet<String>,
    /// Files that are being written.
    writing: BTreeSet<String>,
    /// Whether somebody will ask for what is due.
    awake: bool,
    /// How many lots of work there were, and the last one that was done: what is late is not done.
    count: u64,
    done: Arc<Mutex<u64>>,
}

impl Keeper {
    /// Something about a file has changed.
    pub(super) fn note(&mut self, path: &str, inputs: &Sender<Input>) {
        if self.config.is_none() {
            return;
        }
        self.due.insert(path.to_owned());
        if !std::mem::replace(&mut self.awake, true) {
            wake(inputs.clone(), PAUSE);
        }
    }

    /// An agent has changed a file: it is not old.
    pub(super) fn changed(&mut self, path: &str) {
        if let Some(home) = self.homes.get_mut(path) {
            home.time = now_in_seconds();
        }
    }

    /// What is to be done for a file.
    fn job(&mut self, path: &str, file: Option<&File>) -> Vec<Job> {
        let last = file.and_then(|it| it.review.hunks().last());
        let old = self.homes.remove(path);
        let remove = |home: Home| Job::Remove(home.whose.folder, path.to_owned());
        let (Some(file), Some(last)) = (file, last) else {
            return old.map(remove).into_iter().collect();
        };
        let (base, now) = (file.review.base(), file.review.now());
        let whose = self.sessions.get(&last.who).or(old.as_ref().map(|it| &it.whose)).cloned();
        let Some(whose) = whose.filter(|_| base.size().max(now.size()) <= LARGE) else {
            tracing::debug!(path, "is not kept for the next time");
            return old.map(remove).into_iter().collect();
        };
        let time = old.as_ref().map_or_else(now_in_seconds, |it| it.time);
        let moved = old.filter(|it| it.whose.folder != whose.folder);
        let home = Home { whose, time };
        self.homes.insert(path.to_owned(), home.clone());
        let draft = Draft {
            path: path.to_owned(),
            kind: file.kind,
            base: (base.clone(), file.was),
            now: (now.clone(), file.format),
            home,
        };
        let put = Job::Put(draft.home.whose.folder.clone(), Box::new(draft));
        moved.map(remove).into_iter().chain([put]).collect()
    }

    /// The work for another thread.
    fn work(&mut self, jobs: Vec<Job>) -> impl FnOnce() + Send + 'static {
        self.count += 1;
        let (number, done) = (self.count, self.done.clone());
        move || {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            if *done > number {
                return;
            }
            *done = number;
            for job in jobs {
                let result = match job {
                    Job::Put(folder, draft) => folder.put(draft.record()),
                    Job::Remove(folder, path) => folder.remove(&path),
                };
                if let Err(error) = result {
                    tracing::warn!(%error, "what is under review is not kept");
                }
            }
        }
    }
}

fn wake(inputs: Sender<Input>, after: Duration) {
    tokio::spawn(async move {
        sleep(after).await;
        if inputs.send(Input::Keep).await.is_err() {
            tracing::debug!("the core is gone");
        }
    });
}

impl Reviews {
    /// The user has set how much is kept, and where.
    pub(in crate::runtime) fn set(&mut self, config: Config) {
        self.keeper.config = Some(config);
    }

    fn jobs(&mut self, paths: &BTreeSet<String>) -> Vec<Job> {
        let Reviews { keeper, files, .. } = self;
        paths.iter().flat_map(|path| keeper.job(path, files.get(path))).collect()
    }

    /// Writes what is due.
    pub(in crate::runtime) fn keep(&mut self) {
        self.keeper.writing = std::mem::take(&mut self.keeper.due);
        self.keeper.awake = !self.keeper.writing.is_empty();
        if !self.keeper.awake {
            return;
        }
        let paths = self.keeper.writing.clone();
        let jobs = self.jobs(&paths);
        let (work, inputs) = (self.keeper.work(jobs), self.inputs.clone());
        tokio::spawn(async move {
            let begin = Instant::now();
            if let Err(error) = tokio::task::spawn_blocking(work).await {
                tracing::error!(%error, "what is under review was not kept");
            }
            wake(inputs, PAUSE.max(begin.elapsed() * SHARE));
        });
    }

    /// Writes all that is not written yet: Neovim goes.
    pub(in crate::runtime) fn keep_last(&mut self) -> Option<JoinHandle<()>> {
        self.keeper.config.as_ref()?;
        let mut paths = std::mem::take(&mut self.keeper.due);
        // What is being written is written once more: this may be done first.
        paths.append(&mut self.keeper.writing);
        paths.append(&mut self.dirty.clone());
        let jobs = self.jobs(&paths);
        (!jobs.is_empty()).then(|| tokio::task::spawn_blocking(self.keeper.work(jobs)))
    }

    /// A session is ready: what was left of its project the last time is taken up.
    pub(in crate::runtime) fn take_up(&mut self, session: &Session) {
        let Some(config) = self.keeper.config.clone() else { return };
        let folder = Folder::new(&config.state, Path::new(&session.launch.cwd));
        let remote = session.remote.as_ref().map(ToString::to_string).unwrap_or_default();
        let agent = session.launch.agent.clone();
        let whose = Whose { agent, remote, folder: folder.clone(), open: true };
        self.keeper.sessions.insert(session.id.0, whose);
        let (id, inputs) = (session.id, self.inputs.clone());
        tokio::task::spawn_blocking(move || {
            let taken = folder.take(&config);
            let taken =
                taken.inspect_err(|error| tracing::warn!(%error, "no reviews of last time"));
            let kept: Vec<Kept> = taken.into_iter().flatten().map(Kept::new).collect();
            if !kept.is_empty() && inputs.blocking_send(Input::Kept(id, kept)).is_err() {
                tracing::debug!("the core is gone");
            }
            if let Err(error) = Folder::sweep(&config) {
                tracing::debug!(%error, "reviews of other projects stay");
            }
        });
    }

    /// A session is closed. Its changes stay its own.
    pub(in crate::runtime) fn left(&mut self, session: SessionId) {
        if let Some(whose) = self.keeper.sessions.get_mut(&session.0) {
            whose.open = false;
        }
    }

    /// What was left the last time is under review again.
    pub(in crate::runtime) fn taken_up(
        &mut self,
        ready: SessionId,
        kept: Vec<Kept>,
        buffers: &Buffers,
    ) {
        let (mut files, mut hunks) = (0, 0);
        for kept in kept {
            let Record { path, agent, remote, time, .. } = &kept.record;
            let Some(fallback) = self.keeper.sessions.get(&ready.0) else { continue };
            let same = |it: &Whose| it.open && it.agent == *agent && it.remote == *remote;
            let who = self.keeper.sessions.iter().find(|it| same(it.1)).map_or(ready.0, |it| *it.0);
            let home = Home { whose: fallback.clone(), time: *time };
            // Without a file, what is written down goes too.
            self.keeper.homes.insert(path.clone(), home);
            self.dirty.insert(path.clone());
            if self.files.get(path).is_some_and(|it| !it.review.hunks().is_empty()) {
                tracing::info!(path, "is under review again already");
                continue;
            }
            let Some(file) = kept.file(buffers, who) else {
                tracing::info!(path, "has become another file: there is nothing to review in it");
                continue;
            };
            (files, hunks) = (files + 1, hunks + file.review.hunks().len());
            self.files.insert(path.clone(), file);
        }
        self.tell();
        if files > 0 {
            self.outbox.push([Item::TakenUp { session: ready, files, hunks }]);
        }
    }
}
