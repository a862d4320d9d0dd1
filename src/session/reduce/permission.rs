//! Permissions: answered by a rule, or else by the user.

use super::ask::{no_session, too_many_questions};
use crate::session::audit::{By, Deed, Record};
use crate::session::effect::{Effect, Reply, Tell};
use crate::session::entry::Entry;
use crate::session::ids::{AskId, RemoteId, ReplyTo, SessionId};
use crate::session::outcome::Outcome;
use crate::session::question::{Body, Permission, PermissionKind, PermissionOption};
use crate::session::rule::{self, Rule, Verdict};
use crate::session::state::{OpenAsk, Session, State, Turn};
use crate::session::subject::Subject;
use crate::session::tool_call::{RejectedBy, ToolCallId, ToolCallUpdate};

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
        session.tool_call(tool_call.clone(), update, out);
        session.set_rejected(&tool_call, None, out);
        let id = session.id;
        let permission = session.permission(tool_call, options);
        out.audit(session, &permission, Deed::Asked);
        if let Turn::Cancelling(_) = session.turn {
            out.audit(session, &permission, Deed::Answered { option: None, by: By::Cancel });
            return out.reply(reply, Ok(Reply::Permission(None)));
        }
        let Some(ruling) = self.ruling(id, &permission, out) else {
            if self.asks_too_much(id) {
                return out.reply(reply, Err(too_many_questions()));
            }
            self.ask((reply, id), Body::Permission(Box::new(permission)), out);
            return;
        };
        out.reply(reply, Ok(Reply::Permission(ruling.option.map(|option| option.id))));
        let (verdict, rule) = (ruling.verdict, ruling.rule);
        if verdict == Verdict::Reject
            && let Some(session) = self.sessions.get_mut(&id)
        {
            session.set_rejected(&permission.tool_call, Some(RejectedBy::Rule), out);
        }
        out.tell(Tell::Ruled { session: id, title: permission.title, verdict, rule });
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
        let rule = Rule::allowing(&subject, &self.launch);
        let kind = subject.kind.word().to_owned();
        Permission { tool_call, title, kind, subject, entry, changes, rule, options }
    }
}
