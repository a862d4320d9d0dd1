//! Rows of the table that take more than a rule: requests of the agent.

use serde_json::{Value, json};

use super::{Object, has, lift, rename, snake_case, text};

/// The tool call of a permission from what stands around it.
pub(super) fn permission_subject(object: &mut Object) {
    rename(object, &["tool_call"], "toolCall");
    let mut call = match object.remove("toolCall") {
        Some(Value::Object(call)) => call,
        Some(id @ (Value::String(_) | Value::Number(_))) => {
            Object::from_iter([("toolCallId".to_owned(), id)])
        }
        _ => Object::new(),
    };
    match object.remove("tool") {
        Some(Value::Object(tool)) => lift(&mut call, tool),
        Some(name) => lift(&mut call, Object::from_iter([("name".to_owned(), name)])),
        None => {}
    }
    const FIELDS: [&str; 9] = [
        "toolCallId",
        "id",
        "toolName",
        "kind",
        "rawInput",
        "input",
        "arguments",
        "content",
        "locations",
    ];
    for field in FIELDS {
        if let Some(value) = object.remove(field) {
            call.entry(field).or_insert(value);
        }
    }
    if !has(&call, "title") {
        let words = ["title", "description", "message"].into_iter().find_map(|it| text(object, it));
        if let Some(words) = words.map(str::to_owned) {
            call.insert("title".into(), words.into());
        }
    }
    object.insert("toolCall".into(), Value::Object(call));
}

/// A guess at what an option means, from the first word of its id or name. Only a no is guessed:
/// whoever answers by kind must never take a guess for a yes.
pub(super) fn permission_kind(object: &mut Object) {
    const KNOWN: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];
    const NO: [&str; 4] = ["reject", "deny", "decline", "refuse"];
    if text(object, "kind").is_some_and(|kind| KNOWN.contains(&kind)) {
        return;
    }
    object.remove("kind");
    let guess = ["optionId", "name"].into_iter().find_map(|field| {
        let words = snake_case(text(object, field)?);
        let first = words.split(|c: char| !c.is_alphanumeric()).next()?;
        let always = if words.contains("always") { "reject_always" } else { "reject_once" };
        (NO.contains(&first) || words == "no").then_some(always)
    });
    if let Some(kind) = guess {
        object.insert("kind".into(), kind.into());
    }
}

/// The program and its arguments in one list.
pub(super) fn command_list(object: &mut Object) {
    if let Some(Value::Array(list)) = object.get("command").cloned() {
        let mut list = list.into_iter();
        object.insert("command".into(), list.next().unwrap_or_default());
        if !has(object, "args") {
            object.insert("args".into(), Value::Array(list.collect()));
        }
    }
}

pub(super) fn env_map(object: &mut Object) {
    if let Some(Value::Object(map)) = object.get("env").cloned() {
        let list = map.into_iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            json!({ "name": name, "value": value })
        });
        object.insert("env".into(), list.collect());
    }
}

pub(super) fn elicitation_mode(object: &mut Object) {
    let mode = match (has(object, "requestedSchema"), has(object, "url")) {
        (true, _) => "form",
        (false, true) => "url",
        (false, false) => return,
    };
    if !has(object, "mode") {
        object.insert("mode".into(), mode.into());
    }
}
