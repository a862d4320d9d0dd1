//! What any thread may read at any time without asking the core: summaries and transcripts.
//!
//! The locks are held for as long as it takes to copy a text.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::session::ids::SessionId;
use crate::session::state::{Entry, Launch, Session};
use crate::view::export;

/// A session in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// Its agent.
    pub agent: String,
    /// Its name.
    pub title: String,
    /// Its project.
    pub cwd: String,
    /// `starting ready running waiting cancelling failed closed`
    pub state: &'static str,
    /// How many prompts wait.
    pub queued: usize,
}

impl Summary {
    /// The summary of a session that the core has yet to hear of.
    pub(super) fn starting(id: SessionId, launch: &Launch) -> Summary {
        Summary {
            id,
            agent: launch.agent.clone(),
            title: String::new(),
            cwd: launch.cwd.clone(),
            state: "starting",
            queued: 0,
        }
    }

    /// The summary of a session.
    pub fn of(session: &Session) -> Summary {
        Summary {
            id: session.id,
            agent: session.launch.agent.clone(),
            title: session.title.clone().unwrap_or_default(),
            cwd: session.launch.cwd.clone(),
            state: session.word(),
            queued: session.queue.len(),
        }
    }
}

/// What the core publishes.
#[derive(Debug, Default)]
pub struct Published {
    sessions: Mutex<BTreeMap<SessionId, Page>>,
}

#[derive(Debug)]
struct Page {
    summary: Summary,
    /// The transcript, entry by entry, each with the length of the message text it holds.
    entries: Vec<(String, usize)>,
}

impl Published {
    /// The sessions there are.
    pub fn summaries(&self) -> Vec<Summary> {
        self.lock().values().map(|it| it.summary.clone()).collect()
    }

    /// The whole chat as Markdown.
    pub fn transcript(&self, session: SessionId) -> Option<String> {
        let sessions = self.lock();
        let page = sessions.get(&session)?;
        let mut text: String = page.entries.iter().map(|(text, _)| text.as_str()).collect();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Some(text)
    }

    pub(super) fn summary(&self, summary: Summary) {
        let mut sessions = self.lock();
        match sessions.get_mut(&summary.id) {
            Some(page) => page.summary = summary,
            None => {
                sessions.insert(summary.id, Page { summary, entries: Vec::new() });
            }
        }
    }

    /// Brings one entry up to date; a message that has only grown costs what it has grown by.
    pub(super) fn entry(&self, session: &Session, index: usize) {
        let mut sessions = self.lock();
        let Some(page) = sessions.get_mut(&session.id) else { return };
        while page.entries.len() <= index {
            let index = page.entries.len();
            page.entries.push((export::markdown(session, index), text_of(session, index).len()));
        }
        let Some((markdown, length)) = page.entries.get_mut(index) else { return };
        let text = text_of(session, index);
        match text.get(*length..) {
            Some(more) if !text.is_empty() => markdown.push_str(more),
            _ => *markdown = export::markdown(session, index),
        }
        *length = text.len();
    }

    pub(super) fn close(&self, session: SessionId) {
        self.lock().remove(&session);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Page>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text_of(session: &Session, index: usize) -> &str {
    match session.entries.get(index) {
        Some(Entry::Message { text, .. }) => text,
        _ => "",
    }
}
