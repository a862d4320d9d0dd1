//! Whatever patches produce equals a full render (ARCHITECTURE.md, invariant 5).

#![expect(clippy::indexing_slicing, reason = "a test stops at the first surprise")]

#[path = "view/buffer.rs"]
mod buffer;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::diff::FileDiff;
use acp_nvim::session::entry::{Entry, Note, Role, StopReason};
use acp_nvim::session::event::Origin;
use acp_nvim::session::failure::{Exit, Failure};
use acp_nvim::session::ids::{SessionId, TurnId};
use acp_nvim::session::message::Message;
use acp_nvim::session::state::{Running, Session, Turn};
use acp_nvim::session::tool_call::{Subagent, ToolCall, ToolContent, ToolStatus};
use acp_nvim::view::model::{Look, Patch, Place, Row};
use acp_nvim::view::screen::Screen;
use buffer::Buffer;
use proptest::prelude::*;

/// What happens to a chat.
#[derive(Debug, Clone)]
enum Step {
    Say(Role, String),
    /// More text for the last message, or for the first one.
    Grow {
        last: bool,
        text: String,
    },
    /// Something that is not text, in the last message.
    Attach,
    Fail(usize),
    Note,
    /// A tool call begins; it is part of the nth one.
    Tool(String, Option<usize>),
    /// The nth tool call changes.
    Tell(usize, News),
    /// The agent works, or has done so.
    Turn(bool),
    Clock(u64),
}

/// What is new about a tool call.
#[derive(Debug, Clone)]
enum News {
    Title(String),
    Output(String),
    Status(ToolStatus),
    Diff(usize),
    Subagent(String),
    Parent(usize),
}

/// What the user does to what is shown.
#[derive(Debug, Clone)]
enum Wish {
    Toggle(usize, Option<bool>),
    All(bool),
    Look(Look),
}

fn text() -> impl Strategy<Value = String> {
    let words = vec![
        "a",
        "word ",
        "é",
        "日本",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "```",
        "```rust\n",
        "~~~",
        "`",
        "*",
        "**",
        "_",
        "- ",
        "-",
        "1. ",
        "# ",
        "===",
        "> ",
        "| a |\n|---|\n",
        "[x](y)",
        "[",
        "<b>",
        "▌",
        "● ",
        "▸",
        "  ▾",
        "─",
        "=",
        "\u{1b}[1m",
    ];
    prop::collection::vec(prop::sample::select(words), 0..12).prop_map(|pieces| pieces.concat())
}

fn news() -> impl Strategy<Value = News> {
    let states = vec![ToolStatus::InProgress, ToolStatus::Completed, ToolStatus::Failed];
    prop_oneof![
        text().prop_map(News::Title),
        text().prop_map(News::Output),
        prop::sample::select(states).prop_map(News::Status),
        (0usize..5).prop_map(News::Diff),
        text().prop_map(News::Subagent),
        (0usize..4).prop_map(News::Parent),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (prop::sample::select(vec![Role::User, Role::Agent, Role::Thought]), text())
            .prop_map(|(role, text)| Step::Say(role, text)),
        6 => (prop::bool::weighted(0.8), text()).prop_map(|(last, text)| Step::Grow { last, text }),
        1 => Just(Step::Attach),
        1 => (0usize..20).prop_map(Step::Fail),
        1 => Just(Step::Note),
        3 => (text(), prop::option::of(0usize..4)).prop_map(|(title, of)| Step::Tool(title, of)),
        3 => (0usize..4, news()).prop_map(|(tool, news)| Step::Tell(tool, news)),
        2 => any::<bool>().prop_map(Step::Turn),
        1 => (0u64..100).prop_map(Step::Clock),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        6 => (0usize..12, prop::option::of(any::<bool>())).prop_map(|(at, to)| Wish::Toggle(at, to)),
        1 => any::<bool>().prop_map(Wish::All),
        1 => (any::<bool>(), any::<bool>())
            .prop_map(|(ascii, conceal)| Wish::Look(Look { ascii, conceal })),
    ]
}

fn session() -> Session {
    let launch = Launch {
        agent: "agent".into(),
        how: How::Program(vec!["agent".into()]),
        env: vec![],
        cwd: "/".into(),
        directories: vec![],
        mcp_servers: vec![],
        install: None,
        patience: std::time::Duration::ZERO,
    };
    Session::new(SessionId(1), launch, Origin::New)
}

fn tool_call(id: usize, title: &str) -> ToolCall {
    ToolCall {
        id: id.to_string().into(),
        title: title.into(),
        raw_input: Some(r#"{"key":"value"}"#.into()),
        ..Default::default()
    }
}

fn nth_tool_call(session: &mut Session, nth: usize) -> Option<(usize, &mut ToolCall)> {
    let entries = session.entries.iter_mut().enumerate();
    let mut tool_calls = entries.filter_map(|(index, entry)| match entry {
        Entry::ToolCall(tool_call) => Some((index, &mut **tool_call)),
        _ => None,
    });
    tool_calls.nth(nth)
}

fn tell(session: &mut Session, nth: usize, news: &News) -> Option<usize> {
    let (index, tool_call) = nth_tool_call(session, nth)?;
    match news {
        News::Title(title) => tool_call.title.clone_from(title),
        News::Output(text) => {
            tool_call.content = vec![ToolContent::Block(Content::Text(text.repeat(5)))];
        }
        News::Status(status) => {
            tool_call.status = *status;
            tool_call.ended = status.is_final().then_some(Duration::from_secs(9));
        }
        News::Diff(added) => {
            let (path, added) = ("a".to_owned(), *added);
            tool_call.diffs =
                vec![Arc::new(FileDiff { path, added, removed: 1, ..FileDiff::default() })];
        }
        News::Subagent(kind) => {
            let subagent = Subagent { kind: Some(kind.clone()), ..Subagent::default() };
            tool_call.subagent = Some(Box::new(subagent));
        }
        News::Parent(parent) => {
            let to = Some(parent.to_string().into());
            let from = std::mem::replace(&mut tool_call.parent, to.clone());
            session.parts.moved(index, from, to);
        }
    }
    Some(index)
}

/// Changes the chat; the entry that changed.
fn change(session: &mut Session, step: &Step) -> Option<usize> {
    match step {
        Step::Say(role, text) => {
            let said = vec![Content::Text(text.clone())];
            let message = Message::said(*role, said, session.now);
            session.entries.push(Entry::Message(message));
        }
        Step::Fail(lines) => {
            let last_words = (0..*lines).map(|line| format!("line {line}")).collect();
            let failure = Failure::Died { agent: "agent".into(), exit: Exit::Code(1), last_words };
            session.entries.push(Entry::Failure(failure));
        }
        Step::Note => session.entries.push(Entry::Note(Note::Stopped(StopReason::Cancelled))),
        Step::Tool(title, of) => {
            let id = session.tool_calls.len();
            let parent = of.map(|it| it.to_string().into());
            let tool_call = ToolCall { parent, ..tool_call(id, title) };
            session.tool_calls.insert(tool_call.id.clone(), session.entries.len());
            session.entries.push(Entry::ToolCall(Box::new(tool_call)));
        }
        Step::Tell(nth, news) => return tell(session, *nth, news),
        Step::Turn(running) => {
            let turn =
                Running { turn: TurnId(1), tag: 1, content: vec![], steered: Vec::new(), waits: 0 };
            session.turn = if *running { Turn::Running(turn) } else { Turn::Idle };
        }
        Step::Clock(seconds) => session.now += Duration::from_secs(*seconds),
        Step::Attach => {
            let image = Content::Image { mime: "image/png".into(), data: "AAAA".into() };
            let message = session.entries.last_mut();
            if let Some(Entry::Message(message)) = message {
                message.append(image, session.now);
            }
        }
        Step::Grow { last, text: more } => {
            let is_message = |entry: &Entry| matches!(entry, Entry::Message(_));
            let index = match last {
                true => session.entries.iter().rposition(is_message),
                false => session.entries.iter().position(is_message),
            };
            if let Some(Entry::Message(message)) = session.entries.get_mut(index?) {
                message.append(Content::Text(more.clone()), session.now);
            }
            return index;
        }
    }
    session.entries.len().checked_sub(1)
}

/// What a screen would show that opened the same, from the beginning.
fn rendered(session: &Session, wishes: &[Wish]) -> Buffer {
    let (mut screen, mut buffer) = (Screen::default(), Buffer::default());
    for wish in wishes {
        act(&mut screen, session, wish);
    }
    let mut patches = Vec::new();
    screen.render_all(session, &mut patches);
    buffer.take(&patches);
    buffer
}

fn act(screen: &mut Screen, session: &Session, wish: &Wish) -> Vec<Patch> {
    let mut patches = Vec::new();
    match wish {
        Wish::Toggle(entry, open) => screen.toggle(session, (*entry, *open), &mut patches),
        Wish::All(open) => screen.toggle_all(session, *open, &mut patches),
        Wish::Look(look) => screen.set_look(*look, session, &mut patches),
    }
    patches
}

/// A chat and somebody who looks at it.
#[derive(Default)]
struct World {
    screen: Screen,
    buffer: Buffer,
    dirty: BTreeSet<usize>,
    wishes: Vec<Wish>,
}

impl World {
    fn show(&mut self, session: &Session) {
        let mut patches = Vec::new();
        for index in std::mem::take(&mut self.dirty) {
            self.screen.update(session, index, &mut patches);
        }
        self.buffer.take(&patches);
    }

    /// What can't be toggled yet is not.
    fn wish(&mut self, session: &Session, wish: &Wish) {
        if !matches!(wish, Wish::Toggle(entry, _) if *entry >= session.entries.len()) {
            self.buffer.take(&act(&mut self.screen, session, wish));
            self.wishes.push(wish.clone());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn patches_equal_a_full_render(
        steps in prop::collection::vec((step(), any::<bool>(), prop::option::weighted(0.2, wish())), 0..40),
    ) {
        let (mut session, mut world) = (session(), World::default());
        for (step, show_now, wish) in &steps {
            // What says how long it takes says so no more when the turn ends.
            if let Step::Clock(_) | Step::Turn(_) | Step::Say(Role::User, _) = step {
                world.dirty.extend(session.live());
            }
            world.dirty.extend(change(&mut session, step));
            if let Step::Turn(_) = step {
                world.dirty.extend(session.live());
            }
            if *show_now || wish.is_some() {
                world.show(&session);
                if let Some(wish) = wish {
                    world.wish(&session, wish);
                }
                let full = rendered(&session, &world.wishes);
                prop_assert_eq!(world.buffer.seen(), full.seen());
            }
        }
    }
}

#[test]
fn long_changes_come_in_pieces() {
    let (mut session, mut world) = (session(), World::default());
    let text: String = (0..1000).map(|line| format!("{line}\n")).collect();
    change(&mut session, &Step::Say(Role::Agent, "a".into()));
    let mut patches = Vec::new();
    world.screen.update(&session, 0, &mut patches);
    change(&mut session, &Step::Grow { last: true, text });
    world.screen.update(&session, 0, &mut patches);
    assert!(patches.len() > 3);
    world.buffer.take(&patches);
    assert_eq!(world.buffer.seen(), rendered(&session, &[]).seen());
}

#[test]
fn streaming_touches_only_the_end() {
    let mut session = session();
    change(&mut session, &Step::Turn(true));
    change(&mut session, &Step::Say(Role::Agent, "one\ntwo".into()));
    let (mut screen, mut patches) = (Screen::default(), Vec::new());
    screen.update(&session, 0, &mut patches);
    patches.clear();
    change(&mut session, &Step::Grow { last: true, text: " more\nlast".into() });
    screen.update(&session, 0, &mut patches);
    let place = Place::Append { row: 2, col: 3 };
    let lines = vec![" more".to_owned(), "last".to_owned()];
    let rows = vec![Row { owner: 1, ..Row::default() }; lines.len()];
    let (spans, code, repaint) = (vec![], vec![], None);
    assert_eq!(patches, [Patch { place, lines, rows, spans, code, repaint }]);
}

/// Neovim measures a row whenever it draws a part of it: what is too long has several.
#[test]
fn rows_are_of_bounded_length() {
    let (mut session, mut world) = (session(), World::default());
    let words = "one **two** ``` ▌ You \u{e9}\t".repeat(400);
    change(&mut session, &Step::Turn(true));
    change(&mut session, &Step::Say(Role::Agent, "```json\n".into()));
    for step in 0..40 {
        let text = if step == 25 { "\n```\n\nprose: ".to_owned() } else { words.clone() };
        world.dirty.extend(change(&mut session, &Step::Grow { last: true, text }));
        if step % 10 == 9 {
            world.dirty.extend(change(&mut session, &Step::Attach));
        }
        world.show(&session);
        assert_eq!(world.buffer.seen(), rendered(&session, &[]).seen(), "{step}");
    }
    let lines = &world.buffer.lines;
    let longest = lines.iter().map(String::len).max();
    assert!(longest.is_some_and(|it| it > 16_000 && it < 21_000), "{longest:?}");
    let shown = lines.iter().filter(|it| it.contains("opens")).count();
    assert_eq!(shown, 4, "attachments");
}

/// What is closed stays one row: what is below it does not move.
#[test]
fn what_is_closed_never_moves_what_is_below() {
    let mut session = session();
    change(&mut session, &Step::Turn(true));
    change(&mut session, &Step::Say(Role::Thought, "hm".into()));
    change(&mut session, &Step::Tool("task".into(), None));
    change(&mut session, &Step::Say(Role::Agent, "text".into()));
    let (mut screen, mut patches) = (Screen::default(), Vec::new());
    screen.render_all(&session, &mut patches);
    let steps = [
        Step::Tell(0, News::Status(ToolStatus::InProgress)),
        Step::Tell(0, News::Output("a\nb\nc".into())),
        Step::Tool("part".into(), Some(0)),
        Step::Tell(1, News::Status(ToolStatus::Completed)),
        Step::Tell(0, News::Diff(3)),
        Step::Grow { last: false, text: "\nmore\nthoughts".into() },
        Step::Clock(70),
    ];
    for step in &steps {
        patches.clear();
        let index = change(&mut session, step);
        for index in index.into_iter().chain(session.live()) {
            screen.update(&session, index, &mut patches);
        }
        for Patch { place, lines, .. } in &patches {
            let Place::Rows { first, last } = place else { panic!("{step:?}: {place:?}") };
            assert_eq!(last - first, lines.len(), "{step:?}");
        }
    }
}
