//! The questions of a session that wait for the user, as the chat shows them.

use std::collections::BTreeMap;

use super::ids::AskId;
use super::letter;
use super::question::{Body, ElicitationMode, Permission, PermissionKind, PermissionOption};

/// What waits for the user in a session.
#[derive(Debug, Default)]
pub struct Pending {
    questions: BTreeMap<AskId, PendingQuestion>,
}

/// A question that waits for the user.
#[derive(Debug, Default)]
pub struct PendingQuestion {
    /// The entry of the chat it is shown at.
    pub entry: Option<usize>,
    /// What can be answered with one letter.
    pub options: Vec<PendingOption>,
}

/// An option of a permission, as it is shown.
#[derive(Debug)]
pub struct PendingOption {
    /// The key that chooses it.
    pub letter: char,
    /// Its words, in the agent's.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

impl Pending {
    /// How many questions wait.
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// A question waits from now on.
    pub fn add(&mut self, ask: AskId, question: PendingQuestion) {
        self.questions.insert(ask, question);
    }

    /// It does not wait any more.
    pub fn remove(&mut self, ask: AskId) -> Option<PendingQuestion> {
        self.questions.remove(&ask)
    }

    /// The questions that are shown at an entry of the chat, oldest first.
    pub fn at(&self, entry: usize) -> impl Iterator<Item = &PendingQuestion> {
        self.questions.values().filter(move |it| it.entry == Some(entry))
    }
}

impl PendingQuestion {
    /// What the chat shows of a question at an entry.
    pub fn new(body: &Body, entry: Option<usize>) -> PendingQuestion {
        let options = match body {
            Body::Permission(permission) => options(permission),
            Body::Elicitation(_) | Body::Read(_) | Body::Write { .. } | Body::List(_) => Vec::new(),
        };
        PendingQuestion { entry, options }
    }
}

fn options(permission: &Permission) -> Vec<PendingOption> {
    let letters = letter::of(&permission.options).into_iter();
    let options = permission.options.iter().zip(letters);
    let option = |(option, letter): (&PermissionOption, Option<char>)| {
        let name = if option.name.is_empty() { &option.id } else { &option.name };
        Some(PendingOption { letter: letter?, name: name.clone(), kind: option.kind })
    };
    options.filter_map(option).collect()
}

/// What a question that belongs to no tool call asks, in words.
pub fn words(body: &Body) -> Option<String> {
    match body {
        Body::Permission(permission) => Some(permission.title.clone()),
        Body::Elicitation(elicitation) => Some(match &elicitation.mode {
            ElicitationMode::Form(_) => elicitation.message.clone(),
            ElicitationMode::Url { url, .. } => format!("{} {url}", elicitation.message),
        }),
        Body::Read(_) | Body::Write { .. } | Body::List(_) => None,
    }
}
