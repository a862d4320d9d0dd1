//! Messages of extreme size and count, in a real Neovim: its main loop is never busy for longer than
//! a frame, and nothing of it goes wrong.

#[path = "../extreme/agent.rs"]
mod agent;
#[path = "../extreme/generate.rs"]
mod generate;

use std::time::Duration;

use serde_json::json;

use self::agent::Agent;
use self::generate::fresh_seed;
use crate::budgets::{FRAME, start_probe, stop_probe};
use crate::plugin::{open, wait_state};
use crate::support::nvim::{Nvim, Options};
use crate::support::target::Target;

/// How many messages each run has: they are drawn as well.
const MESSAGES: usize = 1_000;
/// How long they may take, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Errors that agents tell of are theirs.
const NOTIFY: &str = "vim.notify = function(message) _G.told = message end";

fn play(target: &Target, seed: u64) {
    let options = Options { width: 120, height: 40, before: NOTIFY.into(), ..Options::default() };
    let mut nvim = Nvim::start(target, options);
    let agent = Agent::listen(&nvim.scratch().project());
    let setup =
        json!({ "default_agent": "extreme", "agents": { "extreme": { "url": agent.url() } } });
    nvim.lua("require('acp').setup(...)", json!([setup]));
    let playing = agent.play(seed, MESSAGES);
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    start_probe(&mut nvim);
    nvim.lua("require('acp').prompt('go')", json!([]));
    nvim.wait_until("everything is heard", PATIENCE, |_| playing.is_done());
    // What was heard is shown: the last of it takes the main loop another time.
    for _ in 0..20 {
        nvim.lua("return 1", json!([]));
    }
    let longest = stop_probe(&mut nvim);
    let rows = nvim.lua("return vim.api.nvim_buf_line_count(require('acp').buffer())", json!([]));
    assert!(rows.as_u64().unwrap() > 500, "seed {seed}: {rows} rows");
    nvim.lua("require('acp').close()", json!([]));
    let talk = playing.end();
    eprintln!(
        "seed {seed}: {target}, {} kB, the main loop was busy for {longest:.1} ms at most",
        talk.sent >> 10
    );
    let wrong: Vec<_> = talk.answers.iter().filter(|(_, answers)| **answers != 1).take(5).collect();
    assert!(wrong.is_empty(), "seed {seed}: requests and their answers: {wrong:?}");
    assert!(longest < FRAME, "seed {seed}: the main loop was busy for {longest} ms");
}

nvim_tests! {
    fn whatever_agents_send(target: &Target) {
        for seed in [1, fresh_seed()] {
            play(target, seed);
        }
    }
}
