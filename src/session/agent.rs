//! What is known of an agent: how it is run, who it says it is, what it can do.

use std::time::Duration;

/// How to run an agent for a project. Two sessions with equal launches share one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The name the user gave the agent.
    pub agent: String,
    /// What to run.
    pub how: How,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// The project: an absolute path.
    pub cwd: String,
    /// Further folders the agent may work in.
    pub directories: Vec<String>,
    /// Tool servers the agent should use.
    pub mcp_servers: Vec<McpServer>,
    /// The command that installs the agent, for the message when it is missing.
    pub install: Option<String>,
    /// How long it may be silent while starting before the user is asked.
    pub patience: Duration,
}

impl Launch {
    /// The project or further folder that is written so.
    pub fn root_named(&self, path: &str) -> Option<&String> {
        let mut roots = std::iter::once(&self.cwd).chain(&self.directories);
        roots.find(|root| root.trim_end_matches('/') == path.trim_end_matches('/'))
    }
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A program and its arguments.
    Program(Vec<String>),
    /// Something that runs already: `tcp://host:port`, `unix:///path`, `ws://…`, `wss://…`.
    Url(String),
    /// The embedded tutor, at a percentage of its normal pauses (0: none).
    Tutor {
        /// 100 is the normal pace, 0 plays at once.
        pauses: u32,
    },
}

/// A tool server for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// How the agent reaches it.
    pub transport: McpTransport,
}

/// How an agent reaches a tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// It starts it.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables.
        env: Vec<(String, String)>,
    },
    /// Over HTTP.
    Http {
        /// Where.
        url: String,
        /// With these headers.
        headers: Vec<(String, String)>,
    },
    /// Over server-sent events, the older way.
    Sse {
        /// Where.
        url: String,
        /// With these headers.
        headers: Vec<(String, String)>,
    },
}

/// Who the agent is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentInfo {
    /// Its own name for itself, made for people.
    pub title: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The version of the protocol it chose, in its own words.
    pub protocol: String,
    /// What it can do.
    pub can: Capabilities,
    /// How one can log in.
    pub auth_methods: Vec<AuthMethod>,
    /// Modes it named before there was a session (an old dialect), names only.
    pub modes: Vec<String>,
}

/// What an agent can do beyond the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a list of independent yes or no")]
pub struct Capabilities {
    /// `session/load`
    pub load: bool,
    /// `session/resume`
    pub resume: bool,
    /// `session/list`
    pub list: bool,
    /// `session/delete`
    pub delete: bool,
    /// `session/close`
    pub close: bool,
    /// `session/fork`
    pub fork: bool,
    /// `session/set_title`
    pub set_title: bool,
    /// `additionalDirectories`
    pub directories: bool,
    /// `logout`
    pub logout: bool,
    /// Pictures in prompts.
    pub image: bool,
    /// Sounds in prompts.
    pub audio: bool,
    /// Resources with their text in prompts.
    pub embedded_context: bool,
    /// Tool servers over HTTP.
    pub mcp_http: bool,
    /// Tool servers over server-sent events.
    pub mcp_sse: bool,
    /// It takes further prompts while a turn runs and queues them itself.
    pub queues_prompts: bool,
    /// It speaks an old dialect that wants `shutdown` before its stdin closes.
    pub wants_shutdown: bool,
}

/// A way to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethod {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// More words.
    pub description: Option<String>,
    /// What it takes.
    pub kind: AuthKind,
}

/// What a login takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthKind {
    /// The agent does it: `authenticate`.
    Agent,
    /// The agent's own program with other arguments, in a terminal; then it is started again.
    Terminal {
        /// Arguments after the agent's own.
        args: Vec<String>,
        /// Variables.
        env: Vec<(String, String)>,
    },
    /// Another program in a terminal; then the agent is started again.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables.
        env: Vec<(String, String)>,
    },
    /// The user must set variables and start the agent again.
    Variables(Vec<String>),
}
