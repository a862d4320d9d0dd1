//! Chat completions as the agents' client libraries expect them, in one piece or as a stream.
//! Knows the form of questions and answers; what to answer stands in the script.

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http;
use super::script::{self, Part};

/// Between two words of `slow`.
const PACE: Duration = Duration::from_millis(200);

const NAME: &str = "scripted";

/// What the model is asked.
pub(super) struct Question {
    script: String,
    /// How often the model has spoken since the prompt.
    turn: usize,
    /// What the tools gave since the prompt.
    pub(super) results: Vec<String>,
    pub(super) conversation: String,
    /// The names of the tools it may use.
    tools: Vec<String>,
}

impl fmt::Display for Question {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Question { script, turn, results, tools, .. } = self;
        write!(out, "turn {turn} of {script:?}, {} tools, results: {results:?}", tools.len())
    }
}

impl Question {
    pub(super) fn read(body: &Value) -> Question {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let is = |role: &'static str| move |it: &&Value| it["role"] == role;
        let at = messages.iter().rposition(|it| it["role"] == "user");
        let since = at.map_or(&[][..], |at| &messages[at..]);
        let tools = body["tools"].as_array().into_iter().flatten();
        let told = messages.iter().filter(|it| it["role"] != "system");
        Question {
            script: since.first().map_or_else(String::new, |it| own_words(&prompt(&it["content"]))),
            turn: since.iter().filter(is("assistant")).count(),
            results: since.iter().filter(is("tool")).map(|it| text(&it["content"])).collect(),
            conversation: told.map(|it| text(&it["content"]) + "\n").collect(),
            tools: tools
                .map(|it| it["function"]["name"].as_str().unwrap_or("").to_owned())
                .collect(),
        }
    }

    /// Agents ask for titles and summaries too, and offer no tools then.
    pub(super) fn is_from_user(&self) -> bool {
        !self.tools.is_empty()
    }

    /// What to answer.
    pub(super) fn answer(&self) -> Vec<Part> {
        if !self.is_from_user() {
            return vec![Part::Text("A scripted chat".to_owned())];
        }
        let last = self.results.last().map_or("", String::as_str);
        let mut parts = script::turn(&self.script, self.turn, last);
        for part in &mut parts {
            if let Part::Call { tool, .. } = part {
                *tool = self.offered(tool);
            }
        }
        parts
    }

    /// What the agent calls a tool.
    fn offered(&self, tool: &'static str) -> &'static str {
        let names: &[&str] =
            if tool == "bash" { &["bash", "shell", "developer__shell"] } else { &[] };
        names.iter().copied().find(|name| self.tools.iter().any(|it| it == name)).unwrap_or(tool)
    }
}

/// The models on offer.
pub(super) fn models() -> Value {
    json!({ "object": "list", "data": [{ "id": NAME, "object": "model", "owned_by": "test" }] })
}

/// Sends an answer bit by bit.
pub(super) fn stream(stream: &mut TcpStream, parts: &[Part]) -> io::Result<()> {
    http::begin_events(stream)?;
    send(stream, &json!({ "role": "assistant", "content": "" }), None)?;
    for part in parts {
        match part {
            Part::Text(text) => words(stream, "content", text)?,
            Part::Thought(text) => words(stream, "reasoning_content", text)?,
            Part::Slow(count) => slow(stream, *count)?,
            Part::Hold => http::wait_closed(stream)?,
            Part::Call { tool, arguments } => {
                // In two pieces, as models write them.
                let call = function_call(tool, "");
                send(stream, &json!({ "tool_calls": [call] }), None)?;
                let rest =
                    json!({ "index": 0, "function": { "arguments": arguments.to_string() } });
                send(stream, &json!({ "tool_calls": [rest] }), None)?;
            }
        }
    }
    send(stream, &json!({}), Some(finish_reason(parts)))?;
    http::event(stream, &chunk(&json!([]), &usage()).to_string())?;
    http::event(stream, "[DONE]")
}

/// An answer in one piece: there is nobody to wait with.
pub(super) fn whole(parts: &[Part]) -> Value {
    let (mut said, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => said.push_str(text),
            Part::Thought(text) => thought.push_str(text),
            Part::Call { tool, arguments } => {
                calls.push(function_call(tool, &arguments.to_string()));
            }
            Part::Slow(_) | Part::Hold => {}
        }
    }
    let mut message = json!({ "role": "assistant", "content": said });
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason(parts) });
    json!({
        "id": "scripted", "object": "chat.completion", "created": 0, "model": NAME,
        "choices": [choice], "usage": usage(),
    })
}

fn words(stream: &mut TcpStream, field: &str, text: &str) -> io::Result<()> {
    text.split_inclusive(' ').try_for_each(|word| send(stream, &json!({ field: word }), None))
}

fn slow(stream: &mut TcpStream, count: usize) -> io::Result<()> {
    for number in 1..=count {
        words(stream, "content", &format!("word{number} "))?;
        thread::sleep(PACE);
    }
    Ok(())
}

fn send(stream: &mut TcpStream, delta: &Value, finish: Option<&str>) -> io::Result<()> {
    let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
    http::event(stream, &chunk(&choices, &Value::Null).to_string())
}

fn chunk(choices: &Value, usage: &Value) -> Value {
    json!({
        "id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": NAME,
        "choices": choices, "usage": usage,
    })
}

/// Agents tell calls apart by their ids for as long as a conversation lasts.
fn function_call(tool: &str, arguments: &str) -> Value {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let id = format!("call_{}", CALLS.fetch_add(1, Ordering::Relaxed));
    let function = json!({ "name": tool, "arguments": arguments });
    json!({ "index": 0, "id": id, "type": "function", "function": function })
}

fn finish_reason(parts: &[Part]) -> &'static str {
    match parts.last() {
        Some(Part::Call { .. }) => "tool_calls",
        _ => "stop",
    }
}

fn usage() -> Value {
    json!({ "prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020 })
}

/// The first text of a message: agents put reminders of their own behind the user's words.
fn prompt(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.first().map_or_else(String::new, prompt),
        Value::Object(part) => part.get("text").map_or_else(String::new, prompt),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// What the user said last. goose puts the time behind each prompt, and makes one message of those
/// that were not answered.
fn own_words(text: &str) -> String {
    let prompts = text.split("</turn-context>").filter(|it| !it.trim().is_empty());
    let last = prompts.last().unwrap_or_default();
    last.split("<turn-context>").next().unwrap_or_default().trim().to_owned()
}

/// All text of a message.
fn text(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().map(text).collect(),
        Value::Object(part) => part.get("text").map_or_else(String::new, text),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[test]
fn the_last_prompt_counts() {
    let user =
        |text: &str| json!({ "role": "user", "content": [{ "type": "text", "text": text }] });
    let said = |text: &str| json!({ "role": "assistant", "content": text });
    let messages = [
        json!({ "role": "system", "content": "be good" }),
        user("say one"),
        said("one"),
        user("read /a; quote; say !"),
        said(""),
        json!({ "role": "tool", "content": "in the file" }),
    ];
    let mut body = json!({ "messages": messages, "tools": [{}] });
    let question = Question::read(&body);
    assert_eq!(question.results, ["in the file"]);
    assert_eq!(question.conversation, "say one\none\nread /a; quote; say !\n\nin the file\n");
    let answer = whole(&question.answer());
    assert_eq!(answer["choices"][0]["message"]["content"], "in the file!");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    body["tools"] = json!([]);
    assert!(!Question::read(&body).is_from_user());
}
