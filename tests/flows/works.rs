//! What the agent does and what is told of it: files, subagents, attachments.

use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Effect, Tell};
use acp_nvim::session::entry::{Chunk, Entry, Role, StopReason};
use acp_nvim::session::event::{Answer, Event, Update, Wish};
use acp_nvim::session::ids::TurnId;
use acp_nvim::session::tool_call::{
    Location, Subagent, ToolCall, ToolCallUpdate, ToolContent, ToolStatus,
};

use crate::world::{ONE, World};

fn update(id: &str, update: ToolCallUpdate) -> Update {
    Update::ToolCall(id.into(), Box::new(update))
}

fn at(path: &str, line: Option<u32>, status: ToolStatus) -> Update {
    let locations = Some(vec![Location { path: path.into(), line }]);
    update("t", ToolCallUpdate { locations, status: Some(status), ..Default::default() })
}

fn touched(world: &World) -> Option<(&str, Option<u32>)> {
    world.last.iter().find_map(|it| match it {
        Effect::Tell(Tell::Touched { path, line, .. }) => Some((path.as_str(), *line)),
        _ => None,
    })
}

#[test]
fn where_the_agent_works_is_told_once() {
    let mut world = World::running();
    world.updates(at("src/a.rs", Some(3), ToolStatus::InProgress));
    assert_eq!(touched(&world), Some(("/project/src/a.rs", Some(3))));
    world.updates(at("src/a.rs", Some(3), ToolStatus::InProgress));
    assert_eq!(touched(&world), None, "it is known");
    world.updates(at("src/a.rs", Some(9), ToolStatus::InProgress));
    assert_eq!(touched(&world), Some(("/project/src/a.rs", Some(9))));
    world.updates(at("/project/", None, ToolStatus::InProgress));
    assert_eq!(touched(&world), None, "that is nowhere in particular");
    world.updates(at("/b", None, ToolStatus::Completed));
    assert_eq!(touched(&world), None, "it is over");
    let result = Ok(StopReason::EndTurn);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
    let later = ToolCallUpdate {
        locations: Some(vec![Location { path: "/c".into(), line: None }]),
        ..Default::default()
    };
    world.updates(update("u", later));
    assert_eq!(touched(&world), None, "no turn runs: this is the past");
}

fn call<'a>(world: &'a World, wanted: &str) -> &'a ToolCall {
    let calls = world.session().entries.iter().filter_map(|it| match it {
        Entry::ToolCall(call) => Some(&**call),
        _ => None,
    });
    { calls }.find(|it| &*it.id == wanted).unwrap()
}

#[test]
fn what_is_known_of_a_subagent_adds_up() {
    let mut world = World::running();
    let news =
        |subagent| ToolCallUpdate { subagent: Some(Box::new(subagent)), ..Default::default() };
    let first = Subagent {
        kind: Some("general".into()),
        description: Some("looks".into()),
        ..Default::default()
    };
    let tools = vec!["read".to_owned()];
    let last = Subagent { remote: Some("child".into()), tools, ..Default::default() };
    world.updates(update("t", news(first.clone()))).updates(update("t", news(last.clone())));
    world.updates(update("t", ToolCallUpdate::default()));
    let all = Subagent { remote: last.remote, tools: last.tools, ..first };
    assert_eq!(call(&world, "t").subagent.as_deref(), Some(&all));
    let child = |name: &str| ToolCallUpdate { made_by: Some(name.into()), ..Default::default() };
    world.updates(update("c", child("child"))).updates(update("d", child("nobody")));
    assert_eq!(call(&world, "c").parent.as_deref(), Some("t"));
    assert_eq!(call(&world, "d").parent, None);
}

#[test]
fn what_came_with_a_message_can_be_saved() {
    let mut world = World::running();
    let image = Content::Image { mime: "image/png".into(), data: "AAAA".into() };
    let chunk = |content| Update::Chunk(Chunk { role: Role::Agent, content, message: None });
    world.updates(chunk(Content::Text("see".into()))).updates(chunk(image.clone()));
    let save = |entry, attachment| Wish::Save {
        session: ONE,
        entry,
        attachment,
        path: "/tmp/x".into(),
        tag: 5,
    };
    let wanted =
        |content| vec![Effect::Save { session: ONE, tag: 5, path: "/tmp/x".into(), content }];
    world.wish(save(1, 0));
    assert_eq!(world.last, wanted(image.clone()));
    for (entry, attachment) in [(0, 0), (1, 1), (9, 0)] {
        world.wish(save(entry, attachment));
        assert!(world.told(|it| matches!(it, Tell::Saved { tag: 5, result: Err(_), .. })));
    }
    let text = ToolContent::Block(Content::Text("x".into()));
    let content = Some(vec![text, ToolContent::Block(image.clone())]);
    world.updates(update("t", ToolCallUpdate { content, ..Default::default() }));
    world.wish(save(2, 0));
    assert_eq!(world.last, wanted(image));
    let (path, result) = ("/tmp/x".to_owned(), Ok(()));
    world.event(Event::Saved { session: ONE, tag: 5, path, result });
    assert!(world.told(|it| matches!(it, Tell::Saved { tag: 5, result: Ok(()), .. })));
}
