//! What the agent says, in our words: answers, requests, notifications.
//!
//! Only the files of `decode` and `encode` name the schema crate. Reading goes in two steps: the
//! dialect table brings a value to the protocol's form, then it is read into a type. A bad item of
//! a list is skipped by itself. Whatever is skipped is logged.

mod answer;
mod bounds;
mod content;
mod elicitation;
mod given;
mod initialize;
mod request;
mod settings;
mod subagent;
mod tool_call;
mod update;
mod wire;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) use self::answer::answer;
pub(super) use self::request::request;
use super::dialect::{self, Place};
use super::memory::Memory;
use crate::session::content::Content;
use crate::session::entry::{Chunk, Note};
use crate::session::event::{Happened, Update};
use crate::session::ids::RemoteId;

/// What [`notification`] hands over.
pub(super) type Each<'a> = &'a mut dyn FnMut(Happened);

/// A notification of the agent: what happened, in order. Most tell one thing.
pub(super) fn notification(
    method: &str,
    params: Option<&RawValue>,
    memory: &mut Memory,
    each: Each<'_>,
) {
    if method == "session/update"
        && let Some(chunk) = params.and_then(|params| text_chunk(params, memory))
    {
        return each(chunk);
    }
    if let Err(why) = rare_notification(method, params, memory, each) {
        tracing::warn!(method, why, params = %start_of(params), "skipped");
        each(Happened::Unrecognized);
    }
}

/// Whether a method is a notification this client knows. Some agents send them as requests.
pub(super) fn is_notification(method: &str) -> bool {
    ["session/update", "session/end_turn", "elicitation/complete", "auth_complete"]
        .contains(&method)
}

fn rare_notification(
    method: &str,
    params: Option<&RawValue>,
    memory: &mut Memory,
    each: Each<'_>,
) -> Result<(), String> {
    match method {
        "session/update" => return session_update(params, memory, each),
        "session/end_turn" => {
            let mut params = wire::parse(params)?;
            let (reason, _) = answer::stop_reason(&mut params);
            each(Happened::TurnEnded { remote: session_of(&params, memory)?, reason });
        }
        "elicitation/complete" => {
            let mut params = wire::parse(params)?;
            dialect::canonical(Place::Elicitation, &mut params);
            let id = params.get("elicitationId").and_then(Value::as_str);
            let id = id.ok_or("there is no elicitationId")?;
            each(Happened::ElicitationComplete(id.to_owned()));
        }
        "auth_complete" => each(Happened::AuthComplete),
        "$/cancel_request" => {
            let Withdrawal { request_id } = wire::typed(params)?;
            each(Happened::Withdrawn(request_id.get().into()));
        }
        _ => {
            tracing::info!(method, params = %start_of(params), "a notification of no concern");
            each(Happened::Unrecognized);
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Withdrawal<'a> {
    #[serde(borrow, rename = "requestId", alias = "id")]
    request_id: &'a RawValue,
}

fn session_update(
    params: Option<&RawValue>,
    memory: &mut Memory,
    each: Each<'_>,
) -> Result<(), String> {
    let mut value = wire::parse(params)?;
    let left_out = bounds::cut(&mut value)?;
    dialect::canonical(Place::UpdateParams, &mut value);
    let remote = session_of(&value, memory)?;
    let update = value.get_mut("update").map(Value::take).unwrap_or_default();
    let raw = params.map_or("", RawValue::get);
    let count = left_out.iter().map(|it| it.count).sum();
    update::update(update, raw, &mut |mut update| {
        if let Update::ToolCall(_, tool_call) = &mut update {
            tool_call.left_out = count;
        }
        each(Happened::Updated { remote: remote.clone(), update });
    })?;
    for left_out in left_out {
        let update = Update::Note(Note::TooMany(left_out));
        each(Happened::Updated { remote: remote.clone(), update });
    }
    Ok(())
}

/// The session a message is about. Dialects that know of one session do not name it.
fn session_of(params: &Value, memory: &mut Memory) -> Result<RemoteId, String> {
    match params.get("sessionId").and_then(Value::as_str) {
        Some(name) => Ok(memory.intern(name)),
        None => memory.current.clone().ok_or_else(|| "there is no sessionId".to_owned()),
    }
}

/// Streamed text, by far the most frequent message: read straight into place, nothing else is
/// looked at. What does not fit takes the long way.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextChunk<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    update: TextUpdate<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextUpdate<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    content: TextContent,
    #[serde(default)]
    message_id: Option<Box<str>>,
}

#[derive(Deserialize)]
struct TextContent {
    r#type: TextTag,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TextTag {
    Text,
}

fn text_chunk(params: &RawValue, memory: &mut Memory) -> Option<Happened> {
    let chunk: TextChunk<'_> = serde_json::from_str(params.get()).ok()?;
    let role = update::role(&chunk.update.session_update)?;
    let TextContent { r#type: TextTag::Text, text } = chunk.update.content;
    let content = Content::Text(text);
    let update = Update::Chunk(Chunk { role, content, message: chunk.update.message_id });
    Some(Happened::Updated { remote: memory.intern(&chunk.session_id), update })
}

/// Enough of the parameters to recognise them in the log.
fn start_of(params: Option<&RawValue>) -> String {
    params.map_or("", RawValue::get).chars().take(200).collect()
}
