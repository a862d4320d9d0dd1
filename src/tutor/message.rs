//! One line of the client, taken apart.
//!
//! It knows JSON-RPC 2.0 and nothing of the methods. Ids keep their exact spelling, so that they
//! are echoed as they came.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request { id: Box<RawValue>, method: String, params: Value },
    /// Wants none.
    Notification { method: String, params: Value },
    /// Is one.
    Answer { id: Box<RawValue>, answer: Answer },
}

/// What the client answered.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// It worked.
    Result(Value),
    /// It did not.
    Error(Value),
}

/// A message and what is odd about its envelope.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// `None` when it is JSON of no known shape.
    pub(crate) message: Option<Message>,
    /// In words; empty for a good envelope.
    pub(crate) oddities: Vec<&'static str>,
}

/// Reads a line; `None` when it is not JSON.
pub(crate) fn read(line: &[u8]) -> Option<Envelope> {
    let Ok(mut fields) = serde_json::from_slice::<HashMap<String, Box<RawValue>>>(line) else {
        serde_json::from_slice::<Value>(line).ok()?;
        return Some(Envelope { message: None, oddities: vec!["the message is not an object"] });
    };
    let mut oddities = Vec::new();
    if fields.get("jsonrpc").is_none_or(|it| it.get() != "\"2.0\"") {
        oddities.push("`jsonrpc` is not \"2.0\"");
    }
    let mut value = |key: &str| Some(parse(&fields.remove(key)?));
    let method = value("method");
    let params = value("params");
    let (result, error) = (value("result"), value("error"));
    let id = fields.remove("id");
    if id.as_deref().is_some_and(|id| !is_good_id(id)) {
        oddities.push("the id is neither a string nor an integer");
    }
    let message = if let Some(Value::String(method)) = method {
        if result.is_some() || error.is_some() {
            oddities.push("a request with `result` or `error`");
        }
        if params.as_ref().is_some_and(|it| !it.is_object()) {
            oddities.push("`params` is not an object");
        }
        let params = params.unwrap_or(Value::Null);
        Some(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        })
    } else {
        read_answer(id, result, error, &mut oddities)
    };
    Some(Envelope { message, oddities })
}

fn read_answer(
    id: Option<Box<RawValue>>,
    result: Option<Value>,
    error: Option<Value>,
    oddities: &mut Vec<&'static str>,
) -> Option<Message> {
    let answer = match (result, error) {
        (None, None) => {
            oddities.push("neither `method` nor `result` nor `error`");
            return None;
        }
        (Some(result), None) => Answer::Result(result),
        (result, Some(error)) => {
            if result.is_some() {
                oddities.push("an answer with both `result` and `error`");
            }
            if !error.get("code").is_some_and(Value::is_i64) || text(&error, "message").is_none() {
                oddities.push("an error without integer `code` and text `message`");
            }
            Answer::Error(error)
        }
    };
    if id.is_none() {
        oddities.push("an answer without id");
    }
    Some(Message::Answer { id: id?, answer })
}

/// The text at a key of an object.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

/// Raw values have been checked when the line was read, but for depth.
fn parse(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
}

fn is_good_id(id: &RawValue) -> bool {
    matches!(parse(id), Value::String(_)) || id.get().parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oddities(line: &str) -> Vec<&'static str> {
        read(line.as_bytes()).unwrap().oddities
    }

    #[test]
    fn ids_keep_their_spelling() {
        let line = br#"{"jsonrpc":"2.0","id":12345678901234567890,"method":"a"}"#;
        let Some(Message::Request { id, .. }) = read(line).unwrap().message else { panic!() };
        assert_eq!(id.get(), "12345678901234567890");
    }

    #[test]
    fn a_null_result_is_an_answer() {
        let line = br#"{"jsonrpc":"2.0","id":"x","result":null}"#;
        let envelope = read(line).unwrap();
        assert!(matches!(envelope.message, Some(Message::Answer { .. })));
        assert!(envelope.oddities.is_empty());
    }

    #[test]
    fn odd_envelopes_are_named() {
        assert!(read(b"hello").is_none());
        assert_eq!(oddities("[]"), ["the message is not an object"]);
        assert_eq!(oddities(r#"{"id":1,"method":"a"}"#), ["`jsonrpc` is not \"2.0\""]);
        let both = r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#;
        assert_eq!(oddities(both), ["an answer with both `result` and `error`"]);
        assert_eq!(oddities(r#"{"jsonrpc":"2.0","id":1.0,"method":"a"}"#).len(), 1);
        assert_eq!(oddities(r#"{"jsonrpc":"2.0","method":"a","params":[]}"#).len(), 1);
    }
}
