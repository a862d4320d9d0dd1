//! What an agent can have of us is bounded, and what it costs grows no faster than what it sends.

use std::time::{Duration, Instant};

use acp_nvim::session::audit::By;
use acp_nvim::session::effect::{Effect, Reply, Tell};
use acp_nvim::session::entry::{Entry, LeftOut, Note};
use acp_nvim::session::event::{Event, Origin, Request, Update, Wish};
use acp_nvim::session::ids::AskId;
use acp_nvim::session::question::Reaction;
use acp_nvim::session::settings::{
    Choice, ConfigOption, Plan, PlanBody, PlanEntry, Setting, Value,
};
use acp_nvim::session::tool_call::{Subagent, ToolCallUpdate, ToolContent};

use crate::world::{ONE, World, able, permission, says};

/// Long enough for any machine, and far less than what grows with the square takes.
const SOON: Duration = Duration::from_secs(10);

fn timed(work: impl FnOnce()) {
    let begin = Instant::now();
    work();
    assert!(begin.elapsed() < SOON, "that took {:?}", begin.elapsed());
}

fn last_question(world: &World) -> Option<AskId> {
    world.last.iter().find_map(|it| match it {
        Effect::Tell(Tell::Asked(ask, _)) => Some(*ask),
        _ => None,
    })
}

#[test]
fn more_questions_than_anybody_answers_are_refused() {
    let mut world = World::running();
    let mut first = None;
    for n in 0..100 {
        world.requests(&n.to_string(), permission());
        assert!(world.replies().is_empty(), "question {n}");
        first = first.or(last_question(&world));
    }
    for n in 100..200 {
        world.requests(&n.to_string(), permission());
        let [(id, Err(error))] = &world.replies()[..] else { panic!("{:?}", world.replies()) };
        assert_eq!(**id, n.to_string());
        assert!(error.message.contains("100 questions"), "{error}");
        assert_eq!(last_question(&world), None);
    }
    let (ask, reaction) = (first.unwrap(), Reaction::Option("yes".into()));
    world.wish(Wish::Answer { ask, reaction, by: By::User });
    assert_eq!(world.replies(), [("0", &Ok(Reply::Permission(Some("yes".into()))))]);
    world.requests("again", permission());
    assert!(world.replies().is_empty() && last_question(&world).is_some());
}

#[test]
fn more_requests_than_anybody_works_on_are_refused() {
    let mut world = World::running();
    for n in 0..2_000 {
        let (remote, path) = ("r1".into(), "a".to_owned());
        let read = Request::ReadFile { remote, path, line: None, limit: None };
        world.requests(&n.to_string(), read);
        let refused = world.replies().len();
        assert_eq!(refused, usize::from(n >= 1_000), "request {n}");
    }
    world.event(Event::Shutdown);
    assert_eq!(world.replies().len(), 1_000, "each is answered once");
}

#[test]
fn what_is_said_of_unknown_sessions_is_bounded_in_bytes() {
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), vec![]);
    let text = "x".repeat(1 << 20);
    for _ in 0..25 {
        world.updates(says(&text));
    }
    world.made();
    let bytes: usize = world.texts().iter().map(|it| it.len()).sum();
    assert_eq!(bytes, 16 << 20);
}

fn option(n: usize) -> ConfigOption {
    let value = Value { id: "v".into(), name: "V".into(), description: None, group: None };
    ConfigOption {
        id: format!("o{n}"),
        name: "O".into(),
        description: None,
        category: None,
        setting: Setting::Select(Choice { current: "v".into(), values: vec![value; 3] }),
    }
}

fn too_many(world: &World) -> Vec<&LeftOut> {
    let notes = world.session().entries.iter().filter_map(|it| match it {
        Entry::Note(Note::TooMany(left_out)) => Some(left_out),
        _ => None,
    });
    notes.collect()
}

#[test]
fn options_that_come_bit_by_bit_add_up_to_a_bounded_number() {
    let mut world = World::running();
    timed(|| {
        for partial in [false, true] {
            let options = (0..100_000).map(option).collect();
            world.updates(Update::Options { options, partial });
        }
    });
    let settings = &world.session().settings;
    let values = settings.options.iter().map(|it| match &it.setting {
        Setting::Select(choice) => choice.values.len(),
        Setting::Boolean(_) => 0,
    });
    assert_eq!((settings.options.len(), values.sum::<usize>()), (1_000, 2_000));
    let told = too_many(&world);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!((told[0].what.as_str(), told[0].count), ("options", 99_000));
}

#[test]
fn plans_add_up_to_a_bounded_number() {
    let mut world = World::running();
    timed(|| {
        for n in 0..5_000 {
            let (priority, status) = Default::default();
            let step = PlanEntry { content: "do".into(), priority, status };
            let (id, body) = (Some(n.to_string()), PlanBody::Items(vec![step; 20]));
            world.updates(Update::Plan(Plan { id, body }));
        }
    });
    let plans = &world.session().settings.plans;
    let steps = plans.iter().map(|it| match &it.body {
        PlanBody::Items(entries) => entries.len(),
        _ => 0,
    });
    assert_eq!((plans.len(), steps.sum::<usize>()), (100, 1_000));
    let told: Vec<_> = too_many(&world).iter().map(|it| it.what.as_str()).collect();
    assert_eq!(told, ["steps", "plans"]);
}

#[test]
fn very_many_changes_in_one_tool_call() {
    let diff = |n: usize| ToolContent::Diff {
        path: format!("f{n}"),
        old: Some("a".into()),
        new: "b".into(),
    };
    let content = Some((0..100_000).map(diff).collect());
    let mut world = World::running();
    timed(|| {
        let update = ToolCallUpdate { content, ..Default::default() };
        world.updates(Update::ToolCall("t".into(), Box::new(update)));
        for n in 0..10 {
            world.requests(&n.to_string(), permission());
        }
    });
    assert_eq!(world.state.asks().count(), 10);
}

#[test]
fn very_many_subagents_and_what_they_do() {
    let mut world = World::running();
    let task = |n: usize| ToolCallUpdate {
        subagent: Some(Box::new(Subagent { remote: Some(n.to_string()), ..Default::default() })),
        ..Default::default()
    };
    let part = |n: usize| ToolCallUpdate { made_by: Some(n.to_string()), ..Default::default() };
    timed(|| {
        for n in 0..20_000 {
            world.updates(Update::ToolCall(n.to_string().into(), Box::new(task(n))));
            let (remote, title) = (n.to_string(), "s".to_owned());
            world.updates(Update::Note(Note::Subagent { remote, title, description: None }));
            let (id, status) = (n.to_string(), "in_progress".to_owned());
            let (summary, error) = Default::default();
            world.updates(Update::Note(Note::Compaction { id, status, summary, error }));
        }
        for n in 0..20_000 {
            let id = format!("part {n}").into();
            world.updates(Update::ToolCall(id, Box::new(part(n))));
        }
    });
    assert_eq!(world.session().entries.len(), 4 * 20_000 + 1);
    let last = world.session().tool_calls.get("part 7").copied().unwrap();
    let Entry::ToolCall(part) = &world.session().entries[last] else { panic!() };
    assert_eq!(part.parent.as_deref(), Some("7"));
    assert_eq!(world.state.session(ONE).unwrap().parts.of(&"7".into()).collect::<Vec<_>>(), [last]);
}
