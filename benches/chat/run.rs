//! One run: a fresh Neovim, one contestant, the turns of one case.

use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cases::Case;
use crate::load;
use crate::support::nvim::{Nvim, Options};
use crate::support::scratch::root;
use crate::support::target;

/// How long a turn may take before it counts as hung.
const TURN: Duration = Duration::from_secs(60);

/// A contestant.
pub(crate) struct Driver {
    pub(crate) name: &'static str,
    script: &'static str,
}

/// The reference comes first.
pub(crate) const DRIVERS: [Driver; 2] = [
    Driver { name: "baseline", script: "baseline.lua" },
    Driver { name: "acp.nvim", script: "acp.lua" },
];

/// What a run cost.
#[derive(Deserialize)]
pub(crate) struct Run {
    pub(crate) load_ms: f64,
    /// From the wish to open the chat until it can be prompted.
    pub(crate) open_ms: f64,
    /// The part of it in which Neovim did nothing else.
    pub(crate) blocking_ms: f64,
    pub(crate) turns: Vec<Turn>,
}

/// What a turn cost. `probe.lua` says how it is measured.
#[derive(Deserialize)]
pub(crate) struct Turn {
    #[serde(skip)]
    pub(crate) chunks: f64,
    pub(crate) wall_ms: f64,
    pub(crate) wall_net_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) stall_ms: f64,
    pub(crate) stall_p99_ms: f64,
    pub(crate) no_frame_ms: f64,
    pub(crate) frames: f64,
    pub(crate) peak_rss_kb: f64,
}

impl fmt::Display for Run {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.turns.last() {
            Some(it) => write!(
                out,
                "wall {:.1} ms (on the clock {:.1}), cpu {:.1} ms, longest stall {:.1} ms",
                it.wall_net_ms, it.wall_ms, it.cpu_ms, it.stall_ms
            ),
            None => write!(out, "open {:.1} ms, blocking {:.1} ms", self.open_ms, self.blocking_ms),
        }
    }
}

/// Runs a case once.
pub(crate) fn run(driver: &Driver, case: &Case) -> Result<Run, String> {
    // The harness panics, as tests do; one bad run must not cost the figures of the others.
    let done = catch_unwind(AssertUnwindSafe(|| play(driver, case)));
    let result = done.map_err(|_| "the run did not finish, see above".to_owned())?;
    if let Some(failure) = result.get("failure").and_then(Value::as_str) {
        return Err(failure.to_owned());
    }
    let mut run: Run = serde_json::from_value(result).map_err(|error| error.to_string())?;
    for (turn, load) in run.turns.iter_mut().zip(&case.loads) {
        turn.chunks = f64::from(load.chunks());
    }
    Ok(run)
}

fn play(driver: &Driver, case: &Case) -> Value {
    let before = "vim.g.loaded_acp = true".to_owned();
    let options = Options { width: 200, height: 50, before, ..Options::default() };
    let mut nvim = Nvim::start(target::newest(), options);
    let folder = root().join("benches/chat");
    let result = nvim.scratch().project().join("result.json");
    let spec = json!({
        "driver": folder.join(driver.script),
        "command": nvim.scratch().scenario(&load::scenario(&case.loads)),
        "turns": turns(&nvim, case),
        "limit_ms": u64::try_from(TURN.as_millis()).unwrap(),
        "result": result,
    });
    let code = "local probe, spec = ... dofile(probe).run(spec)";
    nvim.lua(code, json!([folder.join("probe.lua"), spec]));
    let deadline = TURN * u32::try_from(case.loads.len() + 1).unwrap();
    nvim.wait_until("the result", deadline, |_| result.exists());
    serde_json::from_str(&fs::read_to_string(&result).unwrap()).unwrap()
}

fn turns(nvim: &Nvim, case: &Case) -> Vec<Value> {
    let turns = case.loads.iter().zip(1..);
    let turn = |(load, number): (&load::Load, usize)| {
        let expected = nvim.scratch().write(&format!("answer-{number}"), &load.answer(number));
        json!({ "prompt": load.prompt(), "marker": load::marker(number), "expected": expected })
    };
    turns.map(turn).collect()
}
