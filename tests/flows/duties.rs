//! What agents ask and tell: permissions, files, terminals, tool calls, settings.

use acp_nvim::session::audit::By;
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Call, Effect, Make, Reply, Tell, Timer};
use acp_nvim::session::entry::{Entry, Note, StopReason};
use acp_nvim::session::event::{
    Answer, Ask, DiskError, Event, Happened, Kept, Made, Origin, Request, Told, Update, Wish,
};
use acp_nvim::session::failure::{Exit, RpcError};
use acp_nvim::session::ids::AskId;
use acp_nvim::session::question::{Elicitation, ElicitationMode, Reaction};
use acp_nvim::session::settings::{Choice, ConfigOption, Setting};
use acp_nvim::session::tool_call::ToolStatus;

use crate::world::{ONE, World, able, permission, says, status, tool};

#[test]
fn permissions_are_answered_in_any_order_and_once() {
    let mut world = World::running();
    world.requests("1", permission()).requests("2", permission());
    assert_eq!(world.session().word(), "waiting");
    world.wish(Wish::Answer {
        ask: AskId(2),
        reaction: Reaction::Option("no".into()),
        by: By::User,
    });
    assert_eq!(world.replies(), [("2", &Ok(Reply::Permission(Some("no".into()))))]);
    world.wish(Wish::Answer {
        ask: AskId(1),
        reaction: Reaction::Option("maybe".into()),
        by: By::User,
    });
    assert_eq!(world.replies(), [], "not one of the options");
    world.wish(Wish::Answer {
        ask: AskId(1),
        reaction: Reaction::Option("yes".into()),
        by: By::User,
    });
    assert_eq!(world.replies(), [("1", &Ok(Reply::Permission(Some("yes".into()))))]);
    world.wish(Wish::Answer {
        ask: AskId(1),
        reaction: Reaction::Option("yes".into()),
        by: By::User,
    });
    assert_eq!(world.replies(), []);
    assert_eq!(world.session().word(), "running");
}

#[test]
fn the_chat_shows_what_waits_where_it_belongs_and_as_long_as_it_does() {
    let mut world = World::running();
    world.requests("1", permission());
    let entry = world.session().entries.len() - 1;
    let letters = |world: &World| -> String {
        let options = world.session().pending.at(entry).flat_map(|it| &it.options);
        options.map(|it| it.letter).collect()
    };
    assert_eq!(letters(&world), "ar");
    assert!(world.dirty.contains(&entry));
    let reaction = Reaction::Option("no".into());
    world.wish(Wish::Answer { ask: AskId(1), reaction, by: By::User });
    assert_eq!(letters(&world), "");
    assert!(world.dirty.contains(&entry));

    // What belongs to no tool call has a line of its own.
    let mode = ElicitationMode::Form(Vec::new());
    let elicitation = Elicitation { message: "Who are you?".into(), tool_call: None, mode };
    world.requests("2", Request::Elicit { remote: Some("r1".into()), elicitation });
    let entry = world.session().entries.len() - 1;
    assert_eq!(
        world.session().entries.last(),
        Some(&Entry::Note(Note::Question("Who are you?".into())))
    );
    assert_eq!(world.session().pending.at(entry).count(), 1);
    world.wish(Wish::Cancel(ONE));
    assert_eq!(world.session().pending.at(entry).count(), 0);
    assert!(world.dirty.contains(&entry));
}

#[test]
fn a_cancel_answers_what_waits_and_ends_what_runs() {
    let mut world = World::running();
    world.updates(tool(ToolStatus::InProgress)).requests("1", permission());
    world.wish(Wish::Cancel(ONE));
    assert_eq!(world.replies(), [("1", &Ok(Reply::Permission(None)))]);
    assert_eq!(status(&world), ToolStatus::Cancelled);
    world.requests("2", permission());
    assert_eq!(world.replies(), [("2", &Ok(Reply::Permission(None)))]);
    world.updates(tool(ToolStatus::Completed));
    assert_eq!(status(&world), ToolStatus::Completed, "the last word counts");
}

#[test]
fn a_withdrawn_request_is_answered_all_the_same() {
    let mut world = World::running();
    world.requests("\"a\"", permission());
    world.agent(Happened::Withdrawn("\"a\"".into()));
    assert_eq!(world.replies(), [("\"a\"", &Ok(Reply::Permission(None)))]);
    assert!(world.told(|it| matches!(it, Tell::Settled { .. })));
    assert_eq!(world.session().pending.len(), 0);
}

#[test]
fn files_come_from_the_editor_or_else_from_the_disk() {
    let mut world = World::running();
    let read = || Request::ReadFile {
        remote: "r1".into(),
        path: "src/a.rs".into(),
        line: Some(2),
        limit: None,
    };
    world.requests("1", read());
    world.wish(Wish::Answer {
        ask: AskId(1),
        reaction: Reaction::Text("live".into()),
        by: By::User,
    });
    assert_eq!(world.replies(), [("1", &Ok(Reply::Text("live".into())))]);
    world.requests("2", read());
    world.wish(Wish::Answer { ask: AskId(2), reaction: Reaction::NotLoaded, by: By::User });
    assert!(
        matches!(&world.last[..], [Effect::ReadDisk(AskId(2), range)] if range.path == "/project/src/a.rs")
    );
    world.event(Event::TimerFired(Timer::NoEditor(AskId(2))));
    assert_eq!(world.replies(), [], "the disk is at it");
    world.event(Event::Disk { ask: AskId(2), result: Err(DiskError::NotFound) });
    let missing = RpcError::new(RpcError::NOT_FOUND, "No such file: /project/src/a.rs");
    assert_eq!(world.replies(), [("2", &Err(missing))], "words that agents look for");
    world.requests(
        "3",
        Request::WriteFile { remote: "r1".into(), path: "/p/b".into(), text: "t".into() },
    );
    world.event(Event::TimerFired(Timer::NoEditor(AskId(3))));
    assert!(matches!(world.replies()[..], [("3", Err(_))]), "Neovim did not answer");
}

#[test]
fn a_late_pending_does_not_turn_back_the_clock() {
    let mut world = World::running();
    world.updates(tool(ToolStatus::Completed)).updates(tool(ToolStatus::Pending));
    assert_eq!(status(&world), ToolStatus::Completed);
    assert_eq!(world.session().entries.len(), 2, "one entry for it, never announced");
}

#[test]
fn updates_after_the_turn_still_land() {
    let mut world = World::running();
    let turn = acp_nvim::session::ids::TurnId(1);
    world.answers(Answer::Prompt { session: ONE, turn, result: Ok(StopReason::EndTurn) });
    world.updates(says("late"));
    assert_eq!(world.texts(), ["hi", "late"]);
}

#[test]
fn all_pages_of_a_list_are_fetched() {
    let mut world = World::running();
    world.wish(Wish::Ask { session: ONE, ask: Ask::ListSessions, tag: 9 });
    let page = |name: &str, next: Option<&str>| {
        let kept = Kept { remote: name.into(), cwd: "/".into(), title: None, updated: None };
        let result = Ok(Told::Sessions(vec![kept], next.map(Into::into)));
        Answer::Asked { session: ONE, ask: Ask::ListSessions, tag: 9, result }
    };
    world.answers(page("a", Some("2")));
    assert!(
        matches!(&world.calls()[..], [Call::Ask { cursor: Some(cursor), .. }] if cursor == "2")
    );
    world.answers(page("b", None));
    assert!(world.told(
        |it| matches!(it, Tell::AskDone { tag: 9, result: Ok(kept), .. } if kept.len() == 2)
    ));
}

#[test]
fn a_mode_is_an_option_where_the_agent_has_it_so() {
    let mut world = World::running();
    let choice = Choice { current: "ask".into(), values: vec![] };
    let option = ConfigOption {
        id: "o".into(),
        name: "Mode".into(),
        description: None,
        category: Some("mode".into()),
        setting: Setting::Select(choice),
    };
    world.updates(Update::Options { options: vec![option], partial: false });
    world.wish(Wish::Ask { session: ONE, ask: Ask::SetMode("code".into()), tag: 9 });
    let wanted = Ask::SetOption("o".into(), "code".into());
    assert!(matches!(&world.calls()[..], [Call::Ask { ask, .. }] if *ask == wanted));
    world.answers(Answer::Asked {
        session: ONE,
        ask: wanted,
        tag: 9,
        result: Ok(Told::Options(None)),
    });
    assert!(
        matches!(&world.session().settings.options[0].setting, Setting::Select(it) if it.current == "code")
    );
}

#[test]
fn an_agent_elsewhere_is_sought_again_and_what_was_typed_waits() {
    let mut world = World::default();
    world.open(2, Origin::New).initialized(able(), vec![]).made();
    world.agent(Happened::Exited { exit: Exit::Closed, stderr: vec![] });
    let Some(Effect::SetTimer { timer, .. }) =
        world.last.iter().find(|it| matches!(it, Effect::SetTimer { .. }))
    else {
        panic!("{:?}", world.last)
    };
    let timer = *timer;
    world.prompt();
    assert_eq!(world.session().queue.len(), 1);
    world.event(Event::TimerFired(timer));
    assert!(world.last.iter().any(|it| matches!(it, Effect::Spawn { .. })));
    world.agent(Happened::Started).initialized(able(), vec![]);
    assert!(matches!(world.calls()[..], [Call::Session { how: Make::Resume(_), .. }]));
    world.answers(Answer::Session { session: ONE, result: Ok(Made::default()) });
    assert!(matches!(world.calls()[..], [Call::Prompt { .. }]));
}

#[test]
fn what_the_agent_can_not_take_is_left_out_with_a_word() {
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), vec![]).made();
    let image = Content::Image { mime: "image/png".into(), data: "AAAA".into() };
    let resource = Content::Resource { uri: "file:///a".into(), text: "a".into(), mime: None };
    let content = vec![Content::Text("look".into()), image, resource];
    world.wish(Wish::Prompt { session: ONE, content, tag: 1 });
    let Some(Call::Prompt { content, .. }) = world.calls().first().copied() else { panic!() };
    let link = Content::Link { uri: "file:///a".into(), name: "file:///a".into() };
    assert_eq!(*content, [Content::Text("look".into()), link]);
    assert!(world.session().entries.iter().any(|it| matches!(it, Entry::Note(Note::LeftOut(_)))));
}
