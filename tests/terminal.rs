//! Commands that run for agents, with real processes.
//!
//! Only on Linux, where `/proc` tells what became of them.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use acp_nvim::runtime::input::Input;
use acp_nvim::runtime::terminal::Running;
use acp_nvim::session::event::{CommandLine, Event};
use acp_nvim::session::ids::SessionId;
use acp_nvim::session::terminal::TerminalKey;
use acp_nvim::session::tool_call::TerminalExit;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Instant, sleep, timeout};

const DEADLINE: Duration = Duration::from_secs(20);
/// As many as the core has.
const INPUTS: usize = 8;

type End = Result<TerminalExit, String>;

struct Terminal {
    running: Option<Running>,
    inputs: Receiver<Input>,
    said: String,
}

impl Terminal {
    fn start(command: CommandLine) -> Terminal {
        let programs = Path::new(env!("CARGO_BIN_EXE_acp-guard")).parent().unwrap();
        let (sender, inputs) = channel(INPUTS);
        let running = Running::start(key(), command, programs, sender);
        Terminal { running: Some(running), inputs, said: String::new() }
    }

    /// Takes in the next thing; its end, if that is it.
    async fn next(&mut self) -> Option<End> {
        let input = timeout(DEADLINE, self.inputs.recv()).await.expect("waited in vain");
        match input.expect("it ended without a word") {
            Input::Event(Event::TerminalOutput(of, text)) => {
                assert_eq!(of, key());
                assert!(text.len() <= 200 << 10, "a piece of {} bytes", text.len());
                assert!(!text.is_empty());
                self.said.push_str(&text);
                None
            }
            Input::Event(Event::TerminalExited(of, end)) => {
                assert_eq!(of, key());
                Some(end)
            }
            other => panic!("{other:?}"),
        }
    }

    async fn line(&mut self) -> String {
        while !self.said.contains('\n') {
            assert_eq!(self.next().await, None, "{}", self.said);
        }
        self.said.lines().next().unwrap().to_owned()
    }

    /// What it said, and how it ended: the last that is heard of it.
    async fn end(mut self) -> (String, End) {
        let end = loop {
            if let Some(end) = self.next().await {
                break end;
            }
        };
        assert!(timeout(DEADLINE, self.inputs.recv()).await.unwrap().is_none());
        (self.said, end)
    }
}

fn key() -> TerminalKey {
    TerminalKey { session: SessionId(1), terminal: "t1".into() }
}

fn command(command: &str, args: &[&str]) -> CommandLine {
    CommandLine {
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: vec![],
        cwd: Some("/".to_owned()),
        limit: None,
    }
}

fn sh(line: &str) -> Terminal {
    Terminal::start(command("sh", &["-c", line]))
}

fn code(code: u32) -> End {
    Ok(TerminalExit { code: Some(code), signal: None })
}

fn signal(name: &str) -> End {
    Ok(TerminalExit { code: None, signal: Some(name.to_owned()) })
}

/// Whether a process runs; a zombie does not.
fn runs(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

async fn gone(pid: &str) {
    let until = Instant::now() + DEADLINE;
    while runs(pid) {
        assert!(Instant::now() < until, "{pid} is still there");
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn both_outputs_in_order_and_the_code() {
    let (said, end) = sh("echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 3").end().await;
    assert_eq!((said.as_str(), end), ("1\n2\n3\n4\n", code(3)));
}

#[tokio::test]
async fn nothing_said() {
    assert_eq!(Terminal::start(command("true", &[])).end().await, (String::new(), code(0)));
    assert_eq!(Terminal::start(command("false", &[])).end().await, (String::new(), code(1)));
}

/// The pieces come apart for sure: the second is said when the first has been heard.
#[tokio::test]
async fn a_character_in_two_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let mut line =
        command("printf 'a\\346\\227'; until [ -e go ]; do :; done; printf '\\245b\\377'", &[]);
    line.cwd = Some(folder.path().to_str().unwrap().to_owned());
    let mut terminal = Terminal::start(line);
    while terminal.said.is_empty() {
        assert_eq!(terminal.next().await, None);
    }
    assert_eq!(terminal.said, "a");
    fs::write(folder.path().join("go"), "").unwrap();
    assert_eq!(terminal.end().await, ("a日b\u{fffd}".to_owned(), code(0)));
}

#[tokio::test]
async fn ten_megabytes() {
    let (said, end) = sh("head -c 10485760 /dev/zero | tr '\\0' x; echo end").end().await;
    assert_eq!((said.len(), end), ((10 << 20) + 4, code(0)));
    assert!(said.ends_with("xend\n"));
}

#[tokio::test]
async fn ended_by_a_signal() {
    assert_eq!(sh("kill -KILL $$").end().await.1, signal("SIGKILL"));
    assert_eq!(sh("kill -SEGV $$").end().await.1, signal("SIGSEGV"));
}

#[tokio::test]
async fn killed_with_deaf_grandchildren() {
    let mut terminal =
        sh("trap '' TERM; sh -c 'setsid sleep 300 & echo $$ $!; wait' & sleep 300 & wait");
    let line = terminal.line().await;
    drop(terminal.running.take());
    assert_eq!(terminal.end().await.1, signal("SIGKILL"));
    for pid in line.split(' ') {
        assert!(!runs(pid), "{pid} is still there");
    }
}

#[tokio::test]
async fn killed_at_once_when_it_listens() {
    let mut all = Vec::new();
    // On a busy machine it may not get to run at all before its time is over.
    while all.len() < 10 {
        let mut terminal =
            sh("trap 'echo bye; exit 7' TERM; echo $$; while :; do sleep 0.01; done");
        terminal.line().await;
        drop(terminal.running.take());
        let (said, end) = terminal.end().await;
        // What it says at the end is heard.
        if said.ends_with("bye\n") && end == code(7) {
            return;
        }
        all.push((said, end));
    }
    panic!("{all:?}");
}

/// A command is done when it is done, whatever it left behind.
#[tokio::test]
async fn what_is_left_behind_is_ended() {
    let (said, end) = sh("sleep 300 & echo $!").end().await;
    assert_eq!(end, code(0));
    gone(said.trim()).await;
}

#[tokio::test]
async fn what_cannot_be_started() {
    for line in [command("no-such-program", &[]), command("no such", &["-x"])] {
        let (said, end) = Terminal::start(line).end().await;
        assert!(end.clone().unwrap_err().starts_with("not found: no"), "{end:?}");
        assert_eq!(said, "");
    }
    let (_, end) = Terminal::start(command("/etc", &[])).end().await;
    assert!(end.clone().unwrap_err().starts_with("permission denied: /etc"), "{end:?}");
    let mut line = command("true", &[]);
    line.cwd = Some("/no/such/folder".into());
    assert_eq!(
        Terminal::start(line).end().await.1,
        Err("there is no folder /no/such/folder".into())
    );
}

/// The shell finds no program and says so itself: then the command has run.
#[tokio::test]
async fn a_line_the_shell_cannot_run() {
    let (said, end) = Terminal::start(command("no-such-program -x", &[])).end().await;
    assert!(said.contains("not found"), "{said}");
    assert_eq!(end, code(127));
}

/// Only the guard's own words about its own failure count.
#[tokio::test]
async fn words_like_the_guards() {
    let line = "echo 'acp-guard: cannot start: not found: fake'; exit";
    let (said, end) = sh(&format!("{line} 0")).end().await;
    assert_eq!((said.as_str(), end), ("acp-guard: cannot start: not found: fake\n", code(0)));
    let (said, _) = sh("printf acp-guard").end().await;
    assert_eq!(said, "acp-guard");
}

#[tokio::test]
async fn lines_for_the_shell_and_programs() {
    for (line, expected) in [
        (command("echo a  b", &[]), "a b\n"),
        (command("echo a|tr a c", &[]), "c\n"),
        (command("X=1;echo $X", &[]), "1\n"),
        (command("pwd", &[]), "/\n"),
        (command("echo", &["$HOME", "a  b"]), "$HOME a  b\n"),
        (command("cat", &[]), ""),
    ] {
        let (said, end) = Terminal::start(line.clone()).end().await;
        assert_eq!((said.as_str(), end), (expected, code(0)), "{line:?}");
    }
}

#[tokio::test]
async fn a_program_with_a_space_in_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("my tool");
    fs::write(&program, "#!/bin/sh\necho mine\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let (said, _) = Terminal::start(command(program.to_str().unwrap(), &[])).end().await;
    assert_eq!(said, "mine\n");
}

#[tokio::test]
async fn folder_and_variables() {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().to_str().unwrap().to_owned();
    let mut line = command("echo $PWD $A $TERM $PAGER $GIT_PAGER; pwd", &[]);
    line.cwd = Some(path.clone());
    line.env = vec![("A".into(), "b c".into()), ("PAGER".into(), "less".into())];
    let (said, _) = Terminal::start(line).end().await;
    assert_eq!(said, format!("{path} b c xterm-256color less cat\n{path}\n"));
}

/// How much a process has written.
fn written(pid: &str) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
    line.parse().unwrap()
}

#[tokio::test]
async fn a_flood_stays_in_the_pipe() {
    let mut terminal = sh("echo $$; exec yes");
    let pid = terminal.line().await;
    let until = Instant::now() + DEADLINE;
    let (mut before, mut same) = (0, 0);
    while same < 50 {
        assert!(Instant::now() < until, "it goes on writing: {before} bytes");
        sleep(Duration::from_millis(5)).await;
        let now = written(&pid);
        same = if now == before { same + 1 } else { 0 };
        before = now;
    }
    assert!(before < 2 << 20, "{before} bytes were taken although nobody fetched them");
    // It can be killed all the same.
    drop(terminal.running.take());
    assert_eq!(terminal.end().await.1, signal("SIGTERM"));
    gone(&pid).await;
}

#[test]
fn commands_end_with_the_core() {
    let core = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (pid, _terminal) = core.block_on(async {
        let mut terminal = sh("trap '' TERM; echo $$; while :; do sleep 0.01; done");
        (terminal.line().await, terminal)
    });
    assert!(runs(&pid));
    drop(core);
    let clock = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    clock.block_on(gone(&pid));
}

/// What the agent sets is for the command alone: the guard runs as we do.
#[tokio::test]
async fn the_guard_does_not_get_the_variables_of_the_command() {
    let mut line = command(
        "echo $LD_PRELOAD $SECRET; tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' ' ' < /proc/$PPID/cmdline",
        &[],
    );
    line.env = vec![
        ("LD_PRELOAD".into(), "/no/such/library.so".into()),
        ("SECRET".into(), "swordfish".into()),
    ];
    let (said, end) = Terminal::start(line).end().await;
    assert_eq!(end, code(0));
    let (own, guards) = said.split_once("swordfish\n").unwrap();
    assert!(own.contains("/no/such/library.so"), "{said}");
    assert!(guards.contains("acp-guard"), "{said}");
    for name in ["LD_PRELOAD=", "SECRET=", "swordfish"] {
        assert!(!guards.contains(name), "{name}: {guards}");
    }
}

/// A program is looked for where the command's own PATH says.
#[tokio::test]
async fn the_commands_own_path_counts() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("only-here");
    fs::write(&program, "#!/bin/sh\necho mine\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut line = command("only-here", &["x"]);
    line.env = vec![("PATH".into(), folder.path().to_str().unwrap().into())];
    assert_eq!(Terminal::start(line).end().await, ("mine\n".to_owned(), code(0)));
}

#[tokio::test]
async fn variables_of_any_size_and_none_that_cannot_be_set() {
    let mut line = command("echo ${#BIG}", &[]);
    line.env = vec![("BIG".into(), "x".repeat(100_000))];
    assert_eq!(Terminal::start(line).end().await.0, "100000\n");
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")] {
        let mut line = command("true", &[]);
        line.env = vec![(name.into(), value.into())];
        let (_, end) = Terminal::start(line).end().await;
        assert!(end.clone().unwrap_err().starts_with("a variable cannot be set: "), "{end:?}");
    }
}

/// A command that kills its guard does not outlive it.
#[tokio::test]
async fn a_command_that_kills_its_guard() {
    let mut terminal = sh(
        "trap '' TERM; sh -c 'trap \"\" TERM; sleep 300; sleep 300' & echo $$ $!; kill -9 $PPID; sleep 300; sleep 300",
    );
    let line = terminal.line().await;
    assert_eq!(terminal.end().await.1, signal("SIGKILL"));
    for pid in line.split(' ') {
        gone(pid).await;
    }
}
