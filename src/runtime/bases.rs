//! What buffers were last in step with: without that nobody could tell the user's changes from
//! those of an agent that writes the disk by itself.
//!
//! Knows files by their names, with what the disk said of them. Must not know how texts are merged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use super::at_rest::is_old;
use super::buffers::BufferId;
use super::disk;
use super::indexed::Indexed;
use super::outbox::{Item, Outbox};
pub use super::stamp::Stamp;
use super::stamp::{Look, stamp};
use super::versions::Versions;
use crate::session::event::DiskError;
use crate::session::ids::{SessionId, Tag};
use crate::session::live::Whole;
use crate::session::question::FileRange;

/// A file that a buffer is in step with.
#[derive(Debug)]
pub struct InStep {
    /// Which file.
    pub path: String,
    /// Where that led when it was read or written, with no link in it: nothing else is read for it.
    pub real: Option<String>,
    /// What the disk says of it.
    pub stamp: Stamp,
    /// The buffer that was just written to it, and whether the user saved it; otherwise its text is
    /// read.
    pub written: Option<(BufferId, bool)>,
    /// Whether agents may not know yet what was written: it has something of the user's.
    pub unseen: bool,
    /// The buffer that it was read into.
    pub buffer: Option<BufferId>,
    /// Its text, where it is known.
    pub(super) text: Option<Whole>,
    /// What the buffer has of it: its text, if nobody has written it before the buffer was read.
    pub(super) likely: Option<Whole>,
}

impl InStep {
    /// A buffer is in step with this file, which it was just written to or read from.
    pub fn new(path: String, stamp: Stamp, written: Option<(BufferId, bool)>) -> InStep {
        let unseen = written.is_some_and(|it| it.1);
        InStep { path, real: None, stamp, written, unseen, buffer: None, text: None, likely: None }
    }
}

/// What buffers were last in step with.
#[derive(Debug, Default)]
pub(super) struct Bases {
    now: Mutex<HashMap<String, Base>>,
    /// Where the names of files led.
    real: Mutex<HashMap<String, String>>,
    /// The same, as it was when a session's turn began: what its agent may have read by itself.
    begun: Mutex<HashMap<SessionId, Begun>>,
    /// And what the user has replaced since, by saving.
    past: Mutex<Versions>,
    /// What was last read to be followed by a buffer, which is in step with it once that is done.
    followed: Mutex<HashMap<String, (Stamp, Arc<str>)>>,
}

/// A file as it was.
#[derive(Debug, Clone)]
struct Base {
    stamp: Stamp,
    /// Its text, unless that was another one already when it was read.
    text: Option<Whole>,
    /// The same, where no other text can have had this stamp.
    sure: Option<Indexed>,
}

/// What there was when a turn began.
#[derive(Debug)]
struct Begun {
    at: SystemTime,
    files: HashMap<String, Base>,
}

impl Base {
    fn unread(stamp: Stamp) -> Base {
        Base { stamp, text: None, sure: None }
    }
}

impl Bases {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Base>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn past(&self) -> MutexGuard<'_, Versions> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file that a name led to when its buffer was read or written.
    pub(super) fn real(&self, path: &str) -> String {
        let real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        real.get(path).map_or_else(|| path.to_owned(), Clone::clone)
    }

    /// Its text, and its stamp from before it was read. Whatever else has taken its place, by a
    /// link, is not read.
    pub(super) fn read(&self, path: &str) -> Result<(Stamp, Arc<str>), DiskError> {
        read(&self.real(path))
    }

    /// All files that are known.
    pub(super) fn paths(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Whether a file is what it was; by its text, where its stamp says nothing.
    pub(super) fn look(&self, path: &str) -> Look {
        let Some(Base { stamp: known, text, .. }) = self.lock().get(path).cloned() else {
            return Look::Same;
        };
        if stamp(path) != Some(known) {
            return Look::Stamped;
        }
        match (self.read(path), text) {
            (Ok((now, _)), _) if now != known => Look::Stamped,
            (Ok((_, theirs)), Some(text)) if theirs != text.0.text() => Look::Silent,
            _ => Look::Same,
        }
    }

    /// Whether the stamp of a file is another one, or it is gone.
    pub(super) fn is_stamped(&self, path: &str) -> bool {
        let known = self.lock().get(path).map(|it| it.stamp);
        known.is_some() && known != stamp(path)
    }

    pub(super) fn get(&self, path: &str) -> Option<Arc<str>> {
        let text = self.lock().get(path).and_then(|it| it.text.clone());
        text.map(|it| it.0.text())
    }

    /// What the disk last said of a file, and its text.
    pub(super) fn known(&self, path: &str) -> Option<(Stamp, Option<Arc<str>>)> {
        let known = self.lock().get(path).cloned()?;
        Some((known.stamp, known.text.map(|it| it.0.text())))
    }

    /// What the disk says of a file, and its text if that is known beyond doubt.
    pub(super) fn on_disk(&self, path: &str) -> Option<(Stamp, Option<Indexed>)> {
        let now = stamp(path)?;
        let bases = self.lock();
        let known = bases.get(path).filter(|it| it.stamp == now);
        Some((now, known.and_then(|it| it.sure.clone())))
    }

    /// Reads what files are, those that are still what the editor took them for.
    pub(super) fn track(self: &Arc<Bases>, files: Vec<InStep>) {
        let mut unread = Vec::new();
        for InStep { path, real, stamp, text, unseen, likely, .. } in files {
            if let Some(real) = real {
                let mut known = self.real.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(path.clone(), real);
            }
            let followed = self.followed().remove(&path).filter(|it| it.0 == stamp);
            match text.or(followed.map(|it| it.1.into())) {
                Some(text) => {
                    let base = Base { stamp, text: Some(text), sure: None };
                    let before = self.lock().insert(path.clone(), base);
                    if let Some(Base { text: Some(before), .. }) = before.filter(|_| unseen) {
                        self.past().past(&path, before.0.text(), Instant::now());
                    }
                }
                None => {
                    // Whoever looks at it before it is read knows this much.
                    self.lock().entry(path.clone()).or_insert(Base::unread(stamp));
                    unread.push((path, stamp, likely));
                }
            }
        }
        let (bases, files) = (self.clone(), unread);
        tokio::task::spawn_blocking(move || {
            for (path, stamp, likely) in files {
                let known = bases.lock().get(&path).cloned();
                if known.is_some_and(|it| it.stamp == stamp && it.text.is_some()) {
                    continue;
                }
                let old = is_old(&stamp);
                let text = bases.read(&path).ok().filter(|(now, _)| *now == stamp).map(|it| it.1);
                let sure = text.clone().filter(|_| old).map(Indexed::new);
                let mut bases = bases.lock();
                match text {
                    Some(_) => {
                        bases.insert(path, Base { stamp, text: text.map(Whole::from), sure });
                    }
                    // Somebody was faster. What is known from before still tells it, else the
                    // buffer does.
                    None => {
                        let base = bases.entry(path).or_insert(Base::unread(stamp));
                        base.text = base.text.take().or(likely);
                    }
                }
            }
        });
    }

    fn followed(&self) -> MutexGuard<'_, HashMap<String, (Stamp, Arc<str>)>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer is about to follow this text of a file. By the time that it has, the file may be
    /// another one already, and nobody could read what it was.
    pub(super) fn follow(&self, path: &str, stamp: Stamp, text: Arc<str>) {
        self.followed().insert(path.to_owned(), (stamp, text));
    }

    /// What a buffer is about to follow.
    pub(super) fn to_follow(&self, path: &str) -> Option<(Stamp, Arc<str>)> {
        self.followed().get(path).cloned()
    }

    /// A file has this text by now, and its buffer has all of it.
    pub(super) fn written(&self, path: &str, text: Arc<str>) {
        if let Some(stamp) = stamp(path) {
            let text = Some(text.into());
            self.lock().insert(path.to_owned(), Base { stamp, text, sure: None });
        }
    }

    /// An agent begins to work.
    pub(super) fn begin(&self, session: SessionId) {
        let begun = Begun { at: SystemTime::now(), files: self.lock().clone() };
        self.past().begin(Instant::now());
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(session, begun);
    }

    /// When an agent began to work.
    pub(super) fn begun_at(&self, session: SessionId) -> Option<SystemTime> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.get(&session).map(|it| it.at)
    }

    /// What a file was when an agent began to work.
    pub(super) fn at_begin(&self, session: SessionId, path: &str) -> Option<Whole> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.get(&session)?.files.get(path)?.text.clone()
    }

    /// A session is no more.
    pub(super) fn end(&self, session: SessionId) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }

    /// Forgets a file.
    pub(super) fn forget(&self, path: &str) {
        self.lock().remove(path);
        self.real.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        self.past().forget(path);
        self.followed().remove(path);
    }

    /// Tells the editor which of these files are not what they were, or are gone.
    pub(super) fn check(self: &Arc<Bases>, tag: Tag, paths: Vec<String>, outbox: Arc<Outbox>) {
        let bases = self.clone();
        tokio::task::spawn_blocking(move || {
            let changed: Vec<String> =
                paths.into_iter().filter(|it| bases.is_stamped(it)).collect();
            if !changed.is_empty() {
                outbox.push([Item::DiskChanged(tag, changed)]);
            }
        });
    }
}

/// A file's text, and its stamp from before it was read. No part of the path may be a link.
pub(super) fn read(path: &str) -> Result<(Stamp, Arc<str>), DiskError> {
    let stamp = stamp(path).ok_or(DiskError::NotFound)?;
    let text = disk::read(&FileRange { path: path.to_owned(), line: None, limit: None })?;
    Ok((stamp, text.into()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::*;

    /// A file that was left alone since it was written is known, one that was not may change
    /// without another stamp.
    #[tokio::test]
    async fn only_what_was_left_alone_is_known_beyond_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt").to_str().unwrap().to_owned();
        fs::write(&path, "one\ntwo\n").unwrap();
        let known = |bases: &Arc<Bases>| bases.on_disk(&path).and_then(|it| it.1);
        let begin = Instant::now();
        // When that is the case is a matter of the clock of the file system.
        while !is_old(&stamp(&path).unwrap()) {
            assert!(begin.elapsed() < Duration::from_secs(20), "it never gets old");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let bases: Arc<Bases> = Arc::default();
        bases.track(vec![InStep::new(path.clone(), stamp(&path).unwrap(), None)]);
        while known(&bases).is_none() {
            assert!(begin.elapsed() < Duration::from_secs(20), "it was not read");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(&*known(&bases).unwrap().text, "one\ntwo\n");
        File::options().append(true).open(&path).unwrap().set_len(4).unwrap();
        assert!(bases.on_disk(&path).is_some() && known(&bases).is_none(), "it is another now");
        fs::remove_file(&path).unwrap();
        assert!(bases.on_disk(&path).is_none());
    }

    /// Waits until a file has been read, or found to be another one.
    async fn base(bases: &Arc<Bases>, path: &str) -> String {
        let begin = Instant::now();
        loop {
            if let Some(text) = bases.get(path) {
                return text.to_string();
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "nothing is known");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn what_was_written_before_it_was_read_is_known_by_its_buffer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt").to_str().unwrap().to_owned();
        fs::write(&path, "one\ntwo\n").unwrap();
        let mut file = InStep::new(path.clone(), stamp(&path).unwrap(), None);
        file.likely = Some(Whole::from("one\ntwo\n"));
        fs::write(&path, "written by an agent\n").unwrap();
        let bases: Arc<Bases> = Arc::default();
        bases.track(vec![file]);
        assert_eq!(base(&bases, &path).await, "one\ntwo\n");
        assert_eq!(bases.look(&path), Look::Stamped);
    }

    #[tokio::test]
    async fn what_a_buffer_has_followed_is_known_whatever_comes_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt").to_str().unwrap().to_owned();
        fs::write(&path, "one\n").unwrap();
        let bases: Arc<Bases> = Arc::default();
        bases.track(vec![InStep::new(path.clone(), stamp(&path).unwrap(), None)]);
        assert_eq!(base(&bases, &path).await, "one\n");
        fs::write(&path, "the second\n").unwrap();
        let (then, text) = read(&path).unwrap();
        bases.follow(&path, then, text);
        fs::write(&path, "and the third\n").unwrap();
        bases.track(vec![InStep::new(path.clone(), then, None)]);
        assert_eq!(base(&bases, &path).await, "the second\n");
        assert_eq!(bases.look(&path), Look::Stamped);
    }
}
