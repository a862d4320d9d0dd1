//! Whether a command may be run for an agent: a rule decides, or the user has allowed this very
//! command already, or the user is asked. Without a rule, an agent that is a program of the user's
//! runs what it likes, as it could without us; an agent that is reached by an address is somebody
//! else's, and has to ask.

use super::ask::no_session;
use super::permission::PermissionRequest;
use super::terminal::RunRequest;
use crate::session::agent::How;
use crate::session::audit::{By, Deed, Unasked};
use crate::session::command_line::Command;
use crate::session::effect::{Effect, Reply, Tell};
use crate::session::entry::{Entry, Note};
use crate::session::event::CommandLine;
use crate::session::failure::RpcError;
use crate::session::ids::{ReplyTo, SessionId};
use crate::session::outcome::Outcome;
use crate::session::question::{Body, Permission};
use crate::session::rule::{self, Rule, Verdict};
use crate::session::state::{AllowedAction, AllowedCommand, Session, State, Turn};
use crate::session::subject::Subject;
use crate::session::terminal::{Terminal, TerminalKey, Waiter};
use crate::session::tool_call::{TerminalId, ToolKind};

/// How many commands of a session may run or wait for the user at once: each takes processes and
/// descriptors of ours.
const MOST_RUNNING: usize = 32;
/// How many permissions for commands are remembered during a turn, at most.
const MOST_ALLOWED: usize = 64;
/// How long a command may be, with its variables: no system runs one that is much longer.
const LONGEST: usize = 1 << 20;
/// How much of a command is in the title of a question, in characters. The whole is with it.
const LONGEST_TITLE: usize = 1_000;
/// How much of a variable is shown to the user, in characters.
const LONGEST_VALUE: usize = 80;

impl State {
    pub(super) fn run(&mut self, request: RunRequest, out: &mut Outcome) {
        let RunRequest { reply, remote, mut command, to_the_end } = request;
        let Some(session) = self.session_named(reply.connection, &remote) else {
            return out.reply(reply, Err(no_session(&remote)));
        };
        if command.bytes() > LONGEST {
            let words = format!("the command is longer than {LONGEST} bytes");
            return out.reply(reply, Err(RpcError::new(RpcError::INVALID_PARAMS, words)));
        }
        let cwd = command.cwd.as_deref().map(|cwd| session.absolute(cwd));
        command.cwd = Some(cwd.unwrap_or_else(|| session.launch.cwd.clone()));
        let (id, permission) = (session.id, session.command_permission(&command));
        out.audit(session, &permission, Deed::Asked);
        if let Turn::Cancelling(_) = session.turn {
            out.audit(session, &permission, Deed::Answered { option: None, by: By::Cancel });
            return out.reply(reply, Err(permission.not_run("the turn is being cancelled")));
        }
        if self.open_commands(id) >= MOST_RUNNING {
            return out.reply(reply, Err(too_many()));
        }
        let permission = Box::new(permission);
        let then = Some(AllowedAction::Run { command, to_the_end });
        self.look_at_paths(PermissionRequest { session: id, reply, permission, then }, out);
    }

    /// A rule decides about a command, or the user has allowed it, or is asked.
    pub(super) fn decide_command(&mut self, request: PermissionRequest, out: &mut Outcome) {
        let PermissionRequest { session: id, reply, permission, then } = request;
        match (self.command_verdict(id, &permission, out), then) {
            (Verdict::Allow, Some(AllowedAction::Run { command, to_the_end })) => {
                self.start(id, Start { reply, command, to_the_end }, out);
            }
            (Verdict::Allow | Verdict::Reject, _) => {
                out.reply(reply, Err(permission.not_run("a rule of the user forbids it")));
            }
            (Verdict::Ask, then) => {
                let ask = self.ask((reply, id), Body::Permission(permission), out);
                if let Some(ask) = self.asks.get_mut(&ask) {
                    ask.then = then;
                }
            }
        }
    }

    /// What becomes of a command, by the rules and by what was allowed before.
    fn command_verdict(
        &mut self,
        id: SessionId,
        permission: &Permission,
        out: &mut Outcome,
    ) -> Verdict {
        let Some(session) = self.sessions.get_mut(&id) else { return Verdict::Reject };
        let rule = rule::first(&self.rules, &permission.subject, &session.launch);
        let found = rule.map(|rule| (rule.verdict, rule.words()));
        let asks = match &found {
            Some((verdict, _)) => *verdict == Verdict::Ask,
            None => matches!(session.launch.how, How::Url(_)),
        };
        let allowed = asks && session.was_allowed(&permission.subject);
        if let Some((verdict, rule)) = &found {
            let option = verdict.option(&permission.options).cloned();
            let (verdict, rule) = (*verdict, rule.clone());
            out.audit(session, permission, Deed::Ruled { verdict, rule, option });
        }
        match found {
            Some((verdict @ (Verdict::Allow | Verdict::Reject), rule)) => {
                if verdict == Verdict::Reject {
                    let command = permission.title.clone();
                    session.push(Entry::Note(Note::NotRun { command, rule: rule.clone() }), out);
                }
                let title = permission.title.clone();
                out.tell(Tell::Ruled { session: id, title, verdict, rule });
                verdict
            }
            _ if asks && !allowed => Verdict::Ask,
            _ => {
                let why = if allowed { Unasked::AllowedBefore } else { Unasked::NoRule };
                out.audit(session, permission, Deed::Unasked(why));
                Verdict::Allow
            }
        }
    }

    /// Runs a command that may be run.
    pub(super) fn start(&mut self, id: SessionId, start: Start, out: &mut Outcome) {
        let Start { reply, command, to_the_end } = start;
        let Some(session) = self.sessions.get_mut(&id) else {
            return out
                .reply(reply, Err(RpcError::new(RpcError::CANCELLED, "the session has ended")));
        };
        self.next_terminal += 1;
        let name: TerminalId = format!("acp-{}", self.next_terminal).into();
        let turn = match &session.turn {
            Turn::Running(running) => Some(running.turn),
            _ => None,
        };
        let mut terminal = Terminal::new(command.limit);
        terminal.command = brief(&command.as_command().text(), LONGEST_TITLE);
        terminal.turn = turn;
        let key = TerminalKey { session: id, terminal: name.clone() };
        out.effects.push(Effect::RunCommand { key, command });
        match to_the_end {
            true => terminal.waiters.push(Waiter::Run(reply)),
            false => out.reply(reply, Ok(Reply::Terminal(name.clone()))),
        }
        session.terminals.begin(name, terminal);
    }

    /// How many commands of a session run, or wait for the user.
    fn open_commands(&self, id: SessionId) -> usize {
        let asked = self
            .asks
            .values()
            .filter(|it| it.session == id && matches!(it.then, Some(AllowedAction::Run { .. })));
        let running = self.sessions.get(&id).map_or(0, |it| it.terminals.running());
        asked.count() + running
    }
}

/// A command that may be run, with the duty to answer.
pub(super) struct Start {
    pub(super) reply: ReplyTo,
    pub(super) command: CommandLine,
    pub(super) to_the_end: bool,
}

impl Session {
    fn command_permission(&self, command: &CommandLine) -> Permission {
        let cwd = command.cwd.clone().unwrap_or_default();
        let subject = Subject {
            kind: ToolKind::Execute,
            command: Some(command.as_command()),
            unclear: command.env.iter().any(|(name, value)| changes_what_runs(name, value)),
            env: command.env.clone(),
            cwd: Some(cwd.clone()),
            ..Subject::default()
        };
        let rule = Rule::allowing(&subject, &self.launch);
        let entry = self.entry_of_command(&subject);
        let tool_call = match entry.and_then(|index| self.entries.get(index)) {
            Some(Entry::ToolCall(it)) => it.id.clone(),
            _ => "".into(),
        };
        let mut permission = Permission::for_access(subject, rule, "Always allow this command");
        permission.title = self.command_title(command);
        Permission { tool_call, entry, ..permission }
    }

    /// What is run, where and with what, in one line: what the user would not expect comes first.
    fn command_title(&self, command: &CommandLine) -> String {
        let mut title = "run".to_owned();
        let cwd = command.cwd.as_deref().unwrap_or_default();
        if cwd.trim_end_matches('/') != self.launch.cwd.trim_end_matches('/') {
            let place = if self.is_inside(cwd) { "" } else { " (outside of the project)" };
            title.push_str(&format!(" in {cwd}{place}"));
        }
        let env: Vec<String> = command.env.iter().map(|(name, value)| shown(name, value)).collect();
        if !env.is_empty() {
            title.push_str(&format!(" with {}", env.join(" ")));
        }
        let colon = if title == "run" { "" } else { ":" };
        format!("{title}{colon} {}", brief(&command.as_command().text(), LONGEST_TITLE))
    }

    /// The tool call in the chat that this command is for, if one says that it runs it.
    fn entry_of_command(&self, subject: &Subject) -> Option<usize> {
        let runs = |entry: &Entry| match entry {
            Entry::ToolCall(it) => !it.status.is_final() && same_command(&it.subject(), subject),
            _ => false,
        };
        self.live().find(|index| self.entries.get(*index).is_some_and(runs))
    }

    /// The user has allowed a tool call: if it runs a command, that may be run once.
    pub(super) fn allow_command(&mut self, permission: &Permission) {
        let Permission { tool_call, subject, .. } = permission;
        if subject.command.is_some() && !subject.unclear && self.allowed.len() < MOST_ALLOWED {
            let (tool_call, subject) = (tool_call.clone(), subject.clone());
            self.allowed.push(AllowedCommand { tool_call, subject });
        }
    }

    /// Whether the user has allowed this very command for a tool call that is not finished, and it
    /// has not been run since. Then it has been now.
    fn was_allowed(&mut self, subject: &Subject) -> bool {
        let (entries, tool_calls) = (&self.entries, &self.tool_calls);
        let is_open = |it: &AllowedCommand| {
            let index = tool_calls.get(&it.tool_call).copied();
            let entry = index.and_then(|index| entries.get(index));
            matches!(entry, Some(Entry::ToolCall(it)) if !it.status.is_final())
        };
        let cwd = |it: &Subject| self.absolute(it.cwd.as_deref().unwrap_or(&self.launch.cwd));
        let found = self.allowed.iter().position(|it| {
            is_open(it)
                && same_command(&it.subject, subject)
                && cwd(&it.subject).trim_end_matches('/') == cwd(subject).trim_end_matches('/')
        });
        found.filter(|_| !subject.unclear).map(|index| self.allowed.remove(index)).is_some()
    }
}

/// Whether two tool calls beyond doubt run the same: letter by letter, or as one simple command of
/// the same words.
fn same_command(one: &Subject, other: &Subject) -> bool {
    let (Some(one), Some(other)) = (&one.command, &other.command) else { return false };
    let line = |it: &Command| match it {
        Command::Line(line) => Some(line.trim().to_owned()),
        Command::Words(words) => match &words[..] {
            [shell, flag, line] if is_shell(shell) && matches!(&**flag, "-c" | "-lc") => {
                Some(line.trim().to_owned())
            }
            _ => None,
        },
        Command::Several(_) => None,
    };
    let simple = |it: &Command| it.parse().simple;
    one == other
        || line(one).is_some_and(|it| line(other) == Some(it))
        || simple(one).is_some_and(|it| simple(other) == Some(it))
}

fn is_shell(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash"))
}

/// Whether a variable can make the same command do something else. All can but those that are known
/// to change no more than how things look.
fn changes_what_runs(name: &str, value: &str) -> bool {
    const LOOKS: [&str; 14] = [
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
        "COLUMNS",
        "DEBIAN_FRONTEND",
        "FORCE_COLOR",
        "GIT_TERMINAL_PROMPT",
        "LANG",
        "LANGUAGE",
        "LINES",
        "NO_COLOR",
        "TERM",
        "TZ",
    ];
    const PAGERS: [&str; 3] = ["GIT_PAGER", "MANPAGER", "PAGER"];
    let looks = LOOKS.contains(&name) || name.starts_with("LC_");
    let pager = PAGERS.contains(&name) && matches!(value, "" | "cat");
    !looks && !pager
}

/// A variable for people.
fn shown(name: &str, value: &str) -> String {
    format!("{}={}", brief(name, LONGEST_VALUE), brief(value, LONGEST_VALUE))
}

fn brief(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl Permission {
    /// The agent's answer where a command must not be run.
    pub(super) fn not_run(&self, why: &str) -> RpcError {
        let command = self.subject.command.as_ref().map(Command::text).unwrap_or_default();
        let words = format!("the command was not run, {why}: {command}");
        RpcError::new(RpcError::INVALID_PARAMS, words)
    }
}

fn too_many() -> RpcError {
    let words = format!(
        "{MOST_RUNNING} commands of this session are running already: wait for one to end, or kill one"
    );
    RpcError::new(RpcError::INTERNAL, words)
}
