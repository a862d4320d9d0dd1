//! Things worth a line: why a turn stopped, what the agent tells beside the conversation.

use super::words::thousands;
use super::{Block, Line, Scene, pending, words};
use crate::session::entry::{Note, StopReason};
use crate::session::state::Session;
use crate::view::model::Group;

pub(super) fn rows(scene: &Scene, note: &Note, index: usize) -> Block {
    let mark = scene.marks().note;
    let group = group(note);
    let mut block = Block::default();
    for (number, line) in words(scene.session, note).trim_end().lines().enumerate() {
        let mark = if number == 0 { mark } else { "  " };
        block.push(Line::of(format!("{mark}{}", words::line(line)), group), index);
    }
    if block.lines.is_empty() {
        block.push(Line::of(mark, group), index);
    }
    block.append(pending::rows(scene, index, "  "));
    block
}

fn group(note: &Note) -> Group {
    match note {
        Note::Stopped(StopReason::Cancelled | StopReason::EndTurn) => Group::Muted,
        Note::Stopped(_)
        | Note::Unanswered
        | Note::StartedAgain
        | Note::LeftOut(_)
        | Note::NotRun { .. }
        | Note::TooMany(_) => Group::Warning,
        Note::Notice { severity, .. } => match severity.as_str() {
            "error" => Group::Error,
            "warning" | "warn" => Group::Warning,
            _ => Group::Muted,
        },
        Note::Compaction { error: Some(_), .. } => Group::Error,
        Note::Compaction { status, .. } if status == "failed" => Group::Error,
        Note::Compaction { .. }
        | Note::Withdrawn
        | Note::CommandStopped(_)
        | Note::Resumed
        | Note::Subagent { .. }
        | Note::Question(_)
        | Note::Mode(_)
        | Note::Unknown { .. } => Group::Muted,
    }
}

/// A note in words.
pub(in crate::view) fn words(session: &Session, note: &Note) -> String {
    let agent = &session.launch.agent;
    match note {
        Note::Stopped(StopReason::Cancelled) => "cancelled".into(),
        Note::Stopped(StopReason::MaxTokens) => {
            "stopped: the model's limit of tokens was reached".into()
        }
        Note::Stopped(StopReason::MaxTurnRequests) => {
            format!("stopped: {agent}'s limit of requests in one turn was reached")
        }
        Note::Stopped(StopReason::Refusal) => {
            format!("{agent} refused to go on, and forgets this prompt")
        }
        Note::Stopped(reason) => format!("stopped: {}", reason.word()),
        Note::Unanswered => {
            format!("{agent} ended the turn without an answer: `:Acp log` may tell why")
        }
        Note::Withdrawn => "cancelled before it was sent".into(),
        Note::StartedAgain => {
            format!("{agent} was started again and does not remember the earlier turns")
        }
        Note::Resumed => format!("{agent} was started again and took up the session"),
        Note::LeftOut(words) => format!("left out: {words}"),
        Note::NotRun { command, rule } => format!("rejected by a rule: {command} ({rule})"),
        Note::CommandStopped(command) => format!("stopped the command: {command}"),
        Note::TooMany(it) => {
            format!("{} more {} are not shown", thousands(it.count), it.what)
        }
        Note::Notice { severity, title, description } => match description {
            Some(description) => format!("{severity}: {title}: {description}"),
            None => format!("{severity}: {title}"),
        },
        Note::Compaction { status, error, .. } => match (status.as_str(), error) {
            (_, Some(error)) => format!("compaction of the context failed: {error}"),
            ("in_progress", None) => "the context is being compacted".into(),
            ("completed", None) => "the context was compacted".into(),
            (other, None) => format!("compaction of the context: {other}"),
        },
        Note::Subagent { title, description, .. } => match description {
            Some(description) => format!("subagent {title}: {description}"),
            None => format!("subagent {title}"),
        },
        Note::Question(words) => format!("{agent} asks: {words}"),
        Note::Mode(name) => format!("mode: {name}"),
        Note::Unknown { kind, .. } => format!("unknown update: {kind}"),
    }
}
