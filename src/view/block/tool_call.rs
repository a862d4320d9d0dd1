//! Tool calls: one row each, and below it a part of what they show if the user wants to see it.
//! What a subagent does stands below the tool call that set it to work.

use super::marks::{self, Marks};
use super::{Block, Line, Scene, pending, preview, words};
use crate::session::entry::Entry;
use crate::session::state::Session;
use crate::session::terminal::Stop;
use crate::session::tool_call::{RejectedBy, ToolCall, ToolStatus};
use crate::view::detail::terminal::ended;
use crate::view::model::Group;

/// How many parts of parts there may be; what is deeper stands for itself. Each step of the way is
/// walked again with each change.
const DEPTH: usize = 32;
/// How many parts of a tool call are shown.
const PARTS: usize = 500;

/// The tool call that this one is part of.
pub(in crate::view) fn parent(session: &Session, index: usize) -> Option<usize> {
    let parent = above(session, index)?;
    let mut top = parent;
    for _ in 0..DEPTH {
        match above(session, top) {
            Some(index) => top = index,
            None => return Some(parent),
        }
    }
    None
}

/// The tool call that this one says it is part of. It comes before its parts, or it is not known as
/// such.
fn above(session: &Session, index: usize) -> Option<usize> {
    let Entry::ToolCall(tool_call) = session.entries.get(index)? else { return None };
    let parent = *session.tool_calls.get(tool_call.parent.as_ref()?)?;
    (parent < index && matches!(session.entries.get(parent), Some(Entry::ToolCall(_))))
        .then_some(parent)
}

/// The tool call that this one is a part of and that is part of none.
pub(in crate::view) fn root(session: &Session, index: usize) -> Option<usize> {
    let mut root = parent(session, index)?;
    while let Some(above) = parent(session, root) {
        root = above;
    }
    Some(root)
}

/// A tool call in a few words, without its numbers.
pub(in crate::view) fn words(session: &Session, tool_call: &ToolCall) -> String {
    let look = Default::default();
    let mark = marks::status(look, session.shown_status(tool_call));
    let (kind, title) = (tool_call.kind.word(), title(session, tool_call, Marks::of(look)));
    let outcome = outcome(session, tool_call).map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{mark} {kind}: {title}{outcome}")
}

/// The rows of a tool call, and of its parts. One that is itself a part has none.
pub(super) fn rows(scene: &Scene, index: usize) -> Block {
    let mut block = Block::default();
    if parent(scene.session, index).is_some() {
        return block;
    }
    let parts = parts(scene.session, index);
    one(scene, (index, 0), parts.len(), &mut block);
    // The rows of one tool call stand together, so that each leads to the first of them.
    shown(scene, (index, 0), &mut block);
    let open = scene.opened.is_open(index);
    let more = parts.len().saturating_sub(PARTS);
    for (number, (part, depth)) in parts.into_iter().enumerate() {
        // What waits for the user is shown in any case.
        if open && number < PARTS || scene.waits_for_user(part) {
            one(scene, (part, depth), 0, &mut block);
            shown(scene, (part, depth), &mut block);
        }
    }
    if open && more > 0 {
        let words = format!("  {} more are not shown", words::thousands(more));
        block.push(Line::of(words, Group::Muted), index);
    }
    block
}

/// The tool calls that are parts of one, in the order they came, each with how deep it is.
fn parts(session: &Session, root: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut open = vec![(root, 0)];
    while let Some((index, depth)) = open.pop() {
        let Some(Entry::ToolCall(tool_call)) = session.entries.get(index) else { continue };
        let below = session.parts.of(&tool_call.id);
        let below = below.filter(|it| parent(session, *it) == Some(index));
        let known = parts.len();
        parts.extend(below.map(|it| (it, depth + 1)));
        open.extend(parts.iter().skip(known));
    }
    parts.sort_unstable();
    parts
}

/// The row of one tool call that has so many parts.
fn one(scene: &Scene, (index, depth): (usize, usize), parts: usize, block: &mut Block) {
    if let Some(Entry::ToolCall(tool_call)) = scene.entry(index) {
        block.push(row(scene, (index, tool_call), &indent(depth), parts), index);
    }
}

/// What a tool call shows, if it is open or waits for the user, and what the user can answer.
fn shown(scene: &Scene, (index, depth): (usize, usize), block: &mut Block) {
    let Some(Entry::ToolCall(tool_call)) = scene.entry(index) else { return };
    let indent = indent(depth + 1);
    if scene.opened.is_open(index) {
        block.append(preview::rows(scene, (index, tool_call), &indent));
    } else if scene.waits_for_user(index) {
        let found = preview::found(scene, (index, tool_call), &indent);
        block.append(found.unwrap_or_default());
    }
    block.append(pending::rows(scene, index, &indent));
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(8))
}

fn row(scene: &Scene, (index, tool_call): (usize, &ToolCall), indent: &str, parts: usize) -> Line {
    let marks = scene.marks();
    let status = scene.session.shown_status(tool_call);
    let mark = match status {
        _ if scene.waits_for_user(index) => Group::Waiting,
        ToolStatus::Pending => Group::Muted,
        ToolStatus::InProgress => Group::Busy,
        ToolStatus::Completed => Group::Done,
        ToolStatus::Failed => Group::Error,
        ToolStatus::Cancelled | ToolStatus::Rejected | ToolStatus::Unfinished => Group::Muted,
    };
    let mut line = Line::default();
    line.plain(indent);
    line.add(marks::status(scene.look, status), mark);
    line.plain(" ");
    line.add(&kind(scene, tool_call), Group::Kind);
    line.plain(" ");
    let title_group = match status {
        ToolStatus::Cancelled | ToolStatus::Rejected => Group::Muted,
        _ => Group::Tool,
    };
    line.add(&title(scene.session, tool_call, marks), title_group);
    let (added, removed) = tool_call
        .diffs
        .iter()
        .fold((0, 0), |(added, removed), diff| (added + diff.added, removed + diff.removed));
    if added > 0 {
        line.plain(" ");
        line.add(&format!("+{added}"), Group::Plus);
    }
    if removed > 0 {
        line.plain(" ");
        line.add(&format!("{}{removed}", marks.minus), Group::Minus);
    }
    for fact in facts(scene, (index, tool_call), parts) {
        line.add(&format!("{}{fact}", marks.dot), Group::Muted);
    }
    line
}

fn kind(scene: &Scene, tool_call: &ToolCall) -> String {
    let subagent = tool_call.subagent.is_some();
    match (scene.look.ascii, subagent) {
        (false, true) => marks::SUBAGENT.to_owned(),
        (false, false) => marks::icon(&tool_call.kind).to_owned(),
        (true, true) => "agent:".to_owned(),
        (true, false) => format!("{}:", words::one_line(tool_call.kind.word(), scene.marks())),
    }
}

/// What it does. A subagent is named for what it is.
fn title(session: &Session, tool_call: &ToolCall, marks: &Marks) -> String {
    let title = words::one_line(&tool_call.label(&session.launch.cwd), marks);
    // Commands come in backticks.
    let bare = title.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
    let title = bare.filter(|it| !it.is_empty() && !it.contains('`')).unwrap_or(&title).to_owned();
    let Some(subagent) = &tool_call.subagent else { return title };
    let title = subagent.description.as_ref().map_or(title, |it| words::one_line(it, marks));
    match &subagent.kind {
        Some(kind) => format!("{}: {title}", words::one_line(kind, marks)),
        None => title,
    }
}

/// What became of its commands when the turn was cancelled; the worst counts.
fn stopped(session: &Session, tool_call: &ToolCall) -> Option<&'static str> {
    // What is forgotten has ended.
    let stop = |id| session.terminals.get(id).map_or(Stop::Done, |it| it.stop);
    let stops = tool_call.stopped.iter().map(stop);
    let worst = stops.max_by_key(|stop| match stop {
        Stop::No => 0,
        Stop::Done => 1,
        Stop::Asked => 2,
        Stop::Failed => 3,
    });
    match worst? {
        Stop::No => None,
        Stop::Done => Some("command stopped"),
        Stop::Asked => Some("stopping the command"),
        Stop::Failed => Some("the command does not stop"),
    }
}

/// How it ended, where the sign alone does not say it.
fn outcome(session: &Session, tool_call: &ToolCall) -> Option<String> {
    match (session.shown_status(tool_call), tool_call.rejected_by) {
        (ToolStatus::Rejected, Some(RejectedBy::Rule)) => Some("rejected by a rule".into()),
        (ToolStatus::Rejected, _) => Some("rejected by you".into()),
        (ToolStatus::Unfinished, _) => Some("outcome unknown".into()),
        (ToolStatus::Failed, _) => session.exit_of(tool_call).filter(|it| it.failed()).map(ended),
        _ => None,
    }
}

/// What else there is to say: how it ended, which model, how many tools, how long.
fn facts(scene: &Scene, (index, tool_call): (usize, &ToolCall), parts: usize) -> Vec<String> {
    let mut facts: Vec<String> = outcome(scene.session, tool_call).into_iter().collect();
    let subagent = tool_call.subagent.as_deref();
    if let Some(model) = subagent.and_then(|it| it.model.as_ref()) {
        facts.push(words::one_line(model, scene.marks()));
    }
    let tools = parts.max(subagent.map_or(0, |it| it.tools.len()));
    if tools > 0 {
        facts.push(words::counted(tools, "tool"));
    }
    facts.extend(stopped(scene.session, tool_call).map(str::to_owned));
    if tool_call.left_out > 0 {
        facts.push(format!("{} more are not shown", words::thousands(tool_call.left_out)));
    }
    let done = tool_call.ended;
    // What was left unfinished says nothing: nobody knows when it stopped.
    // Nor does what waits for the user: it is not at work.
    let live = || {
        let works = scene.is_live(index) && !scene.waits_for_user(index);
        works.then_some(scene.session.now)
    };
    if let Some(until) = done.or_else(live) {
        let took = until.saturating_sub(tool_call.began);
        facts.extend(words::elapsed(took, done.is_some()));
    }
    facts
}
