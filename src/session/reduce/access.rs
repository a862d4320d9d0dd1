//! Whether an agent may touch a file through us at all: what is in the session's folders it may,
//! anything else a rule or the user must allow. Reads of files that are private, and what is a part
//! of a repository itself, only the user.

use std::time::Duration;

use super::command::Start;
use crate::session::audit::{By, Deed};
use crate::session::effect::{Effect, Tell, Timer};
use crate::session::event::RealPath;
use crate::session::failure::RpcError;
use crate::session::glob::Glob;
use crate::session::ids::{AskId, ReplyTo, SessionId};
use crate::session::outcome::Outcome;
use crate::session::paths;
use crate::session::question::{
    Body, Permission, PermissionKind, PermissionOption, Question, Reaction,
};
use crate::session::rule::{self, Rule, Verdict};
use crate::session::state::{AllowedAction, OpenAsk, Session, State, Turn, With};
use crate::session::subject::Subject;
use crate::session::tool_call::ToolKind;

/// How long Neovim may be busy, or wait for a key, before an agent hears that it is.
const EDITOR: Duration = Duration::from_secs(20);

impl State {
    /// Opens a question about a file, which the editor is asked once it is known where it is.
    pub(super) fn ask_about_file(
        &mut self,
        (reply, session): (ReplyTo, SessionId),
        body: Body,
        out: &mut Outcome,
    ) {
        let Some(launch) = self.sessions.get(&session).map(|it| &it.launch) else { return };
        let roots = std::iter::once(&launch.cwd).chain(&launch.directories).cloned().collect();
        let path = path_of(&body).to_owned();
        self.next_ask += 1;
        let ask = AskId(self.next_ask);
        self.asks.insert(ask, OpenAsk { session, body, reply, with: With::Disk, then: None });
        out.effects.push(Effect::Resolve { ask, path, roots });
    }

    /// It is known where a file is.
    pub(super) fn resolved(&mut self, id: AskId, real: RealPath, out: &mut Outcome) {
        let Some(ask) = self.asks.get_mut(&id) else { return };
        let asked = paths::join("", path_of(&ask.body));
        if !matches!(ask.body, Body::Read(_) | Body::Write { .. } | Body::List(_)) {
            return;
        }
        set_path(&mut ask.body, real.path.clone());
        let Some(ask) = self.asks.get(&id) else { return };
        let Some(reason) = self.reason(&ask.body, &asked, &real) else {
            return self.allowed(id, out);
        };
        let Some(session) = self.sessions.get(&ask.session) else { return };
        let permission = session.access(&ask.body, reason);
        out.audit(session, &permission, Deed::Asked);
        if let Turn::Cancelling(_) = session.turn {
            return self.refuse(id, "the turn is being cancelled", out);
        }
        let rule = rule::first(&self.rules, &permission.subject, &session.launch);
        if let Some(rule) = rule {
            let (verdict, words) = (rule.verdict, rule.words());
            let option = verdict.option(&permission.options).cloned();
            out.audit(session, &permission, Deed::Ruled { verdict, rule: words.clone(), option });
            let title = permission.title.clone();
            let told = Tell::Ruled { session: session.id, title, verdict, rule: words };
            match verdict {
                Verdict::Allow if reason.yields_to_rules() => {
                    out.tell(told);
                    return self.allowed(id, out);
                }
                Verdict::Reject => {
                    out.tell(told);
                    return self.refuse(id, "a rule of the user forbids it", out);
                }
                Verdict::Allow | Verdict::Ask => {}
            }
        }
        self.ask_access(id, permission, out);
    }

    /// Why a file is not to be touched unasked. Both its names count: the one that the agent used,
    /// and the one that it leads to.
    fn reason(&self, body: &Body, asked: &str, real: &RealPath) -> Option<Reason> {
        let names = [asked, real.path.as_str()];
        let own = real.repository || names.iter().any(|it| paths::is_in_repository(it));
        let decides = match body {
            Body::Write { .. } => true,
            Body::Read(_) => names.iter().any(|it| paths::is_configuration(it)),
            _ => false,
        };
        let reads = matches!(body, Body::Read(_));
        if reads && names.iter().any(|it| self.is_private(it)) {
            Some(Reason::Private)
        } else if own && decides {
            Some(Reason::Repository)
        } else {
            (!real.inside).then_some(Reason::Outside)
        }
    }

    fn ask_access(&mut self, id: AskId, permission: Permission, out: &mut Outcome) {
        let session = self.asks.get(&id).map(|it| it.session);
        if session.is_some_and(|it| self.asks_too_much(it)) {
            return self.refuse(id, "too many questions wait for the user already", out);
        }
        let Some(ask) = self.asks.get_mut(&id) else { return };
        let body = Body::Permission(Box::new(permission));
        let question = std::mem::replace(&mut ask.body, body.clone());
        ask.then = Some(AllowedAction::File(question));
        ask.with = With::User;
        let session = ask.session;
        out.tell(Tell::Asked(id, Question { session, body: body.clone() }));
        if let Some(session) = self.sessions.get_mut(&session) {
            session.wait_for_user(id, &body, out);
        }
    }

    /// The user says whether an agent may touch a file.
    pub(super) fn access_answered(
        &mut self,
        id: AskId,
        (reaction, by): (Reaction, By),
        out: &mut Outcome,
    ) {
        let Some(OpenAsk { session, body: Body::Permission(permission), .. }) = self.asks.get(&id)
        else {
            return;
        };
        let (session, mut chosen) = (*session, None);
        if let Reaction::Option(option) = &reaction {
            chosen = permission.options.iter().find(|it| it.id == *option).cloned();
            if chosen.is_none() {
                return;
            }
        } else if reaction != Reaction::Dismiss {
            return;
        }
        if let Some(session) = self.sessions.get(&session) {
            out.audit(session, permission, Deed::Answered { option: chosen.clone(), by });
        }
        let kind = chosen.as_ref().map(|it| it.kind);
        if !matches!(kind, Some(PermissionKind::AllowOnce | PermissionKind::AllowAlways)) {
            return self.refuse(id, "the user does not allow it", out);
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            session.wait_no_longer(id, out);
        }
        out.tell(Tell::Settled { ask: id, session, option: chosen.map(|it| it.id) });
        out.tell(Tell::SessionChanged(session));
        self.do_allowed(id, out);
    }

    /// Does what the user has just allowed.
    fn do_allowed(&mut self, id: AskId, out: &mut Outcome) {
        let Some(mut ask) = self.asks.remove(&id) else { return };
        match ask.then.take() {
            Some(AllowedAction::File(question)) => {
                ask.body = question;
                self.asks.insert(id, ask);
                self.allowed(id, out);
            }
            Some(AllowedAction::Run { command, to_the_end }) => {
                let OpenAsk { session, reply, .. } = ask;
                self.start(session, Start { reply, command, to_the_end }, out);
            }
            None => drop(self.asks.insert(id, ask)),
        }
    }

    fn refuse(&mut self, id: AskId, why: &str, out: &mut Outcome) {
        let Some(ask) = self.asks.get(&id) else { return };
        let error = match (&ask.then, &ask.body) {
            (Some(AllowedAction::Run { .. }), Body::Permission(it)) => it.not_run(why),
            (Some(AllowedAction::File(body)), _) | (_, body) => {
                let words = format!("{} must not be touched: {why}", path_of(body));
                RpcError::new(RpcError::INVALID_PARAMS, words)
            }
        };
        self.settle(id, Err(error), out);
    }

    /// Nothing is in the way of a question about a file any more.
    fn allowed(&mut self, id: AskId, out: &mut Outcome) {
        let Some(ask) = self.asks.get_mut(&id) else { return };
        if let Body::List(path) = &ask.body {
            ask.with = With::Disk;
            return out.effects.push(Effect::ListDisk(id, path.clone()));
        }
        ask.with = With::Editor;
        let question = Question { session: ask.session, body: ask.body.clone() };
        out.tell(Tell::Asked(id, question));
        out.effects.push(Effect::SetTimer { timer: Timer::NoEditor(id), after: EDITOR });
    }

    fn is_private(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.private.iter().any(|pattern| match pattern.contains('/') {
            true => {
                let anywhere = |it: &str| format!("/**/{}", it.trim_start_matches("~/"));
                Glob::path(pattern, anywhere).is_ok_and(|it| it.matches(path))
            }
            false => Glob::word(pattern).is_ok_and(|it| it.matches(name)),
        })
    }
}

/// Why a file is not to be touched unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It is in none of the session's folders.
    Outside,
    /// The user says that it is nobody's business.
    Private,
    /// It is a part of the repository itself: what is written there is run, or tells secrets.
    Repository,
}

impl Reason {
    /// Whether a rule may allow it beforehand.
    fn yields_to_rules(self) -> bool {
        self == Reason::Outside
    }

    fn as_str(self) -> &'static str {
        match self {
            Reason::Outside => "outside of the project",
            Reason::Private => "private",
            Reason::Repository => "part of the repository itself",
        }
    }
}

impl Session {
    fn access(&self, body: &Body, reason: Reason) -> Permission {
        let (kind, verb) = match body {
            Body::Write { .. } => (ToolKind::Edit, "write"),
            Body::List(_) => (ToolKind::Read, "list"),
            _ => (ToolKind::Read, "read"),
        };
        let path = path_of(body);
        let title = format!("{verb} {path} ({})", reason.as_str());
        let subject = Subject::of_file(kind, path);
        let rule = Rule::allowing(&subject, &self.launch).filter(|_| reason.yields_to_rules());
        Permission { title, ..Permission::for_access(subject, rule, "Always allow this file") }
    }
}

impl Permission {
    /// A question of ours: whether an agent may touch or run something through us. With a rule, it
    /// can be allowed from now on, in these words.
    pub(super) fn for_access(subject: Subject, rule: Option<Rule>, always: &str) -> Permission {
        let option = |id: &str, name: &str, kind| PermissionOption {
            id: id.to_owned(),
            name: name.to_owned(),
            kind,
        };
        let mut options = vec![option("allow", "Allow once", PermissionKind::AllowOnce)];
        if rule.is_some() {
            options.push(option("always", always, PermissionKind::AllowAlways));
        }
        options.push(option("refuse", "Refuse", PermissionKind::RejectOnce));
        Permission {
            tool_call: "".into(),
            title: String::new(),
            kind: subject.kind.word().to_owned(),
            subject,
            entry: None,
            changes: 0,
            rule,
            options,
        }
    }
}

fn path_of(body: &Body) -> &str {
    match body {
        Body::Read(range) => &range.path,
        Body::Write { path, .. } | Body::List(path) => path,
        Body::Permission(_) | Body::Elicitation(_) => "",
    }
}

fn set_path(body: &mut Body, real: String) {
    match body {
        Body::Read(range) => range.path = real,
        Body::Write { path, .. } | Body::List(path) => *path = real,
        Body::Permission(_) | Body::Elicitation(_) => {}
    }
}
