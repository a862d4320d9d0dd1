//! What Neovim has not fetched yet, in order.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::ahead::Ahead;
use super::bell::Bell;
use super::git::GitAnswer;
use super::merging::Merged;
use super::placing::Placed;
use super::published::Summary;
use super::reviews::Hunks;
use super::rewind::Rewound;
use super::rewind::records::Record;
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
    /// The turns of a session that can be undone, oldest first.
    Turns(SessionId, Vec<Record>),
    /// What came of a rewind.
    Rewound(Rewound),
    /// What a repository says, or a piece of it.
    Git(GitAnswer),
    /// A message for the user.
    Notice(String),
}

/// The queue to Neovim.
#[derive(Debug)]
pub struct Outbox {
    items: Mutex<VecDeque<Item>>,
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
        self.lock().extend(items);
        self.bell.ring();
    }

    /// Whether everything has been fetched.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
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
            && let Some(item) = items.pop_front()
        {
            rows += match &item {
                Item::Patch(_, patch) => patch.lines.len(),
                _ => 8,
            };
            taken.push(item);
        }
        if items.is_empty() && !taken.is_empty() {
            self.emptied.notify_one();
        }
        if taken.is_empty() { None } else { Some(taken) }
    }

    /// Asks Neovim to come, for what it left or for what is about to be there.
    pub fn rearm(&self) {
        self.bell.ring();
    }

    /// A panic while holding the lock leaves a queue that is still a queue.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
