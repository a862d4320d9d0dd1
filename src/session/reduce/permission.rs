//! Permissions: answered by a rule, or else by the user.

use super::ask::no_session;
use crate::session::effect::{Reply, Tell};
use crate::session::entry::Entry;
use crate::session::ids::{RemoteId, ReplyTo};
use crate::session::outcome::Outcome;
use crate::session::question::{Body, Permission, PermissionOption};
use crate::session::rule::{self, Rule, Verdict};
use crate::session::state::{Session, State, Turn};
use crate::session::subject::Subject;
use crate::session::tool_call::{ToolCallId, ToolCallUpdate};

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
        let id = session.id;
        if let Turn::Cancelling(_) = session.turn {
            return out.reply(reply, Ok(Reply::Permission(None)));
        }
        let permission = session.permission(tool_call, options);
        let launch = session.launch.clone();
        let rule = rule::first(&self.rules, &permission.subject, &launch);
        let Some(ruling) = rule.and_then(|rule| permission.ruling(rule)) else {
            self.ask((reply, id), Body::Permission(Box::new(permission)), out);
            return;
        };
        out.reply(reply, Ok(Reply::Permission(ruling.option)));
        let (verdict, rule) = (ruling.verdict, ruling.rule);
        out.tell(Tell::Ruled { session: id, title: permission.title, verdict, rule });
    }
}

/// What a rule answers in the user's place.
struct Ruling {
    verdict: Verdict,
    /// The rule, for people.
    rule: String,
    /// The option it chooses; none to cancel the request.
    option: Option<String>,
}

impl Session {
    /// What is asked, from all that is known of the tool call.
    fn permission(&self, tool_call: ToolCallId, options: Vec<PermissionOption>) -> Permission {
        let entry = self.tool_calls.get(&tool_call).copied();
        let (title, subject) = match entry.and_then(|index| self.entries.get(index)) {
            Some(Entry::ToolCall(it)) => (it.title.clone(), it.subject()),
            _ => (tool_call.to_string(), Subject::default()),
        };
        let rule = Rule::allowing(&subject, &self.launch);
        let kind = subject.kind.word().to_owned();
        Permission { tool_call, title, kind, subject, entry, rule, options }
    }
}

impl Permission {
    /// What a rule makes of it; none where the user is asked all the same, because the rule says
    /// so or because the agent offers nothing that says yes.
    fn ruling(&self, rule: &Rule) -> Option<Ruling> {
        let verdict = rule.verdict;
        let option = verdict.option(&self.options).map(|option| option.id.clone());
        let decides = match verdict {
            Verdict::Allow => option.is_some(),
            Verdict::Reject => true,
            Verdict::Ask => false,
        };
        decides.then(|| Ruling { verdict, rule: rule.words(), option })
    }
}
