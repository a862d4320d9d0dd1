//! Tool calls: what the agent does, as it tells it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::content::Content;
use super::diff::FileDiff;
use super::subject::Given;

/// The agent's id of a tool call.
pub type ToolCallId = Arc<str>;

/// The id of a terminal, ours or the agent's.
pub type TerminalId = Arc<str>;

/// One thing the agent does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// The agent's id.
    pub id: ToolCallId,
    /// What it does, for people.
    pub title: String,
    /// The tool's name for programs.
    pub name: Option<String>,
    /// What sort of thing it is.
    pub kind: ToolKind,
    /// How far it is.
    pub status: ToolStatus,
    /// What it shows.
    pub content: Vec<ToolContent>,
    /// Which files it touches.
    pub locations: Vec<Location>,
    /// What the tool was given, as JSON.
    pub raw_input: Option<Box<str>>,
    /// What of that matters to whoever allows it.
    pub given: Given,
    /// What the tool gave, as JSON.
    pub raw_output: Option<Box<str>>,
    /// The tool call this one is part of, when a subagent makes it.
    pub parent: Option<ToolCallId>,
    /// The subagent it sets to work.
    pub subagent: Option<Box<Subagent>>,
    /// What its changes to files look like, one for each [`ToolContent::Diff`]; found a little
    /// later than they are told.
    pub diffs: Vec<Arc<FileDiff>>,
    /// The commands of it that we have ended because its turn was cancelled.
    pub stopped: Vec<TerminalId>,
    /// How often its content has changed.
    pub revision: u32,
    /// How many parts of it (pieces of content, places) were too many to be kept: what it shows is
    /// not all of it.
    pub left_out: usize,
    /// How a command ended, where the agent tells so beside any terminal.
    pub exit: Option<TerminalExit>,
    /// Who did not allow it, as answered last.
    pub rejected_by: Option<RejectedBy>,
    /// When it was first heard of.
    pub began: Duration,
    /// When it was finished.
    pub ended: Option<Duration>,
}

/// Who does not allow a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectedBy {
    /// The user.
    User,
    /// A rule of the user.
    Rule,
}

/// An agent that works for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subagent {
    /// What sort of agent it is, in the agent's word.
    pub kind: Option<String>,
    /// What it is to do.
    pub description: Option<String>,
    /// The model it uses.
    pub model: Option<String>,
    /// The agent's name for its session.
    pub remote: Option<String>,
    /// The tools it has used, where they are not tool calls of their own.
    pub tools: Vec<String>,
}

/// A change to a tool call: what is `None` stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCallUpdate {
    /// See [`ToolCall::title`].
    pub title: Option<String>,
    /// See [`ToolCall::name`].
    pub name: Option<String>,
    /// See [`ToolCall::kind`].
    pub kind: Option<ToolKind>,
    /// See [`ToolCall::status`].
    pub status: Option<ToolStatus>,
    /// See [`ToolCall::content`].
    pub content: Option<Vec<ToolContent>>,
    /// See [`ToolCall::locations`].
    pub locations: Option<Vec<Location>>,
    /// See [`ToolCall::raw_input`].
    pub raw_input: Option<Box<str>>,
    /// See [`ToolCall::given`]; comes and goes with `raw_input`.
    pub given: Option<Box<Given>>,
    /// See [`ToolCall::raw_output`].
    pub raw_output: Option<Box<str>>,
    /// See [`ToolCall::exit`].
    pub exit: Option<TerminalExit>,
    /// See [`ToolCall::parent`].
    pub parent: Option<ToolCallId>,
    /// The subagent that makes it, by the name that [`Subagent::remote`] has; for agents that do
    /// not name the parent.
    pub made_by: Option<String>,
    /// See [`ToolCall::subagent`].
    pub subagent: Option<Box<Subagent>>,
    /// What happened in a terminal of the agent's own.
    pub terminals: Vec<TerminalNews>,
    /// See [`ToolCall::left_out`]; what an update with none says takes nothing back.
    pub left_out: usize,
}

/// What happened in a terminal of the agent's own. May come before anybody names the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalNews {
    /// Which terminal.
    pub terminal: TerminalId,
    /// Text to append.
    pub output: Option<String>,
    /// Its end.
    pub exit: Option<TerminalExit>,
}

/// How a command in a terminal ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalExit {
    /// With a code.
    pub code: Option<u32>,
    /// By a signal, by name or number.
    pub signal: Option<String>,
}

/// What sort of thing a tool call is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the words say it")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    #[default]
    Other,
    /// A word this client does not know.
    Unknown(String),
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ToolStatus {
    /// Announced.
    #[default]
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
    /// It did not work.
    Failed,
    /// The user cancelled the turn it was part of.
    Cancelled,
    /// It was not allowed. Our word, not the agent's.
    Rejected,
    /// The turn is over, and the agent never told what became of it. Our guess: whatever the agent
    /// says later is better.
    Unfinished,
}

/// What a tool call shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolContent {
    /// A block.
    Block(Content),
    /// A change to a file.
    Diff {
        /// Which file.
        path: String,
        /// What it was; none for a new file.
        old: Option<Arc<str>>,
        /// What it becomes.
        new: Arc<str>,
    },
    /// What runs in a terminal.
    Terminal(TerminalId),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u32>,
}

impl ToolCall {
    /// The terminals it shows, in its order.
    pub fn terminals(&self) -> impl Iterator<Item = &TerminalId> {
        self.content.iter().filter_map(|content| match content {
            ToolContent::Terminal(id) => Some(id),
            ToolContent::Block(_) | ToolContent::Diff { .. } => None,
        })
    }
}

impl ToolCallUpdate {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        let content = self.content.iter().flatten().map(|it| match it {
            ToolContent::Block(content) => content.weight(),
            ToolContent::Diff { path, old, new } => {
                path.len() + old.as_ref().map_or(0, |it| it.len()) + new.len()
            }
            ToolContent::Terminal(id) => id.len(),
        });
        let locations = self.locations.iter().flatten().map(|it| it.path.len());
        let terminals = self.terminals.iter().map(|it| it.output.as_ref().map_or(0, String::len));
        let texts = [&self.raw_input, &self.raw_output].into_iter().flatten().map(|it| it.len());
        content.chain(locations).chain(terminals).chain(texts).sum()
    }
}

impl TerminalExit {
    /// Whether a shell would call it a failure.
    pub fn failed(&self) -> bool {
        self.signal.is_some() || self.code.is_some_and(|it| it != 0)
    }
}

impl ToolCall {
    /// What it does, for people who work in `cwd`. A title that only repeats what sort of thing it is
    /// says less than what the tool was given.
    pub fn label(&self, cwd: &str) -> Cow<'_, str> {
        let title = self.title.trim();
        let repeats = |word: &str| title.eq_ignore_ascii_case(word);
        if !repeats(self.kind.word()) && !self.name.as_deref().is_some_and(repeats) {
            return Cow::Borrowed(&self.title);
        }
        let Given { command, url, paths, .. } = &self.given;
        let given = command.as_ref().map(|it| it.text().into());
        let given = given.or(url.as_deref().map(Cow::Borrowed));
        let inside = |path| str::strip_prefix(path, cwd)?.strip_prefix('/');
        let path = paths.first().map(String::as_str);
        let given = given.or(path.map(|it| Cow::Borrowed(inside(it).unwrap_or(it))));
        given.filter(|it| !it.trim().is_empty()).unwrap_or(Cow::Borrowed(&self.title))
    }
}

impl ToolKind {
    /// The word on the wire.
    pub fn word(&self) -> &str {
        match self {
            ToolKind::Read => "read",
            ToolKind::Edit => "edit",
            ToolKind::Delete => "delete",
            ToolKind::Move => "move",
            ToolKind::Search => "search",
            ToolKind::Execute => "execute",
            ToolKind::Think => "think",
            ToolKind::Fetch => "fetch",
            ToolKind::SwitchMode => "switch_mode",
            ToolKind::Other => "other",
            ToolKind::Unknown(word) => word,
        }
    }
}

impl ToolStatus {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            ToolStatus::Pending => "pending",
            ToolStatus::InProgress => "in_progress",
            ToolStatus::Completed => "completed",
            ToolStatus::Failed => "failed",
            ToolStatus::Cancelled => "cancelled",
            ToolStatus::Rejected => "rejected",
            ToolStatus::Unfinished => "unfinished",
        }
    }

    /// Whether nothing more is to come.
    pub fn is_final(self) -> bool {
        self >= ToolStatus::Completed
    }
}
