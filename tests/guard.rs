//! `acp-guard` with real processes: how a program ended is passed on, and nothing outlives the
//! reader of its output.
//!
//! Only on Linux: elsewhere the guard cannot catch a daemon, and there is no `/proc` to look at.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const GUARD: &str = env!("CARGO_BIN_EXE_acp-guard");
const TUTOR: &str = env!("CARGO_BIN_EXE_acp-tutor");
/// How soon everything must be gone: within a second, but for busy machines.
const LIMIT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod helpers {
    use super::{
        BufRead, BufReader, Child, Command, Duration, ExitStatus, GUARD, Instant, LIMIT, Path, Pid,
        Read, Signal, Stdio, TUTOR, Value, fs, json, kill_process,
    };

    pub(crate) fn guard(program: &[&str]) -> Command {
        let mut command = Command::new(GUARD);
        command.arg("--").args(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn sh(script: &str) -> Command {
        guard(&["sh", "-c", script])
    }

    /// Whether a process runs; a zombie does not.
    pub(crate) fn runs(pid: i32) -> bool {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
    }

    pub(crate) fn signal(pid: i32, signal: Signal) {
        kill_process(Pid::from_raw(pid).unwrap(), signal).ok();
    }

    pub(crate) fn pid_of(child: &Child) -> i32 {
        i32::try_from(child.id()).unwrap()
    }

    #[track_caller]
    pub(crate) fn wait_until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < limit, "{what}: not after {limit:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[track_caller]
    pub(crate) fn wait_for(child: &mut Child) -> ExitStatus {
        wait_until("the guard ends", LIMIT, || child.try_wait().unwrap().is_some());
        child.wait().unwrap()
    }

    /// An agent that tidies up when it is told to end: how it ended, what it left, and how long it took.
    pub(crate) fn tidies_up() -> (Option<i32>, String, Duration) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tidy");
        let script = format!(
            "trap 'echo done >\"{}\"; exit 6' TERM; echo ready; while :; do sleep 0.01; done",
            file.display()
        );
        let mut child = sh(&script).spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        let begin = Instant::now();
        drop(child.stdout.take());
        let code = wait_for(&mut child).code();
        (code, fs::read_to_string(file).unwrap_or_default(), begin.elapsed())
    }

    /// A scenario of everything that is hard to kill. It prints all process ids on one line.
    pub(crate) fn nasty(then: &Value) -> Value {
        let steps = json!([
            {"ignore_sigterm": true},
            {"grandchild": {"save": "plain"}},
            {"grandchild": {"ignore_sigterm": true, "hold_output": true, "save": "deaf"}},
            {"grandchild": {"setsid": true, "save": "leader"}},
            {"grandchild": {"daemon": true, "setsid": true, "ignore_sigterm": true, "save": "daemon"}},
            {"raw": "{{pid}} {{plain}} {{deaf}} {{leader}} {{daemon}}"},
        ]);
        let mut steps = steps.as_array().unwrap().clone();
        steps.extend(then.as_array().unwrap().clone());
        json!({"startup": steps, "on_eof": [{"hang": true}]})
    }

    pub(crate) fn write_scenario(dir: &Path, scenario: &Value) -> String {
        let file = dir.join("scenario.json");
        fs::write(&file, scenario.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    }

    pub(crate) fn read_pids(line: &str) -> Vec<i32> {
        line.split_whitespace().map(|it| it.parse().unwrap()).collect()
    }

    /// A guarded agent with all its nasty relatives. What is left of them is killed at the end.
    pub(crate) struct Family {
        pub(crate) guard: Child,
        pub(crate) pids: Vec<i32>,
    }

    impl Family {
        pub(crate) fn start(then: &Value) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let file = write_scenario(dir.path(), &nasty(then));
            let mut guard = guard(&[TUTOR, &file]).spawn().unwrap();
            let mut line = String::new();
            let stdout = guard.stdout.as_mut().unwrap();
            BufReader::new(stdout).read_line(&mut line).unwrap();
            Self { guard, pids: read_pids(&line) }
        }

        #[track_caller]
        pub(crate) fn all_run(&self) {
            assert_eq!(self.pids.len(), 5);
            assert!(self.pids.iter().all(|pid| runs(*pid)), "{:?}", self.pids);
        }

        #[track_caller]
        pub(crate) fn all_die(&mut self) -> ExitStatus {
            let status = wait_for(&mut self.guard);
            let left: Vec<_> = self.pids.iter().filter(|pid| runs(**pid)).collect();
            assert!(left.is_empty(), "{left:?} of {:?} outlived the guard", self.pids);
            status
        }
    }

    impl Drop for Family {
        fn drop(&mut self) {
            self.guard.kill().ok();
            self.guard.wait().ok();
            self.pids.iter().filter(|pid| runs(**pid)).for_each(|pid| signal(*pid, Signal::KILL));
        }
    }
}

use helpers::{
    Family, guard, nasty, pid_of, read_pids, runs, sh, signal, tidies_up, wait_for, wait_until,
    write_scenario,
};

#[test]
fn the_exit_code_is_passed_on() {
    for code in [0, 1, 7, 127, 255] {
        let status = sh(&format!("exit {code}")).status().unwrap();
        assert_eq!(status.code(), Some(code));
    }
}

#[test]
fn the_signal_is_passed_on() {
    for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("PIPE", 13), ("ABRT", 6)] {
        let status = sh(&format!("kill -{name} $$")).status().unwrap();
        assert_eq!(status.signal(), Some(number), "{name}");
        assert!(!status.core_dumped());
    }
}

#[test]
fn input_and_output_pass_through() {
    let mut child = sh("cat; echo problem >&2; exit 3").spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"hello\n");
    assert_eq!(output.stderr, b"problem\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_program_that_cannot_start_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("data"), "x").unwrap();
    let directory = dir.path().to_str().unwrap().to_owned();
    for (program, code, word) in [
        (path("missing"), 127, "not found"),
        ("no-such-program-anywhere".to_owned(), 127, "not found"),
        (path("data"), 126, "permission denied"),
        (directory, 126, "permission denied"),
    ] {
        let output = guard(&[&program]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        let start = format!("acp-guard: cannot start: {word}: {program}: ");
        assert!(error.starts_with(&start), "{error:?} does not start with {start:?}");
        assert_eq!(error.lines().count(), 1);
        assert_eq!(output.status.code(), Some(code));
    }
    assert_eq!(Command::new(GUARD).arg("sh").output().unwrap().status.code(), Some(64));
}

#[test]
fn everything_dies_when_the_reader_is_gone() {
    let mut family = Family::start(&json!([]));
    family.all_run();
    drop(family.guard.stdout.take());
    // The input stays open: the output alone decides.
    family.all_die();
}

#[test]
fn closing_the_input_alone_ends_nothing() {
    let mut family = Family::start(&json!([{"stderr": "ready"}]));
    drop(family.guard.stdin.take());
    let mut line = String::new();
    BufReader::new(family.guard.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    family.all_run();
    assert!(family.guard.try_wait().unwrap().is_none());
    drop(family.guard.stdout.take());
    family.all_die();
}

#[test]
fn everything_dies_when_the_guard_is_told() {
    for told in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut family = Family::start(&json!([]));
        family.all_run();
        signal(pid_of(&family.guard), told);
        let status = family.all_die();
        // The agent did not listen to SIGTERM.
        assert_eq!(status.signal(), Some(9));
    }
}

#[test]
fn leftovers_die_when_the_program_ends() {
    let mut family = Family::start(&json!([{"exit": 5}]));
    assert_eq!(family.all_die().code(), Some(5));
}

#[test]
fn leftovers_die_when_the_program_is_killed() {
    let mut family = Family::start(&json!([]));
    signal(family.pids[0], Signal::KILL);
    assert_eq!(family.all_die().signal(), Some(9));
}

/// Not a test by itself: the next one runs this one again as a process that it can kill.
#[test]
fn holder() {
    let Ok(dir) = std::env::var("ACP_TEST_HOLDER") else { return };
    let dir = Path::new(&dir);
    let file = write_scenario(dir, &nasty(&json!([])));
    let mut child = guard(&[TUTOR, &file]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    fs::write(dir.join("pids.new"), format!("{} {line}", child.id())).unwrap();
    fs::rename(dir.join("pids.new"), dir.join("pids")).unwrap();
    // Until it is killed, but not longer than any test takes.
    std::thread::sleep(Duration::from_secs(30));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn everything_dies_with_a_parent_that_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holder"])
        .env("ACP_TEST_HOLDER", dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let file = dir.path().join("pids");
    wait_until("the family is there", Duration::from_secs(20), || file.exists());
    let pids = read_pids(&fs::read_to_string(file).unwrap());
    assert_eq!(pids.len(), 6);
    assert!(pids.iter().all(|pid| runs(*pid)), "{pids:?}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let left = || pids.iter().filter(|pid| runs(**pid)).count();
    let begin = Instant::now();
    while left() > 0 && begin.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(2));
    }
    let outlived = left();
    pids.iter().filter(|pid| runs(**pid)).for_each(|pid| signal(*pid, Signal::KILL));
    assert_eq!(outlived, 0, "of {pids:?}");
}

#[test]
fn an_agent_gets_the_time_to_tidy_up() {
    // On a busy machine it may not get to run at all before its time is over.
    let mut all = Vec::new();
    while all.len() < 10 {
        let (code, left, passed) = tidies_up();
        // It should not wait for the whole grace.
        if code == Some(6) && left == "done\n" && passed < Duration::from_millis(600) {
            return;
        }
        all.push((code, left, passed));
    }
    panic!("{all:?}");
}

#[test]
fn the_guard_does_not_keep_the_input_open() {
    let mut child = sh("exec <&-; echo ready; exec sleep 60").spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    // The guard closes its copy right after it started the program.
    let stdin = child.stdin.as_mut().unwrap();
    wait_until("the input is broken", LIMIT, || stdin.write_all(b"x").is_err());
    signal(pid_of(&child), Signal::TERM);
    assert_eq!(wait_for(&mut child).signal(), Some(15));
}

#[test]
fn many_children_die_too() {
    let script =
        "for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 60 & sleep 60 & wait) & done; echo ready; wait";
    let mut child = sh(script).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    let group = pid_of(&child);
    drop(child.stdout.take());
    wait_for(&mut child);
    assert!(!runs(group));
}
