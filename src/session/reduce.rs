//! The reducer: [`State::apply`] takes one event, changes the state, and says what follows.
//!
//! It is total: every event is legal in every state, because agents send what they like when they
//! like. What has lost its object (an answer for a closed session, an update after the end) is
//! dropped on purpose at the place that looks the object up.

mod access;
mod ask;
mod command;
mod connection;
mod file;
mod login;
mod make;
mod message;
mod permission;
mod queue;
mod setting;
mod terminal;
mod tool_call;
mod turn;

use std::time::Duration;

use super::effect::{Effect, Reply, Tell, Timer};
use super::entry::Entry;
use super::event::{Answer, Event, Happened, Origin, Request, Wish};
use super::failure::RpcError;
use super::ids::{ConnectionId, RemoteId, ReplyTo};
use super::outcome::Outcome;
use super::state::{Link, Prompt, Session, State, Turn};
use terminal::{RunRequest, TerminalRequest};

/// How many requests of one agent may wait for an answer.
const REQUESTS: usize = 1_000;

impl State {
    /// Takes in what has happened; what follows is added to `out`.
    pub fn apply(&mut self, event: Event, out: &mut Outcome) {
        match event {
            Event::User(wish) => self.wish(wish, out),
            Event::Agent { connection, happened } => self.happened(connection, happened, out),
            Event::Disk { ask, result } => self.disk(ask, result, out),
            Event::Resolved { ask, real } => self.resolved(ask, real, out),
            Event::PathsResolved { ask, real } => self.paths_resolved(ask, Some(real), out),
            Event::Recorded(session, turn) => self.recorded(session, turn, out),
            Event::Whole(ask, text) => self.saw(ask, text.into()),
            Event::Saved { session, tag, path, result } => {
                out.tell(Tell::Saved { session, tag, path, result });
            }
            Event::TerminalOutput(terminal, text) => self.terminal_output(&terminal, &text, out),
            Event::TerminalExited(terminal, exit) => self.terminal_exited(&terminal, exit, out),
            Event::DiffsFound { session, tool_call, revision, diffs } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.diffs_found((&tool_call, revision), diffs, out);
                }
            }
            Event::Clock(now) => self.clock(now),
            Event::TimerFired(timer) => self.timer_fired(timer, out),
            Event::Shutdown => self.shutdown(out),
        }
        self.bound_terminals();
    }

    fn clock(&mut self, now: Duration) {
        self.now = now;
        for session in self.sessions.values_mut() {
            session.now = now;
        }
    }

    fn wish(&mut self, wish: Wish, out: &mut Outcome) {
        let prompt = |content, tag| Prompt { content, tag, shown: false, listed: false };
        match wish {
            Wish::Open { session, launch, origin } => {
                // A branch of a session does not know either.
                let note = match &origin {
                    Origin::Fork(parent) => self.session(*parent).and_then(|it| it.note.clone()),
                    Origin::New | Origin::Kept(_) => None,
                };
                let session =
                    Session { now: self.now, note, ..Session::new(session, launch, origin) };
                self.open(session, out);
            }
            Wish::Prompt { session, content, tag } => {
                self.prompt(session, prompt(content, tag), out);
            }
            Wish::Steer { session, content, tag } => self.steer(session, prompt(content, tag), out),
            Wish::Queue { session, tag, change } => self.change_queue(session, (tag, change), out),
            Wish::Cancel(session) => self.cancel(session, out),
            Wish::Close(session) => self.close(session, out),
            Wish::Restart(session) => self.restart(session, out),
            Wish::Kill(session) => self.kill(session, out),
            Wish::Wait(session) => self.wait_longer(session, out),
            Wish::Probe { tag, launch } => self.probe(tag, launch, out),
            Wish::Ask { session, ask, tag } => self.ask_agent(session, (ask, tag), out),
            Wish::LogIn { session, method } => self.log_in(session, &method, out),
            Wish::LoggedIn { session, ok } => self.logged_in(session, ok, out),
            Wish::Answer { ask, reaction, by } => self.react(ask, (reaction, by), out),
            Wish::Save { session, entry, attachment, path, tag } => {
                self.save((session, entry, attachment), (tag, path), out);
            }
            Wish::SetRules(rules) => self.rules = rules,
            Wish::SetPrivate(patterns) => self.private = patterns,
            Wish::SetRewind(rewind) => self.rewind = rewind,
            Wish::Note { session, text } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.note = Some(text);
                }
            }
        }
    }

    fn happened(&mut self, connection: ConnectionId, happened: Happened, out: &mut Outcome) {
        match happened {
            Happened::Started => self.started(connection, out),
            Happened::NotStarted(error) => self.not_started(connection, error, out),
            Happened::Exited { exit, stderr } => self.exited(connection, (exit, stderr), out),
            Happened::Answered(answer) => self.answered(connection, answer, out),
            Happened::Updated { remote, update } => self.updated(connection, (remote, update), out),
            Happened::Requested { reply, request } => self.requested(reply, request, out),
            Happened::Withdrawn(id) => self.withdrawn(connection, &id, out),
            Happened::ElicitationComplete(id) => self.elicitation_complete(connection, &id, out),
            Happened::AuthComplete => self.auth_complete(connection, out),
            Happened::TurnEnded { remote, reason } => {
                self.turn_ended_by_word(connection, (&remote, reason), out);
            }
            Happened::Unrecognized => {}
            Happened::Printed(line) => self.printed(connection, line),
        }
    }

    fn answered(&mut self, id: ConnectionId, answer: Answer, out: &mut Outcome) {
        match answer {
            Answer::Initialize(result) => self.initialized(id, result, out),
            Answer::Session { session, result } => self.session_made(id, (session, result), out),
            Answer::Prompt { session, turn, result } => {
                self.turn_ended(session, (turn, result), out)
            }
            Answer::Authenticate { session, result } => self.authenticated(session, result, out),
            Answer::Asked { session, ask, tag, result } => {
                self.agent_told(session, (ask, tag, result), out);
            }
            Answer::Steered { session, result } => self.steered(session, result, out),
            Answer::Other => {}
        }
    }

    fn requested(&mut self, reply: ReplyTo, request: Request, out: &mut Outcome) {
        if self.is_flooded_by(reply.connection) {
            let words = format!("{REQUESTS} requests wait for an answer already");
            return out.reply(reply, Err(RpcError::new(RpcError::INTERNAL, words)));
        }
        match request {
            Request::Permission { remote, tool_call, update, options } => {
                self.permission((reply, &remote), (tool_call, *update, options), out);
            }
            Request::ReadFile { remote, path, line, limit } => {
                self.read_file((reply, &remote), (&path, line, limit), out);
            }
            Request::WriteFile { remote, path, text } => {
                self.write_file((reply, &remote), (&path, text), out);
            }
            Request::ListDirectory { remote, path } => self.list((reply, &remote), &path, out),
            Request::Run { remote, command, to_the_end } => {
                self.run(RunRequest { reply, remote, command, to_the_end }, out);
            }
            Request::Terminal { remote, terminal, verb } => {
                self.terminal(TerminalRequest { reply, remote, terminal, verb }, out);
            }
            Request::Elicit { remote, elicitation } => {
                self.elicit((reply, remote), elicitation, out)
            }
            Request::Unknown { method } => {
                out.reply(reply, Err(RpcError::method_not_found(&method)));
            }
            Request::Invalid { method, why } => {
                let words = format!("invalid parameters of {method}");
                let error = RpcError::new(RpcError::INVALID_PARAMS, words);
                out.reply(reply, Err(RpcError { details: Some(why), ..error }));
            }
        }
    }

    /// Whether an agent has more open requests than anybody could be working on.
    fn is_flooded_by(&self, connection: ConnectionId) -> bool {
        let theirs = || self.asks.values().filter(|it| it.reply.connection == connection);
        self.asks.len() >= REQUESTS && theirs().count() >= REQUESTS
    }

    fn timer_fired(&mut self, timer: Timer, out: &mut Outcome) {
        match timer {
            Timer::NoAnswer { connection, patience } => self.no_answer(connection, patience, out),
            Timer::NotStopped { session, turn, waits } => {
                self.not_stopped(session, (turn, waits), out);
            }
            Timer::StopCommands { session, turn } => self.stop_commands(session, turn, out),
            Timer::NoEditor(ask) => self.no_editor(ask, out),
            Timer::NoPaths(ask) => self.paths_resolved(ask, None, out),
            Timer::Reconnect { session, attempt } => self.seek_again(session, attempt, out),
        }
    }

    /// The session that a run of an agent calls by this name. Should an agent give one name to two
    /// sessions, the one that runs is meant.
    fn session_named(&mut self, id: ConnectionId, name: &RemoteId) -> Option<&mut Session> {
        let named = |link: &Link| matches!(link.remote(), Some((connection, remote)) if connection == id && remote == name);
        let sessions = self.sessions.values_mut().filter(|it| named(&it.link));
        sessions.max_by_key(|it| it.turn != Turn::Idle)
    }
}

impl Outcome {
    fn reply(&mut self, reply: ReplyTo, answer: Result<Reply, RpcError>) {
        self.effects.push(Effect::Reply { reply, answer });
    }
}

impl Session {
    /// Adds an entry to the chat.
    fn push(&mut self, entry: Entry, out: &mut Outcome) {
        self.entries.push(entry);
        out.touch(self.id, self.entries.len() - 1);
    }
}
