//! The reducer is total: whatever happens, in whatever order, nothing breaks, every prompt is
//! finished exactly once and every request of the agent is answered exactly once.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;

use acp_nvim::session::effect::{Call, Effect, Tell, Timer};
use acp_nvim::session::event::{Answer, Chunk, Event, Happened, Request, Update, Wish};
use acp_nvim::session::failure::{Exit, RpcError, SpawnError};
use acp_nvim::session::ids::{ConnectionId, ReplyTo, SessionId, TurnId};
use acp_nvim::session::outcome::Outcome;
use acp_nvim::session::state::{AgentInfo, Content, How, Launch, Role, State, StopReason};
use proptest::prelude::*;

/// Something to happen, as small numbers that proptest can shrink.
type Step = (u8, u64, u64);

fn launch(agent: u64) -> Launch {
    let how = How::Program(vec!["agent".into()]);
    Launch {
        agent: format!("agent {agent}"),
        how,
        env: vec![],
        cwd: "/".into(),
        install: None,
        patience: std::time::Duration::ZERO,
    }
}

fn error() -> RpcError {
    RpcError { code: -1, message: "no".into(), details: None }
}

/// Few sessions and connections, so that events meet.
fn event((kind, a, b): Step, tag: u64) -> Event {
    let session = SessionId(a % 3 + 1);
    let connection = ConnectionId(b % 4 + 1);
    let agent = |happened| Event::Agent { connection, happened };
    let remote = format!("remote {}", a % 3 + 1).into();
    match kind % 20 {
        0 => Event::User(Wish::Open { session, launch: launch(b % 2) }),
        1 | 2 => {
            let content = vec![Content::Text("hi".into())];
            Event::User(Wish::Prompt { session, content, tag })
        }
        3 => Event::User(Wish::Cancel(session)),
        4 => Event::User(Wish::Close(session)),
        5 => Event::User(Wish::Restart(session)),
        6 => Event::User(Wish::Kill(session)),
        7 => Event::User(Wish::Wait(session)),
        8 => Event::User(Wish::Probe { tag, launch: launch(b % 2) }),
        9 => agent(Happened::Started),
        10 => agent(Happened::NotStarted(SpawnError::NotFound)),
        11 => agent(Happened::Exited { exit: Exit::Code(1), stderr: vec!["bye".into()] }),
        12 => {
            let protocol = if a % 5 == 0 { "2" } else { "1" }.to_owned();
            agent(Happened::Answered(Answer::Initialize(Ok(AgentInfo {
                protocol,
                ..Default::default()
            }))))
        }
        13 => agent(Happened::Answered(Answer::Initialize(Err(error())))),
        14 => agent(Happened::Answered(Answer::NewSession { session, result: Ok(remote) })),
        15 => agent(Happened::Answered(Answer::NewSession { session, result: Err(error()) })),
        16 => {
            let result = if a % 2 == 0 { Ok(StopReason::EndTurn) } else { Err(error()) };
            agent(Happened::Answered(Answer::Prompt { session, turn: TurnId(b % 3 + 1), result }))
        }
        17 => {
            let role = if a % 2 == 0 { Role::Agent } else { Role::User };
            let update =
                Update::Chunk(Chunk { role, content: Content::Text("x".into()), message: None });
            agent(Happened::Updated { remote, update })
        }
        18 => {
            let reply = ReplyTo { connection, id: tag.to_string().into() };
            agent(Happened::Requested { reply, request: Request::Unknown { method: "m".into() } })
        }
        _ => {
            let patience = u32::try_from(a % 4).unwrap();
            Event::TimerFired(Timer::NoAnswer { connection, patience })
        }
    }
}

#[derive(Debug, Default)]
struct Ledger {
    prompts: BTreeMap<u64, usize>,
    requests: BTreeMap<String, usize>,
    probes: BTreeMap<u64, usize>,
}

impl Ledger {
    fn expect(&mut self, event: &Event) {
        match event {
            Event::User(Wish::Prompt { tag, .. }) => drop(self.prompts.insert(*tag, 0)),
            Event::User(Wish::Probe { tag, .. }) => drop(self.probes.insert(*tag, 0)),
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
    ledger.enter(out);
}

proptest! {
    #[test]
    fn everything_is_finished_exactly_once(steps in prop::collection::vec(any::<Step>(), 0..120)) {
        let (mut state, mut ledger) = (State::default(), Ledger::default());
        for (tag, step) in (0..).zip(steps) {
            apply(&mut state, &mut ledger, event(step, tag));
        }
        for session in 1..=3 {
            apply(&mut state, &mut ledger, Event::User(Wish::Close(SessionId(session))));
        }
        for connection in 1..200 {
            let happened = Happened::Exited { exit: Exit::Code(0), stderr: vec![] };
            let event = Event::Agent { connection: ConnectionId(connection), happened };
            apply(&mut state, &mut ledger, event);
        }
        for (what, count) in [&ledger.prompts, &ledger.probes].into_iter().flatten() {
            prop_assert_eq!(*count, 1, "{}", what);
        }
        for (what, count) in &ledger.requests {
            prop_assert_eq!(*count, 1, "{}", what);
        }
    }
}

/// Brings a session to where it can be prompted.
fn ready() -> (State, Ledger) {
    let (mut state, mut ledger) = (State::default(), Ledger::default());
    let agent = |happened| Event::Agent { connection: ConnectionId(1), happened };
    let info = AgentInfo { protocol: "1".into(), ..Default::default() };
    let made = Answer::NewSession { session: SessionId(1), result: Ok("remote 1".into()) };
    for event in [
        Event::User(Wish::Open { session: SessionId(1), launch: launch(0) }),
        agent(Happened::Started),
        agent(Happened::Answered(Answer::Initialize(Ok(info)))),
        agent(Happened::Answered(made)),
    ] {
        apply(&mut state, &mut ledger, event);
    }
    (state, ledger)
}

fn prompt(tag: u64) -> Event {
    let content = vec![Content::Text("hi".into())];
    Event::User(Wish::Prompt { session: SessionId(1), content, tag })
}

#[test]
fn prompts_typed_while_busy_wait_their_turn() {
    let (mut state, mut ledger) = ready();
    apply(&mut state, &mut ledger, prompt(1));
    let mut out = Outcome::default();
    ledger.prompts.insert(2, 0);
    state.apply(prompt(2), &mut out);
    assert!(!out.effects.iter().any(|it| matches!(it, Effect::Call { .. })), "{out:?}");
    assert_eq!(state.session(SessionId(1)).unwrap().queue.len(), 1);
    let ended =
        Answer::Prompt { session: SessionId(1), turn: TurnId(1), result: Ok(StopReason::EndTurn) };
    let mut out = Outcome::default();
    let event = Event::Agent { connection: ConnectionId(1), happened: Happened::Answered(ended) };
    state.apply(event, &mut out);
    let sent = out
        .effects
        .iter()
        .filter(|it| matches!(it, Effect::Call { call: Call::Prompt { .. }, .. }));
    assert_eq!(sent.count(), 1);
}

#[test]
fn a_second_session_shares_the_running_agent() {
    let (mut state, _) = ready();
    let mut out = Outcome::default();
    state.apply(Event::User(Wish::Open { session: SessionId(2), launch: launch(0) }), &mut out);
    assert!(!out.effects.iter().any(|it| matches!(it, Effect::Spawn { .. })), "{out:?}");
    let asks = |it: &Effect| matches!(it, Effect::Call { call: Call::NewSession { .. }, .. });
    assert!(out.effects.iter().any(asks), "{out:?}");
}

#[test]
fn an_error_after_cancel_is_a_cancelled_turn() {
    let (mut state, mut ledger) = ready();
    apply(&mut state, &mut ledger, prompt(1));
    apply(&mut state, &mut ledger, Event::User(Wish::Cancel(SessionId(1))));
    let ended = Answer::Prompt { session: SessionId(1), turn: TurnId(1), result: Err(error()) };
    let mut out = Outcome::default();
    let event = Event::Agent { connection: ConnectionId(1), happened: Happened::Answered(ended) };
    state.apply(event, &mut out);
    let result = out.effects.iter().find_map(|it| match it {
        Effect::Tell(Tell::TurnFinished { result, .. }) => Some(result.clone()),
        _ => None,
    });
    assert_eq!(result, Some(Ok(StopReason::Cancelled)));
}
