//! Prompts that wait until what the files are is recorded.

use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Call, Effect, Tell};
use acp_nvim::session::entry::{Entry, Note, StopReason};
use acp_nvim::session::event::{Answer, Event, Happened, Origin, Wish};
use acp_nvim::session::failure::Exit;
use acp_nvim::session::ids::TurnId;
use acp_nvim::session::state::Turn;

use crate::world::{ONE, World, able};

fn ready() -> World {
    let mut world = World::default();
    world.wish(Wish::SetRewind(true));
    world.open(0, Origin::New).initialized(able(), vec![]).made();
    world
}

fn say(world: &mut World, text: &str, tag: u64) {
    let content = vec![Content::Text(text.into())];
    world.wish(Wish::Prompt { session: ONE, content, tag });
}

fn recorded(world: &mut World, turn: u64) {
    world.event(Event::Recorded(ONE, TurnId(turn)));
}

fn records(world: &World) -> Vec<u64> {
    let turn = |it: &Effect| match it {
        Effect::Record { turn, .. } => Some(turn.0),
        _ => None,
    };
    world.last.iter().filter_map(turn).collect()
}

/// What was sent, block by block.
fn sent(world: &World) -> Vec<String> {
    let mut texts = Vec::new();
    for call in world.calls() {
        let Call::Prompt { content, .. } = call else { continue };
        texts.extend(content.iter().map(|it| match it {
            Content::Text(text) => text.clone(),
            other => format!("{other:?}"),
        }));
    }
    texts
}

fn started(world: &World) -> bool {
    world.told(|it| matches!(it, Tell::TurnStarted { .. }))
}

#[test]
fn a_prompt_is_sent_when_the_files_are_recorded() {
    let mut world = ready();
    say(&mut world, "one", 1);
    assert_eq!(records(&world), [1]);
    assert_eq!(sent(&world), [""; 0]);
    assert!(started(&world));
    assert_eq!(world.session().word(), "running");
    // News of another turn is not meant.
    recorded(&mut world, 7);
    assert_eq!(sent(&world), [""; 0]);
    say(&mut world, "two", 2);
    assert_eq!(records(&world), [0; 0], "one after the other");
    recorded(&mut world, 1);
    assert_eq!(sent(&world), ["one"]);
    recorded(&mut world, 1);
    assert_eq!(sent(&world), [""; 0], "once");
    let result = Ok(StopReason::EndTurn);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
    assert_eq!(records(&world), [2]);
    recorded(&mut world, 2);
    assert_eq!(sent(&world), ["two"]);
}

#[test]
fn a_cancel_while_waiting_sends_nothing() {
    let mut world = ready();
    say(&mut world, "one", 1);
    say(&mut world, "two", 2);
    world.wish(Wish::Cancel(ONE));
    let cancelled = |it: &Tell| {
        let result = Ok(StopReason::Cancelled);
        *it == Tell::TurnFinished { session: ONE, turn: None, tag: 1, result }
    };
    assert!(world.told(cancelled), "{:?}", world.last);
    assert!(!world.last.iter().any(|it| matches!(it, Effect::CancelTurn { .. })));
    assert_eq!(records(&world), [2], "what waits comes next");
    let note = Entry::Note(Note::Stopped(StopReason::Cancelled));
    assert!(world.session().entries.iter().any(|it| format!("{it:?}") == format!("{note:?}")));
    recorded(&mut world, 1);
    assert_eq!(sent(&world), [""; 0]);
    recorded(&mut world, 2);
    assert_eq!(sent(&world), ["two"]);
}

#[test]
fn words_for_the_running_turn_wait_for_its_begin() {
    let mut world = ready();
    say(&mut world, "one", 1);
    let content = vec![Content::Text("more".into())];
    world.wish(Wish::Steer { session: ONE, content, tag: 2 });
    assert!(world.calls().is_empty());
    assert_eq!(world.session().queue.len(), 1);
}

#[test]
fn an_agent_that_dies_meanwhile_was_told_nothing() {
    let mut world = ready();
    say(&mut world, "one", 1);
    world.agent(Happened::Exited { exit: Exit::Code(1), stderr: vec![] });
    let failed =
        |it: &Tell| matches!(it, Tell::TurnFinished { turn: None, tag: 1, result: Err(_), .. });
    assert!(world.told(failed), "{:?}", world.last);
    assert_eq!(world.session().turn, Turn::Idle);
    recorded(&mut world, 1);
    assert_eq!(sent(&world), [""; 0]);
    say(&mut world, "two", 2);
    world.wish(Wish::Close(ONE));
    recorded(&mut world, 2);
    assert!(world.last.is_empty());
}

#[test]
fn what_the_agent_shall_know_comes_with_the_next_prompt() {
    let mut world = ready();
    world.wish(Wish::Note { session: ONE, text: "rewound".into() });
    say(&mut world, "/compact", 1);
    recorded(&mut world, 1);
    assert_eq!(sent(&world), ["/compact", "\n\nrewound\n"], "agents may join blocks as they are");
    assert_eq!(world.texts(), ["/compact"], "it is not the user who says it");
    let result = Ok(StopReason::EndTurn);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(1), result });
    world.wish(Wish::SetRewind(false));
    say(&mut world, "two", 2);
    assert_eq!(sent(&world), ["two"], "and once");
}
