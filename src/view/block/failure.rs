//! Something that failed: what, the agent's last words, and what to do.

use super::{Block, Line, Scene, words};
use crate::session::failure::Failure;
use crate::view::model::Group;

/// How many of a dead agent's last words are shown.
const LAST_WORDS: usize = 12;

pub(super) fn rows(scene: &Scene, failure: &Failure, index: usize) -> Block {
    let marks = scene.marks();
    let mut block = Block::default();
    for (number, line) in failure.message().lines().enumerate() {
        let mark = if number == 0 { marks.failure } else { "  " };
        let line = words::line(line);
        block.push(Line::of(format!("{mark}{line}"), Group::Error), index);
    }
    let last = last_words(failure);
    for line in last.iter().skip(last.len().saturating_sub(LAST_WORDS)) {
        block.push(Line::of(format!("  {}{line}", marks.bar), Group::Muted), index);
    }
    if let Some(hint) = failure.hint() {
        block.push(Line::of(format!("  {}", words::line(&hint)), Group::Hint), index);
    }
    block
}

/// A dead agent's last words, without anything that is not meant for the eye.
pub(in crate::view) fn last_words(failure: &Failure) -> Vec<String> {
    failure.last_words().iter().map(|line| words::line(line)).collect()
}
