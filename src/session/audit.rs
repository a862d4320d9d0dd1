//! What is noted for good about permissions: that something was asked, and who decided what.

use super::ids::SessionId;
use super::question::{Permission, PermissionKind, PermissionOption};
use super::rule::Verdict;
use super::state::Session;
use super::subject::Subject;

/// One thing to note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Of which session.
    pub session: SessionId,
    /// Its agent.
    pub agent: String,
    /// Its project.
    pub cwd: String,
    /// What was asked, for people.
    pub title: String,
    /// What exactly was asked.
    pub subject: Subject,
    /// What became of it.
    pub deed: Deed,
}

/// What became of a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// The agent asks.
    Asked,
    /// A rule matches.
    Ruled {
        /// What it says.
        verdict: Verdict,
        /// The rule in words.
        rule: String,
        /// What was answered; none where the user is asked, or the request was cancelled.
        option: Option<PermissionOption>,
    },
    /// It is done, and nobody is asked.
    Unasked(Unasked),
    /// It is answered.
    Answered {
        /// With what; none to cancel the request.
        option: Option<PermissionOption>,
        /// By whom.
        by: By,
    },
}

/// Why nobody is asked about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// No rule is about it, and the agent is a program of the user's.
    NoRule,
    /// The user has allowed it for its tool call.
    AllowedBefore,
}

impl Unasked {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Unasked::NoRule => "no rule",
            Unasked::AllowedBefore => "permission",
        }
    }
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The user.
    User,
    /// A program in the user's place.
    Api,
    /// The user cancelled the turn, or closed the session.
    Cancel,
    /// The agent does not want an answer any more.
    Withdrawn,
    /// The agent is gone.
    Gone,
}

impl By {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            By::User => "user",
            By::Api => "api",
            By::Cancel => "cancel",
            By::Withdrawn => "withdrawn",
            By::Gone => "agent gone",
        }
    }
}

impl Deed {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Deed::Asked => "asked",
            Deed::Ruled { .. } => "ruled",
            Deed::Unasked(_) => "unasked",
            Deed::Answered { .. } => "answered",
        }
    }

    /// What it comes to: `allow`, `reject`, `ask`, `cancel`; nothing where nobody can say.
    pub fn verdict(&self) -> Option<&'static str> {
        match self {
            Deed::Asked => None,
            Deed::Ruled { verdict, .. } => Some(verdict.word()),
            Deed::Unasked(_) => Some("allow"),
            Deed::Answered { option: None, .. } => Some("cancel"),
            Deed::Answered { option: Some(option), .. } => match option.kind {
                PermissionKind::AllowOnce | PermissionKind::AllowAlways => Some("allow"),
                PermissionKind::RejectOnce | PermissionKind::RejectAlways => Some("reject"),
                PermissionKind::Unknown => None,
            },
        }
    }

    /// What was answered.
    pub fn option(&self) -> Option<&PermissionOption> {
        match self {
            Deed::Asked | Deed::Unasked(_) => None,
            Deed::Ruled { option, .. } | Deed::Answered { option, .. } => option.as_ref(),
        }
    }
}

impl Record {
    /// What became of a permission of this session.
    pub fn new(session: &Session, permission: &Permission, deed: Deed) -> Box<Record> {
        Box::new(Record {
            session: session.id,
            agent: session.launch.agent.clone(),
            cwd: session.launch.cwd.clone(),
            title: permission.title.clone(),
            subject: permission.subject.clone(),
            deed,
        })
    }
}
