//! Turns: prompts wait, are sent one at a time, end, and are cancelled.

use std::time::Duration;

use crate::session::agent::Capabilities;
use crate::session::content::Content;
use crate::session::effect::{Call, Effect, Tell, Timer};
use crate::session::entry::{Entry, Note, Role, StopReason};
use crate::session::failure::{Failure, RpcError};
use crate::session::ids::{ConnectionId, RemoteId, SessionId, TurnId};
use crate::session::message::Message;
use crate::session::outcome::Outcome;
use crate::session::state::{Link, Prompt, Running, Session, State, Turn};

/// How long an agent may take to end the commands of a cancelled turn before we do.
const OWN_END: Duration = Duration::from_secs(2);
/// How long an agent may take to stop before the user is asked.
const STOP: Duration = Duration::from_secs(10);

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
            true => self.connect(id, out),
            false => self.next_prompt(id, out),
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.list_queue(out);
        }
    }

    /// Sends the first waiting prompt if the agent can take it.
    pub(super) fn next_prompt(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !matches!(session.link, Link::Ready(..)) || session.turn != Turn::Idle {
            return;
        }
        let Some(mut prompt) = session.queue.pop_front() else { return };
        if prompt.listed {
            out.tell(Tell::QueueChanged(id));
        }
        session.show_prompt(&mut prompt, out);
        session.turns += 1;
        let (turn, tag) = (TurnId(session.turns), prompt.tag);
        let running = Running { turn, tag, content: prompt.content, steered: Vec::new(), waits: 0 };
        session.turn = Turn::Preparing(running);
        out.tell(Tell::SessionChanged(id));
        out.tell(Tell::TurnStarted { session: id, turn });
        match self.rewind {
            true => out.effects.push(Effect::Record { session: id, turn }),
            false => self.recorded(id, turn, out),
        }
    }

    /// Sends the prompt that waited for what the files are.
    pub(super) fn recorded(&mut self, id: SessionId, turn: TurnId, out: &mut Outcome) {
        let can = self.sessions.get(&id).and_then(|it| self.agent_of(it)).map(|it| it.can);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Link::Ready(connection, remote) = session.link.clone() else { return };
        let running = match &session.turn {
            Turn::Preparing(running) if running.turn == turn => running.clone(),
            _ => return,
        };
        let mut content = session.fit(&running.content, can.unwrap_or_default(), out);
        // At the end: what begins with a slash is a command. Agents may join blocks as they are.
        content.extend(session.note.take().map(|it| Content::Text(format!("\n\n{it}\n"))));
        session.turn = Turn::Running(running);
        let call = Call::Prompt { session: id, remote, turn, content };
        out.effects.push(Effect::Call { connection, call });
    }

    /// Says something into the running turn; without one, or where the agent can't, it waits.
    pub(super) fn steer(&mut self, id: SessionId, prompt: Prompt, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return self.prompt(id, prompt, out) };
        let (Link::Ready(connection, remote), true) = (session.link.clone(), session.steering)
        else {
            return self.prompt(id, prompt, out);
        };
        let Turn::Running(running) = &mut session.turn else { return self.prompt(id, prompt, out) };
        running.steered.push(prompt.tag);
        session.touch_live(out);
        let message = Message::said(Role::User, prompt.content.clone(), session.now);
        session.push(Entry::Message(message), out);
        let call = Call::Steer { session: id, remote, content: prompt.content };
        out.effects.push(Effect::Call { connection, call });
    }

    pub(super) fn steered(
        &mut self,
        id: SessionId,
        result: Result<(), RpcError>,
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Err(error) = result {
            let agent = session.launch.agent.clone();
            session.push(Entry::Failure(Failure::AskRefused { agent, error }), out);
        }
    }

    pub(super) fn turn_ended(
        &mut self,
        id: SessionId,
        (turn, result): (TurnId, Result<StopReason, RpcError>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let (running, cancelled) = match &session.turn {
            Turn::Running(running) if running.turn == turn => (running.clone(), false),
            Turn::Cancelling(running) if running.turn == turn => (running.clone(), true),
            _ => return,
        };
        let login = match &result {
            Err(error) => error.code == RpcError::AUTH_REQUIRED,
            Ok(reason) => *reason == StopReason::AuthRequired,
        };
        if login && !cancelled {
            return self.turn_wants_login(id, running, out);
        }
        session.touch_live(out);
        if cancelled {
            session.stop_commands(turn, out);
        }
        session.turn = Turn::Idle;
        session.turn_is_over();
        // Some agents answer a cancelled turn with an error, or as if nothing had happened.
        let result = match result {
            _ if cancelled => Ok(StopReason::Cancelled),
            Ok(reason) => Ok(reason),
            Err(error) if error.code == RpcError::CANCELLED => Ok(StopReason::Cancelled),
            Err(error) => Err(Failure::TurnFailed { agent: session.launch.agent.clone(), error }),
        };
        session.close_tool_calls(out);
        match &result {
            Ok(StopReason::EndTurn) if session.answered(&running) => {}
            Ok(StopReason::EndTurn) => session.push(Entry::Note(Note::Unanswered), out),
            Ok(reason) => session.push(Entry::Note(Note::Stopped(reason.clone())), out),
            Err(failure) => session.push(Entry::Failure(failure.clone()), out),
        }
        out.tell(Tell::SessionChanged(id));
        running.finish(id, &result, out);
        self.next_prompt(id, out);
    }

    /// The agent wants a login in the middle of things: the prompt is said again after it.
    fn turn_wants_login(&mut self, id: SessionId, running: Running, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.touch_live(out);
        session.turn = Turn::Idle;
        session.turns -= 1;
        let Running { tag, content, .. } = running;
        session.queue.push_front(Prompt { content, tag, shown: true, listed: false });
        self.require_login(id, RpcError::new(RpcError::AUTH_REQUIRED, "login required"), out);
    }

    /// A dialect ends turns by a notification and may leave out the answer.
    pub(super) fn turn_ended_by_word(
        &mut self,
        connection: ConnectionId,
        (remote, reason): (&RemoteId, StopReason),
        out: &mut Outcome,
    ) {
        let Some(session) = self.session_named(connection, remote) else { return };
        if let Turn::Running(running) | Turn::Cancelling(running) = &session.turn {
            let (id, turn) = (session.id, running.turn);
            self.turn_ended(id, (turn, Ok(reason)), out);
        }
    }

    pub(super) fn cancel(&mut self, id: SessionId, out: &mut Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Link::LoggedOut(..) | Link::LoggingIn(..) = session.link {
            return self.cancel_login(id, out);
        }
        match session.turn.clone() {
            Turn::Running(running) => {
                let timer = Timer::StopCommands { session: id, turn: running.turn };
                session.turn = Turn::Cancelling(running);
                session.allowed.clear();
                session.send_cancel(out);
                session.expect_stop(out);
                out.effects.push(Effect::SetTimer { timer, after: OWN_END });
                session.cancel_tool_calls(out);
                self.cancel_asks(id, out);
                out.tell(Tell::SessionChanged(id));
            }
            Turn::Preparing(running) => {
                session.turn = Turn::Idle;
                session.push(Entry::Note(Note::Stopped(StopReason::Cancelled)), out);
                out.tell(Tell::SessionChanged(id));
                running.never_sent(id, Ok(StopReason::Cancelled), out);
                self.next_prompt(id, out);
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

    /// The agent was told to stop, and has not answered: it may wait for a command to end.
    pub(super) fn stop_commands(&mut self, id: SessionId, turn: TurnId, out: &mut Outcome) {
        if let Some(session) = self.sessions.get_mut(&id)
            && matches!(&session.turn, Turn::Cancelling(running) if running.turn == turn)
        {
            session.stop_commands(turn, out);
        }
    }

    /// The agent was told to stop, and the turn still runs.
    pub(super) fn not_stopped(
        &mut self,
        id: SessionId,
        (turn, waits): (TurnId, u32),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match &session.turn {
            Turn::Cancelling(running) if running.turn == turn && running.waits == waits => {}
            _ => return,
        }
        let (agent, what) = (session.launch.agent.clone(), "session/cancel");
        session.say_once(Failure::Silent { agent, what }, out);
        out.tell(Tell::NoAnswer { session: id, what, seconds: STOP.as_secs() });
    }

    pub(super) fn shutdown(&mut self, out: &mut Outcome) {
        let sessions: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in sessions {
            if let Some(session) = self.sessions.get(&id)
                && let Turn::Running(_) = session.turn
            {
                session.send_cancel(out);
            }
            self.cancel_asks(id, out);
            self.drop_duties(id, out);
        }
    }
}

impl Session {
    /// What was for one turn only is over with it.
    fn turn_is_over(&mut self) {
        self.allowed.clear();
        self.forget_released();
    }

    /// Puts a prompt into the chat, once.
    fn show_prompt(&mut self, prompt: &mut Prompt, out: &mut Outcome) {
        if !prompt.shown {
            prompt.shown = true;
            let message = Message::said(Role::User, prompt.content.clone(), self.now);
            self.push(Entry::Message(message), out);
        }
    }

    /// What of a prompt the agent can take. What it can't is said in another form, or left out
    /// with a line in the chat.
    fn fit(&mut self, content: &[Content], can: Capabilities, out: &mut Outcome) -> Vec<Content> {
        let mut fitting = Vec::with_capacity(content.len());
        for block in content {
            let agent = &self.launch.agent;
            let left_out = match block {
                Content::Image { .. } if !can.image => format!("{agent} takes no images"),
                Content::Audio { .. } if !can.audio => format!("{agent} takes no audio"),
                Content::Resource { uri, .. } | Content::Blob { uri, .. }
                    if !can.embedded_context =>
                {
                    fitting.push(Content::Link { uri: uri.clone(), name: uri.clone() });
                    continue;
                }
                _ => {
                    fitting.push(block.clone());
                    continue;
                }
            };
            self.push(Entry::Note(Note::LeftOut(left_out)), out);
        }
        fitting
    }

    /// Whether anything has come of what was said in a turn.
    fn answered(&self, running: &Running) -> bool {
        let mut prompts = running.steered.len() + 1;
        for entry in self.entries.iter().rev() {
            match entry {
                Entry::Message(it) if it.role == Role::User => prompts -= 1,
                Entry::Message(it) if it.text.trim().is_empty() && it.attachments.is_empty() => {}
                Entry::Note(Note::LeftOut(_) | Note::StartedAgain | Note::Resumed) => {}
                _ => return true,
            }
            if prompts == 0 {
                break;
            }
        }
        false
    }

    /// What the agent is at looks otherwise when it is at it no more, and so does its last word.
    fn touch_live(&self, out: &mut Outcome) {
        for index in self.live().chain(self.entries.len().checked_sub(1)) {
            out.touch(self.id, index);
        }
    }

    pub(super) fn send_cancel(&self, out: &mut Outcome) {
        if let Link::Ready(connection, remote) = &self.link {
            let remote = remote.clone();
            out.effects.push(Effect::CancelTurn { connection: *connection, remote });
        }
    }

    /// Starts the clock for the end of a turn that was cancelled.
    pub(super) fn expect_stop(&self, out: &mut Outcome) {
        if let Turn::Cancelling(running) = &self.turn {
            let (turn, waits) = (running.turn, running.waits);
            let timer = Timer::NotStopped { session: self.id, turn, waits };
            out.effects.push(Effect::SetTimer { timer, after: STOP });
        }
    }

    /// The running turn will not be answered; what waits goes on waiting.
    pub(super) fn end_turn_with(&mut self, failure: &Failure, out: &mut Outcome) {
        self.touch_live(out);
        match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Idle => {}
            Turn::Preparing(running) => running.never_sent(self.id, Err(failure.clone()), out),
            Turn::Running(running) | Turn::Cancelling(running) => {
                running.finish(self.id, &Err(failure.clone()), out);
            }
        }
        self.turn_is_over();
        self.cancel_tool_calls(out);
        for tag in self.asked.drain(..) {
            let result = Err(failure.clone());
            out.tell(Tell::AskDone { session: self.id, tag, result });
        }
    }

    /// The running turn and all waiting prompts will not be answered: their callers learn why.
    pub(super) fn abandon(&mut self, failure: &Failure, out: &mut Outcome) {
        self.end_turn_with(failure, out);
        if self.queue.iter().any(|prompt| prompt.listed) {
            out.tell(Tell::QueueChanged(self.id));
        }
        for prompt in self.queue.drain(..) {
            let (tag, result) = (prompt.tag, Err(failure.clone()));
            out.tell(Tell::TurnFinished { session: self.id, turn: None, tag, result });
        }
    }
}

impl Running {
    /// Tells everybody who said something in this turn how it ended.
    fn finish(&self, session: SessionId, result: &Result<StopReason, Failure>, out: &mut Outcome) {
        for tag in std::iter::once(self.tag).chain(self.steered.iter().copied()) {
            let (turn, result) = (Some(self.turn), result.clone());
            out.tell(Tell::TurnFinished { session, turn, tag, result });
        }
    }

    /// The same for a turn that has not begun.
    fn never_sent(
        self,
        session: SessionId,
        result: Result<StopReason, Failure>,
        out: &mut Outcome,
    ) {
        out.tell(Tell::TurnFinished { session, turn: None, tag: self.tag, result });
    }
}
