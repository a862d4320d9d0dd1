//! What any thread may read at any time without asking the core: summaries and transcripts.
//!
//! The locks are held for as long as it takes to copy a text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::reviews::Change;
use crate::session::agent::{AuthMethod, Capabilities, Launch};
use crate::session::content::plain_text;
use crate::session::entry::Entry;
use crate::session::failure::Failure;
use crate::session::ids::{AskId, RemoteId, SessionId, Tag};
use crate::session::question::Permission;
use crate::session::settings::{Settings, Usage};
use crate::session::state::{Session, State};
use crate::view::export;

/// A session in a few words.
#[derive(Debug, Clone, PartialEq)]
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
    /// The agent's own name for it.
    pub remote: Option<RemoteId>,
    /// How full the model's context is.
    pub usage: Option<Usage>,
    /// How many questions wait for the user.
    pub pending_permissions: usize,
    /// Why it has failed.
    pub failure: Option<Failure>,
}

/// A permission that waits for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionInfo {
    /// The question's id.
    pub ask: AskId,
    /// Of which session.
    pub session: SessionId,
    /// What is asked.
    pub permission: Permission,
}

/// A prompt that waits and is not in the chat yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// The caller's tag.
    pub tag: Tag,
    /// What it says, in Markdown; what is not text is named.
    pub text: String,
    /// Of how many blocks it is made.
    pub blocks: usize,
}

/// What a session can be set to, and what its agent can do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SettingsInfo {
    /// The settings.
    pub settings: Settings,
    /// What the agent can do.
    pub can: Capabilities,
    /// The agent takes words into a running turn.
    pub steering: bool,
    /// How one can log in.
    pub auth_methods: Vec<AuthMethod>,
    /// The agent's title and version, in its own words.
    pub agent: (Option<String>, Option<String>),
    /// How often all of this has changed.
    pub revision: u64,
}

impl SettingsInfo {
    fn of(state: &State, session: &Session) -> SettingsInfo {
        let info = state.agent_of(session).cloned().unwrap_or_default();
        SettingsInfo {
            settings: session.settings.clone(),
            can: info.can,
            steering: session.steering,
            auth_methods: state.login_methods(session),
            agent: (info.title, info.version),
            revision: 0,
        }
    }
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
            remote: None,
            usage: None,
            pending_permissions: 0,
            failure: None,
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
            remote: session.remote.clone(),
            usage: session.settings.usage.clone(),
            pending_permissions: session.pending.len(),
            failure: session.link.failure().cloned(),
        }
    }
}

/// What the core publishes.
#[derive(Debug, Default)]
pub struct Published {
    sessions: Mutex<BTreeMap<SessionId, Page>>,
    permissions: Mutex<BTreeMap<AskId, PermissionInfo>>,
    changes: Mutex<BTreeMap<String, Change>>,
}

#[derive(Debug)]
struct Page {
    summary: Summary,
    settings: Option<Arc<SettingsInfo>>,
    queue: Vec<Queued>,
    /// The transcript, entry by entry, each with the length of the message text it holds.
    entries: Vec<(String, usize)>,
}

impl Published {
    /// The sessions there are.
    pub fn summaries(&self) -> Vec<Summary> {
        self.lock().values().map(|it| it.summary.clone()).collect()
    }

    /// The permissions that wait for the user, oldest first.
    pub fn open_permissions(&self) -> Vec<PermissionInfo> {
        self.permissions().values().cloned().collect()
    }

    /// What there is to review, of one session or of all.
    pub fn changes(&self, session: Option<SessionId>) -> Vec<Change> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Change> = changes.values().cloned().collect();
        if let Some(session) = session {
            all.iter_mut().for_each(|it| it.hunks.retain(|hunk| hunk.session == session));
            all.retain(|it| !it.hunks.is_empty());
        }
        all
    }

    pub(super) fn set_changes(&self, path: &str, change: Option<Change>) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Some(change) => changes.insert(path.to_owned(), change),
            None => changes.remove(path),
        };
    }

    /// What a session can be set to; none before its agent has said so.
    pub fn settings(&self, session: SessionId) -> Option<Arc<SettingsInfo>> {
        self.lock().get(&session)?.settings.clone()
    }

    /// The prompts that wait, the next one first.
    pub fn queue(&self, session: SessionId) -> Vec<Queued> {
        self.lock().get(&session).map(|page| page.queue.clone()).unwrap_or_default()
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
                let (id, queue, entries) = (summary.id, Vec::new(), Vec::new());
                sessions.insert(id, Page { summary, settings: None, queue, entries });
            }
        }
    }

    /// A permission waits for the user.
    pub(super) fn asked(&self, permission: PermissionInfo) {
        self.permissions().insert(permission.ask, permission);
    }

    /// A question waits no more.
    pub(super) fn settled(&self, ask: AskId) {
        // It is freed after the lock.
        let _settled = self.permissions().remove(&ask);
    }

    fn permissions(&self) -> MutexGuard<'_, BTreeMap<AskId, PermissionInfo>> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_settings(&self, state: &State, session: &Session) {
        let mut settings = SettingsInfo::of(state, session);
        if let Some(page) = self.lock().get_mut(&session.id) {
            settings.revision = page.settings.as_ref().map_or(0, |it| it.revision) + 1;
            page.settings = Some(Arc::new(settings));
        }
    }

    pub(super) fn set_queue(&self, session: &Session) {
        let waiting = session.queue.iter().filter(|prompt| !prompt.shown);
        let queue = waiting.map(|prompt| Queued {
            tag: prompt.tag,
            text: plain_text(&prompt.content),
            blocks: prompt.content.len(),
        });
        if let Some(page) = self.lock().get_mut(&session.id) {
            page.queue = queue.collect();
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
        Some(Entry::Message(message)) => &message.text,
        _ => "",
    }
}
