//! What the agent says, in our words. One of the two files that name the schema crate.

use agent_client_protocol_schema::{MaybeUndefined, v1 as acp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::pending::Expected;
use crate::session::event::{Answer, Chunk, Happened, Request, Update};
use crate::session::failure::RpcError;
use crate::session::ids::RemoteId;
use crate::session::state::{AgentInfo, Content, Role, StopReason};

type RawResult<'a> = Result<Option<&'a RawValue>, RpcError>;

/// The answer to one of our requests.
pub(super) fn answer(expected: Expected, result: RawResult<'_>) -> Answer {
    match expected {
        Expected::Initialize => Answer::Initialize(result.and_then(agent_info)),
        Expected::NewSession(session) => {
            let result = result.and_then(|raw| {
                let response: acp::NewSessionResponse = typed(raw)?;
                Ok(response.session_id.0)
            });
            Answer::NewSession { session, result }
        }
        Expected::Prompt(session, turn) => {
            Answer::Prompt { session, turn, result: result.map(stop_reason) }
        }
    }
}

/// A request of the agent. What this client does not offer is `Unknown`.
pub(super) fn request(method: &str, _params: Option<&RawValue>) -> Request {
    Request::Unknown { method: method.to_owned() }
}

/// A notification of the agent.
pub(super) fn notification(
    method: &str,
    params: Option<&RawValue>,
    names: &mut Names,
) -> Result<Happened, serde_json::Error> {
    match (method, params) {
        ("session/update", Some(params)) => session_update(params, names),
        _ => Ok(Happened::Unrecognized),
    }
}

/// The agent's session ids, each kept once: they come with every chunk.
#[derive(Debug, Default)]
pub(super) struct Names {
    last: Option<RemoteId>,
}

impl Names {
    fn intern(&mut self, name: &str) -> RemoteId {
        match &self.last {
            Some(last) if &**last == name => last.clone(),
            _ => {
                let name: RemoteId = name.into();
                self.last = Some(name.clone());
                name
            }
        }
    }
}

/// Streamed text, by far the most frequent message: read straight into place, nothing else is
/// looked at. What does not fit takes the long way.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextChunk<'a> {
    #[serde(borrow)]
    session_id: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    update: TextUpdate<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextUpdate<'a> {
    #[serde(borrow)]
    session_update: std::borrow::Cow<'a, str>,
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

fn session_update(params: &RawValue, names: &mut Names) -> Result<Happened, serde_json::Error> {
    if let Ok(chunk) = serde_json::from_str::<TextChunk<'_>>(params.get())
        && let Some(role) = role(&chunk.update.session_update)
    {
        let TextContent { r#type: TextTag::Text, text } = chunk.update.content;
        let content = Content::Text(text);
        let update = Update::Chunk(Chunk { role, content, message: chunk.update.message_id });
        return Ok(Happened::Updated { remote: names.intern(&chunk.session_id), update });
    }
    let notification: acp::SessionNotification = serde_json::from_str(params.get())?;
    let remote = names.intern(&notification.session_id.0);
    Ok(Happened::Updated { remote, update: update(notification.update) })
}

fn role(session_update: &str) -> Option<Role> {
    match session_update {
        "agent_message_chunk" => Some(Role::Agent),
        "agent_thought_chunk" => Some(Role::Thought),
        "user_message_chunk" => Some(Role::User),
        _ => None,
    }
}

fn update(update: acp::SessionUpdate) -> Update {
    let chunk = |role, chunk: acp::ContentChunk| {
        let message = chunk.message_id.map(|it| (&*it.0).into());
        Update::Chunk(Chunk { role, content: content(chunk.content), message })
    };
    match update {
        acp::SessionUpdate::UserMessageChunk(it) => chunk(Role::User, it),
        acp::SessionUpdate::AgentMessageChunk(it) => chunk(Role::Agent, it),
        acp::SessionUpdate::AgentThoughtChunk(it) => chunk(Role::Thought, it),
        acp::SessionUpdate::SessionInfoUpdate(it) => match it.title {
            MaybeUndefined::Undefined => Update::Other,
            MaybeUndefined::Null => Update::Title(None),
            MaybeUndefined::Value(title) => Update::Title(Some(title)),
        },
        _ => Update::Other,
    }
}

fn content(block: acp::ContentBlock) -> Content {
    match block {
        acp::ContentBlock::Text(it) => Content::Text(it.text),
        acp::ContentBlock::Image(it) => Content::Image { mime: it.mime_type, data: it.data },
        acp::ContentBlock::Audio(it) => Content::Audio { mime: it.mime_type, data: it.data },
        acp::ContentBlock::ResourceLink(it) => Content::Link { uri: it.uri, name: it.name },
        acp::ContentBlock::Resource(it) => match it.resource {
            acp::EmbeddedResourceResource::TextResourceContents(it) => {
                Content::Resource { uri: it.uri, text: it.text, mime: it.mime_type }
            }
            acp::EmbeddedResourceResource::BlobResourceContents(it) => {
                Content::Link { uri: it.uri.clone(), name: it.uri }
            }
            _ => Content::Unknown("resource".into()),
        },
        _ => Content::Unknown("content".into()),
    }
}

/// Who answers `initialize`. The version is read by itself, because the schema takes only a
/// number, and everything beyond it is optional.
fn agent_info(raw: Option<&RawValue>) -> Result<AgentInfo, RpcError> {
    let mut value: Value = typed(raw)?;
    let protocol = match value.get("protocolVersion") {
        Some(Value::String(version)) => version.clone(),
        Some(Value::Number(version)) => version.to_string(),
        _ => {
            tracing::warn!("the agent names no protocol version: taken for 1");
            "1".to_owned()
        }
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("protocolVersion".into(), 1.into());
    }
    let response: acp::InitializeResponse = serde_json::from_value(value).map_err(unreadable)?;
    let (title, version) = match response.agent_info {
        Some(info) => (Some(info.title.unwrap_or(info.name)), Some(info.version)),
        None => (None, None),
    };
    Ok(AgentInfo { title, version, protocol })
}

fn stop_reason(raw: Option<&RawValue>) -> StopReason {
    let value: Value = raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let Some(word) = value.get("stopReason").and_then(Value::as_str) else {
        return StopReason::EndTurn;
    };
    match serde_json::from_value::<acp::StopReason>(Value::String(word.to_owned())) {
        Ok(acp::StopReason::EndTurn) => StopReason::EndTurn,
        Ok(acp::StopReason::MaxTokens) => StopReason::MaxTokens,
        Ok(acp::StopReason::MaxTurnRequests) => StopReason::MaxTurnRequests,
        Ok(acp::StopReason::Refusal) => StopReason::Refusal,
        Ok(acp::StopReason::Cancelled) => StopReason::Cancelled,
        _ => StopReason::Other(word.to_owned()),
    }
}

fn typed<T: DeserializeOwned>(raw: Option<&RawValue>) -> Result<T, RpcError> {
    serde_json::from_str(raw.map_or("null", RawValue::get)).map_err(unreadable)
}

/// The agent said yes in words we can't read.
fn unreadable(error: serde_json::Error) -> RpcError {
    RpcError {
        code: RpcError::INTERNAL,
        message: "the agent's answer could not be read".into(),
        details: Some(error.to_string()),
    }
}
