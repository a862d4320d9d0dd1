//! Tool calls, in updates and in permission requests.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;

use super::content::block;
use super::given::given;
use super::subagent::Told;
use super::wire;
use crate::protocol::dialect::{Object, Place};
use crate::session::tool_call::{
    Location, TerminalExit, TerminalNews, ToolCallId, ToolCallUpdate, ToolContent, ToolKind,
    ToolStatus,
};

/// A tool call: its id, and what is said of it.
pub(super) fn tool_call(value: Value) -> Result<(ToolCallId, Box<ToolCallUpdate>), String> {
    let mut object = wire::object(Place::ToolCall, value)?;
    let content = wire::items("content", object.remove("content"), tool_content);
    let locations = wire::items("locations", object.remove("locations"), location);
    let kind = wire::text(&mut object, "kind").map(kind);
    let status = wire::text(&mut object, "status").and_then(|word| status(&word));
    let [input, output, meta] =
        ["rawInput", "rawOutput", "_meta"].map(|field| object.remove(field).unwrap_or_default());
    let given = (!input.is_null()).then(|| Box::new(given(&input)));
    let rest: acp::ToolCallUpdate =
        serde_json::from_value(Value::Object(object)).map_err(|error| error.to_string())?;
    let name = rest.fields.name.or_else(|| named_in(&meta));
    let told = Told { name: name.as_deref(), input: &input, output: &output, meta: &meta };
    let (parent, made_by) = told.parent();
    let subagent = told.subagent();
    let update = ToolCallUpdate {
        title: rest.fields.title,
        name,
        kind,
        status,
        content,
        locations,
        raw_input: raw(&input),
        given,
        raw_output: raw(&output),
        exit: exit(&output),
        parent,
        made_by,
        subagent,
        terminals: terminals(&meta),
        left_out: 0,
    };
    Ok((rest.tool_call_id.0, Box::new(update)))
}

fn named_in(meta: &Value) -> Option<String> {
    meta.pointer("/claudeCode/toolName").and_then(Value::as_str).map(str::to_owned)
}

/// How a command ended, where an agent that runs it by itself tells so in what the tool gave.
fn exit(output: &Value) -> Option<TerminalExit> {
    let places = ["/metadata/exit", "/metadata/exitCode", "/exit_code", "/exitCode"];
    let code = places.iter().find_map(|place| output.pointer(place)?.as_i64())?;
    Some(TerminalExit { code: Some(code as u32), signal: None })
}

fn raw(value: &Value) -> Option<Box<str>> {
    (!value.is_null()).then(|| value.to_string().into())
}

fn tool_content(value: Value) -> Result<ToolContent, String> {
    let mut object = wire::object(Place::ToolContent, value)?;
    if object.get("type").and_then(Value::as_str) == Some("content") {
        return match object.remove("content") {
            Some(content) => Ok(ToolContent::Block(block(content))),
            None => Err("there is no content".to_owned()),
        };
    }
    let content = serde_json::from_value(Value::Object(object));
    match content.map_err(|error| error.to_string())? {
        acp::ToolCallContent::Diff(it) => Ok(ToolContent::Diff {
            path: it.path.to_string_lossy().into_owned(),
            old: it.old_text.map(Into::into),
            new: it.new_text.into(),
        }),
        acp::ToolCallContent::Terminal(it) => Ok(ToolContent::Terminal(it.terminal_id.0)),
        _ => Err("a kind of content this client does not know".to_owned()),
    }
}

fn location(value: Value) -> Result<Location, String> {
    let location: acp::ToolCallLocation = wire::read(Place::Location, value)?;
    let path = location.path.to_string_lossy().into_owned();
    // Lines count from 1; agents that count from 0 mean the first line with it.
    Ok(Location { path, line: location.line.map(|line| line.max(1)) })
}

fn kind(word: String) -> ToolKind {
    match &*word {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "delete" => ToolKind::Delete,
        "move" => ToolKind::Move,
        "search" => ToolKind::Search,
        "execute" => ToolKind::Execute,
        "think" => ToolKind::Think,
        "fetch" => ToolKind::Fetch,
        "switch_mode" => ToolKind::SwitchMode,
        "other" => ToolKind::Other,
        _ => ToolKind::Unknown(word),
    }
}

fn status(word: &str) -> Option<ToolStatus> {
    match word {
        "pending" => Some(ToolStatus::Pending),
        "in_progress" => Some(ToolStatus::InProgress),
        "completed" => Some(ToolStatus::Completed),
        "failed" => Some(ToolStatus::Failed),
        "cancelled" => Some(ToolStatus::Cancelled),
        _ => {
            tracing::warn!(word, "a status of a tool call that nobody knows: left as it was");
            None
        }
    }
}

/// What the agent tells of terminals of its own, in the order in which it must have happened.
fn terminals(meta: &Value) -> Vec<TerminalNews> {
    let keys = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"];
    keys.into_iter().filter_map(|key| news(meta.get(key)?.as_object()?)).collect()
}

fn news(told: &Object) -> Option<TerminalNews> {
    let terminal = match told.get("terminal_id")? {
        Value::String(id) => id.as_str().into(),
        Value::Number(id) => id.to_string().into(),
        _ => return None,
    };
    let output = told.get("data").and_then(Value::as_str).map(str::to_owned);
    let ended = told.contains_key("exit_code") || told.contains_key("signal");
    let exit = ended.then(|| TerminalExit {
        code: told.get("exit_code").and_then(Value::as_i64).map(|code| code as u32),
        signal: told.get("signal").and_then(|signal| match signal {
            Value::String(name) => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }),
    });
    Some(TerminalNews { terminal, output, exit })
}
