//! Rules answer permissions in the user's place.

use acp_nvim::session::audit::{By, Deed};
use acp_nvim::session::command_line::Command;
use acp_nvim::session::effect::{Effect, Reply, Tell};
use acp_nvim::session::event::{Happened, Request, Update, Wish};
use acp_nvim::session::failure::Exit;
use acp_nvim::session::ids::AskId;
use acp_nvim::session::question::{Body, PermissionKind, PermissionOption, Question, Reaction};
use acp_nvim::session::rule::{Rule, Verdict};
use acp_nvim::session::subject::Given;
use acp_nvim::session::tool_call::{Location, ToolCallUpdate, ToolKind};

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
    assert_eq!(world.session().waiting, 0);
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
