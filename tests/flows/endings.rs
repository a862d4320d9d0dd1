//! What a turn leaves behind when it is over: tool calls that nobody closed, and silence.

use acp_nvim::session::audit::By;
use acp_nvim::session::content::Content;
use acp_nvim::session::entry::{Entry, Note, StopReason};
use acp_nvim::session::event::{Answer, Made, Origin, Request, Update, Wish};
use acp_nvim::session::ids::{AskId, TurnId};
use acp_nvim::session::question::Reaction;
use acp_nvim::session::rule::Verdict;
use acp_nvim::session::tool_call::{RejectedBy, ToolCall, ToolCallUpdate, ToolKind, ToolStatus};

use crate::rules::{command_rule, may_run};
use crate::support::error;
use crate::world::{ONE, World, able, permission, says, status, tool};

fn end(world: &mut World) {
    let result = Ok(StopReason::EndTurn);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
}

fn answer(world: &mut World, reaction: Reaction) {
    world.wish(Wish::Answer { ask: AskId(1), reaction, by: By::User });
}

fn the_call(world: &World) -> &ToolCall {
    let mut entries = world.session().entries.iter();
    entries
        .find_map(|it| match it {
            Entry::ToolCall(it) => Some(&**it),
            _ => None,
        })
        .unwrap()
}

/// What is shown of the only tool call.
fn shown(world: &World) -> ToolStatus {
    world.session().shown_status(the_call(world))
}

fn says_nothing(world: &World) -> bool {
    world.session().entries.iter().any(|it| matches!(it, Entry::Note(Note::Unanswered)))
}

#[test]
fn a_rejected_tool_call_is_rejected_when_the_turn_is_over() {
    for reaction in [Reaction::Option("no".into()), Reaction::Dismiss] {
        let mut world = World::running();
        world.updates(tool(ToolStatus::Pending)).requests("1", permission());
        assert_eq!(shown(&world), ToolStatus::Pending);
        answer(&mut world, reaction);
        assert_eq!(shown(&world), ToolStatus::Rejected, "at once");
        assert_eq!(the_call(&world).rejected_by, Some(RejectedBy::User));
        end(&mut world);
        assert_eq!(status(&world), ToolStatus::Rejected);
        assert!(the_call(&world).ended.is_some());
    }
}

#[test]
fn what_was_allowed_or_asked_again_is_not_rejected() {
    let mut world = World::running();
    world.requests("1", permission());
    answer(&mut world, Reaction::Option("no".into()));
    world.requests("2", permission());
    assert_eq!(shown(&world), ToolStatus::Pending);
    world.wish(Wish::Answer {
        ask: AskId(2),
        reaction: Reaction::Option("yes".into()),
        by: By::User,
    });
    assert_eq!(shown(&world), ToolStatus::Pending);
    world.updates(tool(ToolStatus::Failed));
    assert_eq!(shown(&world), ToolStatus::Failed);
}

#[test]
fn an_agent_that_calls_a_rejection_a_failure() {
    let mut world = World::running();
    world.requests("1", permission());
    answer(&mut world, Reaction::Option("no".into()));
    world.updates(tool(ToolStatus::Failed));
    assert_eq!(shown(&world), ToolStatus::Rejected);
    world.updates(tool(ToolStatus::Completed));
    assert_eq!(shown(&world), ToolStatus::Completed, "it says that it has done it");
}

#[test]
fn a_rule_rejects_too() {
    let mut world = World::running();
    world.wish(Wish::SetRules(vec![command_rule(Verdict::Reject, "rm *")]));
    world.requests("1", may_run("rm -rf build"));
    end(&mut world);
    assert_eq!(status(&world), ToolStatus::Rejected);
    assert_eq!(the_call(&world).rejected_by, Some(RejectedBy::Rule));
}

#[test]
fn a_tool_call_that_nobody_closes_ends_with_its_turn() {
    for result in [Ok(StopReason::EndTurn), Ok(StopReason::MaxTokens), Err(error())] {
        let mut world = World::running();
        world.updates(tool(ToolStatus::InProgress));
        world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
        assert_eq!(status(&world), ToolStatus::Unfinished);
        assert_eq!(the_call(&world).ended, None, "nobody knows when");
        // It was a guess: whatever the agent says is better.
        world.updates(tool(ToolStatus::InProgress));
        assert_eq!(status(&world), ToolStatus::InProgress);
        world.updates(tool(ToolStatus::Completed));
        assert_eq!(status(&world), ToolStatus::Completed);
        assert!(the_call(&world).ended.is_some());
    }
}

#[test]
fn what_is_over_stays_as_it_is() {
    let mut world = World::running();
    world.updates(tool(ToolStatus::Completed));
    end(&mut world);
    assert_eq!(status(&world), ToolStatus::Completed);
}

#[test]
fn a_turn_that_ends_with_nothing_says_so() {
    let mut world = World::running();
    end(&mut world);
    assert!(says_nothing(&world));

    let mut world = World::running();
    world.updates(says("  \n"));
    end(&mut world);
    assert!(says_nothing(&world), "blanks are nothing");
}

#[test]
fn a_turn_with_something_to_see_is_not_silent() {
    let begin: [fn(&mut World); 2] = [
        |world| {
            world.updates(says("done"));
        },
        |world| {
            world.updates(tool(ToolStatus::Completed));
        },
    ];
    for begin in begin {
        let mut world = World::default();
        let made = Made { remote: Some("r1".into()), steering: true, ..Default::default() };
        world.open(0, Origin::New).initialized(able(), vec![]);
        world.answers(Answer::Session { session: ONE, result: Ok(made) }).prompt();
        begin(&mut world);
        let content = vec![Content::Text("more".into())];
        world.wish(Wish::Steer { session: ONE, content, tag: 2 });
        end(&mut world);
        assert!(!says_nothing(&world));
    }
    let mut world = World::running();
    world.wish(Wish::Cancel(ONE));
    end(&mut world);
    assert!(!says_nothing(&world), "it is cancelled, and says that");
}

#[test]
fn a_kind_that_says_nothing_does_not_replace_one_that_does() {
    let kind = |kind| {
        let update = ToolCallUpdate { kind: Some(kind), ..Default::default() };
        Box::new(update)
    };
    let mut world = World::running();
    world.updates(Update::ToolCall("t".into(), kind(ToolKind::Read)));
    let Request::Permission { remote, tool_call, options, .. } = permission() else { return };
    let update = kind(ToolKind::Other);
    world.requests("1", Request::Permission { remote, tool_call, update, options });
    assert_eq!(the_call(&world).kind, ToolKind::Read);
    world.updates(Update::ToolCall("t".into(), kind(ToolKind::Edit)));
    assert_eq!(the_call(&world).kind, ToolKind::Edit);
}
