//! Watches the files of loaded buffers while an agent works: most agents write the disk by
//! themselves, some of them without a word.
//!
//! Knows folders and what the system says of them. Must not know what becomes of a change: it says
//! which files have one, and the editor looks at them. What the system does not tell is noticed at
//! the end of the next tool call or turn.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::bases::Bases;
use super::outbox::{Item, Outbox};
use super::stamp::Look;
use crate::session::ids::SessionId;

/// How long a file must have been left alone: who writes a file writes it more than once.
const QUIET: Duration = Duration::from_millis(50);
/// How long the system is let alone before it is asked for more.
const PAUSE: Duration = Duration::from_millis(2);
/// How long a file may be written on and on before it is looked at all the same.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a change may still be the agent's after its turn.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// The way to the thread that watches, if there is one.
#[derive(Debug)]
pub(super) struct Watcher {
    bases: Arc<Bases>,
    outbox: Arc<Outbox>,
    running: BTreeSet<SessionId>,
    thread: Option<Sender<Message>>,
}

#[derive(Debug)]
enum Message {
    /// This session's agent works.
    Work(SessionId),
    /// No agent works any more.
    Rest,
    /// A file is open.
    File(String),
    /// A file was written from its buffer.
    Saved(String),
    /// Something has happened in a folder.
    Happened(notify::Result<Event>),
    /// The core is gone.
    Leave,
}

impl Watcher {
    /// Watches nothing yet.
    pub(super) fn new(bases: Arc<Bases>, outbox: Arc<Outbox>) -> Watcher {
        Watcher { bases, outbox, running: BTreeSet::new(), thread: None }
    }

    /// A session's agent begins to work.
    pub(super) fn begin(&mut self, session: SessionId) {
        self.running.insert(session);
        if !self.send(Message::Work(session)) {
            self.start(session);
        }
    }

    /// A session's agent has ended its work.
    pub(super) fn end(&mut self, session: SessionId) {
        if self.running.remove(&session) && self.running.is_empty() {
            self.send(Message::Rest);
        }
    }

    /// A file is open, and to be watched if others are.
    pub(super) fn open(&self, path: &str) {
        self.send(Message::File(path.to_owned()));
    }

    /// A file was written from its buffer, if nobody else has written it since: an agent may have,
    /// just before the editor asked the disk about it. Then what the system told of that came too
    /// early to be understood.
    pub(super) fn saved(&self, path: &str) {
        self.send(Message::Saved(path.to_owned()));
    }

    fn send(&self, message: Message) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.send(message).is_ok())
    }

    fn start(&mut self, session: SessionId) {
        let (sender, messages) = channel();
        let (bases, outbox, events) = (self.bases.clone(), self.outbox.clone(), sender.clone());
        let work = move || {
            let mut asked = Instant::now();
            let told = move |event| {
                // Who writes a file writes it block by block. The system tells of each, and wakes
                // us for it while they write; of those that nobody has fetched yet it tells once.
                if asked.elapsed() > PAUSE {
                    std::thread::sleep(PAUSE);
                    asked = Instant::now();
                }
                // Who is not there any more need not be told.
                drop(events.send(Message::Happened(event)));
            };
            match notify::recommended_watcher(told) {
                Ok(system) => Watch::new(system, bases, outbox, session).run(&messages),
                Err(error) => tracing::warn!(%error, "files can't be watched"),
            }
        };
        match std::thread::Builder::new().name("acp-watch".into()).spawn(work) {
            Ok(_) => self.thread = Some(sender),
            Err(error) => tracing::warn!(%error, "files can't be watched"),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.send(Message::Leave);
    }
}

/// What the thread has.
struct Watch {
    system: RecommendedWatcher,
    bases: Arc<Bases>,
    outbox: Arc<Outbox>,
    session: SessionId,
    folders: HashSet<PathBuf>,
    /// Files as the editor names them, by where they are.
    names: HashMap<PathBuf, BTreeSet<String>>,
    /// Files that something has happened to, since when.
    touched: BTreeSet<String>,
    since: Option<Instant>,
    until: Option<Instant>,
}

impl Watch {
    fn new(
        system: RecommendedWatcher,
        bases: Arc<Bases>,
        outbox: Arc<Outbox>,
        session: SessionId,
    ) -> Watch {
        let (folders, names) = (HashSet::new(), HashMap::new());
        let (touched, since, until) = (BTreeSet::new(), None, None);
        let mut watch =
            Watch { system, bases, outbox, session, folders, names, touched, since, until };
        watch.all();
        watch
    }

    /// Until no agent has worked for a while.
    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let pause = match (self.since, self.until) {
                (Some(_), _) => QUIET,
                (None, Some(until)) => until.saturating_duration_since(Instant::now()),
                (None, None) => Duration::from_secs(3600),
            };
            match messages.recv_timeout(pause) {
                Ok(Message::Work(session)) => {
                    (self.session, self.until) = (session, None);
                    self.all();
                }
                Ok(Message::Rest) => self.until = Some(Instant::now() + AFTERWARDS),
                Ok(Message::File(path)) => self.open(path),
                Ok(Message::Saved(path)) => self.touch(path),
                Ok(Message::Happened(event)) => self.happened(event),
                Ok(Message::Leave) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.look(),
            }
            if self.since.is_some_and(|it| it.elapsed() > PATIENCE) {
                self.look();
            }
            if self.since.is_none() && self.until.is_some_and(|it| it <= Instant::now()) {
                return;
            }
        }
    }

    /// Watches all files that are open.
    fn all(&mut self) {
        for path in self.bases.paths() {
            self.open(path);
        }
    }

    /// Watches a file that is open.
    fn open(&mut self, path: String) {
        self.file(&path);
        // What has happened before is not told.
        if self.bases.is_stamped(&path) {
            self.touch(path);
        }
    }

    /// Looks at a file soon.
    fn touch(&mut self, path: String) {
        self.touched.insert(path);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Watches a file: the folder that its name is in, and the one that it is in.
    fn file(&mut self, path: &str) {
        let named = Path::new(path);
        let name = named.parent().and_then(|it| fs::canonicalize(it).ok()).zip(named.file_name());
        let places = name.map(|(folder, name)| folder.join(name));
        for place in places.into_iter().chain(fs::canonicalize(named)) {
            if let Some(folder) = place.parent()
                && !self.folders.contains(folder)
            {
                match self.system.watch(folder, RecursiveMode::NonRecursive) {
                    Ok(()) => drop(self.folders.insert(folder.to_owned())),
                    Err(error) => tracing::debug!(%error, "a folder can't be watched"),
                }
            }
            self.names.entry(place).or_default().insert(path.to_owned());
        }
    }

    fn happened(&mut self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => return tracing::debug!(%error, "watching"),
        };
        let read = matches!(event.kind, EventKind::Access(kind)
            if kind != AccessKind::Close(AccessMode::Write));
        if read {
            return;
        }
        let before = self.touched.len();
        let lost = event.need_rescan();
        for path in &event.paths {
            if let Some(names) = self.names.get(path) {
                self.touched.extend(names.iter().cloned());
            }
        }
        if lost || event.paths.iter().any(|it| self.folders.contains(it)) {
            self.touched.extend(self.names.values().flatten().cloned());
        }
        if self.touched.len() > before {
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// Looks at what has been left alone by now.
    fn look(&mut self) {
        self.since = None;
        let (mut stamped, mut silent) = (Vec::new(), Vec::new());
        for path in std::mem::take(&mut self.touched) {
            match self.bases.look(&path) {
                Look::Same => {}
                Look::Stamped => stamped.push(path),
                Look::Silent => silent.push(path),
            }
        }
        let tag = self.session.0;
        if !stamped.is_empty() {
            self.outbox.push([Item::DiskChanged(tag, stamped)]);
        }
        if !silent.is_empty() {
            self.outbox.push([Item::DiskDiffers(tag, silent)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::bases::InStep;
    use crate::runtime::bell::Bell;
    use crate::session::live::Whole;

    fn wait(outbox: &Outbox) -> Item {
        let begin = Instant::now();
        loop {
            if let Some(item) = outbox.take().into_iter().flatten().next() {
                return item;
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "nothing was told");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// One change may be noticed more than once.
    fn differing(outbox: &Outbox) -> Vec<String> {
        loop {
            match wait(outbox) {
                Item::DiskChanged(7, _) => {}
                Item::DiskDiffers(7, paths) => return paths,
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn changes_are_told_whatever_their_stamps_say() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "one\n").unwrap();
        let link = folder.path().join("link.txt");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let outbox = Arc::new(Outbox::new(Bell::new(|| ())));
        let bases: Arc<Bases> = Arc::default();
        let mut watcher = Watcher::new(bases.clone(), outbox.clone());
        let name = link.to_str().unwrap().to_owned();
        let track = |text: &str| {
            let stamp = crate::runtime::stamp::stamp(&name).unwrap();
            let text = Some(Whole::from(text));
            let real = path.canonicalize().unwrap().to_str().map(ToOwned::to_owned);
            bases.track(vec![InStep { text, real, ..InStep::new(name.clone(), stamp, None) }]);
        };
        track("one\n");
        watcher.begin(SessionId(7));
        fs::write(&path, "another\n").unwrap();
        match wait(&outbox) {
            Item::DiskChanged(7, paths) => assert_eq!(paths, [name.as_str()]),
            other => panic!("{other:?}"),
        }
        fs::write(&path, "ANOTHER\n").unwrap();
        track("another\n");
        assert_eq!(differing(&outbox), [name.as_str()]);
        fs::write(&path, "third\n").unwrap();
        while !matches!(wait(&outbox), Item::DiskChanged(7, _)) {}
        // The user saved a moment earlier, and the editor has learnt of it a moment later.
        track("saved\n");
        watcher.saved(&name);
        assert_eq!(differing(&outbox), [name.as_str()]);
        watcher.end(SessionId(7));
    }
}
