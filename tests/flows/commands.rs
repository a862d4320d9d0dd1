//! Whether a command is run for an agent: by rules, by what was allowed before, by the user.

use acp_nvim::session::agent::AgentInfo;
use acp_nvim::session::audit::{By, Deed, Record};
use acp_nvim::session::effect::{Effect, Reply, Tell};
use acp_nvim::session::entry::{Entry, Note};
use acp_nvim::session::event::{Answer, CommandLine, Happened, Origin, Request, Wish};
use acp_nvim::session::ids::AskId;
use acp_nvim::session::question::{Body, Permission, Question, Reaction};
use acp_nvim::session::rule::{Rule, Verdict};
use acp_nvim::session::tool_call::ToolStatus;

use crate::rules::{command_rule, may_run};
use crate::terminals::{command, run};
use crate::world::{ONE, World, tool};

fn ran(world: &World) -> Option<&CommandLine> {
    world.last.iter().find_map(|it| match it {
        Effect::RunCommand { command, .. } => Some(command),
        _ => None,
    })
}

fn asked(world: &World) -> Option<(AskId, &Permission)> {
    world.last.iter().find_map(|it| match it {
        Effect::Tell(Tell::Asked(id, Question { body: Body::Permission(permission), .. })) => {
            Some((*id, &**permission))
        }
        _ => None,
    })
}

fn noted(world: &World) -> Vec<&Record> {
    let records = world.last.iter().filter_map(|it| match it {
        Effect::Audit(record) => Some(&**record),
        _ => None,
    });
    records.collect()
}

fn refusal(world: &World) -> &str {
    match world.replies()[..] {
        [(_, Err(error))] => &error.message,
        _ => panic!("{:?}", world.last),
    }
}

fn answer(world: &mut World, option: &str) {
    let (ask, _) = asked(world).unwrap();
    let reaction = Reaction::Option(option.into());
    world.wish(Wish::Answer { ask, reaction, by: By::User });
}

fn run_as(command: CommandLine) -> Request {
    Request::Run { remote: "r1".into(), command, to_the_end: false }
}

fn with_env(line: &str, name: &str, value: &str) -> Request {
    run_as(CommandLine { env: vec![(name.into(), value.into())], ..command(line) })
}

/// In the middle of a turn of an agent that is reached by an address.
fn elsewhere() -> World {
    let mut world = World::default();
    world.open(2, Origin::New);
    let info = AgentInfo { protocol: "1".into(), ..Default::default() };
    world.answers(Answer::Initialize(Ok(info))).made().prompt();
    world
}

#[test]
fn without_rules_a_program_runs_what_it_likes_and_it_is_noted() {
    let mut world = World::running();
    let mut line = command("make test");
    line.env = vec![("A".into(), "b".into())];
    line.cwd = Some("/elsewhere".into());
    world.requests("1", run_as(line));
    assert!(ran(&world).is_some() && asked(&world).is_none());
    let [first, second] = noted(&world)[..] else { panic!("{:?}", world.last) };
    assert_eq!((first.deed.word(), second.deed.word()), ("asked", "unasked"));
    assert_eq!(second.subject.cwd.as_deref(), Some("/elsewhere"));
    assert_eq!(second.subject.env, [("A".to_owned(), "b".to_owned())]);
    assert_eq!(second.title, "run in /elsewhere (outside of the project) with A=b: make test");
}

/// However a command comes, it is the same to the rules.
#[test]
fn a_rule_that_rejects_keeps_a_command_from_running() {
    let rules = [command_rule(Verdict::Reject, "rm *"), command_rule(Verdict::Allow, "ls *")];
    let lines = [
        (command("rm -rf x"), false),
        (CommandLine { args: vec!["x".into()], ..command("rm") }, false),
        (CommandLine { args: vec!["-c".into(), "ls; rm x".into()], ..command("sh") }, false),
        (command("ls && rm x"), false),
        (command("ls -l"), true),
    ];
    for (line, runs) in lines {
        for to_the_end in [false, true] {
            for mut world in [World::running(), elsewhere()] {
                world.wish(Wish::SetRules(rules.to_vec()));
                let (remote, command) = ("r1".into(), line.clone());
                world.requests("1", Request::Run { remote, command, to_the_end });
                assert_eq!(ran(&world).is_some(), runs, "{line:?}");
                assert!(asked(&world).is_none());
                assert!(world.told(|it| matches!(it, Tell::Ruled { .. })));
                let note = world.session().entries.last();
                let said = matches!(note, Some(Entry::Note(Note::NotRun { .. })));
                assert_eq!(said, !runs);
                if !runs {
                    assert!(refusal(&world).contains("a rule of the user forbids it"));
                    let deeds: Vec<_> = noted(&world).iter().map(|it| it.deed.verdict()).collect();
                    assert_eq!(deeds, [None, Some("reject")]);
                }
            }
        }
    }
    let mut world = World::running();
    let kind = Rule { verdict: Verdict::Reject, kinds: vec!["execute".into()], ..Rule::default() };
    world.wish(Wish::SetRules(vec![kind]));
    world.requests("1", run("true"));
    assert!(ran(&world).is_none());
}

#[test]
fn the_user_is_asked_and_the_answer_counts() {
    let rules = vec![command_rule(Verdict::Ask, "git push *")];
    for (option, runs) in [("allow", true), ("always", true), ("refuse", false)] {
        let mut world = World::running();
        world.wish(Wish::SetRules(rules.clone()));
        world.requests("1", run("git push"));
        assert!(ran(&world).is_none() && world.replies().is_empty());
        assert_eq!(world.session().word(), "waiting");
        let (_, permission) = asked(&world).unwrap();
        assert_eq!((&*permission.title, &*permission.kind), ("run git push", "execute"));
        answer(&mut world, option);
        assert_eq!(ran(&world).is_some(), runs);
        assert_eq!(world.session().word(), "running");
        assert!(world.told(|it| matches!(it, Tell::Settled { .. })));
        assert!(matches!(noted(&world)[..], [it] if matches!(it.deed, Deed::Answered { .. })));
        match runs {
            true => assert_eq!(world.replies(), [("1", &Ok(Reply::Terminal("acp-1".into())))]),
            false => assert!(refusal(&world).contains("the user does not allow it: git push")),
        }
        assert_eq!(world.state.asks().count(), 0);
    }
}

#[test]
fn an_agent_elsewhere_asks_unless_a_rule_allows() {
    let mut world = elsewhere();
    world.requests("1", run("ls -l"));
    assert!(ran(&world).is_none());
    let (_, permission) = asked(&world).unwrap();
    let rule = permission.rule.clone().unwrap();
    answer(&mut world, "allow");
    assert!(ran(&world).is_some());
    world.requests("2", run("ls -l"));
    assert!(asked(&world).is_some(), "it was allowed once");
    world.wish(Wish::SetRules(vec![rule]));
    world.requests("3", run("ls -l"));
    assert!(ran(&world).is_some() && asked(&world).is_none());
    // What runs could be something else.
    for (name, value) in
        [("PATH", "/evil"), ("LD_PRELOAD", "x"), ("PAGER", "sh"), ("BASH_ENV", "x")]
    {
        world.requests("4", with_env("ls -l", name, value));
        assert!(ran(&world).is_none(), "{name}");
        let (_, permission) = asked(&world).unwrap();
        assert_eq!(permission.title, format!("run with {name}={value}: ls -l"));
        assert_eq!(permission.rule, None);
    }
    for (name, value) in [("NO_COLOR", "1"), ("LC_ALL", "C"), ("PAGER", "cat")] {
        world.requests("5", with_env("ls -l", name, value));
        assert!(ran(&world).is_some(), "{name}");
    }
    let outside = CommandLine { cwd: Some("/etc".into()), ..command("ls -l") };
    world.requests("6", run_as(outside));
    assert!(ran(&world).is_none(), "the rule is for the project");
    assert_eq!(asked(&world).unwrap().1.title, "run in /etc (outside of the project): ls -l");
    let inside = CommandLine { cwd: Some("src".into()), ..command("ls -l") };
    world.requests("7", run_as(inside));
    assert_eq!(ran(&world).unwrap().cwd.as_deref(), Some("/project/src"));
}

/// What was allowed for a tool call is not asked twice, and not allowed twice.
#[test]
fn a_command_that_was_allowed_already() {
    let ask = || vec![command_rule(Verdict::Ask, "make *")];
    let allowed = || {
        let mut world = World::running();
        world.wish(Wish::SetRules(ask()));
        world.requests("1", may_run("make test"));
        let reaction = Reaction::Option("yes".into());
        world.wish(Wish::Answer { ask: AskId(1), reaction, by: By::User });
        world
    };
    let words = CommandLine { args: vec!["test".into()], ..command("make") };
    let shell =
        CommandLine { args: vec!["-lc".into(), "make test".into()], ..command("/bin/bash") };
    for line in [command("make test"), words, shell] {
        let mut world = allowed();
        world.requests("2", run_as(line.clone()));
        assert!(ran(&world).is_some() && asked(&world).is_none(), "{line:?}");
        let by: Vec<_> = noted(&world).iter().map(|it| it.deed.word()).collect();
        assert_eq!(by, ["asked", "ruled", "unasked"]);
        world.requests("3", run_as(line));
        assert!(ran(&world).is_none() && asked(&world).is_some(), "once");
    }
    let others = [
        run("make install"),
        run("make test; make install"),
        with_env("make test", "MAKEFLAGS", "x"),
        run_as(CommandLine { cwd: Some("/etc".into()), ..command("make test") }),
    ];
    for other in others {
        let mut world = allowed();
        world.requests("2", other);
        assert!(ran(&world).is_none() && asked(&world).is_some(), "{:?}", world.last);
    }
    let mut world = allowed();
    world.updates(tool(ToolStatus::Completed)).requests("2", run("make test"));
    assert!(asked(&world).is_some(), "its tool call is over");
    let mut world = World::running();
    world.wish(Wish::SetRules(ask()));
    world.requests("1", may_run("make test"));
    world.wish(Wish::Answer {
        ask: AskId(1),
        reaction: Reaction::Option("no".into()),
        by: By::User,
    });
    world.requests("2", run("make test"));
    assert!(asked(&world).is_some(), "a no is no yes");
    let mut world = allowed();
    world.wish(Wish::SetRules(vec![command_rule(Verdict::Reject, "make *")]));
    world.requests("2", run("make test"));
    assert!(ran(&world).is_none() && asked(&world).is_none(), "a rule that rejects does so");
}

#[test]
fn a_question_about_a_command_is_settled_with_its_turn() {
    for how in ["cancel", "withdrawn", "died", "closed"] {
        let mut world = elsewhere();
        world.requests("1", run("ls"));
        match how {
            "cancel" => world.wish(Wish::Cancel(ONE)),
            "withdrawn" => world.agent(Happened::Withdrawn("1".into())),
            "died" => world.agent(Happened::Exited {
                exit: acp_nvim::session::failure::Exit::Closed,
                stderr: vec![],
            }),
            _ => world.wish(Wish::Close(ONE)),
        };
        assert!(matches!(world.replies()[..], [("1", Err(_))]), "{how}: {:?}", world.last);
        assert!(world.told(|it| matches!(it, Tell::Settled { .. })), "{how}");
        assert!(matches!(noted(&world)[..], [it] if it.deed.verdict() == Some("cancel")), "{how}");
        assert!(ran(&world).is_none());
        let late = Reaction::Option("allow".into());
        world.wish(Wish::Answer { ask: AskId(1), reaction: late, by: By::User });
        assert!(ran(&world).is_none(), "{how}: too late");
    }
    let mut world = World::running();
    world.wish(Wish::Cancel(ONE));
    world.requests("1", run("ls"));
    assert!(ran(&world).is_none());
    assert!(refusal(&world).contains("the turn is being cancelled"));
}

#[test]
fn a_command_of_no_reasonable_length_is_refused() {
    let mut world = World::running();
    world.requests("1", run(&"x".repeat(2 << 20)));
    assert!(ran(&world).is_none() && refusal(&world).contains("longer than"));
    let mut world = elsewhere();
    world.requests("1", run(&format!("echo {}", "x".repeat(5_000))));
    let (_, permission) = asked(&world).unwrap();
    assert!(permission.title.chars().count() < 1_100);
}

#[test]
fn questions_about_commands_count_as_commands() {
    let mut world = elsewhere();
    for number in 1..=32 {
        world.requests("1", run("ls"));
        assert!(asked(&world).is_some(), "{number}");
    }
    world.requests("2", run("ls"));
    assert!(asked(&world).is_none());
    assert!(refusal(&world).starts_with("32 commands of this session"));
}

/// The question stands at the tool call that runs the command, if there is one.
#[test]
fn a_question_about_a_command_names_its_tool_call() {
    let mut world = elsewhere();
    world.wish(Wish::SetRules(vec![]));
    world.requests("1", run("make"));
    assert_eq!(asked(&world).unwrap().1.entry, None);
    world.requests("2", may_run("make"));
    world.requests("3", run("make"));
    let (_, permission) = asked(&world).unwrap();
    assert_eq!((permission.entry, &*permission.tool_call), (Some(2), "t"));
}
