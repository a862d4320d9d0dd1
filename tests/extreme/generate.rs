//! Messages of extreme size and count, made of those that `tests/protocol/heard` has: every update
//! and every request there is, well-formed, with lists of thousands and texts of megabytes.
//!
//! Knows JSON and the language of those files. Must not know the crate.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

/// A small source of chance: the same seed gives the same messages on any machine.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// A seed for this run: printed, so that the run can be had again.
pub(crate) fn fresh_seed() -> u64 {
    let given = std::env::var("ACP_FUZZ_SEED").ok().and_then(|it| it.parse().ok());
    given.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        u64::from(now.map_or(1, |it| it.subsec_nanos()))
    })
}

/// A message that agents send, without its id.
#[derive(Clone)]
pub(crate) struct Seed {
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) is_request: bool,
}

/// Every update, notification and request of the protocol's tests.
pub(crate) fn seeds() -> Vec<Seed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol/heard");
    let mut seeds = Vec::new();
    for name in ["updates.txt", "requests.txt", "dialects.txt", "envelope.txt"] {
        let script = fs::read_to_string(folder.join(name)).unwrap();
        seeds.extend(script.lines().filter_map(seed));
    }
    seeds
}

fn seed(line: &str) -> Option<Seed> {
    let (verb, rest) = line.split_once(' ')?;
    let (method, json) = rest.split_once(' ').unwrap_or((rest, "null"));
    let seed = |method: &str, params: Value, is_request| {
        Some(Seed { method: method.to_owned(), params, is_request })
    };
    match verb {
        "update" => {
            let update: Value = serde_json::from_str(rest).ok()?;
            seed("session/update", json!({ "sessionId": "s", "update": update }), false)
        }
        "notify" => seed(method, serde_json::from_str(json).ok()?, false),
        "request" => seed(method, serde_json::from_str(json).ok()?, true),
        _ => None,
    }
}

/// How many items a list gets.
const COUNTS: [usize; 6] = [0, 2, 20, 150, 1_200, 6_000];
/// How many bytes a text gets.
const LENGTHS: [usize; 6] = [0, 40, 400, 5_000, 20_000, 150_000];
/// What texts are made of: what rows, Markdown, terminals and shells make something of.
const WORDS: [&str; 14] = [
    "a",
    "word ",
    "\n",
    "- item\n",
    "*",
    "`",
    "> ",
    "[x](y) ",
    "| a | b |\n",
    "漢字",
    "\u{1b}[31m",
    "../",
    "\r",
    "```\n",
];
/// The most of one message, more or less.
const MOST: usize = 1 << 20;

/// Makes messages for one session.
pub(crate) struct Maker {
    pub(crate) chance: Chance,
    seeds: Vec<Seed>,
    session: String,
    project: String,
    next_id: u64,
}

/// One message.
pub(crate) struct Made {
    pub(crate) line: String,
    /// The id, where it is a request.
    pub(crate) id: Option<u64>,
}

impl Maker {
    pub(crate) fn new(seed: u64, session: &str, project: &str) -> Maker {
        let (session, project) = (session.to_owned(), project.to_owned());
        Maker { chance: Chance::new(seed), seeds: seeds(), session, project, next_id: 0 }
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Made {
        let seed = self.chance.pick(&self.seeds).clone();
        let mut params = seed.params;
        // Most are short: it is their number that counts.
        let extremes = if self.chance.one_in(6) { 1 + self.chance.below(3) } else { 0 };
        let mut room = MOST;
        for _ in 0..extremes {
            let nodes = count(&params);
            let mut at = self.chance.below(nodes);
            self.stretch(&mut params, &mut at, &mut room);
        }
        self.place(&mut params);
        let mut message = json!({ "jsonrpc": "2.0", "method": seed.method, "params": params });
        let id = seed.is_request.then(|| {
            self.next_id += 1;
            self.next_id
        });
        if let (Some(id), Some(message)) = (id, message.as_object_mut()) {
            message.insert("id".into(), id.into());
        }
        Made { line: message.to_string(), id }
    }

    /// Stretches the nth value within this one.
    fn stretch(&mut self, value: &mut Value, at: &mut usize, room: &mut usize) {
        if *at == 0 {
            *at = usize::MAX;
            return self.inflate(value, room);
        }
        *at -= 1;
        match value {
            Value::Array(list) => list.iter_mut().for_each(|it| {
                if *at != usize::MAX {
                    self.stretch(it, at, room);
                }
            }),
            Value::Object(object) => object.values_mut().for_each(|it| {
                if *at != usize::MAX {
                    self.stretch(it, at, room);
                }
            }),
            _ => {}
        }
    }

    fn inflate(&mut self, value: &mut Value, room: &mut usize) {
        match value {
            Value::Array(list) => {
                let item = list.first().cloned().unwrap_or_else(|| json!({ "name": "x" }));
                let most = *room / item.to_string().len().max(8);
                let count = (*self.chance.pick(&COUNTS)).min(most);
                *room -= (count * item.to_string().len()).min(*room);
                *list = (0..count).map(|n| told_apart(&item, n)).collect();
            }
            Value::Object(object) if self.chance.one_in(3) => {
                let count = (*self.chance.pick(&COUNTS)).min(*room / 16);
                *room -= count * 16;
                object.extend((0..count).map(|n| (format!("key{n}"), json!(n))));
            }
            Value::Object(object) => {
                // Something in it rather than itself.
                let keys: Vec<String> = object.keys().cloned().collect();
                if let Some(inner) = keys.get(self.chance.below(keys.len())) {
                    let inner = inner.clone();
                    if let Some(inner) = object.get_mut(&inner) {
                        self.inflate(inner, room);
                    }
                }
            }
            Value::String(text) => {
                let words = *self.chance.pick(&WORDS);
                let length = (*self.chance.pick(&LENGTHS)).min(*room);
                *room -= length;
                let more = words.repeat(length / words.len());
                // What it was stays recognisable for whoever looks at the beginning.
                *text = if self.chance.one_in(2) { more } else { format!("{text}{more}") };
            }
            Value::Number(_) => {
                *value =
                    self.chance.pick(&[json!(0), json!(-1), json!(u64::MAX), json!(1e300)]).clone();
            }
            Value::Bool(_) | Value::Null => *value = json!(self.chance.one_in(2)),
        }
    }

    /// Gives the message to the session, and its files and tool calls to the project, as a rule.
    fn place(&mut self, params: &mut Value) {
        let Some(object) = params.as_object_mut() else { return };
        if object.contains_key("sessionId") && !self.chance.one_in(50) {
            object.insert("sessionId".into(), self.session.clone().into());
        }
        if let Some(Value::String(path)) = object.get_mut("path")
            && self.chance.one_in(2)
        {
            *path = format!("{}/file{}", self.project, self.chance.below(50));
        }
        for field in ["update", "toolCall"] {
            if let Some(Value::Object(call)) = object.get_mut(field)
                && call.contains_key("toolCallId")
            {
                let id = format!("call {}", self.chance.below(500));
                call.insert("toolCallId".into(), id.into());
            }
        }
    }
}

/// How many values there are in this one.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(object) => object.values().map(count).sum(),
        _ => 0,
    }
}

/// A copy with ids and names of its own.
fn told_apart(value: &Value, n: usize) -> Value {
    match value {
        Value::Object(object) => {
            let own = |(key, value): (&String, &Value)| {
                let names = ["id", "Id", "name", "path", "value", "const"];
                let value = match value {
                    Value::String(text) if names.iter().any(|it| key.ends_with(it)) => {
                        json!(format!("{text}{n}"))
                    }
                    other => other.clone(),
                };
                (key.clone(), value)
            };
            Value::Object(object.iter().map(own).collect::<Map<_, _>>())
        }
        Value::String(text) => json!(format!("{text}{n}")),
        other => other.clone(),
    }
}
