//! Prompts that wait, and turns that do not stop.

use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Call, Effect, Tell, Timer};
use acp_nvim::session::entry::{Entry, StopReason};
use acp_nvim::session::event::{Answer, Event, Origin, QueueChange, Wish};
use acp_nvim::session::failure::Failure;
use acp_nvim::session::ids::TurnId;

use crate::world::{ONE, World, able};

fn prompt(world: &mut World, tag: u64) {
    let content = vec![Content::Text(format!("prompt {tag}"))];
    world.wish(Wish::Prompt { session: ONE, content, tag });
}

fn change(world: &mut World, tag: u64, change: QueueChange) {
    world.wish(Wish::Queue { session: ONE, tag, change });
}

fn queue(world: &World) -> Vec<u64> {
    world.session().queue.iter().map(|it| it.tag).collect()
}

fn queue_changed(world: &World) -> bool {
    world.told(|it| *it == Tell::QueueChanged(ONE))
}

fn ends(world: &mut World, turn: u64) {
    let result = Ok(StopReason::EndTurn);
    world.answers(Answer::Prompt { session: ONE, turn: TurnId(turn), result });
}

#[test]
fn what_waits_can_be_changed_moved_and_taken_back() {
    let mut world = World::running();
    for tag in 2..=4 {
        prompt(&mut world, tag);
        assert!(queue_changed(&world));
    }
    change(&mut world, 4, QueueChange::Move(0));
    assert!(queue_changed(&world));
    assert_eq!(queue(&world), [4, 2, 3]);
    change(&mut world, 4, QueueChange::Move(99));
    assert_eq!(queue(&world), [2, 3, 4]);
    change(&mut world, 3, QueueChange::Remove);
    assert!(queue_changed(&world));
    let withdrawn = |it: &Tell| {
        matches!(it, Tell::TurnFinished { tag: 3, turn: None, result: Err(Failure::Withdrawn), .. })
    };
    assert!(world.told(withdrawn));
    change(&mut world, 2, QueueChange::Edit(vec![Content::Text("better".into())]));
    ends(&mut world, 1);
    assert!(queue_changed(&world), "one less");
    let [Call::Prompt { content, .. }] = world.calls()[..] else { panic!("{:?}", world.last) };
    assert_eq!(*content, [Content::Text("better".into())]);
    assert_eq!(world.texts(), ["hi", "better"]);
}

#[test]
fn what_was_sent_or_never_was_is_left_alone() {
    let mut world = World::running();
    prompt(&mut world, 2);
    for tag in [1, 7] {
        change(&mut world, tag, QueueChange::Remove);
        assert_eq!(world.last, [], "{tag}");
    }
    change(&mut world, 2, QueueChange::Remove);
    change(&mut world, 2, QueueChange::Remove);
    assert_eq!(world.last, [], "twice");
    ends(&mut world, 1);
    assert!(!queue_changed(&world) && world.calls().is_empty());
}

#[test]
fn a_prompt_that_is_sent_at_once_never_waits() {
    let mut world = World::default();
    world.open(0, Origin::New).initialized(able(), vec![]).made();
    prompt(&mut world, 1);
    assert!(!queue_changed(&world));
    let mut world = World::default();
    world.open(0, Origin::New);
    prompt(&mut world, 1);
    assert!(!queue_changed(&world), "the chat shows it");
    prompt(&mut world, 2);
    assert!(queue_changed(&world));
    change(&mut world, 1, QueueChange::Move(1));
    assert_eq!((queue(&world), world.last.len()), (vec![1, 2], 0), "what is shown stays");
    change(&mut world, 2, QueueChange::Move(0));
    assert_eq!(queue(&world), [1, 2], "and stays in front");
}

#[test]
fn what_waited_for_a_dead_session_waits_no_more() {
    let mut world = World::running();
    prompt(&mut world, 2);
    world.wish(Wish::Kill(ONE));
    assert!(queue_changed(&world));
    assert_eq!(queue(&world), Vec::<u64>::new());
}

/// The timer that was set, and the silence that is told when it fires.
fn stop_timer(world: &World) -> Option<Timer> {
    world.last.iter().find_map(|it| match it {
        Effect::SetTimer { timer: timer @ Timer::NotStopped { .. }, after } => {
            assert_eq!(after.as_secs(), 10);
            Some(*timer)
        }
        _ => None,
    })
}

fn silent(world: &World) -> bool {
    world.told(|it| matches!(it, Tell::NoAnswer { what: "session/cancel", seconds: 10, .. }))
}

#[test]
fn a_turn_that_does_not_stop_is_told_after_each_wait() {
    let mut world = World::running();
    world.wish(Wish::Cancel(ONE));
    let first = stop_timer(&world).unwrap();
    world.wish(Wish::Cancel(ONE));
    assert_eq!(stop_timer(&world), None, "one clock is enough");
    world.event(Event::TimerFired(first));
    assert!(silent(&world));
    assert!(matches!(world.session().entries.last(), Some(Entry::Failure(Failure::Silent { .. }))));
    world.wish(Wish::Wait(ONE));
    let second = stop_timer(&world).unwrap();
    world.event(Event::TimerFired(first));
    assert!(!silent(&world), "that wait is over");
    world.event(Event::TimerFired(second));
    assert!(silent(&world));
    world.wish(Wish::Kill(ONE));
    let killed = |it: &Tell| {
        matches!(it, Tell::TurnFinished { tag: 1, result: Err(Failure::Killed { .. }), .. })
    };
    assert!(world.told(killed));
}

#[test]
fn a_turn_that_stopped_is_not_called_silent() {
    let mut world = World::running();
    prompt(&mut world, 2);
    world.wish(Wish::Cancel(ONE));
    let timer = stop_timer(&world).unwrap();
    ends(&mut world, 1);
    world.event(Event::TimerFired(timer));
    assert_eq!(world.last, [], "another turn runs");
    world.wish(Wish::Cancel(ONE));
    world.event(Event::TimerFired(timer));
    assert_eq!(world.last, [], "another turn is being cancelled");
}
