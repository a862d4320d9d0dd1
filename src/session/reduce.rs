//! The reducer: [`State::apply`] takes one event, changes the state, and says what follows.
//!
//! It is total: every event is legal in every state, because agents send what they like when they
//! like. What has lost its object (an answer for a closed session, an update after the end) is
//! dropped on purpose at the place that looks the object up.

mod connection;
mod message;
mod turn;

use super::effect::Effect;
use super::event::{Event, Happened, Request, Wish};
use super::failure::RpcError;
use super::ids::ConnectionId;
use super::outcome::Outcome;
use super::state::{Entry, Prompt, Session, State};

impl State {
    /// Takes in what has happened; what follows is added to `out`.
    pub fn apply(&mut self, event: Event, out: &mut Outcome) {
        match event {
            Event::User(wish) => self.wish(wish, out),
            Event::Agent { connection, happened } => self.happened(connection, happened, out),
            Event::TimerFired(timer) => self.timer_fired(timer, out),
            Event::Shutdown => self.shutdown(out),
        }
    }

    fn wish(&mut self, wish: Wish, out: &mut Outcome) {
        match wish {
            Wish::Open { session, launch } => self.open(session, launch, out),
            Wish::Prompt { session, content, tag } => {
                self.prompt(session, Prompt { content, tag, shown: false }, out);
            }
            Wish::Cancel(session) => self.cancel(session, out),
            Wish::Close(session) => self.close(session, out),
            Wish::Restart(session) => self.restart(session, out),
            Wish::Kill(session) => self.kill(session, out),
            Wish::Wait(session) => self.wait_longer(session, out),
            Wish::Probe { tag, launch } => self.probe(tag, launch, out),
        }
    }

    fn happened(&mut self, connection: ConnectionId, happened: Happened, out: &mut Outcome) {
        match happened {
            Happened::Started => self.started(connection, out),
            Happened::NotStarted(error) => self.not_started(connection, error, out),
            Happened::Exited { exit, stderr } => self.exited(connection, (exit, stderr), out),
            Happened::Answered(answer) => self.answered(connection, answer, out),
            Happened::Updated { remote, update } => self.updated(connection, (remote, update), out),
            Happened::Requested { reply, request: Request::Unknown { method } } => {
                let answer = Err(RpcError::method_not_found(&method));
                out.effects.push(Effect::Reply { reply, answer });
            }
            Happened::Unrecognized => {}
        }
    }
}

impl Session {
    /// Adds an entry to the chat.
    fn push(&mut self, entry: Entry, out: &mut Outcome) {
        self.entries.push(entry);
        out.touch(self.id, self.entries.len() - 1);
    }
}
