//! Rules answer permissions in the user's place.

use acp_nvim::session::audit::{By, Deed};
use acp_nvim::session::command_line::Command;
use acp_nvim::session::effect::{Effect, Reply, Tell, Timer};
use acp_nvim::session::entry::Entry;
use acp_nvim::session::event::{Event, Happened, Request, Update, Wish};
use acp_nvim::session::failure::Exit;
use acp_nvim::session::ids::{AskId, ConnectionId, ReplyTo};
use acp_nvim::session::question::{Body, PermissionKind, PermissionOption, Question, Reaction};
use acp_nvim::session::rule::{Rule, Verdict};
use acp_nvim::session::subject::Given;
use acp_nvim::session::tool_call::{Location, ToolCallUpdate, ToolKind, ToolStatus};

use crate::world::{ONE, World};

pub(crate) fn options() -> Vec<PermissionOption> {
    let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
    vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectOnce)]
}

/// Whether a command may be run.
pub(crate) fn may_run(line: &str) -> Request {
    let command = Some(Command::Line(line.into()));
    let update = ToolCallUpdate {
        kind: Some(ToolKind::Execute),
        title: Some(line.into()),
        given: Some(Box::new(Given { command, ..Default::default() })),
        ..Default::default()
    };
    let (remote, tool_call) = ("r1".into(), "t".into());
    Request::Permission { remote, tool_call, update: Box::new(update), options: options() }
}

pub(crate) fn command_rule(verdict: Verdict, command: &str) -> Rule {
    Rule { verdict, command: Some(command.into()), source: "test".into(), ..Default::default() }
}

fn replied(world: &World) -> Option<&str> {
    world.replies().iter().find_map(|(_, reply)| match reply {
        Ok(Reply::Permission(option)) => Some(option.as_deref().unwrap_or("cancelled")),
        _ => None,
    })
}

fn asked(world: &World) -> bool {
    world.told(|it| matches!(it, Tell::Asked(..)))
}

#[test]
fn a_rule_answers_and_nobody_is_asked() {
    let mut world = World::running();
    let rules = vec![
        command_rule(Verdict::Reject, "rm *"),
        command_rule(Verdict::Ask, "git push *"),
        command_rule(Verdict::Allow, "git *"),
    ];
    world.wish(Wish::SetRules(rules));
    world.requests("1", may_run("git status"));
    assert_eq!(replied(&world), Some("yes"));
    assert!(!asked(&world));
    assert_eq!(world.session().pending.len(), 0);
    let ruled = Tell::Ruled {
        session: ONE,
        title: "git status".into(),
        verdict: Verdict::Allow,
        rule: "allow command `git *` (test)".into(),
    };
    assert!(world.last.contains(&Effect::Tell(ruled)));
    world.requests("2", may_run("git status; rm -rf /"));
    assert_eq!(replied(&world), Some("no"));
    world.requests("3", may_run("git push"));
    assert!(asked(&world) && replied(&world).is_none());
    world.requests("4", may_run("git log | tail"));
    assert!(asked(&world), "not simple: no rule allows it");
    world.wish(Wish::SetRules(vec![]));
    world.requests("5", may_run("git status"));
    assert!(asked(&world), "nothing is allowed by default");
}

#[test]
fn an_option_of_unknown_meaning_is_never_chosen() {
    let request = |kinds: &[PermissionKind]| {
        let mut request = may_run("ls");
        if let Request::Permission { options, .. } = &mut request {
            let option = |kind| PermissionOption { id: "o".into(), name: "Yes".into(), kind };
            *options = kinds.iter().map(|kind| option(*kind)).collect();
        }
        request
    };
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![Rule { verdict: Verdict::Allow, ..Default::default() }]));
    world.requests("1", request(&[PermissionKind::Unknown]));
    assert!(asked(&world));
    world.requests("2", request(&[PermissionKind::RejectOnce]));
    assert!(asked(&world), "there is no yes");
    world.requests("3", request(&[PermissionKind::AllowAlways]));
    assert_eq!(replied(&world), Some("o"));
    world.wish(Wish::SetRules(vec![Rule { verdict: Verdict::Reject, ..Default::default() }]));
    world.requests("4", request(&[PermissionKind::Unknown, PermissionKind::AllowOnce]));
    assert_eq!(replied(&world), Some("cancelled"), "a no needs no option");
}

#[test]
fn what_is_asked_is_told_with_the_question() {
    let mut world = World::running();
    world.requests("1", may_run("cargo test"));
    let Some(Effect::Tell(Tell::Asked(_, Question { body: Body::Permission(it), .. }))) =
        world.last.iter().find(|it| matches!(it, Effect::Tell(Tell::Asked(..))))
    else {
        panic!("{:?}", world.last)
    };
    assert_eq!(it.subject.command, Some(Command::Line("cargo test".into())));
    assert_eq!(it.entry, Some(1), "after the prompt");
    let rule = it.rule.clone().unwrap();
    assert_eq!(rule.command.as_deref(), Some("cargo test"));
    // Stored, it answers from now on.
    world.wish(Wish::Answer {
        ask: AskId(1),
        reaction: Reaction::Option("yes".into()),
        by: By::User,
    });
    world.wish(Wish::SetRules(vec![rule]));
    world.requests("2", may_run("cargo test"));
    assert_eq!(replied(&world), Some("yes"));
    world.requests("3", may_run("cargo test --all"));
    assert!(asked(&world));
}

#[test]
fn what_was_told_of_the_tool_call_before_counts() {
    let inside = Rule {
        verdict: Verdict::Allow,
        kinds: vec!["edit".into()],
        inside: Some(true),
        ..Default::default()
    };
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![inside]));
    let update = |path: &str| {
        let locations = Some(vec![Location { path: path.into(), line: None }]);
        let kind = Some(ToolKind::Edit);
        Box::new(ToolCallUpdate { kind, locations, ..Default::default() })
    };
    let request = || Request::Permission {
        remote: "r1".into(),
        tool_call: "e".into(),
        update: Box::default(),
        options: options(),
    };
    world.updates(Update::ToolCall("e".into(), update("/project/a")));
    world.requests("1", request());
    assert_eq!(replied(&world), Some("yes"));
    world.updates(Update::ToolCall("e".into(), update("/project/../etc/passwd")));
    world.requests("2", request());
    assert!(asked(&world));
}

/// Whether a tool call may go on that is about this file.
fn may_touch(kind: ToolKind, path: &str) -> Request {
    let update = ToolCallUpdate {
        kind: Some(kind),
        locations: Some(vec![Location { path: path.into(), line: None }]),
        ..Default::default()
    };
    let (remote, tool_call) = ("r1".into(), path.into());
    Request::Permission { remote, tool_call, update: Box::new(update), options: options() }
}

fn inside(verdict: Verdict) -> Rule {
    Rule { verdict, inside: Some(true), ..Default::default() }
}

/// What the disk is asked to follow, after a request.
fn asks_disk(world: &mut World, id: &str, request: Request) -> (AskId, Vec<String>) {
    let reply = ReplyTo { connection: ConnectionId(world.connection), id: id.into() };
    world.agent(Happened::Requested { reply, request });
    let wanted = world.last.iter().find_map(|it| match it {
        Effect::ResolvePaths(it) => Some((it.ask, it.paths.clone())),
        _ => None,
    });
    wanted.unwrap_or_else(|| panic!("{:?}", world.last))
}

#[test]
fn links_are_followed_before_a_rule_allows_anything_by_its_path() {
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![
        Rule { verdict: Verdict::Reject, path: Some("secret/**".into()), ..Default::default() },
        inside(Verdict::Allow),
    ]));
    let leads = |world: &mut World, ask: AskId, path: &str, to: &str| {
        world.event(Event::PathsResolved { ask, real: [(path.to_owned(), to.to_owned())].into() });
    };
    let (ask, paths) = asks_disk(&mut world, "1", may_touch(ToolKind::Read, "a/../b"));
    assert_eq!(paths, ["/project/a/../b"], "what `..` means behind a link, the disk knows");
    assert!(!asked(&world) && replied(&world).is_none() && world.state.asks().count() == 0);
    leads(&mut world, ask, "/project/a/../b", "/project/b");
    assert_eq!(replied(&world), Some("yes"));
    let (ask, _) = asks_disk(&mut world, "2", may_touch(ToolKind::Read, "link/id_rsa"));
    leads(&mut world, ask, "/project/link/id_rsa", "/home/u/.ssh/id_rsa");
    assert!(asked(&world), "it is a link out of the project");
    let (ask, _) = asks_disk(&mut world, "3", may_touch(ToolKind::Read, "innocent"));
    leads(&mut world, ask, "/project/innocent", "/project/secret/x");
    assert_eq!(replied(&world), Some("no"));
    let (ask, _) = asks_disk(&mut world, "4", may_touch(ToolKind::Read, "lost"));
    world.event(Event::PathsResolved { ask, real: Default::default() });
    assert!(asked(&world), "nobody knows where it leads");
}

#[test]
fn a_disk_that_does_not_answer_has_the_user_asked() {
    let mut world = World::running();
    let reject = Rule { path: Some("b".into()), ..inside(Verdict::Reject) };
    world.wish(Wish::SetRules(vec![reject, inside(Verdict::Allow)]));
    let (ask, _) = asks_disk(&mut world, "1", may_touch(ToolKind::Read, "a"));
    let timer = |it: &Effect| matches!(it, Effect::SetTimer { timer: Timer::NoPaths(_), .. });
    assert!(world.last.iter().any(timer));
    world.event(Event::TimerFired(Timer::NoPaths(ask)));
    assert!(asked(&world));
    let real = [("/project/a".to_owned(), "/project/a".to_owned())];
    world.event(Event::PathsResolved { ask, real: real.into() });
    assert_eq!(world.last, [], "too late");
    let (ask, _) = asks_disk(&mut world, "2", may_touch(ToolKind::Read, "b"));
    world.event(Event::TimerFired(Timer::NoPaths(ask)));
    assert_eq!(replied(&world), Some("no"), "by its letters it is rejected all the same");
    // One that is cancelled meanwhile has its answer, and nobody hears of it.
    let (ask, _) = asks_disk(&mut world, "3", may_touch(ToolKind::Read, "a"));
    world.wish(Wish::Answer { ask, reaction: Reaction::Option("yes".into()), by: By::Api });
    assert_eq!(world.replies(), [], "nobody has been asked");
    world.wish(Wish::Cancel(ONE));
    assert_eq!(world.replies().len(), 2, "with the first one, which the user was asked about");
    world.event(Event::PathsResolved { ask, real: Default::default() });
    assert_eq!(world.last, []);
}

#[test]
fn requests_are_decided_in_the_order_in_which_they_came() {
    let mut world = World::running();
    let titles = |world: &World| -> Vec<String> {
        let asked = world.state.asks().filter_map(|(_, it)| match &it.body {
            Body::Permission(it) => Some(it.title.clone()),
            _ => None,
        });
        asked.collect()
    };
    let ask = |world: &mut World, id: &str, request: Request| {
        let reply = ReplyTo { connection: ConnectionId(world.connection), id: id.into() };
        world.agent(Happened::Requested { reply, request });
    };
    let (first, _) = asks_disk(&mut world, "1", may_touch(ToolKind::Read, "a"));
    let (second, _) = asks_disk(&mut world, "2", may_touch(ToolKind::Edit, "b"));
    ask(&mut world, "3", may_run("ls"));
    assert!(!asked(&world), "it has no paths, but others were before it");
    world.event(Event::PathsResolved { ask: second, real: Default::default() });
    assert!(!asked(&world));
    world.event(Event::TimerFired(Timer::NoPaths(first)));
    assert_eq!(titles(&world), ["read", "edit", "ls"]);
    let (fourth, _) = asks_disk(&mut world, "4", may_touch(ToolKind::Read, "c"));
    ask(&mut world, "5", may_run("make"));
    world.agent(Happened::Withdrawn("4".into()));
    assert_eq!(titles(&world), ["read", "edit", "ls", "make"], "{fourth:?} is not waited for");
}

#[test]
fn what_is_asked_under_the_name_of_a_finished_tool_call_is_about_another() {
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![command_rule(Verdict::Allow, "git status")]));
    world.requests("1", may_run("git status"));
    assert_eq!(replied(&world), Some("yes"));
    let done = ToolCallUpdate { status: Some(ToolStatus::Completed), ..Default::default() };
    world.updates(Update::ToolCall("t".into(), Box::new(done)));
    let entries = world.session().entries.len();
    let update = ToolCallUpdate { title: Some("rm -rf /".into()), ..Default::default() };
    let (remote, tool_call) = ("r1".into(), "t".into());
    let options = options();
    let update = Box::new(update);
    world.requests("2", Request::Permission { remote, tool_call, update, options });
    assert!(asked(&world), "nothing is known of it but its title");
    assert_eq!(world.session().entries.len(), entries + 1);
    let Entry::ToolCall(first) = &world.session().entries[entries - 1] else { panic!() };
    assert_eq!((first.title.as_str(), first.status), ("git status", ToolStatus::Completed));
}

#[test]
fn what_is_too_long_to_read_is_rejected_and_never_allowed() {
    let mut world = World::running();
    let any = Rule { verdict: Verdict::Allow, kinds: vec!["execute".into()], ..Default::default() };
    let padded = format!("rm -rf x{}", " ".repeat(1 << 20));
    world.wish(Wish::SetRules(vec![command_rule(Verdict::Reject, "rm *"), any.clone()]));
    world.requests("1", may_run(&padded));
    assert_eq!(replied(&world), Some("no"));
    world.wish(Wish::SetRules(vec![any, Rule { verdict: Verdict::Allow, ..Default::default() }]));
    world.requests("2", may_run(&padded));
    assert!(asked(&world));
    world.requests("3", may_run("rm -rf x"));
    assert_eq!(replied(&world), Some("yes"), "as the user wants it");
    let long = "x/".repeat(3_000);
    world.requests("4", may_touch(ToolKind::Read, &long));
    assert!(asked(&world));
    let reject = Rule { path: Some("y".into()), ..inside(Verdict::Reject) };
    world.wish(Wish::SetRules(vec![reject]));
    world.requests("5", may_touch(ToolKind::Read, &long));
    assert_eq!(replied(&world), Some("no"));
}

#[test]
fn a_cancel_comes_before_any_rule() {
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![Rule { verdict: Verdict::Allow, ..Default::default() }]));
    world.wish(Wish::Cancel(ONE));
    world.requests("1", may_run("ls"));
    assert_eq!(replied(&world), Some("cancelled"));
    world.agent(Happened::Withdrawn("1".into()));
    assert_eq!(world.replies(), []);
}

/// What was noted since the last event: event, verdict, who.
fn noted(world: &World) -> Vec<(&str, &str, &str)> {
    let deeds = world.last.iter().filter_map(|it| match it {
        Effect::Audit(record) => Some(&record.deed),
        _ => None,
    });
    let by = |deed: &Deed| match deed {
        Deed::Answered { by, .. } => by.word(),
        Deed::Asked | Deed::Ruled { .. } | Deed::Unasked(_) => "",
    };
    deeds.map(|it| (it.word(), it.verdict().unwrap_or(""), by(it))).collect()
}

#[test]
fn everything_about_permissions_is_noted() {
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![
        command_rule(Verdict::Allow, "ls"),
        command_rule(Verdict::Ask, "make"),
    ]));
    world.requests("1", may_run("ls"));
    assert_eq!(noted(&world), [("asked", "", ""), ("ruled", "allow", "")]);
    world.requests("2", may_run("make"));
    assert_eq!(noted(&world), [("asked", "", ""), ("ruled", "ask", "")]);
    world.requests("3", may_run("rm")).requests("4", may_run("rm"));
    assert_eq!(noted(&world), [("asked", "", "")]);
    let yes = || Reaction::Option("yes".into());
    world.wish(Wish::Answer { ask: AskId(1), reaction: yes(), by: By::User });
    assert_eq!(noted(&world), [("answered", "allow", "user")]);
    world.wish(Wish::Answer { ask: AskId(1), reaction: yes(), by: By::User });
    assert_eq!(noted(&world), [], "it was answered before");
    world.wish(Wish::Answer { ask: AskId(2), reaction: Reaction::Dismiss, by: By::Api });
    assert_eq!(noted(&world), [("answered", "cancel", "api")]);
    world.agent(Happened::Withdrawn("4".into()));
    assert_eq!(noted(&world), [("answered", "cancel", "withdrawn")]);
    world.requests("5", may_run("rm"));
    world.wish(Wish::Cancel(ONE));
    assert_eq!(noted(&world), [("answered", "cancel", "cancel")]);
    world.requests("6", may_run("rm"));
    assert_eq!(noted(&world), [("asked", "", ""), ("answered", "cancel", "cancel")]);
}

#[test]
fn a_question_whose_agent_is_gone_is_noted() {
    let mut world = World::running();
    world.requests("1", may_run("rm"));
    world.agent(Happened::Exited { exit: Exit::Code(1), stderr: vec![] });
    assert_eq!(noted(&world), [("answered", "cancel", "agent gone")]);
}
