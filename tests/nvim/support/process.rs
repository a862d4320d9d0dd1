//! Finds processes by their family and by the mark in their environment, and watches them go.
//! Reads `/proc`; a zombie counts as gone, since it only waits for its parent to look.

use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// The variable that names the Neovim a process stems from, however it was re-parented.
pub(crate) const MARK_VARIABLE: &str = "ACP_TEST_MARK";

const PAUSE: Duration = Duration::from_millis(5);

/// Whether the process still runs.
pub(crate) fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|it| it.runs())
}

/// All children of a process, their children, and so on.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let everybody: Vec<_> = pids().filter_map(stat).filter(Stat::runs).collect();
    let mut family = HashSet::from([pid]);
    let mut found = Vec::new();
    loop {
        let before = found.len();
        for it in &everybody {
            if family.contains(&it.parent) && family.insert(it.pid) {
                found.push(it.pid);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// All living processes that carry the mark in their environment or command line.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let me = std::process::id();
    let carries = |pid: u32, file: &str| match fs::read(format!("/proc/{pid}/{file}")) {
        Ok(bytes) => contains(&bytes, mark.as_bytes()),
        Err(_) => false,
    };
    pids()
        .filter(|&pid| pid != me && (carries(pid, "environ") || carries(pid, "cmdline")))
        .filter(|&pid| alive(pid))
        .collect()
}

/// What a process was started as and what it is at, for messages.
pub(crate) fn describe(pid: u32) -> String {
    let about = |file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned()
    };
    let state = stat(pid).map_or('?', |it| it.state);
    let (children, place) = (descendants(pid), about("wchan"));
    format!("{pid} ({}), state {state} in {place}, with {children:?}", about("cmdline"))
}

/// Waits until none of them runs; panics with the names of those that stay.
pub(crate) fn wait_gone(pids: &[u32], deadline: Duration) {
    let stubborn = outlasting(pids, deadline);
    let names: Vec<_> = stubborn.iter().map(|&pid| describe(pid)).collect();
    assert!(names.is_empty(), "still running after {deadline:?}: {}", names.join(", "));
}

/// Those of the processes that still run at the deadline. Returns early when there are none.
pub(crate) fn outlasting(pids: &[u32], deadline: Duration) -> Vec<u32> {
    let until = Instant::now() + deadline;
    loop {
        let running: Vec<_> = pids.iter().copied().filter(|&pid| alive(pid)).collect();
        if running.is_empty() || Instant::now() >= until {
            return running;
        }
        thread::sleep(PAUSE);
    }
}

/// Sends a signal, if the process is still there.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).unwrap();
    let result = kill_process(pid, signal);
    assert!(matches!(result, Ok(()) | Err(Errno::SRCH)), "{pid:?}: {result:?}");
}

struct Stat {
    pid: u32,
    parent: u32,
    state: char,
}

impl Stat {
    fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

fn pids() -> impl Iterator<Item = u32> {
    let folder = fs::read_dir("/proc").expect("the Neovim tests need /proc, that is Linux");
    folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn stat(pid: u32) -> Option<Stat> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The name stands in parentheses and may itself hold blanks and parentheses.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    Some(Stat { pid, parent, state })
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|it| it == needle)
}
