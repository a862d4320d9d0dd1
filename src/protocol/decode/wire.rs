//! From JSON to types, with a line in the log for whatever does not fit.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::dialect::{self, Object, Place};

/// The value, `null` where there is none.
pub(super) fn parse(raw: Option<&RawValue>) -> Result<Value, String> {
    typed(raw)
}

/// The value as a type.
pub(super) fn typed<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Result<T, String> {
    serde_json::from_str(raw.map_or("null", RawValue::get)).map_err(|error| error.to_string())
}

/// The value at a place, as a type.
pub(super) fn read<T: DeserializeOwned>(place: Place, mut value: Value) -> Result<T, String> {
    dialect::canonical(place, &mut value);
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The object at a place.
pub(super) fn object(place: Place, mut value: Value) -> Result<Object, String> {
    dialect::canonical(place, &mut value);
    match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("an object was expected, not {}", start_of(&other))),
    }
}

/// The items of a list, each by itself: what can't be read is logged and left out. None where
/// there is no list.
pub(super) fn items<T>(
    what: &str,
    list: Option<Value>,
    mut read: impl FnMut(Value) -> Result<T, String>,
) -> Option<Vec<T>> {
    let list = match list {
        Some(Value::Array(list)) => list,
        None | Some(Value::Null) => return None,
        Some(other) => {
            tracing::warn!(what, value = %start_of(&other), "a list was expected: left out");
            return None;
        }
    };
    let (mut bad, mut first) = (0, None);
    let item = |item: Value| {
        // The words are needed only for the log, but reading takes the item away.
        let start = if bad == 0 { start_of(&item) } else { String::new() };
        let unread = |why: &String| {
            bad += 1;
            first.get_or_insert_with(|| format!("{why}: {start}"));
        };
        read(item).inspect_err(unread).ok()
    };
    let items = list.into_iter().filter_map(item).collect();
    if let Some(first) = first {
        tracing::warn!(what, count = bad, first, "left out");
    }
    Some(items)
}

/// The text in a field, taken out of it.
pub(super) fn text(object: &mut Object, field: &str) -> Option<String> {
    match object.remove(field) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The text in a field that must be there.
pub(super) fn required(object: &mut Object, field: &str) -> Result<String, String> {
    text(object, field).ok_or_else(|| format!("there is no {field}"))
}

/// Names and values, from a map or from a list of `{name, value}`.
pub(super) fn pairs(value: Option<Value>) -> Vec<(String, String)> {
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Some(Value::Object(map)) => {
            map.iter().map(|(name, value)| (name.clone(), words(value))).collect()
        }
        Some(Value::Array(list)) => {
            let pair = |item: &Value| {
                let name = item.get("name")?.as_str()?;
                Some((name.to_owned(), words(item.get("value")?)))
            };
            list.iter().filter_map(pair).collect()
        }
        _ => Vec::new(),
    }
}

/// The texts of a list; anything else in it is left out.
pub(super) fn texts(value: Option<Value>) -> Vec<String> {
    let text = |item: Value| match item {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Some(Value::Array(list)) => list.into_iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

/// Enough of a value to recognise it in the log, without writing all of it first.
fn start_of(value: &Value) -> String {
    const ENOUGH: usize = 120;
    match value {
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
            let word = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
            let name = [word("id"), word("name"), word("type")].join(" ");
            format!("{{{}}} {name}", keys.join(",")).chars().take(ENOUGH).collect()
        }
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::String(text) => text.chars().take(ENOUGH).collect(),
        other => other.to_string(),
    }
}
