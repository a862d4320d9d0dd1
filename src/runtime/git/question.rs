//! What the editor asks of a repository, answered by a thread that may wait.

use std::path::PathBuf;
use std::sync::Arc;

use super::{GitError, answer};
use crate::runtime::outbox::{Item, Outbox};
use crate::session::ids::Tag;

/// How many bytes of names go at once: the editor reads them in a moment.
const PIECE: usize = 32 << 10;
/// How many bytes of a diff are told.
const LONGEST_DIFF: usize = 1_000_000;

/// What the editor wants to know.
#[derive(Debug)]
pub struct GitQuestion {
    /// The editor's name for it.
    pub tag: Tag,
    /// Of which project.
    pub project: PathBuf,
    /// What.
    pub what: GitTopic,
}

/// What can be asked of a repository.
#[derive(Debug, Clone, Copy)]
pub enum GitTopic {
    /// The names of its files.
    Files,
    /// What has changed since the last commit.
    Diff,
}

/// An answer, or a piece of it.
#[derive(Debug, Default)]
pub struct GitAnswer {
    /// The editor's name for it.
    pub tag: Tag,
    /// Names with a NUL after each, or a diff.
    pub bytes: Vec<u8>,
    /// Whether git knows of the project, and could say.
    pub known: bool,
    /// Whether there is more than is told.
    pub cut: bool,
    /// Whether nothing follows.
    pub last: bool,
}

/// Finds the answer.
pub(in crate::runtime) fn start(question: GitQuestion, outbox: Arc<Outbox>) {
    tokio::task::spawn_blocking(move || {
        let GitQuestion { tag, project, what } = question;
        let found = match what {
            GitTopic::Files => answer::files(&project).map(|it| it.map(|names| (names, false))),
            GitTopic::Diff => answer::diff(&project, LONGEST_DIFF)
                .map(|it| it.map(|diff| (diff.text.into_bytes(), !diff.whole))),
        };
        let found = found.unwrap_or_else(|error: GitError| {
            tracing::info!(%error, ?what, "git has no answer");
            None
        });
        let known = found.is_some();
        let (bytes, cut) = found.unwrap_or_default();
        let pieces = match what {
            GitTopic::Files => pieces(&bytes),
            GitTopic::Diff => Vec::new(),
        };
        let answer = GitAnswer { tag, known, ..GitAnswer::default() };
        let part = |it: &[u8]| Item::Git(GitAnswer { bytes: it.to_vec(), ..answer });
        outbox.push(pieces.into_iter().map(part));
        let rest = if matches!(what, GitTopic::Diff) { bytes } else { Vec::new() };
        outbox.push([Item::Git(GitAnswer { bytes: rest, cut, last: true, ..answer })]);
    });
}

/// Names in pieces, each of whole names.
fn pieces(mut names: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !names.is_empty() {
        let most = names.get(..PIECE).unwrap_or(names);
        let end = most.iter().rposition(|it| *it == 0).map_or(most.len(), |it| it + 1);
        let (piece, rest) = names.split_at(end);
        pieces.push(piece);
        names = rest;
    }
    pieces
}
