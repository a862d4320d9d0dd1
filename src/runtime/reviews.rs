//! What agents have changed in files and the user has not looked at yet, file by file.
//!
//! Changes of open files arrive with the news of their buffers (`buffers`), those of other files as
//! what was found on the disk. Knows which file is where; what a change is to a text is known by
//! `changes::review`. Must not know how hunks are shown.

mod file;
mod keep;
mod on_disk;
mod settled;
mod store;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use self::file::{File, lines_of};
use self::keep::Keeper;
pub use self::keep::Kept;
pub(super) use self::on_disk::put_back;
pub use self::on_disk::{Lost, OnDisk};
use self::on_disk::{bring_back, text_on_disk};
use self::settled::Settled;
pub use self::store::Config;
pub use self::told::{Change, HunkText, Hunks, Kind, ShownHunk};
use super::buffers::{Author, BufferId, Format, Known, Splice};
use super::input::Input;
use super::outbox::{Item, Outbox};
use super::published::Published;
use crate::changes::edits::Edit;
use crate::changes::mirror::Mirror;
use crate::changes::review::Review;
pub use crate::changes::review::Which;
use crate::session::ids::{SessionId, Tag};
use tokio::sync::mpsc::Sender;

/// Which hunks are meant.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Of which file; of each without.
    pub path: Option<String>,
    /// Which of them.
    pub which: Which,
}

/// A rejection in a file that is not open has been written to the disk, or not.
#[derive(Debug)]
pub struct Rejected {
    tag: Tag,
    path: String,
    after: Box<Review>,
    result: Result<(), String>,
}

/// All files under review.
#[derive(Debug)]
pub(super) struct Reviews {
    /// By their names with links resolved.
    files: BTreeMap<String, File>,
    /// Those of which something is to be told.
    dirty: BTreeSet<String>,
    settled: Settled,
    keeper: Keeper,
    outbox: Arc<Outbox>,
    published: Arc<Published>,
    inputs: Sender<Input>,
}

impl Reviews {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        published: Arc<Published>,
        inputs: Sender<Input>,
    ) -> Reviews {
        let (files, dirty, settled) = (BTreeMap::new(), BTreeSet::new(), Settled::default());
        let keeper = Keeper::default();
        Reviews { files, dirty, settled, keeper, outbox, published, inputs }
    }

    /// Whether there is something to tell.
    pub(super) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// A buffer changes. `before` is its text until now.
    pub(super) fn lines(&mut self, splice: &Splice, known: &Known, before: Option<&Mirror>) {
        // What was deleted under its buffer is there again.
        let again = |it: &mut File| match before {
            Some(before) => it.restore(splice.buffer, known, before),
            None => false,
        };
        let new = self.files.get_mut(&known.path).is_none_or(|it| {
            it.buffer.is_none() && (!it.exists() || it.review.hunks().is_empty()) && !again(it)
        });
        if let (Author::Agent(who), Some(before), true) = (splice.by, before, new) {
            let kind = match Path::new(&known.name).exists() {
                true => Kind::Changed,
                false => Kind::Made,
            };
            let review = Review::new(before.clone(), before.clone(), who);
            let file = File::new(review, kind, known.format).opened(splice.buffer, &known.name);
            self.files.insert(known.path.clone(), file);
        }
        let Some(file) = self.files.get_mut(&known.path) else { return };
        if file.buffer != Some(splice.buffer) {
            return;
        }
        let lines: Vec<&str> = splice.lines.split_terminator('\n').collect();
        if file.review.splice(splice.tick, splice.rows.clone(), &lines, splice.by).is_err() {
            tracing::warn!(path = known.path, "a change was missed: the file is to be read again");
        }
        if let Author::Agent(_) = splice.by {
            self.keeper.changed(&known.path);
        }
        self.dirty.insert(known.path.clone());
    }

    /// A buffer has another number and the same text.
    pub(super) fn tick(&mut self, buffer: BufferId, tick: u64) {
        for file in self.files.values_mut().filter(|it| it.buffer == Some(buffer)) {
            file.review.reach(tick);
        }
    }

    /// A buffer's change is complete.
    pub(super) fn rests(&mut self, buffer: BufferId) {
        for (path, file) in self.files.iter_mut().filter(|it| it.1.buffer == Some(buffer)) {
            if file.review.written() {
                self.dirty.insert(path.clone());
            }
        }
    }

    /// A buffer was read as a whole: it is open now, or again.
    pub(super) fn read(&mut self, buffer: BufferId, known: &Known, mirror: &Mirror) {
        let Some(file) = self.files.get_mut(&known.path) else {
            if !known.modified {
                self.settled.read(&known.path, mirror);
            }
            return;
        };
        if file.buffer.is_some_and(|it| it != buffer) {
            return;
        }
        if !file.exists() {
            // What a buffer still has of a deleted file is no file.
            if !Path::new(&known.name).exists() {
                return;
            }
            file.restore(buffer, known, mirror);
            file.kind = Kind::Changed;
        }
        if !mirror.lines().eq(file.review.now().lines()) {
            file.review.replace(mirror.clone(), Author::User);
        }
        file.review.reach(mirror.version());
        (file.buffer, file.full, file.name) = (Some(buffer), true, known.name.clone());
        self.dirty.insert(known.path.clone());
    }

    /// A buffer is closed: what the disk has is what there is.
    pub(super) fn closed(&mut self, buffer: BufferId) {
        let Some((path, file)) = self.files.iter_mut().find(|it| it.1.buffer == Some(buffer))
        else {
            return;
        };
        (file.buffer, file.full) = (None, true);
        self.dirty.insert(path.clone());
        let (path, inputs) = (path.clone(), self.inputs.clone());
        tokio::task::spawn_blocking(move || {
            let text = text_on_disk(&path);
            if inputs.blocking_send(Input::Closed(path, text)).is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    /// This is what the disk has of a file whose buffer was closed.
    pub(super) fn found_closed(&mut self, path: &str, text: Option<&str>) {
        self.settled.touch(path);
        let Some(file) = self.files.get_mut(path).filter(|it| it.buffer.is_none()) else { return };
        let (lines, format) = lines_of(text.unwrap_or_default());
        file.format = format;
        if lines.lines().eq(file.review.now().lines()) && text.is_some() == file.exists() {
            return;
        }
        file.review.replace(lines, Author::User);
        file.kind = file.kind.then(text.is_some());
        self.dirty.insert(path.to_owned());
    }

    /// An agent has changed files that are not open.
    pub(super) fn found(&mut self, changes: Vec<OnDisk>) {
        for mut change in changes {
            if self.settled.is_stale(&change.path, change.seen) {
                self.see_again(change);
                continue;
            }
            change.before = self.settled.before(&change.path, change.since, change.before);
            if change.before == change.after && !self.files.contains_key(&change.path) {
                continue;
            }
            let who = change.session.0;
            let (lines, format) = lines_of(change.after.as_deref().unwrap_or_default());
            match self.files.get_mut(&change.path) {
                Some(file) if file.buffer.is_some() => continue,
                Some(file) => {
                    if !lines.lines().eq(file.review.now().lines()) {
                        file.review.replace(lines, Author::Agent(who));
                        file.review.written();
                    }
                    (file.kind, file.format) = (file.kind.then(change.after.is_some()), format);
                    file.lost = change.lost;
                }
                None => {
                    let (before, was) = lines_of(change.before.as_deref().unwrap_or_default());
                    let kind = Kind::of(change.before.is_some(), change.after.is_some());
                    let format = if change.after.is_some() { format } else { was };
                    let mut file = File::new(Review::new(before, lines, who), kind, was);
                    (file.format, file.name) = (format, change.path.clone());
                    file.lost = change.lost;
                    self.files.insert(change.path.clone(), file);
                }
            }
            self.keeper.changed(&change.path);
            self.dirty.insert(change.path);
        }
    }

    /// An agent has deleted a file under a buffer with changes in it.
    fn deleted(&mut self, change: OnDisk) {
        if self.settled.is_stale(&change.path, change.seen) {
            return self.see_again(change);
        }
        let Some(file) = self.files.get_mut(&change.path) else { return };
        // What an agent has made and deleted again leaves nothing to be asked. And some write a
        // file by deleting it first.
        if file.kind() != Kind::Changed || Path::new(&change.path).exists() {
            return;
        }
        file.delete(change.session.0, change.lost);
        self.keeper.changed(&change.path);
        self.dirty.insert(change.path);
    }

    /// Looks at a file once more: it has changed while somebody looked at it.
    fn see_again(&self, change: OnDisk) {
        let inputs = self.inputs.clone();
        tokio::task::spawn_blocking(move || {
            let seen = Some(Instant::now());
            let after = text_on_disk(&change.path).map(Arc::from);
            if after.is_none() && Path::new(&change.path).exists() {
                return;
            }
            let found = OnDisk { seen, after, ..change };
            if inputs.blocking_send(Input::Found(vec![found])).is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    /// An agent has changed a file that has a buffer. Its changes are those of the buffer, unless it
    /// was opened too late, or has nothing more to stand for.
    pub(super) fn found_open(
        &mut self,
        change: OnDisk,
        known: &Known,
        buffer: (BufferId, &Mirror),
    ) {
        let (path, who) = (&change.path, change.session.0);
        let gone = change.after.is_none();
        match self.files.get_mut(path) {
            None if gone => return self.found(vec![change]),
            None => {}
            Some(file) if gone && file.buffer.is_some() => return self.deleted(change),
            Some(file) => {
                if !gone && file.restore(buffer.0, known, buffer.1) {
                    self.dirty.insert(change.path);
                }
                return;
            }
        }
        let Some((before, then)) = self.settled.opened(path, change.since, change.before) else {
            return;
        };
        let (lines, was) = lines_of(before.as_deref().unwrap_or_default());
        let kind = Kind::of(before.is_some(), true);
        let mut review = Review::new(lines, then.clone(), who);
        if review.hunks().is_empty() {
            return;
        }
        review.written();
        review.replace(buffer.1.clone(), Author::User);
        let mut file = File::new(review, kind, was).opened(buffer.0, &known.name);
        file.format = known.format;
        self.dirty.insert(path.clone());
        self.files.insert(change.path, file);
    }

    /// Files that are not open may have changed without an agent.
    pub(super) fn refresh(&self) {
        let closed = self.files.iter().filter(|it| it.1.buffer.is_none());
        let paths: Vec<String> = closed.map(|(path, _)| path.clone()).collect();
        let inputs = self.inputs.clone();
        tokio::task::spawn_blocking(move || {
            for path in paths {
                let text = text_on_disk(&path);
                if inputs.blocking_send(Input::Closed(path, text)).is_err() {
                    tracing::debug!("the core is gone");
                }
            }
        });
    }

    /// Files that are not open may be what they were before: agents take things back, too.
    pub(super) fn look_again(&self) {
        let closed = self.files.iter().filter(|it| it.1.buffer.is_none());
        let closed = closed.filter(|it| !it.1.review.hunks().is_empty());
        let all: Vec<_> = closed.map(|(path, file)| (path.clone(), file.before())).collect();
        let inputs = self.inputs.clone();
        tokio::task::spawn_blocking(move || {
            for (path, before) in all {
                let text = text_on_disk(&path);
                let back = match before {
                    Some((lines, format)) => text == Some(lines.slice(1, None, format)),
                    None => !Path::new(&path).exists(),
                };
                if back && inputs.blocking_send(Input::Closed(path, text)).is_err() {
                    tracing::debug!("the core is gone");
                }
            }
        });
    }

    /// The user has saved a file: what it is now is no agent's doing.
    pub(super) fn saved(
        &mut self,
        buffer: BufferId,
        (known, mirror): (&Known, &Mirror),
        text: Arc<str>,
    ) {
        if let Some(file) = self.files.get_mut(&known.path)
            && file.buffer.is_none()
            && !file.exists()
        {
            // It was deleted under its buffer, and the user has brought it back.
            if !file.restore(buffer, known, mirror) {
                file.review.accept(&Which::All);
            }
            self.dirty.insert(known.path.clone());
        }
        self.settled.settle(&known.path, Some(text));
    }

    /// What has been looked at is of no use for the next turn: files are compared with what they
    /// are at its beginning.
    pub(super) fn turn_begins(&mut self, session: SessionId) {
        self.settled.turn_begins(session);
        self.files.retain(|_, it| match it.buffer {
            Some(_) => !it.review.is_over(),
            None => !it.review.hunks().is_empty(),
        });
    }

    /// A session is over.
    pub(super) fn end(&mut self, session: SessionId) {
        self.settled.end(session);
    }

    /// The user accepts hunks.
    pub(super) fn accept(&mut self, chosen: &Chosen) {
        for (path, file) in &mut self.files {
            if chosen.path.as_ref().is_none_or(|it| it == path || *it == file.name)
                && file.review.accept(&chosen.which)
            {
                if file.review.hunks().is_empty() {
                    self.settled.settle(path, file.settle());
                }
                self.dirty.insert(path.clone());
            }
        }
    }

    /// The edits that reject hunks of a buffer in this state, and how its file was written.
    pub(super) fn rejection(
        &self,
        buffer: BufferId,
        tick: u64,
        which: &Which,
    ) -> Option<(Vec<Edit>, Option<Format>)> {
        let file = self.files.values().find(|it| it.buffer == Some(buffer))?;
        if file.review.now().version() != tick {
            return None;
        }
        let whole = (*which == Which::All).then_some(file.was);
        Some((file.review.rejection(which), whole))
    }

    /// Whether the file of a buffer was not there before an agent made it.
    pub(super) fn is_made(&self, buffer: BufferId) -> bool {
        self.files.values().any(|it| it.buffer == Some(buffer) && it.kind == Kind::Made)
    }

    /// The user rejects hunks of a file that is not open, or all of one that an agent made.
    pub(super) fn reject_file(&mut self, tag: Tag, path: &str, which: &Which) {
        let Some((path, file)) =
            self.files.iter().find(|(it, file)| *it == path || file.name == path)
        else {
            let err = Some("nothing is to be reviewed there".to_owned());
            return self.outbox.push([Item::Rejected(tag, path.to_owned(), err)]);
        };
        let mut after = file.review.clone();
        after.reject(which);
        let now = file.text(file.review.now(), file.format);
        let expected = if file.kind == Kind::Deleted { None } else { Some(now) };
        let wanted = match (file.kind(), after.hunks().is_empty()) {
            (Kind::Made, true) => None,
            (_, true) => Some(file.text(after.now(), file.was)),
            (_, false) => Some(file.text(after.now(), file.format)),
        };
        let open = file.buffer.is_some() && file.exists();
        if open && wanted.is_some() {
            let err = Some(format!("{path} is open and has changed since"));
            return self.outbox.push([Item::Rejected(tag, path.clone(), err)]);
        }
        let lost = file.lost.clone().filter(|_| file.kind == Kind::Deleted);
        let (path, after, inputs) = (path.clone(), Box::new(after), self.inputs.clone());
        tokio::task::spawn_blocking(move || {
            let result = match (&wanted, lost) {
                (Some(text), Some(lost)) => bring_back(Path::new(&path), text, &lost),
                _ => put_back(&path, expected.filter(|_| !open).as_deref(), wanted.as_deref()),
            };
            let rejected = Rejected { tag, path, after, result };
            if inputs.blocking_send(Input::Rejected(rejected)).is_err() {
                tracing::debug!("the core is gone");
            }
        });
    }

    /// A rejection is on the disk, or could not be.
    pub(super) fn rejected(&mut self, it: Rejected) {
        if let (Ok(()), Some(file)) = (&it.result, self.files.get_mut(&it.path)) {
            file.review = *it.after;
            self.settled.touch(&it.path);
            if file.kind == Kind::Deleted {
                file.kind = Kind::Changed;
            }
            if file.review.hunks().is_empty() {
                file.format = file.was;
                let made = file.kind() == Kind::Made;
                let text = (!made).then(|| file.text(file.review.now(), file.was).into());
                self.settled.settle(&it.path, text);
            }
            self.dirty.insert(it.path.clone());
        }
        self.outbox.push([Item::Rejected(it.tag, it.path, it.result.err())]);
    }

    /// The editor wants all of a file again: it went on while it was told.
    pub(super) fn again(&mut self, path: &str) {
        if let Some((path, file)) =
            self.files.iter_mut().find(|(it, file)| *it == path || file.name == path)
        {
            file.full = true;
            self.dirty.insert(path.clone());
        }
    }

    /// Tells what has changed.
    pub(super) fn tell(&mut self) {
        for path in std::mem::take(&mut self.dirty) {
            self.keeper.note(&path, &self.inputs);
            let Some(file) = self.files.get_mut(&path) else { continue };
            let told = file.tell();
            self.published.set_changes(&path, file.change());
            if let Some(hunks) = told {
                self.outbox.push([Item::Hunks(hunks)]);
            }
            if file.review.is_over() {
                let file = self.files.get(&path);
                if file.is_some_and(|it| it.buffer.is_some()) {
                    self.files.remove(&path);
                }
            }
        }
    }
}
