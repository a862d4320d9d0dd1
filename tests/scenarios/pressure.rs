//! Too much, too little, too slow.

use std::time::{Duration, Instant};

use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::session::failure::{Exit, Failure};
use serde_json::{Value, json};

use crate::world::{World, go, said, turn};

#[test]
fn stderr_flood() {
    let noise = "noise noise noise noise noise noise noise noise";
    let played = go(&turn(json!([
        { "stderr": { "text": noise, "repeat": 50_000 } }, { "say": "done" }, { "stderr": "last words" }, { "exit": 5 }
    ])));
    match played.finished() {
        Err(Failure::Died { exit: Exit::Code(5), last_words: stderr, .. }) => {
            assert_eq!(stderr.last().unwrap(), "last words");
            assert!(stderr.len() <= 50, "{} lines", stderr.len());
        }
        other => panic!("{other:?}"),
    }
    assert!(played.transcript().contains("done"));
}

#[test]
fn ten_megabytes_in_a_line() {
    let played = go(&turn(json!([
        { "big_line": { "mb": 10, "garbage": true } }, { "say": "<" }, { "big_line": 10 }, { "say": ">" }
    ])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    let text = played.transcript();
    assert!(text.len() >= 10_000_000, "{}", text.len());
    assert!(text.starts_with(said("<").trim_end()) && text.ends_with(">\n"));
    played.goes_on();
    let report = played.close();
    assert!(report.answers().is_empty());
}

#[test]
fn two_hundred_thousand_chunks() {
    let played =
        go(&turn(json!([{ "flood": { "chunks": 200_000, "bytes": 16 } }, { "say": "." }])));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert_eq!(played.transcript().len(), said("").len() + 200_000 * 16 + 1);
    played.goes_on();
    played.close();
}

#[test]
fn one_byte_writes() {
    let played = go(&json!({
        "chop": 1,
        "prompts": [{ "turn": 1, "steps": [{ "say": "grüße 日本 \u{1f600}" }, { "request": { "method": "_x" } }] }]
    }));
    played.says("grüße 日本 \u{1f600}");
}

/// Neovim is busy: the agent streams on, and what it said is there afterwards.
#[test]
fn neovim_does_not_fetch() {
    let played = go(&turn(json!([
        { "say": "begin" }, { "wait_file": "go on" },
        { "flood": { "chunks": 100_000, "bytes": 16 } }, { "write_file": { "path": "sent", "text": "" } }
    ])));
    let world = &played.world;
    world.shows(played.session, "begin");
    world.show(played.session);
    std::fs::write(world.path("go on"), "").unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while !world.exists("sent") {
        assert!(Instant::now() < end, "the agent can't go on");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert_eq!(played.transcript().len(), said("begin").len() + 100_000 * 16);
    played.close();
}

/// Asks so often without waiting for the answers, each of 50 kB.
fn questions(times: usize) -> Value {
    // The answer names the method, so that each is as long as its question.
    let method = format!("_{}", "m".repeat(50_000));
    let ask = json!({ "request": { "method": method, "no_wait": true, "as": "q" } });
    json!({ "repeat": { "times": times, "steps": [ask] } })
}

/// It asks and asks and does not read the answers: at some point it is not read any more either,
/// so that the answers do not pile up without end. Others do not notice.
#[test]
fn slow_reader_that_never_reads() {
    let played = go(&turn(json!([
        { "stop_reading": true }, { "say": "deaf" }, questions(600), { "write_file": { "path": "sent", "text": "" } },
    ])));
    let world = &played.world;
    world.shows(played.session, "deaf");
    let quick = world.launch_beside(&json!({ "prompts": [{ "steps": [{ "say": "quick" }] }] }));
    let other = world.open(quick, Origin::New);
    for _ in 0..50 {
        let tag = world.prompt(other, "go");
        assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    }
    assert!(!world.exists("sent"), "30 MB of answers wait for an agent that is deaf");
    world.wish(Wish::Kill(played.session));
    assert!(matches!(played.finished(), Err(Failure::Killed { .. })));
    world.all_settled();
}

/// The same for a while: when it reads again, it finds every answer, once.
#[test]
fn slow_reader() {
    let played = go(&turn(
        json!([{ "stop_reading": 1500 }, questions(300), { "await": "q" }, { "say": "one" }]),
    ));
    assert_eq!(played.finished(), Ok(StopReason::EndTurn));
    assert_eq!(played.transcript(), said("one"));
    let report = played.close();
    assert_eq!(report.answers().len(), 300);
}

/// It does not read at all any more: it can be killed, and started again.
#[test]
fn never_reads_again() {
    let world = World::new();
    let launch = world.launch(&json!({ "prompts": [
        { "is": "go", "steps": [{ "say": "deaf now" }, { "stop_reading": true }] },
        { "steps": [{ "say": "never" }] }
    ] }));
    let session = world.open(launch, Origin::New);
    let tag = world.prompt(session, "go");
    assert_eq!(world.finished(tag), Ok(StopReason::EndTurn));
    let lost = world.prompt(session, &"x".repeat(30 << 20));
    world.wish(Wish::Cancel(session));
    world.wish(Wish::Kill(session));
    assert!(matches!(world.finished(lost), Err(Failure::Killed { .. })));
    let again = world.prompt(session, "again");
    assert_eq!(world.finished(again), Ok(StopReason::EndTurn));
    world.close(session);
}
