//! Whatever patches produce equals a full render (ARCHITECTURE.md, invariant 5).

#![expect(clippy::indexing_slicing, reason = "a test stops at the first surprise")]

use std::time::Duration;

use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::entry::{Entry, Note, Role, StopReason};
use acp_nvim::session::event::Origin;
use acp_nvim::session::failure::{Exit, Failure};
use acp_nvim::session::ids::SessionId;
use acp_nvim::session::message::Message;
use acp_nvim::session::state::Session;
use acp_nvim::session::tool_call::{ToolCall, ToolStatus};
use acp_nvim::view::model::{Patch, Place, Row, Span};
use acp_nvim::view::painted::Painted;
use acp_nvim::view::screen::Screen;
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
    Fail(usize),
    Note,
    /// A tool call begins.
    Tool(String),
    /// The first tool call gets another title.
    Rename(String),
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "é", "日本", "\n", "\r\n", "\r", " ", "```", "\t"]),
        0..12,
    )
    .prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (prop::sample::select(vec![Role::User, Role::Agent, Role::Thought]), text())
            .prop_map(|(role, text)| Step::Say(role, text)),
        (any::<bool>(), text()).prop_map(|(last, text)| Step::Grow { last, text }),
        (0usize..20).prop_map(Step::Fail),
        Just(Step::Note),
        text().prop_map(Step::Tool),
        text().prop_map(Step::Rename),
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

fn tool_call(title: &str) -> Entry {
    Entry::ToolCall(Box::new(ToolCall {
        id: "1".into(),
        title: title.into(),
        name: None,
        kind: Default::default(),
        status: ToolStatus::Pending,
        content: vec![],
        locations: vec![],
        given: Default::default(),
        raw_input: None,
        raw_output: None,
        parent: None,
        subagent: None,
        diffs: vec![],
        revision: 0,
        began: Duration::ZERO,
        ended: None,
    }))
}

/// Changes the chat; the entry that changed.
fn change(session: &mut Session, step: &Step) -> Option<usize> {
    match step {
        Step::Say(role, text) => {
            let said = vec![Content::Text(text.clone())];
            let message = Message::said(*role, said, Duration::ZERO);
            session.entries.push(Entry::Message(message));
        }
        Step::Fail(lines) => {
            let stderr = (0..*lines).map(|line| format!("line {line}")).collect();
            let failure = Failure::Died { agent: "agent".into(), exit: Exit::Code(1), stderr };
            session.entries.push(Entry::Failure(failure));
        }
        Step::Note => session.entries.push(Entry::Note(Note::Stopped(StopReason::Cancelled))),
        Step::Tool(title) => session.entries.push(tool_call(title)),
        Step::Rename(title) => {
            let index = session.entries.iter().position(|it| matches!(it, Entry::ToolCall(_)));
            session.entries[index?] = tool_call(title);
            return index;
        }
        Step::Grow { last, text: more } => {
            let is_message = |entry: &Entry| matches!(entry, Entry::Message(_));
            let index = match last {
                true => session.entries.iter().rposition(is_message),
                false => session.entries.iter().position(is_message),
            };
            if let Some(Entry::Message(message)) = session.entries.get_mut(index?) {
                message.append(Content::Text(more.clone()), Duration::ZERO);
            }
            return index;
        }
    }
    Some(session.entries.len() - 1)
}

/// A buffer that takes patches the way Neovim does.
#[derive(Debug, Default, PartialEq)]
struct Buffer {
    lines: Vec<String>,
    painted: Painted,
}

impl Buffer {
    fn take(&mut self, patches: &[Patch]) {
        for patch in patches {
            self.painted.apply(patch);
            let mut lines = patch.lines.clone();
            let rows = match patch.place {
                Place::All => 0..self.lines.len(),
                Place::Rows { first, last } => first..last,
                Place::Append { row, col } => {
                    assert_eq!(self.lines[row].len(), col, "text goes to the end of the row");
                    lines[0].insert_str(0, &self.lines[row]);
                    row..row + 1
                }
            };
            self.lines.splice(rows, lines);
        }
        for span in self.painted.spans(0, usize::MAX) {
            let Span { row, start, end, .. } = span;
            assert!(start < end && end <= self.lines[row].len(), "{span:?} lies in its row");
        }
    }
}

fn rendered(session: &Session) -> Buffer {
    let (mut patches, mut buffer) = (Vec::new(), Buffer::default());
    Screen::default().render_all(session, &mut patches);
    buffer.take(&patches);
    buffer
}

proptest! {
    #[test]
    fn patches_equal_a_full_render(steps in prop::collection::vec((step(), any::<bool>()), 0..40)) {
        let mut session = session();
        let (mut screen, mut buffer, mut dirty) = (Screen::default(), Buffer::default(), std::collections::BTreeSet::new());
        for (step, show_now) in &steps {
            dirty.extend(change(&mut session, step));
            if *show_now {
                let mut patches = Vec::new();
                for index in std::mem::take(&mut dirty) {
                    screen.update(&session, index, &mut patches);
                }
                buffer.take(&patches);
                prop_assert_eq!(&buffer, &rendered(&session));
            }
        }
    }
}

#[test]
fn long_changes_come_in_pieces() {
    let mut session = session();
    let text: String = (0..1000).map(|line| format!("{line}\n")).collect();
    change(&mut session, &Step::Say(Role::Agent, "a".into()));
    let (mut screen, mut patches) = (Screen::default(), Vec::new());
    screen.update(&session, 0, &mut patches);
    change(&mut session, &Step::Grow { last: true, text });
    screen.update(&session, 0, &mut patches);
    assert!(patches.len() > 3);
    let mut buffer = Buffer::default();
    buffer.take(&patches);
    assert_eq!(buffer, rendered(&session));
}

#[test]
fn streaming_touches_only_the_end() {
    let mut session = session();
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
