//! The envelope of JSON-RPC: requests, notifications, answers, ids, errors.
//!
//! Tolerant: a missing `jsonrpc`, `"error": null` beside a result, an error that is a string, ids
//! of any kind, duplicate keys, batches, half characters. Parameters stay raw, so that nobody pays for parsing what
//! nobody reads.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{json_text, surrogate};
use crate::session::failure::RpcError;

/// How many values one message may have: a million of them are some hundred megabytes in memory.
const VALUES: usize = 1 << 20;

/// One message.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// The other side wants an answer.
    Request { id: &'a RawValue, method: &'a str, params: Option<&'a RawValue> },
    /// The other side tells something.
    Notification { method: &'a str, params: Option<&'a RawValue> },
    /// The other side answers.
    Response { id: &'a RawValue, result: Result<Option<&'a RawValue>, RpcError> },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Tells `"id": null`, which is an id, from no id.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Why a line is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// Not JSON at all: a banner, a warning, a stray print.
    #[error("not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// JSON, but neither request, notification nor answer.
    #[error("not a JSON-RPC message")]
    NotAMessage,
    /// A batch with elements that are none. One error for all of them.
    #[error("{bad} of {elements} elements of a batch are no JSON-RPC messages")]
    BadBatch { bad: usize, elements: usize },
    /// More values than anybody needs, each of which takes far more room in memory than in the line.
    #[error("more than {VALUES} values")]
    TooManyValues,
}

/// Reads a line and hands over each message in it, in order. The line has been through
/// [`repaired`].
pub(super) fn read(line: &str, each: &mut dyn FnMut(Result<Message<'_>, Error>)) {
    if line.len() > VALUES && has_too_many_values(line.as_bytes()) {
        return each(Err(Error::TooManyValues));
    }
    match envelope(line) {
        Ok(envelope) => each(message(&envelope)),
        Err(error) => read_slowly(line, error, each),
    }
}

/// Whether there are more values than we take, by the commas outside of texts.
fn has_too_many_values(line: &[u8]) -> bool {
    let (mut rest, mut values) = (line, 0);
    while let Some(quote) = memchr::memchr(b'"', rest) {
        let (outside, text) = rest.split_at(quote + 1);
        values += memchr::memchr_iter(b',', outside).count();
        if values > VALUES {
            return true;
        }
        rest = after_text(text);
    }
    values + memchr::memchr_iter(b',', rest).count() > VALUES
}

/// What follows a text whose first quote is passed.
fn after_text(mut text: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', text) {
        let escape = text.get(at) == Some(&b'\\');
        text = text.get(at + 1 + usize::from(escape)..).unwrap_or_default();
        if !escape {
            break;
        }
    }
    text
}

/// An object only: serde would take the elements of a list for the fields, in their order.
fn envelope(text: &str) -> Result<Envelope<'_>, serde_json::Error> {
    if !text.trim_start().starts_with('{') {
        return Err(serde::de::Error::custom("not an object"));
    }
    serde_json::from_str(text)
}

/// The text of a line: bytes that are no UTF-8 and half characters are replaced. Halves are rare
/// and are looked for only where there is a `\ud`.
pub(super) fn repaired(line: &[u8]) -> Cow<'_, str> {
    // Nearly always it is UTF-8, and checking for that alone is quicker.
    let text = match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    };
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text;
    }
    match surrogate::repaired(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(repaired) => Cow::Owned(repaired),
    }
}

/// The way for the rare lines: batches, and objects with keys given twice (the last one counts).
fn read_slowly(
    line: &str,
    error: serde_json::Error,
    each: &mut dyn FnMut(Result<Message<'_>, Error>),
) {
    match serde_json::from_str::<Value>(line) {
        Ok(Value::Array(batch)) if !batch.is_empty() => {
            let elements = batch.len();
            let read = batch.iter().filter(|element| read_value(element, each));
            let bad = elements - read.count();
            if bad > 0 {
                each(Err(Error::BadBatch { bad, elements }));
            }
        }
        Ok(value) => {
            if !read_value(&value, each) {
                each(Err(Error::NotAMessage));
            }
        }
        Err(_) => each(Err(Error::NotJson(error))),
    }
}

/// Reads a message; false where it is none.
fn read_value(value: &Value, each: &mut dyn FnMut(Result<Message<'_>, Error>)) -> bool {
    // Written out only where it can be one.
    let text = if value.is_object() { value.to_string() } else { return false };
    match envelope(&text).as_ref().map(message) {
        Ok(Ok(message)) => {
            each(Ok(message));
            true
        }
        _ => false,
    }
}

fn message<'a>(envelope: &'a Envelope<'a>) -> Result<Message<'a>, Error> {
    let &Envelope { id, params, result, error, .. } = envelope;
    match (envelope.method.as_deref(), id) {
        (Some(method), Some(id)) => Ok(Message::Request { id, method, params }),
        (Some(method), None) => Ok(Message::Notification { method, params }),
        (None, Some(id)) => match error {
            Some(error) => Ok(Message::Response { id, result: Err(read_error(error)) }),
            None => Ok(Message::Response { id, result: Ok(result) }),
        },
        (None, None) => Err(Error::NotAMessage),
    }
}

fn read_error(raw: &RawValue) -> RpcError {
    let error: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let code = error.get("code").and_then(code).unwrap_or(RpcError::INTERNAL);
    let message = match (&error, error.get("message")) {
        (_, Some(Value::String(message))) => message.clone(),
        (Value::String(message), _) => message.clone(),
        _ => "unknown error".to_owned(),
    };
    RpcError { code, message, details: error.get("data").and_then(|data| details(code, data)) }
}

fn code(code: &Value) -> Option<i64> {
    let written = || code.as_str().and_then(|text| text.parse().ok());
    code.as_i64().or_else(|| code.as_f64().map(|code| code as i64)).or_else(written)
}

/// The words in an error's data. Data without words is for programs, but for wrong parameters,
/// where it says which.
fn details(code: i64, data: &Value) -> Option<String> {
    const INVALID_PARAMS: i64 = -32602;
    let keys = ["details", "message", "error", "reason"];
    let words = keys.into_iter().find_map(|key| data.get(key)?.as_str()).or(data.as_str());
    match (words, data) {
        (Some(words), _) => Some(words.to_owned()),
        (None, Value::Object(_) | Value::Array(_)) if code == INVALID_PARAMS => {
            Some(data.to_string().chars().take(300).collect())
        }
        _ => None,
    }
}

/// The number of one of our requests, which agents echo as `7`, `7.0` or `"7"`.
pub(super) fn our_id(id: &RawValue) -> Option<u64> {
    let text = id.get().trim_matches('"');
    text.parse().ok().or_else(|| text.strip_suffix(".0")?.parse().ok())
}

#[derive(Serialize)]
struct Outgoing<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: P,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// A request of ours, as a line.
pub(super) fn request<P: Serialize>(id: u64, method: &str, params: P) -> Vec<u8> {
    line(&Outgoing { jsonrpc: "2.0", id: Some(id), method, params })
}

/// A notification of ours, as a line.
pub(super) fn notification<P: Serialize>(method: &str, params: P) -> Vec<u8> {
    line(&Outgoing { jsonrpc: "2.0", id: None, method, params })
}

/// Our answer to a request, as a line.
pub(super) fn response(id: &str, answer: Result<Value, &RpcError>) -> Vec<u8> {
    let Some(id) = raw_id(id) else { return Vec::new() };
    let (result, error) = match answer {
        Ok(result) => (Some(result), None),
        Err(error) => {
            let mut json = serde_json::json!({ "code": error.code, "message": error.message });
            if let (Some(details), Some(object)) = (&error.details, json.as_object_mut()) {
                object.insert("data".into(), serde_json::json!({ "details": details }));
            }
            (None, Some(json))
        }
    };
    line(&Answer { jsonrpc: "2.0", id: &id, result, error })
}

/// Our answer to a request for a text, as a line. Texts may be long: this one is copied once.
pub(super) fn content(id: &str, text: &str) -> Vec<u8> {
    let Some(id) = raw_id(id) else { return Vec::new() };
    // Room for a line break in every sixteen bytes or so.
    let mut line = Vec::with_capacity(text.len() + text.len() / 16 + id.get().len() + 64);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    line.extend_from_slice(id.get().as_bytes());
    line.extend_from_slice(br#","result":{"content":"#);
    json_text::push(&mut line, text);
    line.extend_from_slice(b"}}\n");
    line
}

/// The id of a request as it came; null, if that was no JSON.
fn raw_id(id: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(id.to_owned()).or_else(|_| to_raw_value(&Value::Null)).ok()
}

fn line<T: Serialize>(message: &T) -> Vec<u8> {
    match serde_json::to_vec(message) {
        Ok(mut line) => {
            line.push(b'\n');
            line
        }
        // Only a map with keys that are no strings fails, and ours have none.
        Err(error) => {
            tracing::error!(%error, "a message of ours could not be written");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str) -> Vec<String> {
        let mut all = Vec::new();
        read(line, &mut |message| {
            all.push(match message {
                Ok(Message::Request { id, method, .. }) => format!("request {} {method}", id.get()),
                Ok(Message::Notification { method, .. }) => format!("notification {method}"),
                Ok(Message::Response { id, result: Ok(result) }) => {
                    format!("result {} {}", id.get(), result.map_or("-", RawValue::get))
                }
                Ok(Message::Response { id, result: Err(error) }) => {
                    format!("error {} {error}", id.get())
                }
                Err(error) => error.to_string().split(':').next().unwrap().to_owned(),
            });
        });
        all
    }

    #[test]
    fn deviations_are_understood() {
        for (line, expected) in [
            (r#"{"id":1,"result":{}}"#, "result 1 {}"),
            (r#"{"jsonrpc":"2.0","result":null,"id":"x"}"#, "result \"x\" -"),
            (r#"{"id":1,"result":{},"error":null}"#, "result 1 {}"),
            (r#"{"id":1,"error":"no"}"#, "error 1 no (-32603)"),
            (r#"{"id":1,"error":{"message":"m","data":{"details":"d"}}}"#, "error 1 m: d (-32603)"),
            (r#"{"id":1,"error":{"code":"-32000","message":"m"}}"#, "error 1 m (-32000)"),
            (r#"{"id":1,"error":{"code":4e2,"message":"m","data":"d"}}"#, "error 1 m: d (400)"),
            (r#"{"id":1,"error":{"code":[],"message":"m","data":{"a":1}}}"#, "error 1 m (-32603)"),
            (
                r#"{"id":1,"error":{"code":-32602,"message":"m","data":{"a":1}}}"#,
                "error 1 m: {\"a\":1} (-32602)",
            ),
            (r#"{"jsonrpc":"1.0","id":null,"method":"m"}"#, "request null m"),
            (r#"{"method":"m"}"#, "notification m"),
            (r#"{"id":1,"id":2,"method":"m"}"#, "request 2 m"),
            (r#"{"x":1}"#, "not a JSON-RPC message"),
            ("17", "not a JSON-RPC message"),
            ("[]", "not a JSON-RPC message"),
            (r#"[[1,"m"]]"#, "1 of 1 elements of a batch are no JSON-RPC messages"),
            ("Welcome!", "not JSON"),
        ] {
            assert_eq!(seen(line), [expected], "{line}");
        }
    }

    #[test]
    fn broken_text_is_replaced() {
        let line = b"{\"id\":1,\"result\":\"\xff\\ud83d\\ud83d\\ude00\"}";
        assert_eq!(seen(&repaired(line)), ["result 1 \"\u{fffd}\\ufffd\\ud83d\\ude00\""]);
        assert!(matches!(repaired(b"{\"method\":\"m\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn batches_are_taken_apart() {
        let bad = |bad, all| format!("{bad} of {all} elements of a batch are no JSON-RPC messages");
        assert_eq!(seen(r#"["1","m"]"#), [bad(2, 2)]);
        let line = r#"[{"id":1,"result":1},7,{"method":"n"},{}]"#;
        assert_eq!(seen(line), ["result 1 1", "notification n", &bad(2, 4)]);
        // One line in the log, whatever there is in it.
        assert_eq!(seen(&format!("[{}1]", "1,".repeat(100_000))), [bad(100_001, 100_001)]);
    }

    #[test]
    fn what_would_fill_the_memory_is_skipped() {
        let many = "1,".repeat(VALUES);
        assert_eq!(seen(&format!("[{many}1,1]")), [format!("more than {VALUES} values")]);
        let line = format!(r#"{{"method":"m","params":["\\",{many}1,1]}}"#);
        assert_eq!(seen(&line), [format!("more than {VALUES} values")]);
        // A text may have as many commas as it likes, and quotes.
        let line = format!(r#"{{"method":"m","params":"\"{many}\\\"{many}"}}"#);
        assert_eq!(seen(&line), ["notification m"]);
    }

    #[test]
    fn batches_with_nothing_but_messages() {
        assert_eq!(
            seen(r#"[{"method":"a"},{"method":"b"}]"#),
            ["notification a", "notification b"]
        );
    }

    #[test]
    fn ids_go_back_as_they_came() {
        for id in ["7", "1.0", "\"a\\u0041\"", "null", "18446744073709551616", "true"] {
            let line = String::from_utf8(response(id, Ok(Value::Null))).unwrap();
            assert_eq!(line, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}\n"));
        }
    }

    #[test]
    fn our_ids_are_recognised() {
        for (raw, id) in [("7", Some(7)), ("7.0", Some(7)), ("\"7\"", Some(7)), ("\"x\"", None)] {
            let raw = RawValue::from_string(raw.to_owned()).unwrap();
            assert_eq!(our_id(&raw), id);
        }
    }
}
