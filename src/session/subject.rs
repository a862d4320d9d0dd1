//! What a tool call is about, as far as it matters to whoever allows or rejects it.

use std::collections::{HashMap, HashSet};

use super::agent::Launch;
use super::command_line::Command;
use super::paths;
use super::tool_call::{ToolCall, ToolContent, ToolKind};

/// How many paths one tool call may have before nobody can tell what it is about.
pub const MOST_PATHS: usize = 1_000;
/// The longest path, address or name of a tool that anybody means: systems know no longer paths.
pub const LONGEST: usize = 4096;
/// How long all paths together may be: each rule goes through all of them.
const MOST_TEXT: usize = 64 << 10;

/// What a tool was given, as far as it can be told from the names of its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Given {
    /// Files and folders.
    pub paths: Vec<String>,
    /// A command to run.
    pub command: Option<Command>,
    /// Where to run it.
    pub cwd: Option<String>,
    /// An address to visit.
    pub url: Option<String>,
    /// Further addresses, where there are several.
    pub other_urls: Vec<String>,
    /// There is more to it than the above that changes its meaning, or two things that contradict
    /// each other: nobody may take it for harmless by what it shows.
    pub unclear: bool,
    /// It is too long, too deep or too much to be read: it may be anything.
    pub unreadable: bool,
    /// There are parameters that none of the above accounts for.
    pub more: bool,
}

/// What a tool call is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// What sort of thing it is.
    pub kind: ToolKind,
    /// The tool's name for programs.
    pub tool: Option<String>,
    /// Files and folders, as the agent wrote them, each once.
    pub paths: Vec<String>,
    /// Where files and folders really are, links followed, by [`Subject::places`]; none as long as
    /// nobody has looked.
    pub real: Option<HashMap<String, String>>,
    /// A command to run.
    pub command: Option<Command>,
    /// Where to run it.
    pub cwd: Option<String>,
    /// Variables that a command gets, where we run it.
    pub env: Vec<(String, String)>,
    /// An address to visit.
    pub url: Option<String>,
    /// Further addresses, where there are several.
    pub other_urls: Vec<String>,
    /// See [`Given::unclear`].
    pub unclear: bool,
    /// See [`Given::unreadable`].
    pub unreadable: bool,
    /// See [`Given::more`].
    pub more: bool,
}

impl Subject {
    /// About one file, of which it is known where it is.
    pub fn of_file(kind: ToolKind, path: &str) -> Subject {
        let real = HashMap::from([(path.to_owned(), path.to_owned())]);
        Subject { kind, paths: vec![path.to_owned()], real: Some(real), ..Subject::default() }
    }

    /// The files and folders from the root, as they are written, each once: for somebody to follow
    /// their links. The session's own folders are where the user says that they are.
    pub fn places(&self, launch: &Launch) -> Vec<String> {
        let mut seen = HashSet::new();
        let all = self.paths.iter().chain(&self.cwd);
        let places = all.filter_map(|path| paths::absolute(path, &launch.cwd));
        let places = places.filter(|path| launch.root_named(path).is_none());
        places.filter(|path| seen.insert(path.clone())).collect()
    }
}

impl ToolCall {
    /// What this is about, from all that the agent has told of it.
    pub fn subject(&self) -> Subject {
        let Given { command, cwd, url, other_urls, unclear, more, .. } = self.given.clone();
        let changed = self.content.iter().filter_map(|content| match content {
            ToolContent::Diff { path, .. } => Some(path),
            _ => None,
        });
        let located = self.locations.iter().map(|location| &location.path);
        let mut seen = HashSet::new();
        let all = located.chain(changed).chain(&self.given.paths);
        let (mut paths, mut length) = (Vec::new(), 0);
        let mut too_much = self.given.unreadable || self.left_out > 0;
        for path in all.filter(|path| seen.insert(*path)) {
            length += path.len();
            if path.len() > LONGEST || length > MOST_TEXT || paths.len() == MOST_PATHS {
                too_much = true;
                break;
            }
            paths.push(path.clone());
        }
        let long = |text: &Option<String>| text.as_ref().is_some_and(|it| it.len() > LONGEST);
        Subject {
            kind: self.kind.clone(),
            unreadable: too_much || long(&self.name) || long(&url) || long(&cwd),
            tool: self.name.clone().filter(|it| it.len() <= LONGEST),
            paths,
            real: None,
            command,
            cwd,
            env: Vec::new(),
            url,
            other_urls,
            unclear,
            more,
        }
    }
}
