//! What the user, or a program in the user's place, asks for.

use super::agent::Launch;
use super::audit::By;
use super::content::Content;
use super::ids::{AskId, RemoteId, SessionId, Tag};
use super::question::Reaction;
use super::rule::Rule;

/// What the user or a program on the Lua side asks for.
#[derive(Debug)]
pub enum Wish {
    /// Make a session, starting or reusing the agent.
    Open {
        /// Its id, chosen by the caller so that it is known at once.
        session: SessionId,
        /// The agent to run.
        launch: Launch,
        /// Where the session comes from.
        origin: Origin,
    },
    /// Say something. Waits in the queue while the agent is starting or busy.
    Prompt {
        /// To which session.
        session: SessionId,
        /// What to say.
        content: Vec<Content>,
        /// Comes back when the turn ends.
        tag: Tag,
    },
    /// Say something into the running turn, where the agent can take it; else it waits.
    Steer {
        /// To which session.
        session: SessionId,
        /// What to say.
        content: Vec<Content>,
        /// Comes back when the turn ends.
        tag: Tag,
    },
    /// Change a prompt that waits. Nothing happens to one that was sent meanwhile.
    Queue {
        /// Of which session.
        session: SessionId,
        /// Which prompt.
        tag: Tag,
        /// What about it.
        change: QueueChange,
    },
    /// Stop the running turn, or a login.
    Cancel(SessionId),
    /// End the session, and the agent when nobody else uses it.
    Close(SessionId),
    /// Kill the agent and start it again.
    Restart(SessionId),
    /// Kill the agent; the next prompt starts it again.
    Kill(SessionId),
    /// Give a silent agent more time.
    Wait(SessionId),
    /// Start an agent only to hear who it is.
    Probe {
        /// Comes back with the finding.
        tag: Tag,
        /// The agent to try.
        launch: Launch,
    },
    /// Something to set or to ask of the agent.
    Ask {
        /// For which session.
        session: SessionId,
        /// What.
        ask: Ask,
        /// Comes back with the outcome.
        tag: Tag,
    },
    /// Log in by one of the agent's methods, named by its id.
    LogIn {
        /// For which session.
        session: SessionId,
        /// The method's id.
        method: String,
    },
    /// A login in a terminal has ended, well or not.
    LoggedIn {
        /// For which session.
        session: SessionId,
        /// Whether it went well.
        ok: bool,
    },
    /// The editor or the user answers a question.
    Answer {
        /// Which.
        ask: AskId,
        /// How.
        reaction: Reaction,
        /// Who; matters for permissions.
        by: By,
    },
    /// Save something that is not text to a new file.
    Save {
        /// Of which session.
        session: SessionId,
        /// Of which entry.
        entry: usize,
        /// Which of what came with it, from 0.
        attachment: usize,
        /// Where: an absolute path.
        path: String,
        /// Comes back with the outcome.
        tag: Tag,
    },
    /// From now on, these rules and no others answer permissions.
    SetRules(Vec<Rule>),
    /// From now on, files with such names are not read unasked.
    SetPrivate(Vec<String>),
    /// From now on, what files are is recorded before each turn, or not.
    SetRewind(bool),
    /// Something that the agent shall know with the next prompt.
    Note {
        /// Of which session.
        session: SessionId,
        /// What.
        text: String,
    },
}

/// What becomes of a prompt that waits.
#[derive(Debug)]
pub enum QueueChange {
    /// It is taken back.
    Remove,
    /// It says this.
    Edit(Vec<Content>),
    /// It waits at this place, from 0.
    Move(usize),
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is new.
    New,
    /// The agent kept it under this name: with its history if it can tell it.
    Kept(RemoteId),
    /// It branches off another session of ours.
    Fork(SessionId),
}

/// Something to set or to ask of the agent, beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Change the mode, by its id.
    SetMode(String),
    /// Change the model, by its id.
    SetModel(String),
    /// Choose a value of an option.
    SetOption(String, String),
    /// Switch an option.
    SetSwitch(String, bool),
    /// Give the session a name.
    SetTitle(String),
    /// What sessions the agent keeps, all pages.
    ListSessions,
    /// Forget a kept session.
    DeleteSession(RemoteId),
    /// Log out.
    LogOut,
}
