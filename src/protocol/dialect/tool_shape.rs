//! Rows of the table that take more than a rule: content and tool calls.

use serde_json::{Value, json};

use super::{Object, has, lift, rename, text};

/// Content is a list from here on, whether there was a list, one block or a text.
pub(super) fn listed_content(object: &mut Object) {
    if let Some(content) = object.get_mut("content")
        && !content.is_array()
        && !content.is_null()
    {
        *content = Value::Array(vec![content.take()]);
    }
}

/// The same for places.
pub(super) fn listed_locations(object: &mut Object) {
    rename(object, &["location"], "locations");
    if let Some(locations @ (Value::Object(_) | Value::String(_))) = object.get_mut("locations") {
        *locations = Value::Array(vec![locations.take()]);
    }
}

/// A text, or an object with a text and no type, is a block of text.
pub(super) fn text_block(value: &mut Value) {
    match value {
        Value::String(text) => *value = json!({ "type": "text", "text": std::mem::take(text) }),
        Value::Object(object) if !has(object, "type") => {
            rename(object, &["content"], "text");
            if object.get("text").is_some_and(Value::is_string) {
                object.insert("type".into(), "text".into());
            }
        }
        _ => {}
    }
}

/// `{"type": "resource", "uri": …}` without the object inside.
pub(super) fn flat_resource(object: &mut Object) {
    if text(object, "type") != Some("resource") || has(object, "resource") || !has(object, "uri") {
        return;
    }
    let mut resource = Object::new();
    for field in ["uri", "text", "blob", "mimeType"] {
        if let Some(value) = object.remove(field) {
            resource.insert(field.to_owned(), value);
        }
    }
    object.insert("resource".into(), Value::Object(resource));
}

pub(super) fn nameless_link(object: &mut Object) {
    if text(object, "type") == Some("resource_link") {
        let name = ["title", "uri"].into_iter().find_map(|field| text(object, field));
        if let (false, Some(name)) = (has(object, "name"), name.map(str::to_owned)) {
            object.insert("name".into(), name.into());
        }
    }
}

/// `toolCall{…}` inside the update, or the whole tool call as the payload in `content`.
pub(super) fn nested_tool_call(object: &mut Object) {
    for field in ["toolCall", "tool_call", "toolCallUpdate"] {
        if let Some(Value::Object(inner)) = object.get(field).cloned() {
            object.remove(field);
            lift(object, inner);
        }
    }
    let named = ["toolCallId", "id", "tool_call_id", "callId"];
    if named.iter().any(|field| has(object, field)) {
        return;
    }
    if let Some(Value::Object(inner)) = object.get("content").cloned()
        && named.iter().any(|field| has(&inner, field))
    {
        object.remove("content");
        lift(object, inner);
    }
}

pub(super) fn is_error(object: &mut Object) {
    if object.get("isError") == Some(&Value::Bool(true)) {
        object.insert("status".into(), "failed".into());
    }
}

/// A tool call is announced with a title; where it has none, something else must name it.
pub(super) fn tool_title(object: &mut Object) {
    if text(object, "sessionUpdate") == Some("tool_call") && !has(object, "title") {
        let title = ["name", "kind", "toolCallId"].into_iter().find_map(|it| text(object, it));
        if let Some(title) = title.map(str::to_owned) {
            object.insert("title".into(), title.into());
        }
    }
}

/// Before an agent knows what a tool is given, its title can only be the tool's name. Later it may
/// be anything that the model says.
pub(super) fn name_in_title(object: &mut Object) {
    let announced = text(object, "sessionUpdate") == Some("tool_call");
    let empty = object.get("rawInput").and_then(Value::as_object).is_some_and(Object::is_empty);
    let is_name = |title: &str| {
        !title.is_empty() && title.chars().all(|c| c.is_ascii_lowercase() || "_-".contains(c))
    };
    if announced
        && empty
        && !has(object, "name")
        && let Some(title) = text(object, "title").filter(|title| is_name(title))
    {
        let name = title.to_owned();
        object.insert("name".into(), name.into());
    }
}

/// Whatever is neither content, diff nor terminal is a block that was not wrapped.
pub(super) fn tool_content(value: &mut Value) {
    let kind = value.get("type").and_then(Value::as_str);
    match kind {
        Some("content" | "diff" | "terminal") => {}
        None if value.get("newText").is_some() => {
            if let Some(object) = value.as_object_mut() {
                object.insert("type".into(), "diff".into());
            }
        }
        None if value.get("terminalId").is_some() => {
            if let Some(object) = value.as_object_mut() {
                object.insert("type".into(), "terminal".into());
            }
        }
        _ if value.is_object() || value.is_string() => {
            *value = json!({ "type": "content", "content": value.take() });
        }
        _ => {}
    }
}
