//! What Neovim has not fetched yet, in order.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::ahead::Ahead;
use super::bell::Bell;
use super::git::GitAnswer;
use super::merging::Merged;
use super::placing::Placed;
use super::published::Summary;
use super::reviews::Hunks;
use super::rewind::{Rewound, Turns};
use crate::session::effect::Tell;
use crate::session::ids::{SessionId, Tag, TurnId};
use crate::view::detail::Header;
use crate::view::model::{Patch, SurfaceId};
use crate::view::patch::PIECE;

/// One thing for Neovim.
#[derive(Debug)]
pub enum Item {
    /// A change to what a surface shows.
    Patch(SurfaceId, Patch),
    /// What is said beside a tool call on a surface has changed.
    Detail(SurfaceId, Header),
    /// A session's summary has changed.
    Session(Summary),
    /// Something happened.
    Tell(Tell),
    /// What comes of a write that the editor is asked for next is being found out.
    Ahead(Ahead),
    /// What came of a merge.
    Merged(Merged),
    /// Where something goes.
    Placed(Placed),
    /// Files that are not what they were, of those that were looked at.
    DiskChanged(Tag, Vec<String>),
    /// A file that is gone, and where it is now if that is known.
    Moved(String, Option<String>),
    /// What is to be reviewed of a file.
    Hunks(Hunks),
    /// What was under review the last time is again.
    TakenUp {
        /// The session that was ready.
        session: SessionId,
        /// How many files.
        files: usize,
        /// How many hunks in them.
        hunks: usize,
    },
    /// Hunks of a file were rejected, or why not.
    Rejected(Tag, String, Option<String>),
    /// Files that are not what they were, although the system says nothing of it.
    DiskDiffers(Tag, Vec<String>),
    /// What the editor has is to be recorded, before or after this turn. These files are not what
    /// their buffers were last in step with.
    Record(SessionId, TurnId, Vec<String>),
    /// The turns of a session that can be undone. Tells the end of one too, so each is heard, and after
    /// the turn's own end.
    Turns(Turns),
    /// What came of a rewind.
    Rewound(Rewound),
    /// What a repository says, or a piece of it.
    Git(GitAnswer),
    /// A message for the user.
    Notice(String),
}

/// What an item says the present state of. While one of these waits, a newer one takes its place:
/// however often an agent changes its mind, Neovim hears the last word, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Topic {
    Session(SessionId),
    Settings(SessionId),
    Queue(SessionId),
    Touched(SessionId),
    Worked(SessionId),
    /// All of them are in the chat.
    Notice(SessionId),
    Detail(SurfaceId),
}

impl Item {
    fn topic(&self) -> Option<Topic> {
        Some(match self {
            Item::Session(summary) => Topic::Session(summary.id),
            Item::Detail(surface, _) => Topic::Detail(*surface),
            Item::Tell(Tell::SessionChanged(session)) => Topic::Session(*session),
            Item::Tell(Tell::SettingsChanged(session)) => Topic::Settings(*session),
            Item::Tell(Tell::QueueChanged(session)) => Topic::Queue(*session),
            Item::Tell(Tell::Worked(session)) => Topic::Worked(*session),
            Item::Tell(Tell::Touched { session, .. }) => Topic::Touched(*session),
            Item::Tell(Tell::Notice { session, .. }) => Topic::Notice(*session),
            _ => return None,
        })
    }
}

/// Items in order, at most one for each topic.
#[derive(Debug, Default)]
struct Coalesced {
    items: VecDeque<Item>,
    /// How many items were taken before the first of these.
    taken: usize,
    /// Where the item of a topic is, counted from the very first item.
    places: HashMap<Topic, usize>,
}

impl Coalesced {
    fn push(&mut self, item: Item) {
        let Some(topic) = item.topic() else { return self.items.push_back(item) };
        let next = self.taken + self.items.len();
        let place = *self.places.entry(topic).or_insert(next);
        match self.items.get_mut(place - self.taken) {
            Some(waiting) => *waiting = item,
            None => self.items.push_back(item),
        }
    }

    fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.taken += 1;
        if let Some(topic) = item.topic() {
            self.places.remove(&topic);
        }
        Some(item)
    }
}

/// The queue to Neovim.
#[derive(Debug)]
pub struct Outbox {
    items: Mutex<Coalesced>,
    bell: Bell,
    /// Tells the core that everything has been fetched: it may show more.
    emptied: Notify,
}

impl Outbox {
    /// An empty queue that rings this bell.
    pub fn new(bell: Bell) -> Outbox {
        Outbox { items: Mutex::default(), bell, emptied: Notify::new() }
    }

    /// Adds items and asks Neovim to come.
    pub fn push(&self, items: impl IntoIterator<Item = Item>) {
        let mut waiting = self.lock();
        items.into_iter().for_each(|item| waiting.push(item));
        drop(waiting);
        self.bell.ring();
    }

    /// Whether everything has been fetched.
    pub fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Waits until everything has been fetched after having been full.
    pub(super) async fn emptied(&self) {
        self.emptied.notified().await;
    }

    /// The next items, few enough to be dealt with in a moment. None when there are none.
    pub fn take(&self) -> Option<Vec<Item>> {
        self.bell.answered();
        let mut items = self.lock();
        let mut rows = 0;
        let mut taken = Vec::new();
        while rows < PIECE
            && let Some(item) = items.pop()
        {
            rows += match &item {
                Item::Patch(_, patch) => patch.weight(),
                _ => 8,
            };
            taken.push(item);
        }
        if items.items.is_empty() && !taken.is_empty() {
            self.emptied.notify_one();
        }
        if taken.is_empty() { None } else { Some(taken) }
    }

    /// Asks Neovim to come, for what is about to be there.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// Neovim does not come any more.
    pub(super) fn silence(&self) {
        self.bell.silence();
    }

    /// Asks Neovim to come once more, for what it left.
    pub fn rearm(&self) {
        self.bell.ring_again();
    }

    /// A panic while holding the lock leaves a queue that is still a queue.
    fn lock(&self) -> MutexGuard<'_, Coalesced> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(session: u64) -> Item {
        Item::Tell(Tell::SettingsChanged(SessionId(session)))
    }

    fn touched(session: u64, path: &str) -> Item {
        let (session, path) = (SessionId(session), path.to_owned());
        Item::Tell(Tell::Touched { session, path, line: None })
    }

    fn taken(outbox: &Outbox) -> Vec<String> {
        let items = outbox.take().unwrap_or_default().into_iter();
        items.map(|it| format!("{it:?}").replace("SessionId", "").replace("Tell", "")).collect()
    }

    #[test]
    fn the_last_word_of_a_topic_counts_at_the_place_of_the_first() {
        let outbox = Outbox::new(Bell::new(|| ()));
        for _ in 0..1000 {
            outbox.push([changed(1), touched(1, "old"), changed(2)]);
        }
        outbox.push([Item::Tell(Tell::Ready(SessionId(1))), touched(1, "new"), changed(1)]);
        let touched_new = "(Touched { session: (1), path: \"new\", line: None })";
        let all = ["(SettingsChanged((1)))", touched_new, "(SettingsChanged((2)))", "(Ready((1)))"];
        assert_eq!(taken(&outbox), all);
        // What was fetched is no reason to be silent about what comes later.
        outbox.push([changed(1), Item::Notice("n".into()), changed(1)]);
        assert_eq!(taken(&outbox), ["(SettingsChanged((1)))", "Notice(\"n\")"]);
        assert!(outbox.is_empty() && outbox.take().is_none());
    }
}
