//! Agents die with Neovim, however it dies, with all their children.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::plugin::{chat, wait_transcript};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::process;
use crate::support::target::Target;

/// How long anything of the agent may outlive Neovim: less than a second, but for busy machines.
const SOON: Duration = Duration::from_secs(15);

/// An agent that ignores SIGTERM and has children that do, one of them in a session of its own
/// and one whose parent is gone.
fn stubborn() -> Value {
    json!({
        "startup": [{ "ignore_sigterm": true }],
        "on_eof": [{ "hang": true }],
        "prompts": [{ "ignore_cancel": true, "steps": [
            { "grandchild": { "ignore_sigterm": true } },
            { "grandchild": { "ignore_sigterm": true, "setsid": true } },
            { "grandchild": { "ignore_sigterm": true, "daemon": true } },
            { "say": "all up" },
            { "hang": true }
        ] }]
    })
}

/// A Neovim in the middle of that agent's turn.
fn in_a_turn(target: &Target) -> (Nvim, Vec<u32>) {
    let mut nvim = chat(target, &stubborn());
    nvim.type_keys("go");
    nvim.input("<C-s>");
    wait_transcript(&mut nvim, "all up");
    let pids = process::marked(nvim.mark())
        .into_iter()
        .filter(|pid| *pid != nvim.pid())
        .collect::<Vec<_>>();
    assert!(pids.len() >= 5, "guard, agent and three children: {pids:?}");
    (nvim, pids)
}

fn killed_by(target: &Target, signal: Signal) {
    let (mut nvim, pids) = in_a_turn(target);
    nvim.allow_errors();
    nvim.kill(signal);
    nvim.wait_exit(DEADLINE);
    process::wait_gone(&pids, SOON);
}

fn quit_by(target: &Target, command: &str) {
    let (mut nvim, pids) = in_a_turn(target);
    let start = Instant::now();
    nvim.input(&format!("<Esc>:{command}<CR>"));
    nvim.wait_exit(DEADLINE);
    // The figure is for people (`--nocapture`); the bound is the agent's own end, which Neovim
    // must not wait for.
    eprintln!(":{command} took {:?}", start.elapsed());
    process::wait_gone(&pids, SOON);
}

nvim_tests! {
    fn quit_all(target: &Target) {
        quit_by(target, "qa");
    }

    fn quit_all_at_any_price(target: &Target) {
        quit_by(target, "qa!");
    }

    fn sigterm(target: &Target) {
        killed_by(target, Signal::TERM);
    }

    fn sighup(target: &Target) {
        killed_by(target, Signal::HUP);
    }

    fn sigkill(target: &Target) {
        killed_by(target, Signal::KILL);
    }

    fn closing_the_session_ends_the_agent(target: &Target) {
        let (mut nvim, pids) = in_a_turn(target);
        nvim.lua("require('acp').close()", json!([]));
        process::wait_gone(&pids, SOON);
    }
}
