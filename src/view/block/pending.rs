//! What waits for the user, at the entry it belongs to: the options with their letters, and how to
//! answer.

use super::{Block, Line, Scene, words};
use crate::session::pending::PendingQuestion;
use crate::session::question::PermissionKind;
use crate::view::model::Group;

/// How many options are shown here; all are in the window that answers.
const OPTIONS: usize = 9;

/// What to do about it, from any window.
const HOW: &str = ":Acp permissions";

/// The rows of the questions that wait at an entry.
pub(super) fn rows(scene: &Scene, index: usize, indent: &str) -> Block {
    let mut block = Block::default();
    for question in scene.session.pending.at(index) {
        block.push(row(scene, question, indent), index);
    }
    block
}

fn row(scene: &Scene, question: &PendingQuestion, indent: &str) -> Line {
    let marks = scene.marks();
    let mut line = Line::default();
    line.add(&format!("{indent}{}", marks.bar), Group::Muted);
    line.add("waiting for you", Group::Waiting);
    for option in question.options.iter().take(OPTIONS) {
        line.plain("  ");
        line.add(&option.letter.to_string(), Group::Key);
        line.plain(" ");
        let group = match option.kind {
            PermissionKind::AllowOnce | PermissionKind::AllowAlways => Group::Done,
            PermissionKind::RejectOnce | PermissionKind::RejectAlways => Group::Error,
            PermissionKind::Unknown => Group::Muted,
        };
        line.add(&words::short(&option.name, marks), group);
    }
    line.add(&format!("{}{HOW}", marks.dot), Group::Hint);
    line
}
