//! What a tool is given, read from parameters that every agent names as it likes.
//!
//! A path too many makes nobody less safe, one too few does. So names are looked for at every
//! depth, however they are spelled, and what contradicts itself is called unclear.

use serde_json::Value;

use crate::protocol::dialect::Object;
use crate::session::command_line::Command;
use crate::session::subject::Given;

/// How deep parameters are looked at, and how many of them.
const DEPTH: usize = 6;
const MOST: usize = 1_000;

const PATHS: [&str; 38] = [
    "path",
    "paths",
    "file",
    "files",
    "filepath",
    "filepaths",
    "filename",
    "abspath",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "notebookpath",
    "target",
    "targetfile",
    "targetpath",
    "dir",
    "dirs",
    "dirpath",
    "directory",
    "directories",
    "targetdirectory",
    "folder",
    "parentdir",
    "source",
    "sourcepath",
    "sourcefile",
    "destination",
    "destinationpath",
    "destinationfile",
    "oldpath",
    "newpath",
    "src",
    "dst",
    "dest",
    "from",
    "to",
    "root",
    "location",
];
const COMMANDS: [&str; 7] =
    ["command", "cmd", "commandline", "shellcommand", "bashcommand", "argv", "commands"];
const FOLDERS: [&str; 5] =
    ["cwd", "workdir", "workingdir", "workingdirectory", "currentworkingdirectory"];
const ADDRESSES: [&str; 4] = ["url", "urls", "uri", "href"];
const GLOBS: [&str; 4] = ["glob", "globpattern", "pattern", "include"];
/// What changes the meaning of a command that stands beside it.
const INFLUENCES: [&str; 4] = ["env", "environment", "stdin", "environmentvariables"];

/// What a tool is given.
pub(super) fn given(input: &Value) -> Given {
    let mut found = Found::default();
    match input {
        // Some write the parameters as a text with JSON in it.
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) => found.look(&inner, DEPTH),
            _ => found.given.unclear = !text.trim().is_empty(),
        },
        input => found.look(input, DEPTH),
    }
    found.given
}

#[derive(Default)]
struct Found {
    given: Given,
    seen: usize,
}

impl Found {
    fn look(&mut self, value: &Value, depth: usize) {
        self.seen += 1;
        if depth == 0 || self.seen > MOST {
            self.given.unclear = true;
            return;
        }
        match value {
            Value::Object(object) => self.object(object, depth),
            Value::Array(list) => list.iter().for_each(|item| self.look(item, depth - 1)),
            Value::String(text) => self.patch(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, object: &Object, depth: usize) {
        self.command(object);
        for (name, value) in object {
            let name = plain(name);
            match name.as_str() {
                name if PATHS.contains(&name) => self.paths(value, depth),
                name if FOLDERS.contains(&name) => self.folder(value),
                name if ADDRESSES.contains(&name) => self.addresses(value),
                name if GLOBS.contains(&name) => self.glob(value),
                name if COMMANDS.contains(&name) => {}
                // A map of what happens to which file.
                "changes" | "filechanges" if value.is_object() => {
                    let files = value.as_object().into_iter().flat_map(Object::keys);
                    files.for_each(|path| self.path(path));
                    self.look(value, depth - 1);
                }
                _ => self.look(value, depth - 1),
            }
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
        if self.seen > MOST {
            self.given.unclear = true;
        }
    }

    fn path(&mut self, path: &str) {
        let room = self.given.paths.len() < MOST;
        if path.is_empty() || self.given.paths.iter().any(|it| it == path) {
            return;
        }
        match room {
            true => self.given.paths.push(path.to_owned()),
            false => self.given.unclear = true,
        }
    }

    fn folder(&mut self, value: &Value) {
        match (value.as_str(), &self.given.cwd) {
            (Some(folder), None) => self.given.cwd = Some(folder.to_owned()),
            (Some(folder), Some(known)) if folder == known => {}
            (None, _) if value.is_null() => {}
            _ => self.given.unclear = true,
        }
    }

    fn addresses(&mut self, value: &Value) {
        match value {
            Value::String(address) if address.starts_with("file:") => self.path(address),
            Value::String(address) => match &self.given.url {
                None => self.given.url = Some(address.clone()),
                Some(known) if known == address => {}
                Some(_) => self.given.unclear = true,
            },
            Value::Array(list) => list.iter().for_each(|item| self.addresses(item)),
            Value::Null => {}
            _ => self.given.unclear = true,
        }
    }

    /// A search leaves the folder it is in by its pattern.
    fn glob(&mut self, value: &Value) {
        let leads_away = |text: &str| {
            text.starts_with('/') || text.starts_with('~') || text.split('/').any(|it| it == "..")
        };
        match value {
            Value::String(text) => self.given.unclear |= leads_away(text),
            Value::Array(list) => list.iter().for_each(|item| self.glob(item)),
            _ => {}
        }
    }

    fn command(&mut self, object: &Object) {
        let said = |value: &Value| match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            Value::Object(object) => !object.is_empty(),
            Value::Null => false,
            _ => true,
        };
        let fields = || object.iter().filter(|(_, value)| said(value));
        let mut any = false;
        for (_, value) in fields().filter(|(name, _)| COMMANDS.contains(&plain(name).as_str())) {
            any = true;
            let args = ["args", "arguments"].into_iter().find_map(|name| object.get(name));
            let command = command(value, args.filter(|args| said(args)));
            match (command, &self.given.command) {
                (Some(command), None) => self.given.command = Some(command),
                (Some(command), Some(known)) if command == *known => {}
                _ => self.given.unclear = true,
            }
        }
        if any && fields().any(|(name, _)| INFLUENCES.contains(&plain(name).as_str())) {
            self.given.unclear = true;
        }
    }

    /// Files that a patch in a text changes.
    fn patch(&mut self, text: &str) {
        if !text.contains("*** Begin Patch") {
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

/// A line, or a program with its arguments.
fn command(value: &Value, args: Option<&Value>) -> Option<Command> {
    let words = |list: &[Value]| -> Option<Vec<String>> {
        list.iter().map(|it| it.as_str().map(str::to_owned)).collect()
    };
    match (value, args) {
        (Value::String(line), None) => Some(Command::Line(line.clone())),
        (Value::String(program), Some(Value::Array(args))) => {
            let mut all = words(args)?;
            all.insert(0, program.clone());
            Some(Command::Words(all))
        }
        (Value::Array(list), None) => Some(Command::Words(words(list)?)),
        _ => None,
    }
}

/// A name without its spelling: `filePath`, `file_path`, `File-Path`.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(input: &Value) -> Vec<String> {
        given(input).paths
    }

    #[test]
    fn paths_by_many_names() {
        for name in ["path", "file_path", "filePath", "filepath", "abs_path", "target-file"] {
            assert_eq!(paths(&json!({ name: "/a" })), ["/a"], "{name}");
        }
        assert_eq!(paths(&json!({ "source": "a", "destination": "b" })).len(), 2);
        assert_eq!(paths(&json!({ "paths": ["a", "b", "a", { "path": "c" }] })), ["a", "b", "c"]);
        assert_eq!(paths(&json!({ "args": { "input": [{ "file_path": "x" }] } })), ["x"]);
        assert_eq!(paths(&json!({ "changes": { "/a": { "update": {} } } })), ["/a"]);
        assert_eq!(paths(&json!({ "uri": "file:///a" })), ["file:///a"]);
        assert_eq!(paths(&json!("{\"path\":\"a\"}")), ["a"]);
        let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch";
        assert_eq!(paths(&json!({ "input": patch })), ["a", "b"]);
        assert_eq!(paths(&json!({ "content": "/a", "old_string": "path" })), Vec::<String>::new());
    }

    #[test]
    fn commands_by_many_names() {
        let line = |text: &str| Some(Command::Line(text.into()));
        let words =
            |list: &[&str]| Some(Command::Words(list.iter().map(|it| (*it).to_owned()).collect()));
        let cases = [
            (json!({ "command": "ls -l" }), line("ls -l"), false),
            (json!({ "cmd": "ls" }), line("ls"), false),
            (json!({ "command": ["bash", "-lc", "ls"] }), words(&["bash", "-lc", "ls"]), false),
            (json!({ "command": "git", "args": ["status"] }), words(&["git", "status"]), false),
            (json!({ "command": "git", "args": [] }), line("git"), false),
            (json!({ "command": "ls", "cmd": "ls" }), line("ls"), false),
            (json!({ "command": "ls", "cmd": "rm" }), line("rm"), true),
            (json!({ "command": "ls", "env": {} }), line("ls"), false),
            (json!({ "command": "ls", "env": { "LD_PRELOAD": "x" } }), line("ls"), true),
            (json!({ "command": "sh", "stdin": "rm x" }), line("sh"), true),
            (json!({ "command": ["ls", 7] }), None, true),
            (json!({ "command": { "a": 1 } }), None, true),
            (json!({ "command": "" }), None, false),
            (json!("ls"), None, true),
            (json!(""), None, false),
        ];
        for (input, command, unclear) in cases {
            let given = given(&input);
            let same = given.command == command || (unclear && command.is_some());
            assert!(same, "{input}: {given:?}");
            assert_eq!(given.unclear, unclear, "{input}");
        }
    }

    #[test]
    fn addresses_and_folders() {
        let it = given(&json!({ "url": "https://x", "prompt": "/p", "cwd": "/c" }));
        assert_eq!((it.url.as_deref(), it.cwd.as_deref()), (Some("https://x"), Some("/c")));
        assert!(!it.unclear);
        assert!(given(&json!({ "urls": ["https://x", "https://y"] })).unclear);
        assert!(given(&json!({ "cwd": "/a", "workdir": "/b", "command": "ls" })).unclear);
    }

    #[test]
    fn what_leads_away_or_is_too_much_is_unclear() {
        for pattern in ["/etc/**", "~/x", "../*", "a/../../b"] {
            assert!(given(&json!({ "pattern": pattern })).unclear, "{pattern}");
        }
        assert!(!given(&json!({ "pattern": "**/*.rs" })).unclear);
        let mut deep = json!({ "path": "a" });
        for _ in 0..20 {
            deep = json!({ "x": deep });
        }
        assert!(given(&deep).unclear);
        let many: Vec<String> = (0..2_000).map(|it| it.to_string()).collect();
        assert!(given(&json!({ "paths": many })).unclear);
    }
}
