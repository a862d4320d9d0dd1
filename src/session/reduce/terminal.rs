//! Commands that agents run with us: what they say, how they end, and who waits for that.
//!
//! A terminal belongs to its session: nobody else can name it, whatever its id.

use crate::session::effect::{Effect, Reply};
use crate::session::entry::{Entry, Note};
use crate::session::event::{CommandLine, TerminalVerb};
use crate::session::failure::RpcError;
use crate::session::ids::{RemoteId, ReplyTo, SessionId, TurnId};
use crate::session::outcome::Outcome;
use crate::session::state::{Session, State, Turn};
use crate::session::terminal::{Stop, TerminalKey, Waiter, fair_share};
use crate::session::tool_call::{TerminalExit, TerminalId, ToolContent};

/// How much text the terminals of all sessions keep together; and how much is left of it once it
/// has become more.
const MOST_TEXT: usize = 64 << 20;
const LESS_TEXT: usize = 48 << 20;

/// A request to run a command.
pub(super) struct RunRequest {
    /// The duty to answer.
    pub(super) reply: ReplyTo,
    /// The agent's name for the session.
    pub(super) remote: RemoteId,
    pub(super) command: CommandLine,
    /// Answer when it has ended, with everything; else at once.
    pub(super) to_the_end: bool,
}

/// A request about a command that runs or ran.
pub(super) struct TerminalRequest {
    /// The duty to answer.
    pub(super) reply: ReplyTo,
    /// The agent's name for the session.
    pub(super) remote: RemoteId,
    pub(super) terminal: TerminalId,
    pub(super) verb: TerminalVerb,
}

impl State {
    pub(super) fn terminal(&mut self, request: TerminalRequest, out: &mut Outcome) {
        let TerminalRequest { reply, remote, terminal: id, verb } = request;
        let named = |it: &&mut Session| it.link.remote() == Some((reply.connection, &remote));
        let mut sessions = self.sessions.values_mut().filter(named);
        let found = sessions.find_map(|it| {
            let session = it.id;
            let terminal = it.terminals.ours(&id).filter(|it| !it.released)?;
            Some((session, terminal))
        });
        let Some((session, terminal)) = found else {
            let words = format!("there is no terminal {id} in session {remote}");
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
            out.effects.push(Effect::KillCommand(TerminalKey { session, terminal: id }));
        }
        out.reply(reply, Ok(Reply::Empty));
        if let Some(session) = self.sessions.get_mut(&session) {
            session.forget_released();
        }
    }

    pub(super) fn terminal_output(&mut self, key: &TerminalKey, text: &str, out: &mut Outcome) {
        if let Some(session) = self.sessions.get_mut(&key.session) {
            session.terminals.append(&key.terminal, text);
            session.show_terminal(&key.terminal, out);
        }
    }

    pub(super) fn terminal_exited(
        &mut self,
        key: &TerminalKey,
        result: Result<TerminalExit, String>,
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&key.session) else { return };
        let ended = result.is_ok();
        let exit = result.unwrap_or_else(|words| {
            session.terminals.append(&key.terminal, &words);
            TerminalExit { code: Some(127), signal: None }
        });
        let Some(terminal) = session.terminals.ours(&key.terminal) else { return };
        if terminal.stop == Stop::Asked {
            terminal.stop = if ended { Stop::Done } else { Stop::Failed };
        }
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
        session.show_terminal(&key.terminal, out);
        session.forget_released();
    }

    /// Ends what still runs for a session; who waited for it hears so.
    pub(super) fn end_terminals(&mut self, session: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        let owner = session.id;
        for (id, terminal) in session.terminals.all_ours() {
            for Waiter::Exit(reply) | Waiter::Run(reply) in std::mem::take(&mut terminal.waiters) {
                let gone = RpcError::new(RpcError::CANCELLED, "the session has ended");
                out.reply(reply, Err(gone));
            }
            // Another run of the agent knows nothing of it.
            terminal.released = true;
            if terminal.exit.is_none() {
                let key = TerminalKey { session: owner, terminal: id.clone() };
                out.effects.push(Effect::KillCommand(key));
            }
        }
    }

    /// Keeps the text of all terminals within bounds, however many sessions and commands there are.
    pub(super) fn bound_terminals(&mut self) {
        let all: usize = self.sessions.values().map(|it| it.terminals.bytes()).sum();
        if all <= MOST_TEXT {
            return;
        }
        let lengths = self.sessions.values().flat_map(|it| it.terminals.lengths()).collect();
        let share = fair_share(lengths, LESS_TEXT);
        for session in self.sessions.values_mut() {
            session.terminals.cut(share);
        }
    }
}

impl Session {
    /// The tool call that shows this terminal has changed.
    fn show_terminal(&mut self, id: &TerminalId, out: &mut Outcome) {
        if let Some(index) = self.terminals.shown_in(id) {
            out.touch(self.id, index);
        }
    }

    /// The turn was cancelled: ends the commands that were started in it and that the agent has
    /// neither ended nor released. Those of earlier turns are meant to go on.
    pub(super) fn stop_commands(&mut self, turn: TurnId, out: &mut Outcome) {
        let (session, mut stopped) = (self.id, Vec::new());
        for (id, terminal) in self.terminals.all_ours() {
            let of_turn = terminal.turn == Some(turn) && terminal.stop == Stop::No;
            if of_turn && terminal.exit.is_none() && !terminal.released {
                terminal.stop = Stop::Asked;
                stopped.push((id.clone(), terminal.command.clone()));
            }
        }
        for (id, command) in stopped {
            let shown_in = self.terminals.shown_in(&id);
            match shown_in.and_then(|index| self.entries.get_mut(index)) {
                Some(Entry::ToolCall(tool_call)) => {
                    tool_call.stopped.push(id.clone());
                    self.show_terminal(&id, out);
                }
                _ => self.push(Entry::Note(Note::CommandStopped(command)), out),
            }
            out.effects.push(Effect::KillCommand(TerminalKey { session, terminal: id }));
        }
    }

    /// Forgets commands that are over and that nobody can see. While a turn runs, the agent may
    /// still say which tool call they are for.
    pub(super) fn forget_released(&mut self) {
        if self.turn != Turn::Idle {
            return;
        }
        let entries = &self.entries;
        self.terminals.forget_released(|id, shown_in| {
            let entry = shown_in.and_then(|index| entries.get(index));
            let shows =
                |it: &ToolContent| matches!(it, ToolContent::Terminal(shown) if shown == id);
            matches!(entry, Some(Entry::ToolCall(it)) if it.content.iter().any(shows))
        });
    }
}
