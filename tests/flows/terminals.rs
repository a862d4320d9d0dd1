//! Commands that agents run with us: whose they are, how many, and how much is kept of them.

use acp_nvim::session::effect::{Effect, Reply, Timer};
use acp_nvim::session::entry::{Entry, Note, StopReason};
use acp_nvim::session::event::{
    Answer, CommandLine, Event, Happened, Made, Origin, Request, TerminalVerb, Update, Wish,
};
use acp_nvim::session::failure::{Exit, RpcError};
use acp_nvim::session::ids::{ConnectionId, ReplyTo, SessionId, TurnId};
use acp_nvim::session::terminal::{Stop, TerminalKey};
use acp_nvim::session::tool_call::{
    TerminalExit, TerminalNews, ToolCallUpdate, ToolContent, ToolStatus,
};

use crate::support::launch;
use crate::world::{ONE, World};

const TWO: SessionId = SessionId(2);

pub(crate) fn command(line: &str) -> CommandLine {
    let command = line.to_owned();
    CommandLine { command, args: vec![], env: vec![], cwd: None, limit: None }
}

pub(crate) fn run(line: &str) -> Request {
    Request::Run { remote: "r1".into(), command: command(line), to_the_end: false }
}

fn about(terminal: &str, verb: TerminalVerb) -> Request {
    about_of("r1", terminal, verb)
}

fn about_of(remote: &str, terminal: &str, verb: TerminalVerb) -> Request {
    Request::Terminal { remote: remote.into(), terminal: terminal.into(), verb }
}

pub(crate) fn key(session: SessionId, terminal: &str) -> TerminalKey {
    TerminalKey { session, terminal: terminal.into() }
}

pub(crate) fn killed(world: &World) -> Vec<TerminalKey> {
    let killed = world.last.iter().filter_map(|it| match it {
        Effect::KillCommand(key) => Some(key.clone()),
        _ => None,
    });
    killed.collect()
}

fn says(world: &mut World, terminal: &str, text: &str) {
    world.event(Event::TerminalOutput(key(ONE, terminal), text.into()));
}

pub(crate) fn ends(world: &mut World, terminal: &str) {
    let exit = TerminalExit { code: Some(0), signal: None };
    world.event(Event::TerminalExited(key(ONE, terminal), Ok(exit)));
}

fn turn_ends(world: &mut World) {
    let result = Ok(StopReason::EndTurn);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
}

/// What the agent tells of a terminal, and of the tool call `t` that shows it.
fn meta(terminal: &str, output: &str, exit: Option<TerminalExit>) -> Update {
    let news = TerminalNews { terminal: terminal.into(), output: Some(output.into()), exit };
    let update = ToolCallUpdate { terminals: vec![news], ..Default::default() };
    Update::ToolCall("t".into(), Box::new(update))
}

pub(crate) fn showing(tool_call: &str, terminal: &str) -> Update {
    let content = Some(vec![ToolContent::Terminal(terminal.into())]);
    let status = Some(ToolStatus::InProgress);
    let update = ToolCallUpdate { content, status, ..Default::default() };
    Update::ToolCall(tool_call.into(), Box::new(update))
}

fn refusal<'a>(world: &'a World, id: &str) -> &'a RpcError {
    match world.replies()[..] {
        [(of, Err(error))] if of == id => error,
        _ => panic!("{:?}", world.last),
    }
}

/// A second session, with an agent of its own or with the agent of the first.
fn second(world: &mut World, agent: u64, remote: &str) -> u64 {
    world.wish(Wish::Open { session: TWO, launch: launch(agent), origin: Origin::New });
    if agent != 0 {
        world.agent(Happened::Started);
        let info =
            acp_nvim::session::agent::AgentInfo { protocol: "1".into(), ..Default::default() };
        world.answers(Answer::Initialize(Ok(info)));
    }
    let made = Made { remote: Some(remote.into()), ..Default::default() };
    world.answers(Answer::Session { session: TWO, result: Ok(made) });
    world.connection
}

#[test]
fn terminals_live_until_they_are_released() {
    let mut world = World::running();
    let about = |verb| about("acp-1", verb);
    world.requests("1", run("make"));
    assert_eq!(world.replies(), [("1", &Ok(Reply::Terminal("acp-1".into())))]);
    says(&mut world, "acp-1", "out");
    world.requests("2", about(TerminalVerb::Wait)).requests("3", about(TerminalVerb::Wait));
    world.requests("4", about(TerminalVerb::Output));
    let output = Reply::Output { output: "out".into(), truncated: false, exit: None };
    assert_eq!(world.replies(), [("4", &Ok(output))]);
    world.requests("5", about(TerminalVerb::Kill));
    assert_eq!(killed(&world), [key(ONE, "acp-1")]);
    let exit = TerminalExit { code: None, signal: Some("SIGTERM".into()) };
    world.event(Event::TerminalExited(key(ONE, "acp-1"), Ok(exit.clone())));
    assert_eq!(
        world.replies(),
        [("2", &Ok(Reply::Exit(exit.clone()))), ("3", &Ok(Reply::Exit(exit.clone())))]
    );
    world.requests("6", about(TerminalVerb::Wait));
    assert_eq!(world.replies(), [("6", &Ok(Reply::Exit(exit)))], "the id stays valid after a kill");
    world.requests("7", about(TerminalVerb::Release)).requests("8", about(TerminalVerb::Output));
    assert_eq!(refusal(&world, "8").code, RpcError::INVALID_PARAMS);
}

/// Neither another agent nor another session of the same one knows a terminal by its id.
#[test]
fn nobody_touches_the_terminal_of_another_session() {
    for agent in [0, 1] {
        let mut world = World::running();
        let first = world.connection;
        world.requests("run", run("secret")).requests("wait", about("acp-1", TerminalVerb::Wait));
        says(&mut world, "acp-1", "PRIVATE");
        world.connection = second(&mut world, agent, "r2");
        // It claims the id as one of its own, and shows it.
        let claim = Happened::Updated { remote: "r2".into(), update: meta("acp-1", "", None) };
        world.agent(claim);
        world.agent(Happened::Updated { remote: "r2".into(), update: showing("t", "acp-1") });
        assert!(
            world
                .state
                .session(TWO)
                .unwrap()
                .terminals
                .get(&"acp-1".into())
                .unwrap()
                .output
                .is_empty()
        );
        for verb in
            [TerminalVerb::Output, TerminalVerb::Wait, TerminalVerb::Kill, TerminalVerb::Release]
        {
            world.requests("x", about_of("r2", "acp-1", verb));
            assert_eq!(refusal(&world, "x").code, RpcError::INVALID_PARAMS, "{verb:?}");
            assert_eq!(killed(&world), []);
        }
        world.wish(Wish::Close(TWO));
        assert_eq!(killed(&world), [], "it has no command");
        world.connection = first;
        world.requests("output", about("acp-1", TerminalVerb::Output));
        assert!(
            matches!(world.replies()[..], [("output", Ok(Reply::Output { output, .. }))] if output == "PRIVATE")
        );
        ends(&mut world, "acp-1");
        assert!(matches!(world.replies()[..], [("wait", Ok(Reply::Exit(_)))]), "{:?}", world.last);
    }
}

/// What an agent says of terminals of its own never changes one of ours, whoever was first.
#[test]
fn the_agents_own_terminals_are_others() {
    let mut world = World::running();
    let exit = || Some(TerminalExit { code: Some(9), signal: None });
    world.updates(meta("acp-1", "theirs", exit()));
    world.requests("1", run("make"));
    world.updates(meta("acp-1", "forged", exit()));
    says(&mut world, "acp-1", "real");
    world.requests("2", about("acp-1", TerminalVerb::Wait));
    assert_eq!(world.replies(), [], "it still runs");
    world.requests("3", about("acp-1", TerminalVerb::Output));
    let output = Reply::Output { output: "real".into(), truncated: false, exit: None };
    assert_eq!(world.replies(), [("3", &Ok(output))]);
    let shown = world.session().terminals.get(&"acp-1".into()).unwrap();
    assert_eq!(shown.output, "real", "the chat shows ours");
    world.requests("4", about("own", TerminalVerb::Kill));
    assert_eq!(refusal(&world, "4").code, RpcError::INVALID_PARAMS);
    ends(&mut world, "acp-1");
    assert_eq!(world.replies().len(), 1);
}

#[test]
fn every_wait_is_answered() {
    for how in ["closed", "killed", "died", "shut down", "withdrawn"] {
        let mut world = World::running();
        world.requests("run", run("make")).requests("wait", about("acp-1", TerminalVerb::Wait));
        assert_eq!(world.replies(), []);
        match how {
            "closed" => world.wish(Wish::Close(ONE)),
            "killed" => world.wish(Wish::Kill(ONE)),
            "died" => world.agent(Happened::Exited { exit: Exit::Code(1), stderr: vec![] }),
            "shut down" => world.event(Event::Shutdown),
            _ => world.agent(Happened::Withdrawn("wait".into())),
        };
        assert!(matches!(world.replies()[..], [("wait", Err(_))]), "{how}: {:?}", world.last);
        assert_eq!(killed(&world).len(), usize::from(how != "withdrawn"), "{how}");
    }
    let mut world = World::running();
    world.requests("run", run("make")).requests("wait", about("acp-1", TerminalVerb::Wait));
    world.requests("release", about("acp-1", TerminalVerb::Release));
    world.event(Event::TerminalExited(key(ONE, "acp-1"), Err("it does not end".into())));
    assert!(matches!(world.replies()[..], [("wait", Ok(Reply::Exit(_)))]), "{:?}", world.last);
}

#[test]
fn a_session_runs_so_many_commands_at_once() {
    let mut world = World::running();
    for number in 1..=32 {
        world.requests("1", run("sleep 9"));
        assert!(matches!(world.replies()[..], [(_, Ok(_))]), "{number}");
    }
    world.requests("2", run("sleep 9"));
    assert!(refusal(&world, "2").message.starts_with("32 commands of this session"));
    assert!(!world.last.iter().any(|it| matches!(it, Effect::RunCommand { .. })));
    world.requests("3", about("acp-1", TerminalVerb::Kill)).requests("4", run("sleep 9"));
    assert!(refusal(&world, "4").message.contains("kill one"), "not before it has ended");
    ends(&mut world, "acp-1");
    world.requests("5", run("sleep 9"));
    assert!(matches!(world.replies()[..], [("5", Ok(_))]));
}

/// As much as a flood: each command of each session has its share.
#[test]
fn the_text_of_all_commands_is_bounded() {
    let mut world = World::running();
    let piece = "x".repeat(1 << 20);
    for number in 1..=8 {
        let command = CommandLine { limit: Some(8_000_000_000), ..command("yes") };
        world.requests("1", Request::Run { remote: "r1".into(), command, to_the_end: false });
        for _ in 0..20 {
            says(&mut world, &format!("acp-{number}"), &piece);
            assert!(world.session().terminals.bytes() <= 64 << 20);
        }
    }
    for number in 1..=8 {
        let (output, truncated) =
            world.session().terminals.get(&format!("acp-{number}").into()).unwrap().tail();
        assert!(truncated && output.len() >= 4 << 20, "{number}: {}", output.len());
    }
    world.updates(meta("own", &"y".repeat(70 << 20), None));
    assert!(world.session().terminals.bytes() <= 64 << 20);
}

#[test]
fn what_is_released_and_not_shown_is_forgotten() {
    let mut world = World::running();
    for id in ["acp-1", "acp-2", "acp-3", "acp-4"] {
        world.requests("1", run("make"));
        says(&mut world, id, "out");
    }
    world.updates(showing("a", "acp-1")).updates(showing("b", "acp-2"));
    for id in ["acp-1", "acp-2", "acp-3"] {
        ends(&mut world, id);
        world.requests("2", about(id, TerminalVerb::Release));
    }
    // It is told late what this one was for, and the other has something else to show.
    world.updates(showing("c", "acp-3"));
    let nothing = ToolCallUpdate { content: Some(vec![]), ..Default::default() };
    world.updates(Update::ToolCall("b".into(), Box::new(nothing)));
    turn_ends(&mut world);
    let kept = |id: &str| world.session().terminals.get(&id.into()).is_some();
    assert_eq!(
        [kept("acp-1"), kept("acp-2"), kept("acp-3"), kept("acp-4")],
        [true, false, true, true]
    );
    assert_eq!(world.session().terminals.bytes(), 9);
    world.requests("3", about("acp-4", TerminalVerb::Release));
    ends(&mut world, "acp-4");
    assert!(world.session().terminals.get(&"acp-4".into()).is_none());
}

#[test]
fn a_terminal_of_an_earlier_run_is_unknown_to_the_next() {
    let mut world = World::running();
    world.requests("1", run("make"));
    let reply = ReplyTo { connection: ConnectionId(world.connection + 1), id: "2".into() };
    let request = about("acp-1", TerminalVerb::Output);
    let connection = reply.connection;
    world.event(Event::Agent { connection, happened: Happened::Requested { reply, request } });
    assert_eq!(refusal(&world, "2").code, RpcError::INVALID_PARAMS);
}

fn cancelled(world: &mut World) {
    let result = Ok(StopReason::Cancelled);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
}

fn stop_of(world: &World, id: &str) -> Stop {
    world.session().terminals.get(&id.into()).unwrap().stop
}

/// Whichever way the agent answers the cancel, what it has left running ends.
#[test]
fn a_cancelled_turn_ends_its_commands() {
    let timer = Timer::StopCommands { session: ONE, turn: TurnId(1) };
    let step = |world: &mut World, answers: bool| {
        if answers {
            cancelled(world);
        } else {
            world.event(Event::TimerFired(timer));
        }
    };
    for answers in [true, false] {
        let mut world = World::running();
        world.requests("1", run("sleep 1")).requests("2", run("sleep 2"));
        world.requests("3", run("sleep 3")).requests("4", run("sleep 4"));
        world.requests("5", about("acp-4", TerminalVerb::Wait));
        world.updates(showing("a", "acp-1")).updates(showing("b", "acp-3"));
        // One has ended, one is the agent's to end.
        ends(&mut world, "acp-2");
        world.requests("6", about("acp-3", TerminalVerb::Release));
        world.wish(Wish::Cancel(ONE));
        assert_eq!(killed(&world), [], "the agent may end them itself");
        assert!(
            world
                .last
                .iter()
                .any(|it| matches!(it, Effect::SetTimer { timer: it, .. } if *it == timer))
        );
        step(&mut world, answers);
        assert_eq!(killed(&world), [key(ONE, "acp-1"), key(ONE, "acp-4")]);
        assert_eq!(world.replies(), []);
        let notes: Vec<&Entry> = world
            .session()
            .entries
            .iter()
            .filter(|it| matches!(it, Entry::Note(Note::CommandStopped(_))))
            .collect();
        assert_eq!(
            notes,
            [&Entry::Note(Note::CommandStopped("sleep 4".into()))],
            "nothing shows it"
        );
        assert_eq!(stop_of(&world, "acp-1"), Stop::Asked);
        // Once, and both answers come.
        step(&mut world, !answers);
        assert_eq!(killed(&world), []);
        ends(&mut world, "acp-4");
        assert!(matches!(world.replies()[..], [("5", Ok(Reply::Exit(_)))]));
        ends(&mut world, "acp-1");
        assert_eq!(stop_of(&world, "acp-1"), Stop::Done);
    }
}

#[test]
fn a_command_that_the_agent_ends_is_not_ended_twice() {
    let mut world = World::running();
    world.requests("1", run("sleep 1")).updates(showing("a", "acp-1"));
    world.wish(Wish::Cancel(ONE));
    world.requests("2", about("acp-1", TerminalVerb::Kill));
    assert_eq!(killed(&world).len(), 1);
    ends(&mut world, "acp-1");
    cancelled(&mut world);
    assert_eq!(killed(&world), []);
    assert_eq!(stop_of(&world, "acp-1"), Stop::No);
}

#[test]
fn a_command_of_an_earlier_turn_goes_on() {
    let mut world = World::running();
    world.requests("1", run("serve"));
    turn_ends(&mut world);
    world.prompt();
    world.requests("2", run("sleep 2"));
    world.wish(Wish::Cancel(ONE));
    let result = Ok(StopReason::Cancelled);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(2), result });
    assert_eq!(killed(&world), [key(ONE, "acp-2")]);
    // A turn that ends by itself ends nothing.
    world.prompt();
    world.requests("3", run("serve more"));
    world.answers(Answer::Prompt {
        session: ONE,
        turn: TurnId(3),
        result: Ok(StopReason::EndTurn),
    });
    assert_eq!(killed(&world), []);
    world.event(Event::TimerFired(Timer::StopCommands { session: ONE, turn: TurnId(2) }));
    assert_eq!(killed(&world), [], "that turn is over");
}

#[test]
fn a_command_that_does_not_stop_is_said_to_run_on() {
    let mut world = World::running();
    world.requests("1", run("sleep 1")).updates(showing("a", "acp-1"));
    world.wish(Wish::Cancel(ONE));
    cancelled(&mut world);
    world.event(Event::TerminalExited(key(ONE, "acp-1"), Err("it does not end".into())));
    assert_eq!(stop_of(&world, "acp-1"), Stop::Failed);
}
