//! What a prompt tells the model to do. Knows OpenCode's tools by name; what other agents call
//! theirs is found among what they offer.
//!
//! Steps are parted by `;`. In a text `\n` is a line break.
//!
//! | step | what the model does |
//! |---|---|
//! | `say TEXT` | answers |
//! | `think TEXT` | reasons |
//! | `slow N` | answers with N words, one in a while |
//! | `hold` | says nothing more until the agent gives up |
//! | `quote` | answers with what the last tool gave |
//! | `read PATH` | uses a tool, and so on below |
//! | `write PATH TEXT` | |
//! | `edit PATH OLD => NEW` | |
//! | `bash COMMAND` | |
//! | `todo TEXT, TEXT` | |
//!
//! A tool ends the turn of the model: the next step is done when the agent comes back with what
//! the tool gave. After the last one the model says `Done.`

use serde_json::{Value, json};

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Thought(String),
    /// This many words, one in a while.
    Slow(usize),
    Hold,
    Call {
        tool: &'static str,
        arguments: Value,
    },
}

/// What to do in the given turn, counted from zero. `last` is what the last tool gave.
pub(super) fn turn(script: &str, number: usize, last: &str) -> Vec<Part> {
    let parts: Vec<_> = script.split(';').map(|step| part(step.trim(), last)).collect();
    let mut turns = parts.split_inclusive(|part| matches!(part, Part::Call { .. }));
    turns.nth(number).map_or_else(|| vec![Part::Text("Done.".to_owned())], <[Part]>::to_vec)
}

fn part(step: &str, last: &str) -> Part {
    let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
    let text = rest.replace("\\n", "\n");
    match verb {
        "say" => Part::Text(text),
        "think" => Part::Thought(text),
        "slow" => rest.parse().map_or_else(|_| misread(step), Part::Slow),
        "hold" => Part::Hold,
        "quote" => Part::Text(last.to_owned()),
        "read" => call("read", json!({ "filePath": rest })),
        "bash" => call("bash", json!({ "command": rest, "description": "Runs a command" })),
        "todo" => call("todowrite", json!({ "todos": todos(rest) })),
        "write" => match text.split_once(' ') {
            Some((path, text)) => call("write", json!({ "filePath": path, "content": text })),
            None => misread(step),
        },
        "edit" => edit(&text).unwrap_or_else(|| misread(step)),
        _ => misread(step),
    }
}

fn edit(text: &str) -> Option<Part> {
    let (path, change) = text.split_once(' ')?;
    let (old, new) = change.split_once(" => ")?;
    Some(call("edit", json!({ "filePath": path, "oldString": old, "newString": new })))
}

/// The first is under way, the others wait.
fn todos(text: &str) -> Value {
    let todo = |(at, text): (usize, &str)| {
        let status = if at == 0 { "in_progress" } else { "pending" };
        json!({ "content": text.trim(), "status": status, "priority": "medium" })
    };
    text.split(',').enumerate().map(todo).collect()
}

fn call(tool: &'static str, arguments: Value) -> Part {
    Part::Call { tool, arguments }
}

/// Said in the chat, where the writer of the test will look first.
fn misread(step: &str) -> Part {
    Part::Text(format!("The model does not understand {step:?}."))
}

#[test]
fn a_tool_ends_the_turn() {
    let script = "think hm; say one\\ntwo; read /a; quote; bash ls | wc";
    let text = |it: &str| Part::Text(it.to_owned());
    let read = call("read", json!({ "filePath": "/a" }));
    assert_eq!(turn(script, 0, ""), [Part::Thought("hm".to_owned()), text("one\ntwo"), read]);
    let second = turn(script, 1, "in the file");
    let [said, Part::Call { tool: "bash", arguments }] = second.as_slice() else {
        panic!("{second:?}");
    };
    assert_eq!(said, &text("in the file"));
    assert_eq!(arguments["command"], "ls | wc");
    assert_eq!(turn(script, 2, ""), [text("Done.")]);
}

#[test]
fn what_is_misread_is_said() {
    for step in ["sing", "edit /a b", "write /a", "slow down"] {
        let said = turn(step, 0, "");
        assert_eq!(said, [Part::Text(format!("The model does not understand {step:?}."))]);
    }
}
