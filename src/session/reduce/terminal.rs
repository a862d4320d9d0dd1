//! Commands that agents run with us.

use super::ask::no_session;
use crate::session::effect::{Effect, Reply};
use crate::session::entry::Entry;
use crate::session::event::{CommandLine, TerminalVerb};
use crate::session::failure::RpcError;
use crate::session::ids::{RemoteId, ReplyTo, SessionId};
use crate::session::outcome::Outcome;
use crate::session::state::{Session, State};
use crate::session::terminal::{Terminal, Waiter};
use crate::session::tool_call::{TerminalExit, TerminalId, ToolContent};

impl State {
    pub(super) fn run(
        &mut self,
        (reply, remote): (ReplyTo, &RemoteId),
        (mut command, to_the_end): (CommandLine, bool),
        out: &mut Outcome,
    ) {
        self.next_terminal += 1;
        let id: TerminalId = format!("acp-{}", self.next_terminal).into();
        let Some(session) = self.session_named(reply.connection, remote) else {
            return out.reply(reply, Err(no_session(remote)));
        };
        let cwd = command.cwd.as_deref().map(|cwd| session.absolute(cwd));
        command.cwd = Some(cwd.unwrap_or_else(|| session.launch.cwd.clone()));
        let mut terminal = Terminal::new(session.id, command.limit);
        out.effects.push(Effect::RunCommand { terminal: id.clone(), command });
        match to_the_end {
            true => terminal.waiters.push(Waiter::Run(reply)),
            false => out.reply(reply, Ok(Reply::Terminal(id.clone()))),
        }
        session.terminals.insert(id, terminal);
    }

    pub(super) fn terminal(
        &mut self,
        reply: ReplyTo,
        (id, verb): (&TerminalId, TerminalVerb),
        out: &mut Outcome,
    ) {
        let known = |it: &&mut Session| it.link.connection() == Some(reply.connection);
        let session = self.sessions.values_mut().filter(|it| known(it));
        let found = session.filter_map(|it| it.terminals.get_mut(id)).find(|it| !it.released);
        let Some(terminal) = found else {
            let words = format!("there is no terminal {id}");
            return out.reply(reply, Err(RpcError::new(RpcError::INVALID_PARAMS, words)));
        };
        let running = terminal.exit.is_none();
        match verb {
            TerminalVerb::Output => {
                let (output, truncated) = terminal.tail();
                let (output, exit) = (output.to_owned(), terminal.exit.clone());
                return out.reply(reply, Ok(Reply::Output { output, truncated, exit }));
            }
            TerminalVerb::Wait => {
                return match terminal.exit.clone() {
                    Some(exit) => out.reply(reply, Ok(Reply::Exit(exit))),
                    None => terminal.waiters.push(Waiter::Exit(reply)),
                };
            }
            TerminalVerb::Kill => {}
            TerminalVerb::Release => terminal.released = true,
        }
        if running {
            out.effects.push(Effect::KillCommand(id.clone()));
        }
        out.reply(reply, Ok(Reply::Empty));
    }

    pub(super) fn terminal_output(&mut self, id: &TerminalId, text: &str, out: &mut Outcome) {
        if let Some((session, terminal)) = self.terminal_named(id) {
            terminal.append(text);
            self.show_terminal(session, id, out);
        }
    }

    pub(super) fn terminal_exited(
        &mut self,
        id: &TerminalId,
        result: Result<TerminalExit, String>,
        out: &mut Outcome,
    ) {
        let Some((session, terminal)) = self.terminal_named(id) else { return };
        let exit = result.unwrap_or_else(|words| {
            terminal.append(&words);
            TerminalExit { code: Some(127), signal: None }
        });
        terminal.exit = Some(exit.clone());
        let (output, truncated) = terminal.tail();
        let output = output.to_owned();
        for waiter in std::mem::take(&mut terminal.waiters) {
            match waiter {
                Waiter::Exit(reply) => out.reply(reply, Ok(Reply::Exit(exit.clone()))),
                Waiter::Run(reply) => {
                    let (output, exit) = (output.clone(), exit.clone());
                    out.reply(reply, Ok(Reply::Ran { output, truncated, exit }));
                }
            }
        }
        self.show_terminal(session, id, out);
    }

    /// Ends what still runs for a session; who waited for it hears so.
    pub(super) fn end_terminals(&mut self, session: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        for (id, terminal) in &mut session.terminals {
            for Waiter::Exit(reply) | Waiter::Run(reply) in std::mem::take(&mut terminal.waiters) {
                let gone = RpcError::new(RpcError::CANCELLED, "the session has ended");
                out.reply(reply, Err(gone));
            }
            if terminal.exit.is_none() && id.starts_with("acp-") {
                out.effects.push(Effect::KillCommand(id.clone()));
            }
        }
    }

    fn terminal_named(&mut self, id: &TerminalId) -> Option<(SessionId, &mut Terminal)> {
        let mut sessions = self.sessions.values_mut();
        sessions.find_map(|session| {
            let owner = session.id;
            session.terminals.get_mut(id).map(|terminal| (owner, terminal))
        })
    }

    /// The tool calls that show this terminal have changed.
    fn show_terminal(&mut self, session: SessionId, id: &TerminalId, out: &mut Outcome) {
        let Some(session) = self.sessions.get(&session) else { return };
        for (index, entry) in session.entries.iter().enumerate().rev() {
            if let Entry::ToolCall(tool_call) = entry
                && tool_call.content.contains(&ToolContent::Terminal(id.clone()))
            {
                return out.touch(session.id, index);
            }
        }
    }
}
