//! Rows of the table that take more than a rule: answers, and the kinds of updates. Each function
//! changes one object from a dialect's shape to the protocol's, and leaves every other alone.

use serde_json::{Value, json};

use super::{Object, has, lift, rename, snake_case, text};

/// An agent that answers `initialize` in the old form waits for `shutdown` at the end.
pub(super) fn old_form(object: &mut Object) {
    let old = !has(object, "agentCapabilities") && has(object, "capabilities");
    if old || (!has(object, "agentInfo") && has(object, "serverInfo")) {
        object.insert("wantsShutdown".into(), true.into());
    }
}

/// The version as a number where it can be one. Whatever else it is stays, to be refused.
pub(super) fn version(object: &mut Object) {
    let version = match object.get("protocolVersion") {
        None | Some(Value::Null) => {
            tracing::warn!("the agent names no protocol version: taken for 1");
            Some(1)
        }
        Some(Value::String(text)) => {
            let digits = text.trim().trim_start_matches('v');
            let version = digits.trim_end_matches(".0").parse().ok();
            tracing::warn!(%text, "the agent gives the protocol version as text");
            version
        }
        Some(Value::Number(number)) => match number.as_f64() {
            Some(real) if number.is_f64() && real.fract() == 0.0 && real >= 0.0 => {
                Some(real as u64)
            }
            _ => None,
        },
        Some(_) => None,
    };
    if let Some(version) = version {
        object.insert("protocolVersion".into(), version.into());
    }
}

pub(super) fn auth_methods(object: &mut Object) {
    if !has(object, "authMethods") {
        object.insert("authMethods".into(), json!([]));
    }
}

/// `session{id, …}`: what is in it belongs beside it.
pub(super) fn session(object: &mut Object) {
    if let Some(Value::Object(mut inner)) = object.remove("session") {
        rename(&mut inner, &["id"], "sessionId");
        lift(object, inner);
    }
    rename(object, &["id"], "sessionId");
}

/// A list of modes without the object around it.
pub(super) fn modes_alone(value: &mut Value) {
    if value.is_array() {
        *value = json!({ "availableModes": value.take() });
    }
}

/// What an option is can be seen from its values.
pub(super) fn option_type(object: &mut Object) {
    if let Some("select" | "boolean") = text(object, "type") {
        return;
    }
    if object.get("options").is_some_and(Value::is_array) {
        object.insert("type".into(), "select".into());
    } else if object.get("currentValue").is_some_and(Value::is_boolean) {
        object.insert("type".into(), "boolean".into());
    }
}

/// The update's fields beside the session's id: everything else is the update.
pub(super) fn flat_update(object: &mut Object) {
    let kind = match object.get("update") {
        Some(Value::Object(_)) => return,
        Some(Value::String(kind)) => Some(kind.clone()),
        _ => None,
    };
    object.remove("update");
    let mut update = std::mem::take(object);
    for field in ["sessionId", "_meta"] {
        if let Some(value) = update.remove(field) {
            object.insert(field.to_owned(), value);
        }
    }
    if let Some(kind) = kind {
        update.insert("sessionUpdate".into(), kind.into());
    }
    object.insert("update".into(), Value::Object(update));
}

/// `{"messageChunk": {…}}`: the key is the kind, and what is in it the update.
pub(super) fn kind_as_key(object: &mut Object) {
    const KEYS: [&str; 5] = ["messageChunk", "toolCall", "toolCallUpdate", "plan", "planUpdate"];
    if has(object, "sessionUpdate") {
        return;
    }
    let Some(key) = KEYS.into_iter().find(|key| has(object, key)) else { return };
    object.insert("sessionUpdate".into(), key.into());
    if let Some(Value::Object(inner)) = object.get(key).cloned()
        && key != "plan"
    {
        object.remove(key);
        lift(object, inner);
    }
}

/// `{"status": "idle"}` says nothing that the answer to the prompt does not say.
pub(super) fn status_alone(object: &mut Object) {
    if !has(object, "sessionUpdate") && has(object, "status") && object.len() == 1 {
        object.insert("sessionUpdate".into(), "status".into());
    }
}

/// Plans with a name are `plan_update`; a dialect calls the ordinary one so.
pub(super) fn plan_update(object: &mut Object) {
    let is_update = text(object, "sessionUpdate").is_some_and(|it| snake_case(it) == "plan_update");
    let named = object.get("plan").is_some_and(|plan| plan.get("planId").is_some());
    if is_update && !named {
        object.insert("sessionUpdate".into(), "plan".into());
    }
}

/// The end of a tool call as a message of its own.
pub(super) fn tool_result(object: &mut Object) {
    if text(object, "sessionUpdate").is_some_and(|it| snake_case(it) == "tool_result") {
        object.insert("sessionUpdate".into(), "tool_call_update".into());
        object.entry("status").or_insert_with(|| "completed".into());
    }
}

/// `config_options` may have only those that have changed.
pub(super) fn partial_options(object: &mut Object) {
    if text(object, "sessionUpdate").is_some_and(|it| snake_case(it) == "config_options") {
        object.insert("sessionUpdate".into(), "config_option_update".into());
        object.insert("partial".into(), true.into());
    }
}

/// One kind for all messages, with the role beside.
pub(super) fn message_chunk(object: &mut Object) {
    if text(object, "sessionUpdate") != Some("message_chunk") {
        return;
    }
    if let Some(Value::Object(inner)) = object.remove("messageChunk") {
        lift(object, inner);
    }
    let kind = match text(object, "role") {
        Some("user" | "human") => "user_message_chunk",
        Some("thought" | "thinking" | "reasoning") => "agent_thought_chunk",
        _ => "agent_message_chunk",
    };
    object.insert("sessionUpdate".into(), kind.into());
}

/// An error told as an update: something for the user to read.
pub(super) fn error_update(object: &mut Object) {
    if text(object, "sessionUpdate") != Some("error") {
        return;
    }
    rename(object, &["content", "message", "error", "text"], "title");
    if let Some(title) = object.get_mut("title")
        && !title.is_string()
    {
        let words =
            ["message", "text", "details"].into_iter().find_map(|it| title.get(it)?.as_str());
        *title = Value::String(words.map_or_else(|| title.to_string(), str::to_owned));
    }
    object.insert("sessionUpdate".into(), "notice".into());
    object.insert("severity".into(), "error".into());
}

/// Steps under any of their names, inside `plan` or not.
pub(super) fn plan_entries(object: &mut Object) {
    const LISTS: [&str; 4] = ["steps", "todos", "items", "plan"];
    for field in ["plan", "content"] {
        if let Some(Value::Object(inner)) = object.get(field).cloned() {
            object.remove(field);
            lift(object, inner);
        }
    }
    rename(object, &LISTS, "entries");
}

pub(super) fn plan_status(object: &mut Object) {
    let known = ["pending", "in_progress", "completed"];
    if !text(object, "status").is_some_and(|status| known.contains(&status)) {
        object.insert("status".into(), "pending".into());
    }
}

pub(super) fn plan_priority(object: &mut Object) {
    let known = ["high", "medium", "low"];
    if !text(object, "priority").is_some_and(|priority| known.contains(&priority)) {
        object.insert("priority".into(), "medium".into());
    }
}

pub(super) fn command_input(object: &mut Object) {
    let hint = match object.get("input") {
        Some(Value::String(hint)) => Some(hint.clone()),
        Some(input) => {
            input.pointer("/unstructured/hint").and_then(Value::as_str).map(str::to_owned)
        }
        None => None,
    };
    if let Some(hint) = hint {
        object.insert("input".into(), json!({ "hint": hint }));
    }
}
