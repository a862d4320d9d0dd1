//! `session/update`: every kind there is, and those that are not.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::bounds::{LIST, shorten};
use super::content::{block, blocks};
use super::settings;
use super::tool_call::tool_call;
use super::wire;
use crate::protocol::dialect::{self, Object, Place};
use crate::session::content::plain_text;
use crate::session::entry::{Chunk, Note, Role};
use crate::session::event::Update;
use crate::session::settings::{Plan, PlanBody};

/// How much of a plan that is a text is kept.
const PLAN: usize = 64 << 10;
/// How much of an update that nobody understands is kept.
const RAW: usize = 64 << 10;

/// One update; a list of blocks makes several of it. `raw` is what it was read from.
pub(super) fn update(
    mut value: Value,
    raw: &str,
    each: &mut dyn FnMut(Update),
) -> Result<(), String> {
    dialect::canonical(Place::Update, &mut value);
    let Some(object) = value.as_object() else { return Err("there is no update".to_owned()) };
    let kind = object.get("sessionUpdate").and_then(Value::as_str).unwrap_or("update").to_owned();
    if let Some(role) = role(&kind) {
        return chunks(role, value, each);
    }
    if let "tool_call" | "tool_call_update" = kind.as_str() {
        dialect::canonical(Place::ToolCall, &mut value);
        let plan = todos(&value);
        let (id, update) = tool_call(value)?;
        each(Update::ToolCall(id, update));
        if let Some(plan) = plan {
            each(Update::Plan(plan));
        }
        return Ok(());
    }
    match known(&kind, value)? {
        Some(update) => each(update),
        None => {
            tracing::warn!(kind, "an update of a kind this client does not know: kept as it came");
            each(Update::Note(Note::Unknown { kind, raw: update_in(raw) }));
        }
    }
    Ok(())
}

/// Who speaks in a piece of a message.
pub(super) fn role(kind: &str) -> Option<Role> {
    match kind {
        "agent_message_chunk" => Some(Role::Agent),
        "agent_thought_chunk" => Some(Role::Thought),
        "user_message_chunk" => Some(Role::User),
        _ => None,
    }
}

fn chunks(role: Role, value: Value, each: &mut dyn FnMut(Update)) -> Result<(), String> {
    let mut object = wire::object(Place::Chunk, value)?;
    let message: Option<Box<str>> = wire::text(&mut object, "messageId").map(Into::into);
    let blocks = blocks(object.remove("content"));
    if blocks.is_empty() {
        tracing::warn!("a piece of a message with nothing in it");
        each(Update::Nothing);
    }
    for content in blocks {
        each(Update::Chunk(Chunk { role, content, message: message.clone() }));
    }
    Ok(())
}

/// The updates that are no pieces of messages; none for a kind this client does not know.
fn known(kind: &str, value: Value) -> Result<Option<Update>, String> {
    let update = match kind {
        "plan" => Update::Plan(settings::plan(value)?),
        "plan_update" => Update::Plan(named_plan(value)?),
        "plan_removed" => Update::PlanRemoved(wire::required(&mut plain(value)?, "planId")?),
        "available_commands_update" => Update::Commands(settings::commands(value)?),
        "current_mode_update" => {
            let mut object = wire::object(Place::CurrentMode, value)?;
            Update::Mode(wire::required(&mut object, "currentModeId")?)
        }
        "config_option_update" => {
            let mut object = wire::object(Place::ConfigOptions, value)?;
            let partial = object.get("partial") == Some(&Value::Bool(true));
            let options = settings::options(object.remove("configOptions"));
            Update::Options { options: options.ok_or("there are no configOptions")?, partial }
        }
        "session_info_update" => match plain(value)?.remove("title") {
            Some(Value::String(title)) => Update::Title(Some(title)),
            Some(Value::Null) => Update::Title(None),
            _ => Update::Nothing,
        },
        "usage_update" => Update::Usage(settings::usage(value)?),
        "notice" => Update::Note(notice(value)?),
        "compaction_update" => Update::Note(compaction(value)?),
        "compaction_summary_chunk" => {
            let mut object = plain(value)?;
            let id = wire::required(&mut object, "compactionId")?;
            let content = object.remove("content").ok_or("there is no content")?;
            Update::CompactionSummary { id, content: block(content) }
        }
        "subagent_update" => Update::Note(subagent(value)?),
        "status" => Update::Nothing,
        _ => return Ok(None),
    };
    Ok(Some(update))
}

/// The plan in a tool call that does nothing but keep one, as some agents have it.
fn todos(call: &Value) -> Option<Plan> {
    let todos = call.get("rawInput")?.get("todos")?.as_array()?;
    let is_step = |todo: &Value| todo.get("content").is_some() && todo.get("status").is_some();
    let word = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default();
    let keeps_todos = || {
        let words = [word("name"), word("title")].map(str::to_ascii_lowercase);
        words.iter().any(|it| it.contains("todo"))
    };
    match todos.is_empty() {
        true if !keeps_todos() => return None,
        false if !todos.iter().all(is_step) => return None,
        _ => {}
    }
    let todos: Vec<&Value> = todos.iter().take(LIST).collect();
    settings::plan(json!({ "entries": todos })).ok()
}

/// An object of a kind that no dialect is known to write otherwise.
fn plain(value: Value) -> Result<Object, String> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err("an update that is no object".to_owned()),
    }
}

fn notice(value: Value) -> Result<Note, String> {
    let mut object = wire::object(Place::Notice, value)?;
    Ok(Note::Notice {
        severity: wire::required(&mut object, "severity")?,
        title: wire::required(&mut object, "title")?,
        description: wire::text(&mut object, "description"),
    })
}

fn compaction(value: Value) -> Result<Note, String> {
    let mut object = plain(value)?;
    Ok(Note::Compaction {
        id: wire::required(&mut object, "compactionId")?,
        status: wire::text(&mut object, "status").unwrap_or_else(|| "in_progress".into()),
        summary: plain_text(&blocks(object.remove("summary"))),
        error: wire::text(&mut object, "error"),
    })
}

fn subagent(value: Value) -> Result<Note, String> {
    let mut object = plain(value)?;
    let remote = wire::required(&mut object, "sessionId")?;
    let title = wire::text(&mut object, "title").unwrap_or_else(|| "subagent".into());
    let state = object.get("state").and_then(|state| state.get("state").or(Some(state))?.as_str());
    let state = state.map(str::to_owned);
    let description = wire::text(&mut object, "description").or(state);
    Ok(Note::Subagent { remote, title, description })
}

fn named_plan(value: Value) -> Result<Plan, String> {
    let mut object = plain(value)?;
    let mut plan = plain(object.remove("plan").unwrap_or_default())?;
    let id = Some(wire::required(&mut plan, "planId")?);
    let body = match wire::text(&mut plan, "type").as_deref() {
        Some("markdown") => {
            let mut text = wire::required(&mut plan, "content")?;
            shorten(&mut text, PLAN);
            PlanBody::Markdown(text)
        }
        Some("file") => PlanBody::File(wire::required(&mut plan, "uri")?),
        Some("items") | None => settings::plan(Value::Object(plan))?.body,
        Some(other) => return Err(format!("a plan of a kind this client does not know: {other}")),
    };
    Ok(Plan { id, body })
}

/// The update as it stood in the parameters, at most so much of it.
fn update_in(raw: &str) -> Box<str> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: &'a RawValue,
    }
    let update = serde_json::from_str::<Params<'_>>(raw).map_or(raw, |params| params.update.get());
    let end = (0..=RAW.min(update.len())).rev().find(|end| update.is_char_boundary(*end));
    update.get(..end.unwrap_or_default()).unwrap_or_default().into()
}
