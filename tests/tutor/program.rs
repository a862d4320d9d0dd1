//! The program `acp-tutor`, and the steps that only a process can do.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::client::soon;

struct Program {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    dir: TempDir,
}

impl Program {
    fn start(scenario: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("scenario.json");
        std::fs::write(&file, scenario.to_string()).unwrap();
        Self::run(&[file.to_str().unwrap()], dir)
    }

    fn run(args: &[&str], dir: TempDir) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_acp-tutor"))
            .args(args)
            .current_dir(dir.path())
            .env("ACP_TUTOR_PACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, dir }
    }

    async fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        soon(self.stdout.read_line(&mut line)).await.unwrap();
        line.trim_end().to_owned()
    }

    /// Closes the input, waits for the end and gives all that was left to read.
    async fn finish(mut self) -> (ExitStatus, String, String, TempDir) {
        drop(self.stdin);
        let (mut out, mut err) = (String::new(), String::new());
        let mut stderr = self.child.stderr.take().unwrap();
        let read = async {
            tokio::try_join!(self.stdout.read_to_string(&mut out), stderr.read_to_string(&mut err))
        };
        soon(read).await.unwrap();
        (soon(self.child.wait()).await.unwrap(), out, err, self.dir)
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
}

fn runs(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

#[tokio::test]
async fn without_a_file_it_plays_the_tour() {
    let mut program = Program::run(&[], tempfile::tempdir().unwrap());
    program.send(&initialize()).await;
    assert!(program.line().await.contains("\"protocolVersion\":1"));
    let (status, out, err, _) = program.finish().await;
    assert_eq!((status.code(), out.as_str(), err.as_str()), (Some(0), "", ""));
}

#[tokio::test]
async fn it_can_die_at_once_with_last_words() {
    let (status, out, err, _) = Program::start(&json!({"startup": [
        {"raw": "Welcome!"},
        {"stderr": {"text": "oh no {{pid}}", "repeat": 3}},
        {"exit": 3},
    ]}))
    .finish()
    .await;
    assert_eq!(status.code(), Some(3));
    assert_eq!(out, "Welcome!\n");
    assert_eq!(err.lines().filter(|it| it.starts_with("oh no ")).count(), 3);
}

#[tokio::test]
async fn it_can_die_by_a_signal() {
    for (name, number) in [("SIGKILL", 9), ("TERM", 15), ("SIGSEGV", 11), ("PIPE", 13)] {
        let scenario = json!({"startup": [{"raw": "x"}, {"kill_self": name}]});
        let (status, out, ..) = Program::start(&scenario).finish().await;
        assert_eq!(status.signal(), Some(number), "{name}");
        assert_eq!(out, "x\n");
    }
}

#[tokio::test]
async fn a_stderr_flood_blocks_nobody_who_reads_it() {
    let scenario = json!({"startup": [{"stderr": {"text": "noise", "repeat": 100_000}}]});
    let (status, _, err, _) = Program::start(&scenario).finish().await;
    assert_eq!(status.code(), Some(0));
    assert_eq!(err.lines().count(), 100_000);
}

#[tokio::test]
async fn a_flood_arrives_whole() {
    let scenario = json!({"startup": [{"flood": {"chunks": 100_000, "bytes": 20}}, {"exit": 0}]});
    let (_, out, ..) = Program::start(&scenario).finish().await;
    assert_eq!(out.lines().count(), 100_000);
    assert!(out.ends_with("}\n"));
}

#[tokio::test]
async fn output_can_be_closed_while_the_program_lives() {
    let mut program = Program::start(&json!({"startup": [
        {"raw": "x"},
        {"close_stdout": true},
    ], "on_eof": [{"exit": 4}]}));
    let mut out = String::new();
    soon(program.stdout.read_to_string(&mut out)).await.unwrap();
    assert_eq!(out, "x\n");
    assert_eq!(program.child.try_wait().unwrap(), None);
    let (status, ..) = program.finish().await;
    assert_eq!(status.code(), Some(4));
}

#[tokio::test]
async fn sigterm_can_be_ignored() {
    for ignore in [false, true] {
        let mut program = Program::start(&json!({
            "startup": [{"ignore_sigterm": ignore}, {"raw": "ready"}],
        }));
        assert_eq!(program.line().await, "ready");
        let pid = i32::try_from(program.child.id().unwrap()).unwrap();
        signal(pid, Signal::TERM);
        if ignore {
            program.send(&initialize()).await;
            assert!(program.line().await.contains("protocolVersion"));
        }
        let (status, ..) = program.finish().await;
        assert_eq!(status.signal(), if ignore { None } else { Some(15) });
    }
}

#[tokio::test]
async fn grandchildren_outlive_the_program() {
    let mut program = Program::start(&json!({"startup": [
        {"grandchild": {"seconds": 60, "save": "plain"}},
        {"grandchild": {"setsid": true, "ignore_sigterm": true, "save": "nasty"}},
        {"grandchild": {"daemon": true, "save": "orphan"}},
        {"raw": "{{plain}} {{nasty}} {{orphan}}"},
        {"exit": 0},
    ]}));
    let line = program.line().await;
    let pids: Vec<i32> = line.split(' ').map(|it| it.parse().unwrap()).collect();
    let (status, ..) = program.finish().await;
    assert_eq!(status.code(), Some(0));
    assert!(pids.iter().all(|pid| runs(*pid)), "{pids:?}");
    signal(pids[1], Signal::TERM);
    assert!(runs(pids[1]));
    for pid in pids {
        signal(pid, Signal::KILL);
    }
}

#[tokio::test]
async fn the_report_survives_a_kill() {
    let mut program = Program::start(&json!({"report": "report.ndjson", "prompts": []}));
    program.send(&initialize()).await;
    program.line().await;
    program.stdin.write_all(b"garbage\n").await.unwrap();
    program.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "x"})).await;
    program.line().await;
    program.child.start_kill().unwrap();
    let (.., dir) = program.finish().await;
    let text = std::fs::read_to_string(dir.path().join("report.ndjson")).unwrap();
    let entries: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(entries[0]["in"], initialize());
    assert_eq!(entries[1]["in_text"], "garbage");
    assert_eq!(entries[2]["violation"]["kind"], "not_json");
    assert_eq!(entries[3]["in"]["method"], "x");
    assert_eq!(entries[4]["violation"]["kind"], "unknown_method");
}

#[tokio::test]
async fn the_report_ends_with_a_count() {
    let mut program = Program::start(&json!({"report": "report.ndjson"}));
    program.send(&initialize()).await;
    program.line().await;
    let (.., dir) = program.finish().await;
    let text = std::fs::read_to_string(dir.path().join("report.ndjson")).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["end"], &last["violations"]), (&json!("eof"), &json!(0)));
}

#[tokio::test]
async fn strict_mode_ends_the_program() {
    let mut program = Program::start(&json!({"strict": true}));
    program.stdin.write_all(b"garbage\n").await.unwrap();
    let (status, _, err, _) = program.finish().await;
    assert_eq!(status.code(), Some(70));
    assert_eq!(err, "acp-tutor: violation: not_json: garbage\n");
}

#[tokio::test]
async fn bad_arguments_are_explained() {
    let scenario = json!({"startup": [{"sya": 1}]});
    let (status, _, err, _) = Program::start(&scenario).finish().await;
    assert_eq!(status.code(), Some(2));
    assert!(err.contains("scenario.json: not a scenario: unknown variant `sya`"), "{err}");
    assert!(err.contains("at line 1 column"), "{err}");
    for (args, expected) in [
        (&["/nowhere/at/all.json"][..], "cannot read the scenario"),
        (&["--help"], "usage: acp-tutor"),
        (&["a", "b"], "usage: acp-tutor"),
    ] {
        let (status, _, err, _) = Program::run(args, tempfile::tempdir().unwrap()).finish().await;
        assert_eq!(status.code(), Some(2));
        assert!(err.contains(expected), "{err}");
    }
}
