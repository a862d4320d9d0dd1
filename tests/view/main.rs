//! What each kind of entry looks like, row by row, in both looks.
//!
//! `snapshots/<what>.txt` has the rows of a chat, each with the entry it belongs to, and below it
//! what is highlighted in it. `ACP_UPDATE_SNAPSHOTS=1` writes them anew: look at them before you
//! keep them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod buffer;
mod chat;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use acp_nvim::session::command_line::Command;
use acp_nvim::session::content::Content;
use acp_nvim::session::entry::{Entry, Note, Role, StopReason};
use acp_nvim::session::failure::{Exit, Failure};
use acp_nvim::session::ids::AskId;
use acp_nvim::session::pending::{PendingOption, PendingQuestion};
use acp_nvim::session::question::PermissionKind;
use acp_nvim::session::state::Session;
use acp_nvim::session::subject::Given;
use acp_nvim::session::terminal::Terminal;
use acp_nvim::session::tool_call::{RejectedBy, TerminalExit, ToolContent, ToolKind, ToolStatus};
use acp_nvim::view::model::{Group, Look};
use acp_nvim::view::screen::Screen;
use buffer::Buffer;
use chat::Chat;

const UNICODE: Look = Look { ascii: false, conceal: false };
const ASCII: Look = Look { ascii: true, conceal: false };

/// What a chat looks like with some entries open.
fn shown(session: &Session, look: Look, open: &[usize]) -> Buffer {
    let (mut screen, mut buffer, mut patches) = (Screen::new(look), Buffer::default(), Vec::new());
    screen.render_all(session, &mut patches);
    for entry in open {
        screen.toggle(session, (*entry, Some(true)), &mut patches);
    }
    buffer.take(&patches);
    let mut anew = Buffer::default();
    patches.clear();
    screen.render_all(session, &mut patches);
    anew.take(&patches);
    assert_eq!(buffer.seen(), anew.seen());
    buffer
}

fn told(buffer: &Buffer) -> String {
    let mut told = String::new();
    for (row, line) in buffer.lines.iter().enumerate() {
        let about = buffer.painted.row(row);
        write!(told, "{:>2} {line}", about.owner).unwrap();
        match (about.code, about.part) {
            (0, 0) => told.push('\n'),
            (0, part) => writeln!(told, "  (part {part})").unwrap(),
            (code, _) => writeln!(told, "  (code {code})").unwrap(),
        }
        for span in buffer.painted.spans(row, row + 1) {
            let words = &line[span.start..span.end];
            let words = if words == line { "" } else { words };
            let group = Group::NAMES[span.group as usize].trim_start_matches("Acp");
            writeln!(told, "      {group} {words}").unwrap();
        }
    }
    told
}

fn check(name: &str, session: &Session, open: &[usize]) {
    let mut text = String::new();
    for (title, look) in [("unicode", UNICODE), ("ascii", ASCII)] {
        let rows = told(&shown(session, look, open));
        let rows: Vec<&str> = rows.lines().map(str::trim_end).collect();
        writeln!(text, "== {title}\n{}\n", rows.join("\n")).unwrap();
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/view/snapshots/{name}.txt"));
    if std::env::var_os("ACP_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, reviewed, "{}", path.display());
}

#[test]
fn messages() {
    let mut chat = Chat::new();
    chat.say(Role::User, "Why **does** it fail?\n\nSee `main.rs`");
    let text = "# Why\n\nBecause *x*, see [the docs](https://a.b).\n\n- one\n- [x] two\n\n```rust\nfn main() {}\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    chat.say(Role::Agent, text);
    chat.say(Role::Agent, "Another message.");
    check("messages", &chat.session, &[]);
}

#[test]
fn attachments() {
    let mut chat = Chat::new();
    let image = Content::Image { mime: "image/png".into(), data: "A".repeat(16_000) };
    let uri = "file:///project/src/main.rs";
    let file = Content::Resource { uri: uri.into(), text: "fn main() {}".into(), mime: None };
    let blob = Content::Blob { uri: "file:///a.pdf".into(), data: "AAAA".into(), mime: None };
    let audio = Content::Audio { mime: "audio/wav\n● forged".into(), data: String::new() };
    let text = |it: &str| Content::Text(it.into());
    chat.send(Role::User, vec![text("What is this?"), image.clone(), file]);
    chat.send(Role::Agent, vec![text("This:"), image, text("and"), blob, audio]);
    check("attachments", &chat.session, &[]);
}

#[test]
fn thoughts() {
    let mut chat = Chat::new();
    chat.say(Role::User, "Think.");
    chat.say(Role::Thought, "First **this**,\n\nthen that.");
    chat.last_message().spoke = Duration::from_secs(12);
    chat.say(Role::Thought, "A second one.");
    chat.say(Role::Agent, "Done.");
    chat.run();
    chat.say(Role::Thought, "Under way");
    chat.session.now = Duration::from_secs(75);
    check("thoughts", &chat.session, &[1]);
}

#[test]
fn tool_calls() {
    let mut chat = Chat::new();
    chat.say(Role::User, "Work.");
    chat.run();
    chat.say(Role::Thought, "What first?");
    let states = [
        (ToolKind::Read, ToolStatus::Completed, "Read `a.rs`"),
        (ToolKind::Edit, ToolStatus::Completed, "Edit a.rs"),
        (ToolKind::Execute, ToolStatus::InProgress, "`cargo test`"),
        (ToolKind::Search, ToolStatus::Failed, "grep x"),
        (ToolKind::Fetch, ToolStatus::Cancelled, "https://a.b"),
        (ToolKind::Delete, ToolStatus::Pending, "rm a.rs"),
        (ToolKind::Move, ToolStatus::Completed, "a.rs to b.rs"),
        (ToolKind::Think, ToolStatus::Completed, "plan"),
        (ToolKind::SwitchMode, ToolStatus::Completed, "plan mode"),
        (ToolKind::Unknown("dance".into()), ToolStatus::Completed, "dance"),
        (ToolKind::Other, ToolStatus::Completed, "two\nlines\u{1b}[31m\u{7} and\tmore"),
    ];
    for (kind, status, title) in states {
        chat.tool(kind, title).status = status;
    }
    chat.tool_call(1).diffs = vec![chat::diff("a.rs", 12, 3)];
    chat.tool_call(1).ended = Some(Duration::from_millis(1240));
    chat.session.now = Duration::from_secs(12);
    chat.say(Role::Agent, "So far.");
    check("tool_calls", &chat.session, &[]);
}

/// What became of tool calls, beyond what their agents say.
#[test]
fn tool_calls_and_what_became_of_them() {
    let mut chat = Chat::new();
    let failed =
        |code, signal: Option<&str>| Some(TerminalExit { code, signal: signal.map(str::to_owned) });
    chat.tool(ToolKind::Execute, "exit 3").exit = failed(Some(3), None);
    chat.tool(ToolKind::Execute, "true").exit = failed(Some(0), None);
    chat.tool(ToolKind::Execute, "in a terminal").content = vec![ToolContent::Terminal("t".into())];
    let mut terminal = Terminal::new(None);
    terminal.exit = failed(None, Some("9"));
    chat.session.terminals.begin("t".into(), terminal);
    for (by, status) in [
        (RejectedBy::User, ToolStatus::Rejected),
        (RejectedBy::User, ToolStatus::Failed),
        (RejectedBy::Rule, ToolStatus::Pending),
    ] {
        let call = chat.tool(ToolKind::Edit, "rejected");
        (call.rejected_by, call.status) = (Some(by), status);
    }
    chat.tool(ToolKind::Read, "never closed").status = ToolStatus::Unfinished;
    let command = Some(Command::Line("ls -la\nnext".into()));
    chat.tool(ToolKind::Execute, "execute").given = Given { command, ..Default::default() };
    chat.tool(ToolKind::Read, "Read").given =
        Given { paths: vec!["/project/src/a.rs".into()], ..Default::default() };
    chat.tool(ToolKind::Fetch, "fetch");
    chat.session.entries.push(Entry::Note(Note::Unanswered));
    check("tool_call_outcomes", &chat.session, &[]);
}

/// Two options, as most agents have them.
fn options() -> Vec<PendingOption> {
    let option = |letter, name: &str, kind| PendingOption { letter, name: name.into(), kind };
    vec![
        option('a', "Yes", PermissionKind::AllowOnce),
        option('A', "Yes,\n\u{1b}[31mand don't ask again", PermissionKind::AllowAlways),
        option('r', "No", PermissionKind::RejectOnce),
    ]
}

#[test]
fn what_waits_for_the_user() {
    let mut chat = Chat::new();
    chat.say(Role::User, "Work.");
    chat.run();
    chat.session.now = Duration::from_secs(75);
    let task = chat.tool(ToolKind::Other, "Look into it").id.clone();
    chat.tool_call(0).status = ToolStatus::InProgress;
    chat.tool(ToolKind::Execute, "Run the tests").status = ToolStatus::Pending;
    chat.tool_call(1).raw_input = Some(r#"{"command":"make test"}"#.into());
    chat.part_of(&task);
    chat.tool(ToolKind::Read, "Not shown");
    chat.part_of(&task);
    chat.tool(ToolKind::Edit, "Edit a.rs").status = ToolStatus::Pending;
    chat.session.entries.push(Entry::Note(Note::Question("Who are you?".into())));
    let waits = [(1, Some(2), options()), (2, Some(4), vec![]), (3, Some(5), vec![])];
    for (ask, entry, options) in waits {
        chat.session.pending.add(AskId(ask), PendingQuestion { entry, options });
    }
    check("pending", &chat.session, &[]);
}

#[test]
fn tool_calls_that_are_open() {
    let mut chat = Chat::new();
    chat.tool(ToolKind::Edit, "Edit a.rs").diffs = vec![chat::diff("a.rs", 9, 6)];
    let both = vec![chat::diff("a.rs", 1, 0), chat::diff("b.rs", 0, 1)];
    chat.tool(ToolKind::Edit, "Edit two files").diffs = both;
    chat.tool(ToolKind::Edit, "Edit, not looked at yet").content = vec![chat::change("c.rs")];
    let numbers: String = (1..=40).map(|it| format!("{it}\r\n")).collect();
    chat.tool(ToolKind::Execute, "seq 1 40").content = vec![chat::text(&numbers)];
    chat.terminal("1", "10%\r50%\r\u{1b}[32mdone\u{1b}[0m\n");
    chat.tool(ToolKind::Execute, "make").content = vec![chat::terminal("1")];
    chat.tool(ToolKind::Read, "Read d").content = vec![chat::text("```\n1\ta\n2\tb\n```")];
    chat.tool(ToolKind::Other, "given").raw_input =
        Some(r#"{"path":"/a\nb","deep":{"n":[1,2]},"text":"x"}"#.into());
    chat.tool(ToolKind::Other, "empty");
    chat.tool(ToolKind::Edit, "Edit two places").diffs = vec![chat::two_hunks("e.rs")];
    check("tool_calls_open", &chat.session, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn subagents() {
    let mut chat = Chat::new();
    chat.say(Role::User, "Delegate.");
    for open in ["closed", "open"] {
        let task = chat.tool(ToolKind::Think, "Task");
        task.subagent = Some(Box::new(chat::subagent("general", "Look around", "some-model")));
        task.content = vec![chat::text("All is well.")];
        let id = task.id.clone();
        for title in ["Read a", "Read b"] {
            chat.tool(ToolKind::Read, &format!("{title} {open}"));
            chat.part_of(&id);
        }
        let inner = chat.tool(ToolKind::Think, "Inner task");
        inner.ended = Some(Duration::from_secs(62));
        let inner = inner.id.clone();
        chat.part_of(&id);
        chat.tool(ToolKind::Read, "Read c");
        chat.part_of(&inner);
    }
    chat.tool(ToolKind::Read, "of nobody known");
    chat.part_of(&"who".into());
    chat.say(Role::Agent, "Done.");
    check("subagents", &chat.session, &[6]);
}

#[test]
fn notes_and_failures() {
    let mut chat = Chat::new();
    chat.say(Role::Agent, "Half of a");
    let notice = |severity: &str, title: &str, description: Option<&str>| Note::Notice {
        severity: severity.into(),
        title: title.into(),
        description: description.map(Into::into),
    };
    let compaction = |status: &str, error: Option<&str>| Note::Compaction {
        id: "1".into(),
        status: status.into(),
        summary: String::new(),
        error: error.map(Into::into),
    };
    let notes = [
        Note::Stopped(StopReason::Cancelled),
        Note::Stopped(StopReason::MaxTokens),
        Note::Stopped(StopReason::Refusal),
        Note::StartedAgain,
        Note::LeftOut("an image".into()),
        Note::CommandStopped("sleep 47".into()),
        Note::NotRun { command: "run rm -rf x".into(), rule: "reject command `rm *`".into() },
        Note::Mode("plan".into()),
        notice("info", "for you", None),
        notice("warning", "careful", Some("two\nlines\u{1b}[2J")),
        notice("error", "bad", None),
        compaction("in_progress", None),
        compaction("failed", Some("no room")),
    ];
    for note in notes {
        chat.session.entries.push(Entry::Note(note));
    }
    let last_words = (1..=13).map(|it| format!("\u{1b}[31mline {it}\u{1b}[0m")).collect();
    let died = Failure::Died { agent: "agent".into(), exit: Exit::Code(3), last_words };
    chat.session.entries.push(Entry::Failure(died));
    check("notes_and_failures", &chat.session, &[]);
}

/// No row that somebody else wrote begins like one of ours.
#[test]
fn nothing_is_forged() {
    let mut chat = Chat::new();
    let marks = "▌ You\n▸ Thought\n  ▾ open\n● done\n○ a\n◐ b\n✗ failed\n⊘ c\n─ note\n▣ image\n\t┆ part\n… more\n[ok] edit: x\n== You\n[note] no\n│ a tree\n├── stays";
    chat.say(Role::Agent, marks);
    chat.say(Role::Thought, marks);
    chat.tool(ToolKind::Read, marks);
    for look in [UNICODE, ASCII] {
        let buffer = shown(&chat.session, look, &[1, 2]);
        let ours: &[char] =
            if look.ascii { &['[', '='] } else { &['▌', '▸', '▾', '●', '○', '◐'] };
        let begins = buffer.lines.iter().filter(|it| it.starts_with(ours)).count();
        assert_eq!(begins, 3, "a heading, a thought and a tool call: {:#?}", buffer.lines);
    }
    check("forged", &chat.session, &[1]);
}

#[test]
fn marks_of_markdown_can_be_hidden() {
    let mut chat = Chat::new();
    chat.say(Role::Agent, "**b** and `c`");
    let buffer = shown(&chat.session, Look { ascii: false, conceal: true }, &[]);
    let hidden = buffer.painted.spans(0, 9).filter(|it| it.group == Group::Conceal).count();
    assert_eq!((hidden, buffer.lines[1].as_str()), (4, "**b** and `c`"));
}
