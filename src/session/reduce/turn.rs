//! Turns: prompts wait, are sent one at a time, end, and are cancelled.

use crate::session::effect::{Call, Effect, Tell};
use crate::session::failure::{Failure, RpcError};
use crate::session::ids::{SessionId, TurnId};
use crate::session::outcome::Outcome;
use crate::session::state::{
    Entry, Link, Note, Prompt, Role, Session, State, StopReason, Turn, plain_text,
};

impl State {
    pub(super) fn prompt(&mut self, id: SessionId, mut prompt: Prompt, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else {
            let (tag, result) = (prompt.tag, Err(Failure::NoSession));
            return out.tell(Tell::TurnFinished { session: id, turn: None, tag, result });
        };
        let failed = matches!(session.link, Link::Failed(_));
        // While the agent starts nobody speaks, so the first prompt can be shown at once; any
        // other would stand in the middle of the answer to the one before it.
        let starting = failed || !matches!(session.link, Link::Ready(..));
        if starting && session.queue.is_empty() {
            session.show_prompt(&mut prompt, out);
        }
        session.queue.push_back(prompt);
        out.tell(Tell::SessionChanged(id));
        match failed {
            true => self.reconnect(id, out),
            false => self.next_prompt(id, out),
        }
    }

    /// Sends the first waiting prompt if the agent can take it.
    pub(super) fn next_prompt(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Link::Ready(connection, remote) = session.link.clone() else { return };
        if session.turn != Turn::Idle {
            return;
        }
        let Some(mut prompt) = session.queue.pop_front() else { return };
        session.show_prompt(&mut prompt, out);
        session.turns += 1;
        let turn = TurnId(session.turns);
        session.turn = Turn::Running(turn, prompt.tag);
        let call = Call::Prompt { session: id, remote, turn, content: prompt.content };
        out.effects.push(Effect::Call { connection, call });
        out.tell(Tell::SessionChanged(id));
        out.tell(Tell::TurnStarted { session: id, turn });
    }

    pub(super) fn turn_ended(
        &mut self,
        id: SessionId,
        (turn, result): (TurnId, Result<StopReason, RpcError>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let (tag, cancelled) = match session.turn {
            Turn::Running(running, tag) if running == turn => (tag, false),
            Turn::Cancelling(running, tag) if running == turn => (tag, true),
            _ => return,
        };
        session.turn = Turn::Idle;
        // Some agents answer a cancelled turn with an error, or as if nothing had happened.
        let result = match result {
            _ if cancelled => Ok(StopReason::Cancelled),
            Ok(reason) => Ok(reason),
            Err(error) => Err(Failure::TurnFailed { agent: session.launch.agent.clone(), error }),
        };
        match &result {
            Ok(StopReason::EndTurn) => {}
            Ok(reason) => session.push(Entry::Note(Note::Stopped(reason.clone())), out),
            Err(failure) => session.push(Entry::Failure(failure.clone()), out),
        }
        out.tell(Tell::SessionChanged(id));
        out.tell(Tell::TurnFinished { session: id, turn: Some(turn), tag, result });
        self.next_prompt(id, out);
    }

    pub(super) fn cancel(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match session.turn {
            Turn::Running(turn, tag) => {
                session.turn = Turn::Cancelling(turn, tag);
                session.send_cancel(out);
                out.tell(Tell::SessionChanged(id));
            }
            Turn::Cancelling(..) => {}
            Turn::Idle if session.queue.is_empty() => {}
            Turn::Idle => {
                session.push(Entry::Note(Note::Withdrawn), out);
                session.abandon(&Failure::Withdrawn, out);
                out.tell(Tell::SessionChanged(id));
            }
        }
    }

    pub(super) fn close(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(mut session) = self.sessions.remove(&id) else { return };
        if let Turn::Running(..) = session.turn {
            session.send_cancel(out);
        }
        session.abandon(&Failure::Closed, out);
        out.tell(Tell::Closed(id));
        if let Some(connection) = session.link.connection() {
            self.end_if_unused(connection, out);
        }
    }

    pub(super) fn shutdown(&mut self, out: &mut Outcome) {
        for session in self.sessions.values() {
            if let Turn::Running(..) = session.turn {
                session.send_cancel(out);
            }
        }
    }
}

impl Session {
    /// Puts a prompt into the chat, once.
    fn show_prompt(&mut self, prompt: &mut Prompt, out: &mut Outcome) {
        if !prompt.shown {
            prompt.shown = true;
            let text = plain_text(&prompt.content);
            self.push(Entry::Message { role: Role::User, text, message: None }, out);
        }
    }

    fn send_cancel(&self, out: &mut Outcome) {
        if let Link::Ready(connection, remote) = &self.link {
            let remote = remote.clone();
            out.effects.push(Effect::CancelTurn { connection: *connection, remote });
        }
    }

    /// The running turn and all waiting prompts will not be answered: their callers learn why.
    pub(super) fn abandon(&mut self, failure: &Failure, out: &mut Outcome) {
        let running = match self.turn {
            Turn::Idle => None,
            Turn::Running(turn, tag) | Turn::Cancelling(turn, tag) => Some((Some(turn), tag)),
        };
        self.turn = Turn::Idle;
        let waiting = self.queue.drain(..).map(|it| (None, it.tag));
        for (turn, tag) in running.into_iter().chain(waiting) {
            let result = Err(failure.clone());
            out.tell(Tell::TurnFinished { session: self.id, turn, tag, result });
        }
    }
}
