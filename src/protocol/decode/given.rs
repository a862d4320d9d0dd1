//! What a tool is given, read from parameters that every agent names as it likes.
//!
//! A path too many makes nobody less safe, one too few does. So names are looked for at every
//! depth, however they are spelled, texts that look like paths are taken for such whatever they are
//! called, and what contradicts itself is called unclear.

mod names;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::Value;

use self::names::{Meaning, meaning, plain};
use crate::protocol::dialect::Object;
use crate::session::command_line::Command;
use crate::session::subject::{Given, LONGEST, MOST_PATHS};

/// How deep parameters are looked at, and how many of them.
const DEPTH: usize = 32;
const MOST: usize = 10_000;

/// What a tool is given.
pub(super) fn given(input: &Value) -> Given {
    let mut found = Found::default();
    match input {
        // Some write the parameters as a text with JSON in it.
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) => found.look(&inner, DEPTH),
            _ => found.bare_text(text),
        },
        input => found.look(input, DEPTH),
    }
    found.given
}

#[derive(Default)]
struct Found {
    given: Given,
    known_paths: HashSet<String>,
    commands: Vec<Command>,
    seen: usize,
}

impl Found {
    /// Whatever the tool is, it gets a text and nothing that says what it means.
    fn bare_text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.given.unclear = true;
        match is_patch(text) {
            true => self.patch(text),
            false if looks_like_path(text) => self.path(text),
            false => self.run(Command::Line(text.to_owned())),
        }
    }

    fn look(&mut self, value: &Value, depth: usize) {
        self.seen += 1;
        if depth == 0 || self.seen > MOST {
            self.given.unreadable = true;
            return;
        }
        match value {
            Value::Object(object) => self.object(object, depth),
            Value::Array(list) => list.iter().for_each(|item| self.look(item, depth - 1)),
            Value::String(text) if is_patch(text) => self.patch(text),
            Value::String(text) if looks_like_path(text) => self.path(text),
            value => self.given.more |= says_something(value),
        }
    }

    fn object(&mut self, object: &Object, depth: usize) {
        let runs = self.command(object);
        for (name, value) in object {
            if looks_like_path(name) {
                self.path(name);
            }
            let meaning = meaning(&plain(name));
            match meaning {
                Meaning::Path => self.paths(value, depth),
                Meaning::Folder => self.folder(value),
                Meaning::Address => self.addresses(value),
                Meaning::Glob => self.glob(value),
                // A map of what happens to which file.
                Meaning::Changes if value.is_object() => {
                    let files = value.as_object().into_iter().flat_map(Object::keys);
                    files.for_each(|path| self.path(path));
                    self.look(value, depth - 1);
                }
                Meaning::Command | Meaning::Code | Meaning::Shell => self.inner(value, depth),
                Meaning::Arguments if runs => self.inner(value, depth),
                Meaning::Influence if runs => {
                    self.given.unclear |= says_something(value);
                }
                Meaning::Prose => self.prose(value, depth),
                Meaning::Note => {}
                Meaning::Arguments | Meaning::Influence | Meaning::Changes | Meaning::Other => {
                    self.look(value, depth - 1);
                }
            }
        }
    }

    /// A text that is written somewhere or read by somebody, and neither a path nor a command.
    fn prose(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => {
                self.given.more |= !text.is_empty();
                self.patch(text);
            }
            other => self.look(other, depth - 1),
        }
    }

    /// What is in a command that is neither a text nor a list of them.
    fn inner(&mut self, value: &Value, depth: usize) {
        let inner = |value: &Value| value.is_object() || value.is_array();
        match value {
            Value::Object(_) => self.look(value, depth - 1),
            Value::Array(list) => {
                list.iter().filter(|it| inner(it)).for_each(|it| self.look(it, depth - 1));
            }
            _ => {}
        }
    }

    fn paths(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(path) => self.path(path),
            Value::Array(list) => {
                for item in list {
                    self.seen += 1;
                    match item {
                        Value::String(path) => self.path(path),
                        other => self.look(other, depth - 1),
                    }
                }
            }
            other => self.look(other, depth - 1),
        }
        self.given.unreadable |= self.seen > MOST;
    }

    fn path(&mut self, path: &str) {
        if path.is_empty() || self.known_paths.contains(path) {
            return;
        }
        if path.len() > LONGEST || self.known_paths.len() >= MOST_PATHS {
            return self.given.unreadable = true;
        }
        self.known_paths.insert(path.to_owned());
        self.given.paths.push(path.to_owned());
    }

    fn folder(&mut self, value: &Value) {
        match (value.as_str(), &self.given.cwd) {
            (Some(folder), _) if folder.len() > LONGEST => self.given.unreadable = true,
            (Some(folder), None) => self.given.cwd = Some(folder.to_owned()),
            (Some(folder), Some(known)) if folder == known => {}
            (None, _) if value.is_null() => {}
            (Some(other), Some(_)) => {
                self.given.unclear = true;
                self.path(other);
            }
            _ => self.given.unclear = true,
        }
    }

    fn addresses(&mut self, value: &Value) {
        match value {
            Value::String(address) if address.len() > LONGEST => self.given.unreadable = true,
            Value::String(address) if address.starts_with("file:") => self.path(address),
            Value::String(address) => match &self.given.url {
                None => self.given.url = Some(address.clone()),
                Some(known) if known == address => {}
                Some(_) => {
                    self.given.unclear = true;
                    self.given.other_urls.push(address.clone());
                }
            },
            Value::Array(list) => list.iter().for_each(|item| self.addresses(item)),
            Value::Null => {}
            _ => self.given.unclear = true,
        }
    }

    /// A search leaves the folder it is in by its pattern.
    fn glob(&mut self, value: &Value) {
        match value {
            Value::String(text) if looks_like_path(text) => {
                self.given.unclear = true;
                self.path(text);
            }
            Value::String(text) => self.given.more |= !text.is_empty(),
            Value::Array(list) => list.iter().for_each(|item| self.glob(item)),
            _ => {}
        }
    }

    /// Finds what an object runs, by all names that say so; whether there is any.
    fn command(&mut self, object: &Object) -> bool {
        let said = || object.iter().filter(|(_, value)| says_something(value));
        let of = |wanted: Meaning| {
            said().filter(move |(name, _)| meaning(&plain(name)) == wanted).map(|(_, value)| value)
        };
        let mut arguments: Vec<&Value> = Vec::new();
        for value in of(Meaning::Arguments) {
            if !arguments.contains(&value) {
                arguments.push(value);
            }
        }
        let named_list = |name: &str| plain(name) == "commands";
        let mut any = false;
        for (name, value) in said() {
            let meaning = meaning(&plain(name));
            match meaning {
                Meaning::Command | Meaning::Code => {}
                // Which shell, or what it runs?
                Meaning::Shell if !value.as_str().is_some_and(names::is_shell) => {}
                _ => continue,
            }
            let text = matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_));
            if !text {
                self.given.more = true;
                continue;
            }
            any = true;
            self.given.unclear |= meaning != Meaning::Command || arguments.len() > 1;
            if arguments.is_empty() {
                self.readings(value, None, named_list(name));
            }
            for arguments in &arguments {
                self.readings(value, Some(arguments), false);
            }
        }
        any
    }

    /// Takes in a command with its arguments, if it has any.
    fn readings(&mut self, value: &Value, arguments: Option<&Value>, lines: bool) {
        let known = match (value, arguments) {
            (Value::String(line), None) => Some(Command::Line(line.clone())),
            (Value::String(program), Some(Value::Array(list))) => texts(list).map(|mut words| {
                words.insert(0, program.clone());
                Command::Words(words)
            }),
            (Value::String(program), Some(Value::String(rest))) => {
                self.given.unclear = true;
                Some(Command::Line(format!("{program} {rest}")))
            }
            (Value::Array(list), None) => texts(list).map(|words| listed(words, lines)),
            _ => None,
        };
        match known {
            Some(command) => self.run(command),
            // Whatever it is, what it says may be run.
            None => {
                self.given.unclear = true;
                for text in all_texts(value).into_iter().chain(arguments.map_or(vec![], all_texts))
                {
                    self.run(Command::Line(text));
                }
            }
        }
    }

    fn run(&mut self, command: Command) {
        if self.commands.contains(&command) {
            return;
        }
        if self.commands.len() >= 100 {
            return self.given.unreadable = true;
        }
        self.commands.push(command);
        self.given.command = match &self.commands[..] {
            [one] => Some(one.clone()),
            several => {
                // Nobody can say which of them it is.
                self.given.unclear = true;
                Some(Command::Several(several.to_vec()))
            }
        };
    }

    /// Files that a patch in a text changes.
    fn patch(&mut self, text: &str) {
        if !is_patch(text) {
            return;
        }
        const FILES: [&str; 4] =
            ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
        for line in text.lines() {
            let path = FILES.iter().find_map(|prefix| line.trim().strip_prefix(prefix));
            if let Some(path) = path {
                self.path(path.trim());
            }
        }
    }
}

/// A list under a name for commands: a program with its arguments, or lines. A single text with
/// blanks in it is a line under any name: there is no program that is called so.
fn listed(words: Vec<String>, lines: bool) -> Command {
    match &words[..] {
        [line] if lines || line.trim().contains(char::is_whitespace) => Command::Line(line.clone()),
        _ if lines => Command::Several(words.into_iter().map(Command::Line).collect()),
        _ => Command::Words(words),
    }
}

fn texts(list: &[Value]) -> Option<Vec<String>> {
    list.iter().map(|it| it.as_str().map(str::to_owned)).collect()
}

/// All texts in a value that has not the form of a command.
fn all_texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a value says anything at all.
fn says_something(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
    }
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// Whether a text is a path that leads somewhere by itself, whatever it is called.
fn looks_like_path(text: &str) -> bool {
    let drive = || {
        let mut chars = text.chars();
        let letter = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
        letter && chars.next() == Some(':') && matches!(chars.next(), Some('/' | '\\'))
    };
    let leads = || {
        text.starts_with(['/', '~', '\\'])
            || text.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("file:"))
            || text.split(['/', '\\']).any(|it| it == "..")
            || drive()
    };
    text.len() <= LONGEST && !text.contains('\n') && leads()
}
