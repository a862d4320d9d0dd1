//! What a tool call is about, as far as it matters to whoever allows or rejects it.

use std::collections::HashSet;

use super::command_line::Command;
use super::tool_call::{ToolCall, ToolContent, ToolKind};

/// How many paths one tool call may have before nobody can tell what it is about.
const MOST: usize = 1_000;

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
    /// There is more to it than the above, or two things that contradict each other: nobody may
    /// take it for harmless by what it shows.
    pub unclear: bool,
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
    /// A command to run.
    pub command: Option<Command>,
    /// Where to run it.
    pub cwd: Option<String>,
    /// Variables that a command gets, where we run it.
    pub env: Vec<(String, String)>,
    /// An address to visit.
    pub url: Option<String>,
    /// See [`Given::unclear`].
    pub unclear: bool,
}

impl ToolCall {
    /// What this is about, from all that the agent has told of it.
    pub fn subject(&self) -> Subject {
        let Given { command, cwd, url, unclear, .. } = self.given.clone();
        let changed = self.content.iter().filter_map(|content| match content {
            ToolContent::Diff { path, .. } => Some(path),
            _ => None,
        });
        let located = self.locations.iter().map(|location| &location.path);
        let mut seen = HashSet::new();
        let all = located.chain(changed).chain(&self.given.paths);
        let mut paths: Vec<String> = all.filter(|path| seen.insert(*path)).cloned().collect();
        let unclear = unclear || self.left_out > 0 || paths.len() > MOST;
        paths.truncate(MOST);
        Subject {
            kind: self.kind.clone(),
            tool: self.name.clone(),
            paths,
            command,
            cwd,
            env: Vec::new(),
            url,
            unclear,
        }
    }
}
