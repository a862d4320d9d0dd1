//! Permissions: answered by a rule, or else by the user.

use std::collections::HashMap;
use std::time::Duration;

use super::ask::{no_session, too_many_questions};
use crate::session::audit::{By, Deed, Record};
use crate::session::effect::{Effect, PathsToResolve, Reply, Tell, Timer};
use crate::session::entry::Entry;
use crate::session::ids::{AskId, RemoteId, ReplyTo, SessionId};
use crate::session::outcome::Outcome;
use crate::session::question::{Body, Permission, PermissionKind, PermissionOption};
use crate::session::rule::{self, Rule, Verdict};
use crate::session::state::{AllowedAction, OpenAsk, Session, State, Turn, With};
use crate::session::subject::Subject;
use crate::session::tool_call::{RejectedBy, ToolCallId, ToolCallUpdate};

/// How long the disk may take to tell where the paths of a permission lead, before no rule allows
/// it by them.
const DISK: Duration = Duration::from_secs(2);
/// How many permissions of a session may wait for the disk at once.
const MOST_LOOKED_AT: usize = 100;

impl State {
    pub(super) fn permission(
        &mut self,
        (reply, remote): (ReplyTo, &RemoteId),
        (tool_call, update, options): (ToolCallId, ToolCallUpdate, Vec<PermissionOption>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.session_named(reply.connection, remote) else {
            return out.reply(reply, Err(no_session(remote)));
        };
        let cancelling = matches!(session.turn, Turn::Cancelling(_));
        if !cancelling {
            session.forget_finished(&tool_call);
        }
        session.tool_call(tool_call.clone(), update, out);
        session.set_rejected(&tool_call, None, out);
        let id = session.id;
        let permission = session.permission(tool_call, options);
        out.audit(session, &permission, Deed::Asked);
        if cancelling {
            out.audit(session, &permission, Deed::Answered { option: None, by: By::Cancel });
            return out.reply(reply, Ok(Reply::Permission(None)));
        }
        let permission = Box::new(permission);
        self.look_at_paths(PermissionRequest { session: id, reply, permission, then: None }, out);
    }

    /// Has the links of a request's paths followed, if it has any, before a rule or the user decides.
    /// Requests are decided in the order in which they came.
    pub(super) fn look_at_paths(&mut self, request: PermissionRequest, out: &mut Outcome) {
        let Some(session) = self.sessions.get(&request.session) else {
            return self.decide(request, out);
        };
        let paths = request.permission.subject.places(&session.launch);
        let before = self.looked_at(session.id).count();
        if paths.is_empty() && before == 0 {
            return self.decide(request, out);
        }
        let PermissionRequest { session: id, reply, permission, then } = request;
        if before >= MOST_LOOKED_AT {
            return out.reply(reply, Err(too_many_questions()));
        }
        self.next_ask += 1;
        let ask = AskId(self.next_ask);
        let with = if paths.is_empty() { With::Nobody } else { With::Disk };
        if with == With::Disk {
            let launch = &session.launch;
            let roots = std::iter::once(&launch.cwd).chain(&launch.directories).cloned().collect();
            out.effects.push(Effect::ResolvePaths(PathsToResolve { ask, paths, roots }));
            out.effects.push(Effect::SetTimer { timer: Timer::NoPaths(ask), after: DISK });
        }
        let body = Body::Permission(permission);
        self.asks.insert(ask, OpenAsk { session: id, body, reply, with, then });
    }

    /// The requests of a session of which nobody has heard yet, oldest first.
    fn looked_at(&self, session: SessionId) -> impl Iterator<Item = (AskId, With)> {
        let all = self.asks.iter().filter(move |(_, it)| it.session == session);
        all.filter(|(_, it)| it.is_looked_at()).map(|(ask, it)| (*ask, it.with))
    }

    /// It is known where the paths of a permission lead, or will not be in time.
    pub(super) fn paths_resolved(
        &mut self,
        ask: AskId,
        real: Option<HashMap<String, String>>,
        out: &mut Outcome,
    ) {
        let Some(open) = self.asks.get_mut(&ask).filter(|it| it.with == With::Disk) else { return };
        let Body::Permission(permission) = &mut open.body else { return };
        permission.subject.real = real;
        open.with = With::Nobody;
        let session = open.session;
        self.decide_in_order(session, out);
    }

    /// Decides all requests that wait for none before them.
    pub(super) fn decide_in_order(&mut self, session: SessionId, out: &mut Outcome) {
        loop {
            let Some((ask, With::Nobody)) = self.looked_at(session).next() else { return };
            if let Some(OpenAsk {
                session, reply, body: Body::Permission(permission), then, ..
            }) = self.asks.remove(&ask)
            {
                self.decide(PermissionRequest { session, reply, permission, then }, out);
            }
        }
    }

    /// A rule answers, or the user is asked.
    fn decide(&mut self, request: PermissionRequest, out: &mut Outcome) {
        if request.then.is_some() {
            return self.decide_command(request, out);
        }
        let PermissionRequest { session: id, reply, mut permission, .. } = request;
        if let Some(session) = self.sessions.get(&id) {
            permission.rule = Rule::allowing(&permission.subject, &session.launch);
        }
        match self.ruling(id, &permission, out) {
            None if self.asks_too_much(id) => out.reply(reply, Err(too_many_questions())),
            None => {
                self.ask((reply, id), Body::Permission(permission), out);
            }
            Some(Ruling { verdict, rule, option }) => {
                out.reply(reply, Ok(Reply::Permission(option.map(|option| option.id))));
                if verdict == Verdict::Reject
                    && let Some(session) = self.sessions.get_mut(&id)
                {
                    session.set_rejected(&permission.tool_call, Some(RejectedBy::Rule), out);
                }
                out.tell(Tell::Ruled { session: id, title: permission.title, verdict, rule });
            }
        }
    }

    /// What a rule makes of a permission; none where the user is asked, for want of a rule,
    /// because it says so, or because the agent offers nothing that says yes.
    fn ruling(&self, id: SessionId, permission: &Permission, out: &mut Outcome) -> Option<Ruling> {
        let session = self.sessions.get(&id)?;
        let rule = rule::first(&self.rules, &permission.subject, &session.launch)?;
        let (verdict, words) = (rule.verdict, rule.words());
        let option = verdict.option(&permission.options).cloned();
        let deed = Deed::Ruled { verdict, rule: words.clone(), option: option.clone() };
        out.audit(session, permission, deed);
        let decides = match verdict {
            Verdict::Allow => option.is_some(),
            Verdict::Reject => true,
            Verdict::Ask => false,
        };
        decides.then_some(Ruling { verdict, rule: words, option })
    }

    /// A command that the user allows for its tool call may be run with us without another question.
    pub(super) fn remember_allowed(&mut self, ask: AskId, answer: &Reply) {
        let Some(OpenAsk { session, body: Body::Permission(permission), .. }) = self.asks.get(&ask)
        else {
            return;
        };
        let Reply::Permission(Some(chosen)) = answer else { return };
        let kind = permission.options.iter().find(|it| it.id == *chosen).map(|it| it.kind);
        if let Some(PermissionKind::AllowOnce | PermissionKind::AllowAlways) = kind
            && let Some(session) = self.sessions.get_mut(session)
        {
            session.allow_command(permission);
        }
    }

    /// Notes at its tool call that the user does not allow it.
    pub(super) fn note_rejection(&mut self, ask: AskId, answer: &Reply, out: &mut Outcome) {
        let Some(OpenAsk { session, body: Body::Permission(permission), .. }) = self.asks.get(&ask)
        else {
            return;
        };
        let Reply::Permission(chosen) = answer else { return };
        let option = permission.options.iter().find(|it| Some(&it.id) == chosen.as_ref());
        let rejects = match option.map(|it| it.kind) {
            Some(PermissionKind::RejectOnce | PermissionKind::RejectAlways) => true,
            Some(_) => false,
            None => chosen.is_none(),
        };
        if rejects && let Some(session) = self.sessions.get_mut(session) {
            session.set_rejected(&permission.tool_call, Some(RejectedBy::User), out);
        }
    }

    /// Notes that an open permission is answered.
    pub(super) fn audit_answer(&self, (ask, by): (AskId, By), answer: &Reply, out: &mut Outcome) {
        let Some(OpenAsk { session, body: Body::Permission(permission), .. }) = self.asks.get(&ask)
        else {
            return;
        };
        let Reply::Permission(chosen) = answer else { return };
        let chosen =
            chosen.as_ref().and_then(|id| permission.options.iter().find(|it| it.id == *id));
        if let Some(session) = self.sessions.get(session) {
            out.audit(session, permission, Deed::Answered { option: chosen.cloned(), by });
        }
    }
}

/// A permission that nobody has answered yet.
pub(super) struct PermissionRequest {
    pub(super) session: SessionId,
    pub(super) reply: ReplyTo,
    pub(super) permission: Box<Permission>,
    /// What we do once it is allowed; none if that is for the agent to do.
    pub(super) then: Option<AllowedAction>,
}

/// What a rule answers in the user's place.
struct Ruling {
    verdict: Verdict,
    /// The rule, for people.
    rule: String,
    /// The option it chooses; none to cancel the request.
    option: Option<PermissionOption>,
}

impl Outcome {
    pub(super) fn audit(&mut self, session: &Session, permission: &Permission, deed: Deed) {
        self.effects.push(Effect::Audit(Record::new(session, permission, deed)));
    }
}

impl Session {
    /// What is asked, from all that is known of the tool call.
    fn permission(&self, tool_call: ToolCallId, options: Vec<PermissionOption>) -> Permission {
        let entry = self.tool_calls.get(&tool_call).copied();
        let (title, subject, changes) = match entry.and_then(|index| self.entries.get(index)) {
            Some(Entry::ToolCall(it)) => {
                (it.label(&self.launch.cwd).into_owned(), it.subject(), it.changes())
            }
            _ => (tool_call.to_string(), Subject::default(), 0),
        };
        let kind = subject.kind.word().to_owned();
        Permission { tool_call, title, kind, subject, entry, changes, rule: None, options }
    }

    /// Some agents count their tool calls anew with each turn. What is asked under the name of a
    /// finished one is about another, and what is known of the finished one says nothing of it.
    fn forget_finished(&mut self, tool_call: &ToolCallId) {
        let index = self.tool_calls.get(tool_call).and_then(|index| self.entries.get(*index));
        if matches!(index, Some(Entry::ToolCall(it)) if it.status.is_final()) {
            self.tool_calls.remove(tool_call);
        }
    }
}
