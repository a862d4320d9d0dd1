//! One tool call in a buffer: what patches produce equals a full render, and what there is to see.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

use std::sync::Arc;
use std::time::Duration;

use acp_nvim::changes::diff::file_diffs;
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::command_line::Command;
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::Texts;
use acp_nvim::session::entry::Entry;
use acp_nvim::session::event::Origin;
use acp_nvim::session::ids::SessionId;
use acp_nvim::session::state::Session;
use acp_nvim::session::terminal::Terminal;
use acp_nvim::session::tool_call::{TerminalExit, ToolCall, ToolContent, ToolStatus};
use acp_nvim::view::detail::{Detail, Header, Tab, Target, Update};
use acp_nvim::view::model::{Group, Look, Patch, Place, Row, Sign};
use acp_nvim::view::painted::Painted;
use proptest::prelude::*;

fn session() -> Session {
    let launch = Launch {
        agent: "agent".into(),
        how: How::Program(vec!["agent".into()]),
        env: vec![],
        cwd: "/".into(),
        directories: vec![],
        mcp_servers: vec![],
        install: None,
        patience: Duration::ZERO,
    };
    let mut session = Session::new(SessionId(1), launch, Origin::New);
    let tool_call = ToolCall { id: "1".into(), title: "title".into(), ..Default::default() };
    session.entries.push(Entry::ToolCall(Box::new(tool_call)));
    session.tool_calls.insert("1".into(), 0);
    session
}

fn tool_call(session: &mut Session) -> &mut ToolCall {
    match &mut session.entries[0] {
        Entry::ToolCall(tool_call) => tool_call,
        other => panic!("{other:?}"),
    }
}

fn change(session: &mut Session, files: &[(&str, &str, &str)]) {
    let tool_call = tool_call(session);
    tool_call.content.retain(|it| !matches!(it, ToolContent::Diff { .. }));
    let mut texts = Vec::new();
    for (path, old, new) in files {
        let (path, old, new) = ((*path).to_owned(), Some(Arc::from(*old)), Arc::from(*new));
        texts.push(Texts { path: path.clone(), old, new, first: 1 });
        let Texts { old, new, .. } = &texts[texts.len() - 1];
        tool_call.content.push(ToolContent::Diff { path, old: old.clone(), new: new.clone() });
    }
    tool_call.diffs = file_diffs(&texts).into_iter().map(Arc::new).collect();
}

fn write(session: &mut Session, text: &str) {
    let content = ToolContent::Terminal("t".into());
    if !tool_call(session).content.contains(&content) {
        tool_call(session).content.push(content);
    }
    if session.terminals.get(&"t".into()).is_none() {
        session.terminals.begin("t".into(), Terminal::new(Some(40_000)));
    }
    session.terminals.append(&"t".into(), text);
}

/// A buffer that takes patches the way Neovim does.
#[derive(Debug, Default)]
struct Buffer {
    lines: Vec<String>,
    painted: Painted,
}

impl Buffer {
    fn take(&mut self, patches: &[Patch]) {
        for patch in patches {
            self.painted.apply(patch);
            assert_eq!(patch.lines.len(), patch.rows.len());
            let rows = match patch.place {
                Place::All => 0..self.lines.len(),
                Place::Rows { first, last } => first..last,
                Place::Append { .. } => panic!("{patch:?}"),
            };
            self.lines.splice(rows, patch.lines.iter().cloned());
        }
        for line in &self.lines {
            assert!(!line.contains('\n'), "{line:?} is one line");
        }
        for span in self.painted.spans(0, usize::MAX) {
            let text = self.lines[span.row].get(span.start..span.end);
            assert!(text.is_some(), "{span:?} lies in its row");
        }
    }

    /// All that can be known about it, row by row.
    fn all(&self) -> String {
        let mut text = String::new();
        for (row, line) in self.lines.iter().enumerate() {
            text.push_str(&format!("{line:?} {:?}", self.painted.row(row)));
            for span in self.painted.spans(row, row + 1) {
                text.push_str(&format!(" {}..{} {:?}", span.start, span.end, span.group));
            }
            text.push('\n');
        }
        text + &format!("{:?}", self.painted.code(0, self.lines.len()))
    }

    fn row(&self, text: &str) -> Row {
        let row = self.lines.iter().position(|line| line == text);
        self.painted.row(row.unwrap_or_else(|| panic!("{text:?} in {:#?}", self.lines)))
    }

    fn groups(&self, text: &str) -> Vec<(String, Group)> {
        let row = self.lines.iter().position(|line| line == text).unwrap();
        let spans = self.painted.spans(row, row + 1);
        spans.map(|it| (text[it.start..it.end].to_owned(), it.group)).collect()
    }
}

/// A detail on a screen.
struct Screen {
    detail: Detail,
    left: Buffer,
    right: Buffer,
    header: Option<Header>,
}

impl Screen {
    fn new(wish: Option<Tab>, split: bool) -> Screen {
        let detail = Detail::new(Target::ToolCall("1".into()), wish, split, Look::default());
        Screen { detail, left: Buffer::default(), right: Buffer::default(), header: None }
    }

    fn update(&mut self, session: &Session) -> Update {
        let mut update = self.detail.update(session);
        self.left.take(&update.left);
        self.right.take(&update.right);
        if let Some(header) = update.header.take() {
            self.header = Some(header);
        }
        update
    }

    fn of(session: &Session, wish: Option<Tab>, split: bool) -> Screen {
        let mut screen = Screen::new(wish, split);
        screen.update(session);
        screen
    }

    fn tab(&self) -> Tab {
        self.header.as_ref().unwrap().tab
    }
}

/// What happens to a tool call.
#[derive(Debug, Clone)]
enum Step {
    Change(String, String),
    Write(String),
    Say(String),
    Give(String),
    Exit(u32),
    Run,
    Ready,
}

fn text() -> impl Strategy<Value = String> {
    let pieces =
        ["a", "é", "日本", "\n", "\r\n", "\r", " ", "```\n", "\t", "\x1b[31m", "b\n", "c\n"];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12).prop_map(|it| it.concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (text(), text()).prop_map(|(old, new)| Step::Change(old, new)),
        4 => text().prop_map(Step::Write),
        1 => Just(Step::Write(format!("{}\n", "long line ".repeat(100)).repeat(150))),
        2 => text().prop_map(Step::Say),
        1 => text().prop_map(Step::Give),
        1 => (0u32..2).prop_map(Step::Exit),
        1 => Just(Step::Run),
        1 => Just(Step::Ready),
    ]
}

fn take(session: &mut Session, step: &Step) {
    match step {
        Step::Change(old, new) => {
            change(session, &[("a.rs", old, new), ("a.rs", new, old), ("b", old, new)]);
        }
        Step::Write(text) => write(session, text),
        Step::Say(text) => {
            let content = ToolContent::Block(Content::Text(text.clone()));
            tool_call(session).content.push(content);
        }
        Step::Give(text) => {
            tool_call(session).given.command = Some(Command::Line(text.clone()));
            let json = serde_json::json!({ "command": text, "more": [1, { "a": text }] });
            tool_call(session).raw_input = Some(json.to_string().into());
        }
        Step::Exit(code) => {
            write(session, "");
            let terminal = session.terminals.ours(&"t".into()).unwrap();
            terminal.exit = Some(TerminalExit { code: Some(*code), signal: None });
        }
        Step::Run => tool_call(session).status = ToolStatus::InProgress,
        Step::Ready => tool_call(session).diffs.clear(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn patches_equal_a_full_render(
        steps in prop::collection::vec(step(), 0..16),
        wish in prop::option::of(prop::sample::select(Tab::ALL.to_vec())),
        split in any::<bool>(),
    ) {
        let mut session = session();
        let mut screen = Screen::of(&session, wish, split);
        for step in &steps {
            take(&mut session, step);
            screen.update(&session);
            let whole = Screen::of(&session, Some(screen.tab()), split);
            prop_assert_eq!(screen.left.all(), whole.left.all());
            prop_assert_eq!(screen.right.all(), whole.right.all());
            if split && screen.tab() == Tab::Diff {
                prop_assert_eq!(screen.left.lines.len(), screen.right.lines.len());
            }
        }
    }
}

#[test]
fn a_command_that_failed_looks_failed() {
    let mut session = session();
    let call = tool_call(&mut session);
    call.status = ToolStatus::Completed;
    call.content = vec![ToolContent::Block(Content::Text("one\n".into()))];
    call.exit = Some(TerminalExit { code: Some(3), signal: None });
    let screen = Screen::of(&session, None, false);
    assert_eq!(screen.left.lines, ["one", "exit code 3"]);
    assert_eq!(screen.left.groups("exit code 3"), [("exit code 3".to_owned(), Group::Error)]);
    assert_eq!(screen.header.unwrap().status, "failed");
}

#[test]
fn what_is_over_has_nothing_yet_to_come() {
    let mut session = session();
    let lines = |session: &Session| Screen::of(session, None, false).left.lines;
    assert_eq!(lines(&session), ["nothing yet"]);
    tool_call(&mut session).status = ToolStatus::Completed;
    assert_eq!(lines(&session), ["no output"]);
    tool_call(&mut session).status = ToolStatus::Unfinished;
    session.now = Duration::from_secs(5);
    let header = Screen::of(&session, None, false).header.unwrap();
    assert_eq!((header.status.as_str(), header.elapsed, header.live), ("unfinished", None, false));
}

#[test]
fn a_diff_in_one_column() {
    let mut session = session();
    change(&mut session, &[("src/a.rs", "let a = 1;\nkept\n", "let a = 2;\nkept\nmore\n")]);
    let screen = Screen::of(&session, None, false);
    assert_eq!(
        screen.left.lines,
        ["src/a.rs +2 −1", "@@ -1,2 +1,3 @@", "let a = 1;", "let a = 2;", "kept", "more"]
    );
    let removed = Row { owner: 1, code: 1, old: 1, sign: Sign::Removed, ..Row::default() };
    assert_eq!(screen.left.row("let a = 1;"), removed);
    let kept = Row { owner: 1, code: 2, old: 2, new: 2, sign: Sign::Kept, ..Row::default() };
    assert_eq!(screen.left.row("kept"), kept);
    assert_eq!(screen.left.row("@@ -1,2 +1,3 @@").sign, Sign::Hunk);
    let word = ("2".to_owned(), Group::AddedWord);
    let whole = ("let a = 2;".to_owned(), Group::Added);
    assert_eq!(screen.left.groups("let a = 2;"), [whole, word]);
    let code = screen.left.painted.code(0, 9);
    assert_eq!((&*code[1].0.lang, &code[1].1), ("src/a.rs", &vec![3, 4, 5]));
    let header = screen.header.unwrap();
    assert_eq!((header.files[0].added, header.files[0].removed), (2, 1));
}

#[test]
fn a_diff_side_by_side() {
    let mut session = session();
    change(&mut session, &[("a", "one\ntwo\nkept\n", "eins\nkept\n\n")]);
    let screen = Screen::of(&session, None, true);
    let heading = ["a +2 −2", "@@ -1,3 +1,3 @@"];
    assert_eq!(screen.left.lines[..2], heading);
    assert_eq!(screen.right.lines[..2], heading);
    assert_eq!(screen.left.lines[2..], ["one", "two", "kept", ""]);
    assert_eq!(screen.right.lines[2..], ["eins", "", "kept", ""]);
    let filler = screen.right.painted.spans(3, 4).map(|it| it.group).collect::<Vec<_>>();
    assert_eq!(filler, [Group::Filler]);
    let added = screen.right.painted.spans(5, 6).map(|it| it.group).collect::<Vec<_>>();
    assert_eq!(added, [Group::Added], "an empty line that is added is seen too");
    assert_eq!((screen.left.row("kept").old, screen.left.row("kept").new), (3, 0));
    assert_eq!((screen.right.row("kept").old, screen.right.row("kept").new), (0, 2));
}

#[test]
fn a_missing_ending_is_told_where_it_changes() {
    let mut session = session();
    change(&mut session, &[("a", "x", "y\n"), ("b", "x", "y")]);
    let lines = Screen::of(&session, None, false).left.lines;
    let told: Vec<usize> = (0..lines.len()).filter(|it| lines[*it].starts_with('\\')).collect();
    assert_eq!(told, [3], "{lines:#?}");
}

#[test]
fn a_live_terminal_changes_at_its_end() {
    let mut session = session();
    tool_call(&mut session).status = ToolStatus::InProgress;
    write(&mut session, "one\n\x1b[32mtwo\x1b[0m\nthr");
    let mut screen = Screen::of(&session, None, false);
    assert_eq!(
        (screen.tab(), &*screen.left.lines),
        (Tab::Terminal, &["one", "two", "thr"].map(str::to_owned)[..])
    );
    write(&mut session, "ee\nfour");
    let update = screen.update(&session);
    assert_eq!(update.left[0].place, Place::Rows { first: 2, last: 3 });
    assert_eq!(update.left[0].lines, ["three", "four"]);
    let unchanged = screen.update(&session);
    assert!(unchanged.left.is_empty() && unchanged.header.is_none());
    session.terminals.ours(&"t".into()).unwrap().exit =
        Some(TerminalExit { code: Some(3), signal: None });
    screen.update(&session);
    assert_eq!(screen.left.lines.last().unwrap(), "exit code 3");
}

#[test]
fn what_will_run_is_shown_before_it_runs() {
    let mut session = session();
    take(&mut session, &Step::Give("rm -rf build\n$ echo forged".into()));
    write(&mut session, "");
    let mut screen = Screen::of(&session, None, false);
    assert_eq!(screen.tab(), Tab::Input);
    assert_eq!(screen.left.lines[..3], ["$ rm -rf build", "  $ echo forged", ""]);
    assert_eq!(screen.left.lines[3..5], ["{", "  \"command\": \"rm -rf build\\n$ echo forged\","]);
    write(&mut session, "output\n");
    screen.update(&session);
    assert_eq!(screen.tab(), Tab::Terminal, "and its output when it does");
    take(&mut session, &Step::Change("a".into(), "b".into()));
    screen.update(&session);
    assert_eq!(screen.tab(), Tab::Terminal, "whoever reads is not moved");
}

#[test]
fn output_is_what_was_said_or_what_the_tool_gave() {
    let mut session = session();
    tool_call(&mut session).raw_output = Some("\"as it\\nis\"".into());
    assert_eq!(Screen::of(&session, None, false).left.lines, ["as it", "is"]);
    tool_call(&mut session).raw_output = Some("{\"a\":[]}".into());
    assert_eq!(Screen::of(&session, None, false).left.lines, ["{", "  \"a\": []", "}"]);
    take(&mut session, &Step::Say("```rust\nfn a() {}\n```\n".into()));
    let image = Content::Image { mime: "image/png".into(), data: "AAAA".into() };
    tool_call(&mut session).content.push(ToolContent::Block(image));
    let screen = Screen::of(&session, None, false);
    assert_eq!(screen.left.lines[..3], ["```rust", "fn a() {}", "```"]);
    assert_eq!(&*screen.left.painted.code(0, 9)[0].0.lang, "rust");
    assert_eq!(screen.left.row("[image: image/png, 3 B]").part, 1);
    assert_eq!(screen.header.unwrap().attachments[0].size, 3);
}

#[test]
fn what_is_gone_stays_on_the_screen() {
    let mut session = session();
    write(&mut session, "output\n");
    let mut screen = Screen::of(&session, None, false);
    session.entries.clear();
    session.tool_calls.clear();
    let update = screen.update(&session);
    assert!(update.left.is_empty());
    let header = screen.header.unwrap();
    assert!(header.gone && !header.live && header.title == "title");
}

#[test]
fn a_long_diff_comes_in_pieces() {
    let mut session = session();
    let new: String = (0..10_000).map(|it| format!("line {it}\n")).collect();
    change(&mut session, &[("a", "", &new)]);
    let mut screen = Screen::new(None, false);
    let update = screen.update(&session);
    assert!(update.left.len() > 30);
    assert_eq!(screen.left.lines.len(), 10_002);
    assert!(screen.update(&session).left.is_empty());
}
