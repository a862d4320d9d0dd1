//! What can go wrong in the world, in words for the user: what failed, why, what to do next.

use std::fmt;

/// A failure that is part of the state and shown where the user looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The agent's program does not exist.
    NotFound {
        /// The agent's name.
        agent: String,
        /// The program looked for.
        program: String,
        /// How to get it.
        install: Option<String>,
    },
    /// The program exists but could not be run.
    NotStarted {
        /// The agent's name.
        agent: String,
        /// The system's words.
        reason: String,
    },
    /// The agent's process ended by itself.
    Died {
        /// The agent's name.
        agent: String,
        /// How.
        exit: Exit,
        /// What it wrote last: to stderr and, before it spoke the protocol, to stdout.
        last_words: Vec<String>,
    },
    /// The agent said no to `initialize` or `session/new`.
    Refused {
        /// The agent's name.
        agent: String,
        /// What it refused.
        what: &'static str,
        /// Its words.
        error: RpcError,
    },
    /// The agent speaks another version of the protocol.
    Version {
        /// The agent's name.
        agent: String,
        /// The version it speaks.
        version: String,
    },
    /// The agent ended a turn with an error.
    TurnFailed {
        /// The agent's name.
        agent: String,
        /// Its words.
        error: RpcError,
    },
    /// The agent was killed at the user's wish.
    Killed {
        /// The agent's name.
        agent: String,
    },
    /// The agent did not answer in time.
    Silent {
        /// The agent's name.
        agent: String,
        /// What it was asked.
        what: &'static str,
    },
    /// The agent wants a login, and the user did not log in.
    NotLoggedIn {
        /// The agent's name.
        agent: String,
        /// Variables that must be set, where that is the way.
        variables: Vec<String>,
    },
    /// The agent can't do this.
    NotSupported {
        /// The agent's name.
        agent: String,
        /// What.
        what: &'static str,
    },
    /// The agent said no to something asked of it.
    AskRefused {
        /// The agent's name.
        agent: String,
        /// Its words.
        error: RpcError,
    },
    /// The agent is not ready for this.
    NotReady {
        /// The agent's name.
        agent: String,
    },
    /// The user took the prompt back before it was sent.
    Withdrawn,
    /// The session was closed.
    Closed,
    /// There is no such session.
    NoSession,
}

/// An error answer of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// Its number.
    pub code: i64,
    /// Its text.
    pub message: String,
    /// More words, from `data.details`, `data.message` or `data` itself.
    pub details: Option<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Its guard was ended by a signal, and it with the guard.
    Unguarded(i32),
    /// The pipe or socket was closed; there is no process to ask.
    Closed,
}

/// Why an agent could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpawnError {
    /// There is no such program.
    NotFound,
    /// Something else.
    Other(String),
}

impl RpcError {
    /// The method is not one this client offers.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Parameters that can't be read or allowed.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something broke inside.
    pub const INTERNAL: i64 = -32603;
    /// A file or session that is not there.
    pub const NOT_FOUND: i64 = -32002;
    /// The same, in the words of a dialect.
    pub const NO_SESSION: i64 = -32001;
    /// A login is wanted first.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// The answer is not wanted any more.
    pub const CANCELLED: i64 = -32800;
    /// Not a request at all, some agents say when they want it in an older form.
    pub const INVALID_REQUEST: i64 = -32600;

    /// An error of ours.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), details: None }
    }

    /// The answer to a method we do not offer.
    pub fn method_not_found(method: &str) -> RpcError {
        RpcError::new(RpcError::METHOD_NOT_FOUND, format!("method not found: {method}"))
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.details {
            Some(details) if *details != self.message => write!(f, ": {details} ({})", self.code),
            _ => write!(f, " ({})", self.code),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "killed by signal {signal}"),
            Exit::Unguarded(signal) => write!(
                f,
                "acp-guard, which watches over it, was killed by signal {signal}; what it had left running was ended"
            ),
            Exit::Closed => f.write_str("connection closed"),
        }
    }
}

impl Failure {
    /// A short word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Failure::NotFound { .. } => "agent_not_found",
            Failure::NotStarted { .. } => "agent_not_started",
            Failure::Died { .. } => "agent_died",
            Failure::Refused { .. } => "refused",
            Failure::Version { .. } => "protocol_version",
            Failure::TurnFailed { .. } => "turn_failed",
            Failure::Killed { .. } => "agent_killed",
            Failure::Silent { .. } => "no_answer",
            Failure::NotLoggedIn { .. } => "not_logged_in",
            Failure::NotSupported { .. } => "not_supported",
            Failure::AskRefused { .. } => "refused",
            Failure::NotReady { .. } => "not_ready",
            Failure::Withdrawn => "withdrawn",
            Failure::Closed => "session_closed",
            Failure::NoSession => "no_session",
        }
    }

    /// What failed, and why: one line.
    pub fn message(&self) -> String {
        match self {
            Failure::NotFound { agent, program, .. } => {
                format!("{agent} is not installed: there is no program `{program}`")
            }
            Failure::NotStarted { agent, reason } => {
                format!("{agent} could not be started: {reason}")
            }
            Failure::Died { agent, exit, .. } => format!("{agent} ended unexpectedly: {exit}"),
            Failure::Refused { agent, what, error } => format!("{agent} refused {what}: {error}"),
            Failure::Version { agent, version } => {
                format!("{agent} speaks version {version} of the protocol, this client speaks 1")
            }
            Failure::TurnFailed { agent, error } => format!("{agent} reported an error: {error}"),
            Failure::Killed { agent } => format!("{agent} was killed"),
            Failure::Silent { agent, what: "session/cancel" } => {
                format!("{agent} was told to stop, and goes on")
            }
            Failure::Silent { agent, what } => format!("{agent} did not answer {what}"),
            Failure::NotLoggedIn { agent, variables } if variables.is_empty() => {
                format!("{agent} wants a login first")
            }
            Failure::NotLoggedIn { agent, variables } => {
                format!("{agent} wants {} in its environment", variables.join(" and "))
            }
            Failure::NotSupported { agent, what } => format!("{agent} can't {what}"),
            Failure::AskRefused { agent, error } => format!("{agent} refused: {error}"),
            Failure::NotReady { agent } => format!("{agent} is not ready"),
            Failure::Withdrawn => "the prompt was taken back before it was sent".into(),
            Failure::Closed => "the session was closed".into(),
            Failure::NoSession => "there is no such session".into(),
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Failure::NotFound { install: Some(install), .. } => {
                Some(format!("Install it with `{install}`, then send your prompt again."))
            }
            Failure::NotFound { install: None, program, .. } => Some(format!(
                "Put `{program}` on your PATH or correct the agent's `command`, then send your prompt again."
            )),
            Failure::NotStarted { .. } => {
                Some("`:checkhealth acp` tells more. Your next prompt tries again.".into())
            }
            Failure::Died { .. } => {
                Some("Your next prompt starts it again. `:Acp log` has the details.".into())
            }
            Failure::Refused { .. } | Failure::Version { .. } => Some(
                "`:checkhealth acp` tests the agent, `:Acp log` has the details. Your next prompt tries again."
                    .into(),
            ),
            Failure::TurnFailed { .. } => Some("You can go on: send another prompt.".into()),
            Failure::Killed { .. } => Some("Your next prompt starts it again.".into()),
            Failure::Silent { what: "session/cancel", .. } => {
                Some("`:Acp wait` waits longer, `:Acp kill` ends it.".into())
            }
            Failure::Silent { .. } => Some("`:Acp wait` waits longer, `:Acp restart` starts it again.".into()),
            Failure::NotLoggedIn { variables, .. } if variables.is_empty() => {
                Some("`:Acp auth` logs in. Your next prompt tries again.".into())
            }
            Failure::NotLoggedIn { variables, .. } => Some(format!(
                "Set {} and start Neovim again, or put it in the agent's `env`.",
                variables.join(" and ")
            )),
            Failure::NotReady { .. } => Some("Wait until the chat says `ready`.".into()),
            Failure::NotSupported { .. }
            | Failure::AskRefused { .. }
            | Failure::Withdrawn
            | Failure::Closed => None,
            Failure::NoSession => Some("`:AcpChat` starts one.".into()),
        }
    }

    /// The agent's last words, when it has any to tell.
    pub fn last_words(&self) -> &[String] {
        match self {
            Failure::Died { last_words, .. } => last_words,
            _ => &[],
        }
    }
}
