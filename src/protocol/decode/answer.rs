//! Answers to our requests.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{bounds, initialize, settings, wire};
use crate::protocol::dialect::{self, Place};
use crate::protocol::memory::Memory;
use crate::protocol::pending::Expected;
use crate::session::entry::StopReason;
use crate::session::event::{Answer, Ask, Kept, Made, Told};
use crate::session::failure::RpcError;
use crate::session::ids::RemoteId;

type RawResult<'a> = Result<Option<&'a RawValue>, RpcError>;

/// The answer to one of our requests.
pub(in crate::protocol) fn answer(
    expected: Expected,
    result: RawResult<'_>,
    memory: &mut Memory,
) -> Answer {
    let mut left_out = Vec::new();
    let result = result.and_then(|raw| {
        let mut value = wire::parse(raw).map_err(unreadable)?;
        left_out = bounds::cut(&mut value).map_err(unreadable)?;
        Ok(value)
    });
    match expected {
        Expected::Initialize { old_form } => Answer::Initialize(result.and_then(|value| {
            let (info, steering) = initialize::agent_info(value, old_form).map_err(unreadable)?;
            memory.steering = steering;
            Ok(info)
        })),
        Expected::Session { session, named } => {
            let result = result.and_then(|value| made(value, named, memory).map_err(unreadable));
            let result = result.map(|made| Made { left_out, ..made });
            Answer::Session { session, result }
        }
        Expected::Prompt(session, turn) => {
            let result = result.map(|mut value| {
                let (reason, word) = stop_reason(&mut value);
                if word.is_none() {
                    tracing::warn!("a turn ended without a reason: taken for its end");
                }
                reason
            });
            Answer::Prompt { session, turn, result }
        }
        Expected::Steer(session) => Answer::Steered { session, result: result.map(drop) },
        Expected::Authenticate(session) => {
            Answer::Authenticate { session, result: result.map(|value| address(&value)) }
        }
        Expected::Ask { session, ask, tag } => {
            let result = result.and_then(|value| told(&ask, value).map_err(unreadable));
            Answer::Asked { session, ask, tag, result }
        }
        Expected::Nothing(method) => {
            if let Err(error) = result {
                tracing::warn!(method, %error, "refused");
            }
            Answer::Other
        }
    }
}

/// Why a turn ended, and the agent's word for it.
pub(super) fn stop_reason(value: &mut Value) -> (StopReason, Option<String>) {
    dialect::canonical(Place::TurnEnd, value);
    let Some(word) = value.get("stopReason").and_then(Value::as_str) else {
        return (StopReason::EndTurn, None);
    };
    let reason = match serde_json::from_value(Value::String(word.to_owned())) {
        Ok(acp::StopReason::EndTurn) => StopReason::EndTurn,
        Ok(acp::StopReason::MaxTokens) => StopReason::MaxTokens,
        Ok(acp::StopReason::MaxTurnRequests) => StopReason::MaxTurnRequests,
        Ok(acp::StopReason::Refusal) => StopReason::Refusal,
        Ok(acp::StopReason::Cancelled) => StopReason::Cancelled,
        _ if word == "auth_required" => StopReason::AuthRequired,
        _ => StopReason::Other(word.to_owned()),
    };
    (reason, Some(word.to_owned()))
}

/// A session as it was made. Only a new name is needed, and only where the request had none.
fn made(value: Value, named: Option<RemoteId>, memory: &mut Memory) -> Result<Made, String> {
    let mut object = match value {
        Value::Null if named.is_some() => Default::default(),
        value => wire::object(Place::Session, value)?,
    };
    let remote = wire::text(&mut object, "sessionId").map(|name| memory.intern(&name));
    memory.current = remote.clone().or(named);
    if memory.current.is_none() {
        return Err("there is no sessionId".to_owned());
    }
    let steering = object.get("_meta").and_then(|meta| meta.get("steering"));
    let steering = memory.steering || steering.is_some_and(initialize::steers);
    Ok(Made {
        remote,
        modes: settings::modes(object.remove("modes")),
        models: settings::models(object.remove("models")),
        steering,
        options: settings::options(object.remove("configOptions")),
        left_out: Vec::new(),
    })
}

/// An address that a login wants visited.
fn address(value: &Value) -> Option<String> {
    let url = value.get("url").and_then(Value::as_str)?;
    match is_web(url) {
        true => Some(url.to_owned()),
        false => {
            tracing::warn!(url, "a login with an address that is not of the web: left out");
            None
        }
    }
}

/// Whether an address is one a browser may be sent to.
pub(super) fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let clean = !url.chars().any(|c| c.is_control() || c.is_whitespace());
    clean && matches!(scheme.as_deref(), Some("http" | "https"))
}

fn told(ask: &Ask, value: Value) -> Result<Told, String> {
    Ok(match ask {
        Ask::SetMode(_) | Ask::SetModel(_) | Ask::DeleteSession(_) | Ask::LogOut => Told::Done,
        Ask::SetOption(..) | Ask::SetSwitch(..) => {
            Told::Options(settings::options(value.get("configOptions").cloned()))
        }
        Ask::SetTitle(asked) => {
            let title = value.get("title").and_then(Value::as_str);
            Told::Title(title.unwrap_or(asked).to_owned())
        }
        Ask::ListSessions => {
            let sessions = value.get("sessions").cloned();
            let sessions = sessions.or_else(|| Some(value.clone()).filter(Value::is_array));
            let kept = wire::items("sessions", sessions, kept).ok_or("there are no sessions")?;
            let next = value.get("nextCursor").and_then(Value::as_str);
            Told::Sessions(kept, next.filter(|next| !next.is_empty()).map(str::to_owned))
        }
    })
}

fn kept(value: Value) -> Result<Kept, String> {
    let mut object = wire::object(Place::Kept, value)?;
    Ok(Kept {
        remote: wire::required(&mut object, "sessionId")?.into(),
        cwd: wire::text(&mut object, "cwd").unwrap_or_default(),
        title: wire::text(&mut object, "title"),
        updated: wire::text(&mut object, "updatedAt"),
    })
}

/// The agent said yes in words we can't read.
fn unreadable(why: String) -> RpcError {
    tracing::warn!(why, "an answer that can't be read");
    RpcError {
        code: RpcError::INTERNAL,
        message: "the agent's answer could not be read".into(),
        details: Some(why),
    }
}
