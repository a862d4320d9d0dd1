//! The reducer is total: whatever happens, in whatever order, nothing breaks, every prompt and
//! every question is finished exactly once, and every request of the agent is answered exactly
//! once.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::BTreeMap;

use acp_nvim::session::agent::AgentInfo;
use acp_nvim::session::agent::{AuthKind, AuthMethod, Capabilities};
use acp_nvim::session::audit::By;
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Effect, Tell, Timer};
use acp_nvim::session::entry::{Chunk, Role, StopReason};
use acp_nvim::session::event::{
    Answer, Ask, CommandLine, DiskError, Event, Happened, Made, Origin, QueueChange, RealPath,
    Request, TerminalVerb, Told, Update, Wish,
};
use acp_nvim::session::failure::{Exit, RpcError, SpawnError};
use acp_nvim::session::ids::{AskId, ConnectionId, ReplyTo, SessionId, TurnId};
use acp_nvim::session::outcome::Outcome;
use acp_nvim::session::question::{
    Body, Elicitation, ElicitationMode, PermissionKind, PermissionOption, Question, Reaction,
};
use acp_nvim::session::rule::{Rule, Verdict};
use acp_nvim::session::state::State;
use acp_nvim::session::terminal::TerminalKey;
use acp_nvim::session::tool_call::{Location, TerminalExit, ToolCallUpdate, ToolStatus};
use proptest::prelude::*;
use support::{error, launch};

/// Something to happen, as small numbers that proptest can shrink.
type Step = (u8, u64, u64);

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

fn info(a: u64) -> AgentInfo {
    let protocol = if a.is_multiple_of(7) { "2" } else { "1" }.to_owned();
    let able = a.is_multiple_of(2);
    let can = Capabilities {
        load: able,
        resume: a.is_multiple_of(3),
        list: able,
        close: able,
        fork: able,
        delete: able,
        logout: able,
        set_title: able,
        ..Default::default()
    };
    let kind = match a % 4 {
        0 => AuthKind::Agent,
        1 => AuthKind::Terminal { args: vec![], env: vec![] },
        2 => AuthKind::Command { command: vec!["x".into()], env: vec![] },
        _ => AuthKind::Variables(vec!["KEY".into()]),
    };
    let method = AuthMethod { id: "m".into(), name: "M".into(), description: None, kind };
    AgentInfo { protocol, can, auth_methods: vec![method], ..Default::default() }
}

/// What the user or the editor does.
fn wish((kind, a, b): Step, tag: u64) -> Wish {
    let session = SessionId(a % 3 + 1);
    let ask = AskId(b % 12 + 1);
    match kind % 22 {
        19 => Wish::SetRewind(b.is_multiple_of(2)),
        20 => Wish::Note { session, text: "note".into() },
        0 => {
            let origin = match b % 3 {
                0 => Origin::New,
                1 => Origin::Kept("remote 1".into()),
                _ => Origin::Fork(SessionId(1)),
            };
            Wish::Open { session, launch: launch(b % 4), origin }
        }
        1..=3 => Wish::Prompt { session, content: vec![text("hi")], tag },
        4 => Wish::Steer { session, content: vec![text("hi")], tag },
        5 => Wish::Cancel(session),
        6 => Wish::Close(session),
        7 => Wish::Restart(session),
        8 => Wish::Kill(session),
        9 => Wish::Wait(session),
        10 => Wish::Probe { tag, launch: launch(b % 2) },
        11 => {
            let ask = match b % 6 {
                0 => Ask::ListSessions,
                1 => Ask::SetMode("m".into()),
                2 => Ask::SetOption("o".into(), "v".into()),
                3 => Ask::SetTitle("t".into()),
                4 => Ask::LogOut,
                _ => Ask::DeleteSession("remote 2".into()),
            };
            Wish::Ask { session, ask, tag }
        }
        12 => Wish::LogIn { session, method: "m".into() },
        13 => Wish::LoggedIn { session, ok: b.is_multiple_of(2) },
        14 => Wish::Answer { ask, reaction: Reaction::Option("yes".into()), by: By::User },
        15 => Wish::Answer { ask, reaction: Reaction::Dismiss, by: By::User },
        16 => Wish::Answer { ask, reaction: Reaction::NotLoaded, by: By::User },
        18 => {
            let change = match b % 3 {
                0 => QueueChange::Remove,
                1 => QueueChange::Edit(vec![text("other")]),
                _ => QueueChange::Move(usize::try_from(b % 4).unwrap()),
            };
            Wish::Queue { session, tag: b % 200, change }
        }
        17 => Wish::Answer { ask, reaction: Reaction::Text("text".into()), by: By::User },
        _ => {
            let verdict = if b.is_multiple_of(2) { Verdict::Allow } else { Verdict::Reject };
            let rule = Rule { verdict, ..Default::default() };
            Wish::SetRules(if a.is_multiple_of(2) { vec![rule] } else { vec![] })
        }
    }
}

fn request((kind, a, b): Step) -> Request {
    let remote = format!("remote {}", a % 3 + 1).into();
    let terminal = format!("acp-{}", b % 4 + 1).into();
    let command =
        CommandLine { command: "ls".into(), args: vec![], env: vec![], cwd: None, limit: None };
    match kind % 9 {
        0 => Request::Unknown { method: "m".into() },
        1 => {
            let option = PermissionOption {
                id: "yes".into(),
                name: "Yes".into(),
                kind: PermissionKind::AllowOnce,
            };
            Request::Permission {
                remote,
                tool_call: "t".into(),
                update: Box::new(ToolCallUpdate {
                    locations: a
                        .is_multiple_of(2)
                        .then(|| vec![Location { path: "x".into(), line: None }]),
                    ..Default::default()
                }),
                options: vec![option],
            }
        }
        2 => Request::ReadFile { remote, path: "a".into(), line: None, limit: None },
        3 => Request::WriteFile { remote, path: "a".into(), text: "b".into() },
        4 => Request::Run { remote, command, to_the_end: b.is_multiple_of(2) },
        5 => Request::Terminal { remote, terminal, verb: TerminalVerb::Wait },
        6 => Request::Terminal {
            remote,
            terminal,
            verb: match a % 3 {
                0 => TerminalVerb::Output,
                1 => TerminalVerb::Kill,
                _ => TerminalVerb::Release,
            },
        },
        7 => {
            let mode = ElicitationMode::Url { id: "e".into(), url: "https://x".into() };
            let elicitation = Elicitation { message: "m".into(), tool_call: None, mode };
            Request::Elicit { remote: (a.is_multiple_of(2)).then_some(remote), elicitation }
        }
        _ => Request::ListDirectory {
            remote,
            path: if a.is_multiple_of(2) { "." } else { "/else" }.into(),
        },
    }
}

fn answer((kind, a, b): Step) -> Answer {
    let session = SessionId(a % 3 + 1);
    let refused = || RpcError {
        code: match b % 4 {
            0 => -1,
            1 => -32000,
            2 => -32002,
            _ => -32602,
        },
        ..error()
    };
    match kind % 12 {
        0..=2 => Answer::Initialize(Ok(info(a))),
        3 => Answer::Initialize(Err(refused())),
        4..=6 => Answer::Session {
            session,
            result: Ok(Made {
                remote: Some(format!("remote {}", a % 3 + 1).into()),
                steering: b.is_multiple_of(2),
                ..Default::default()
            }),
        },
        7 => Answer::Session { session, result: Err(refused()) },
        8 => {
            let result = if a.is_multiple_of(2) { Ok(StopReason::EndTurn) } else { Err(refused()) };
            Answer::Prompt { session, turn: TurnId(b % 3 + 1), result }
        }
        9 => Answer::Authenticate {
            session,
            result: if b.is_multiple_of(2) { Ok(None) } else { Err(refused()) },
        },
        10 => Answer::Asked {
            session,
            ask: Ask::ListSessions,
            tag: b % 100,
            result: Ok(Told::Sessions(vec![], None)),
        },
        _ => Answer::Steered { session, result: Err(refused()) },
    }
}

fn happened((kind, a, b): Step, connection: ConnectionId, tag: u64) -> Happened {
    let remote: std::sync::Arc<str> = format!("remote {}", a % 3 + 1).into();
    match kind % 12 {
        0 | 1 => Happened::Started,
        2 => Happened::NotStarted(SpawnError::NotFound),
        3 => Happened::Exited { exit: Exit::Code(1), stderr: vec!["bye".into()] },
        4 => {
            let role = if b.is_multiple_of(2) { Role::Agent } else { Role::User };
            let update = Update::Chunk(Chunk { role, content: text("x"), message: None });
            Happened::Updated { remote, update }
        }
        5 => {
            let update = acp_nvim::session::tool_call::ToolCallUpdate {
                status: Some(ToolStatus::Completed),
                ..Default::default()
            };
            Happened::Updated { remote, update: Update::ToolCall("t".into(), Box::new(update)) }
        }
        6 => Happened::Withdrawn(format!("{}", tag.saturating_sub(b % 5)).into()),
        7 => Happened::TurnEnded { remote, reason: StopReason::EndTurn },
        8 => Happened::ElicitationComplete("e".into()),
        9 => Happened::AuthComplete,
        _ => {
            let reply = ReplyTo { connection, id: tag.to_string().into() };
            Happened::Requested { reply, request: request((kind / 12, a, b)) }
        }
    }
}

/// Few sessions and connections, so that events meet.
fn event((kind, a, b): Step, tag: u64) -> Event {
    let connection = ConnectionId(b % 5 + 1);
    let terminal = format!("acp-{}", b % 4 + 1).into();
    let key = TerminalKey { session: SessionId(a % 3 + 1), terminal };
    let step = (kind / 8, a, b);
    match kind % 8 {
        0..=2 => Event::User(wish(step, tag)),
        3 | 4 => Event::Agent { connection, happened: Happened::Answered(answer(step)) },
        5 | 6 => Event::Agent { connection, happened: happened(step, connection, tag) },
        _ => match a % 9 {
            8 => Event::Recorded(SessionId(a % 3 + 1), TurnId(b % 4)),
            0 => Event::Disk { ask: AskId(b % 12 + 1), result: Ok("text".into()) },
            1 => Event::Disk { ask: AskId(b % 12 + 1), result: Err(DiskError::NotFound) },
            2 => Event::TerminalOutput(key, "out".into()),
            3 => Event::TerminalExited(key, Ok(TerminalExit::default())),
            4 if a % 2 == 0 => Event::TimerFired(Timer::NoPaths(AskId(b % 12 + 1))),
            4 => Event::TimerFired(Timer::NoEditor(AskId(b % 12 + 1))),
            5 if a % 2 == 0 => {
                let real = [("/p/x".to_owned(), "/p/x".to_owned())].into();
                Event::PathsResolved { ask: AskId(b % 12 + 1), real }
            }
            5 | 6 => {
                let (ask, path) = (AskId(b % 12 + 1), "/p/x".to_owned());
                let real = RealPath { path, inside: a % 9 == 5, repository: b % 5 == 0 };
                Event::Resolved { ask, real }
            }
            _ => Event::TimerFired(match b % 3 {
                0 => Timer::NoAnswer { connection, patience: u32::try_from(a % 4).unwrap() },
                1 => Timer::NotStopped {
                    session: SessionId(a % 3 + 1),
                    turn: TurnId(b % 4),
                    waits: u32::try_from(a % 2).unwrap(),
                },
                _ => Timer::Reconnect {
                    session: SessionId(a % 3 + 1),
                    attempt: u32::try_from(b % 3).unwrap(),
                },
            }),
        },
    }
}

#[derive(Debug, Default)]
struct Ledger {
    prompts: BTreeMap<u64, usize>,
    requests: BTreeMap<String, usize>,
    probes: BTreeMap<u64, usize>,
    asks: BTreeMap<u64, usize>,
    questions: BTreeMap<u64, usize>,
}

impl Ledger {
    fn expect(&mut self, event: &Event) {
        match event {
            Event::User(Wish::Prompt { tag, .. } | Wish::Steer { tag, .. }) => {
                self.prompts.insert(*tag, 0);
            }
            Event::User(Wish::Probe { tag, .. }) => {
                self.probes.insert(*tag, 0);
            }
            Event::User(Wish::Ask { tag, .. }) => {
                self.asks.insert(*tag, 0);
            }
            Event::Agent { happened: Happened::Requested { reply, .. }, .. } => {
                self.requests.insert(reply.id.to_string(), 0);
            }
            _ => {}
        }
    }

    fn enter(&mut self, out: Outcome) {
        for effect in out.effects {
            match effect {
                Effect::Tell(Tell::TurnFinished { tag, .. }) => {
                    *self.prompts.get_mut(&tag).unwrap() += 1
                }
                Effect::Tell(Tell::Probed { tag, .. }) => *self.probes.get_mut(&tag).unwrap() += 1,
                Effect::Tell(Tell::AskDone { tag, .. }) => *self.asks.get_mut(&tag).unwrap() += 1,
                Effect::Tell(Tell::Asked(
                    ask,
                    Question { body: Body::Permission(_) | Body::Elicitation(_), .. },
                )) => {
                    assert_eq!(self.questions.insert(ask.0, 0), None)
                }
                Effect::Tell(Tell::Settled { ask, .. }) => {
                    *self.questions.entry(ask.0).or_default() += 1
                }
                Effect::Reply { reply, .. } => *self.requests.get_mut(&*reply.id).unwrap() += 1,
                _ => {}
            }
        }
    }
}

fn apply(state: &mut State, ledger: &mut Ledger, event: Event) {
    let mut out = Outcome::default();
    ledger.expect(&event);
    state.apply(event, &mut out);
    for (session, entry) in &out.dirty {
        if let Some(session) = state.session(*session) {
            assert!(*entry < session.entries.len(), "a dirty entry exists");
        }
    }
    for session in state.sessions() {
        let waiting = state.asks().filter(|(_, it)| it.session == session.id);
        assert!(session.pending.len() <= waiting.count(), "what waits is open");
    }
    ledger.enter(out);
}

proptest! {
    #[test]
    fn everything_is_finished_exactly_once(steps in prop::collection::vec(any::<Step>(), 0..200)) {
        let (mut state, mut ledger) = (State::default(), Ledger::default());
        for (tag, step) in (0..).zip(steps) {
            apply(&mut state, &mut ledger, event(step, tag));
        }
        for session in 1..=3 {
            apply(&mut state, &mut ledger, Event::User(Wish::Close(SessionId(session))));
        }
        for connection in 1..300 {
            let happened = Happened::Exited { exit: Exit::Code(0), stderr: vec![] };
            let event = Event::Agent { connection: ConnectionId(connection), happened };
            apply(&mut state, &mut ledger, event);
        }
        for (what, count) in [&ledger.prompts, &ledger.probes, &ledger.asks, &ledger.questions].into_iter().flatten() {
            prop_assert_eq!(*count, 1, "{}", what);
        }
        for (what, count) in &ledger.requests {
            prop_assert_eq!(*count, 1, "request {}", what);
        }
    }
}
