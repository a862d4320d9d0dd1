//! Agents that lose their minds: a fixed corpus, changed in every way by a fixed seed. Nothing
//! panics, every request is heard exactly once, and what is made of a line stays in proportion to
//! the line.

use std::fs;
use std::path::Path;

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::event::Happened;
use acp_nvim::session::ids::ConnectionId;
use serde_json::{Value, json};

use super::{calls, folder, script};

const ROUNDS: usize = 3_000;

/// Chance, the same each time (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn line<'a>(&mut self, corpus: &'a [String]) -> &'a str {
        &corpus[self.below(corpus.len())]
    }
}

/// Every message of the scripts and of the recordings.
fn corpus() -> Vec<String> {
    let mut all = Vec::new();
    for file in fs::read_dir(folder().join("heard")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        all.extend(script::messages(&text));
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for agent in fs::read_dir(fixtures).unwrap() {
        for file in fs::read_dir(agent.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "ndjson") {
                let text = fs::read_to_string(path).unwrap();
                let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                let heard = lines.filter(|line| line["dir"] == "a2c");
                // Long lists make the same point as short ones, slowly.
                all.extend(heard.map(|line| line["msg"].to_string()).filter(|it| it.len() < 2000));
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

fn nasty() -> Vec<Value> {
    let mut deep = json!("x");
    for _ in 0..50 {
        deep = json!({ "content": [deep] });
    }
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\u{feff}\u{1f600}\n"),
        json!("x".repeat(300)),
        json!([]),
        json!({}),
        json!([[[]]]),
        json!({ "type": "text" }),
        json!({ "toolCall": { "toolCall": {} }, "plan": { "plan": [] }, "content": {} }),
        deep,
    ]
}

/// A value somewhere inside, chosen by chance.
fn somewhere<'a>(mut value: &'a mut Value, chance: &mut Chance) -> &'a mut Value {
    loop {
        let inner = match &*value {
            Value::Object(object) if !object.is_empty() => object.len(),
            Value::Array(list) if !list.is_empty() => list.len(),
            _ => return value,
        };
        if chance.below(4) == 0 {
            return value;
        }
        let at = chance.below(inner);
        value = match value {
            Value::Object(object) => object.values_mut().nth(at).unwrap(),
            Value::Array(list) => &mut list[at],
            _ => unreachable!("it has something inside"),
        };
    }
}

/// The message with some of its values replaced, removed or put elsewhere.
fn reshaped(
    line: &str,
    chance: &mut Chance,
    (corpus, nasty): (&[String], &[Value]),
) -> Option<String> {
    let mut message: Value = serde_json::from_str(line).ok()?;
    for _ in 0..=chance.below(3) {
        let other: Value = serde_json::from_str(chance.line(corpus)).unwrap_or_default();
        let place = somewhere(&mut message, chance);
        match chance.below(5) {
            0 => *place = chance.of(nasty).clone(),
            1 => *place = somewhere(&mut other.clone(), chance).clone(),
            2 => *place = json!([place.clone(), place.clone()]),
            3 => *place = json!({ "content": place.clone(), "id": 1, "type": "text" }),
            _ => {
                if let Value::Object(object) = place
                    && let Some(key) = object.keys().nth(chance.below(object.len())).cloned()
                {
                    let value = object.remove(&key).unwrap();
                    let keys = ["id", "type", "content", "status", "plan", "toolCall", "options"];
                    object.insert((*chance.of(&keys)).to_owned(), value);
                }
            }
        }
    }
    Some(message.to_string())
}

/// The line with some of its bytes changed.
fn damaged(line: &str, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len());
        match chance.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, *chance.of(b"\"\\{}[],:0\xff\xf0u\0\n")),
            2 if !bytes.is_empty() => bytes[at] = chance.below(256) as u8,
            3 => {
                let end = (at + chance.below(20)).min(bytes.len());
                let again = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => drop(bytes.splice(at..at, *b"\\ud83d")),
        }
    }
    bytes
}

fn heard(bytes: &[u8], chance: &mut Chance) -> Vec<Happened> {
    let mut peer = Peer::new(ConnectionId(1));
    for name in ["prompt", *chance.of(&calls::NAMES)] {
        drop(peer.call(calls::named(name)));
    }
    let mut all = Vec::new();
    let cut = chance.below(bytes.len());
    for piece in [&bytes[..cut], &bytes[cut..]] {
        peer.receive(piece, &mut |happened| all.push(happened));
    }
    peer.finish(&mut |happened| all.push(happened));
    all
}

/// How many requests are in a line that is JSON.
fn requests_in(line: &str) -> Option<usize> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_request = |it: &Value| it.get("id").is_some() && it["method"].is_string();
    Some(match &message {
        Value::Array(batch) => batch.iter().filter(|it| is_request(it)).count(),
        message => usize::from(is_request(message)),
    })
}

#[test]
fn messages_of_any_shape_are_heard() {
    let (corpus, nasty, mut chance) = (corpus(), nasty(), Chance(0x5eed_0001));
    for _ in 0..ROUNDS {
        let Some(line) = reshaped(chance.line(&corpus), &mut chance, (&corpus, &nasty)) else {
            continue;
        };
        let all = heard(line.as_bytes(), &mut chance);
        let requested = all.iter().filter(|it| matches!(it, Happened::Requested { .. })).count();
        assert_eq!(Some(requested), requests_in(&line), "{line}");
        assert!(!all.is_empty(), "nothing came of {line}");
        assert!(all.len() <= line.len(), "{} things came of {line}", all.len());
    }
}

#[test]
fn damaged_lines_are_heard() {
    let (corpus, mut chance) = (corpus(), Chance(0x5eed_0002));
    for _ in 0..ROUNDS {
        let bytes = damaged(chance.line(&corpus), &mut chance);
        let all = heard(&bytes, &mut chance);
        assert!(all.len() <= bytes.len());
    }
}

#[test]
fn what_is_made_of_a_line_stays_in_proportion() {
    let (corpus, nasty, mut chance) = (corpus(), nasty(), Chance(0x5eed_0003));
    for _ in 0..ROUNDS / 10 {
        let Some(line) = reshaped(chance.line(&corpus), &mut chance, (&corpus, &nasty)) else {
            continue;
        };
        let size = format!("{:?}", heard(line.as_bytes(), &mut chance)).len();
        assert!(size < 4000 + 40 * line.len(), "{size} bytes came of {line}");
    }
}

#[test]
fn deep_lines_do_not_end_the_stack() {
    for (open, close) in [("[", "]"), ("{\"content\":", "}")] {
        for depth in [120, 100_000] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for line in [
                deep.clone(),
                format!(r#"{{"method":"session/update","params":{deep}}}"#),
                format!(
                    r#"{{"method":"session/update","params":{{"sessionId":"s","update":{deep}}}}}"#
                ),
                format!(r#"{{"id":{deep},"method":"fs/read_text_file","params":{deep}}}"#),
                format!(r#"{{"id":1,"result":{deep}}}"#),
                format!(r#"{{"id":1,"error":{deep}}}"#),
            ] {
                assert!(!heard(line.as_bytes(), &mut Chance(1)).is_empty());
            }
        }
    }
}
