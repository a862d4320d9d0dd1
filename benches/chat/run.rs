//! One run: a fresh Neovim, one contestant, the turns of one case.

use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cases::Case;
use crate::files::Outcome;
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
    /// Of work on a file.
    #[serde(skip)]
    pub(crate) outcome: Option<Outcome>,
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
    let (result, outcome) = done.map_err(|_| "the run did not finish, see above".to_owned())?;
    if let Some(failure) = result.get("failure").and_then(Value::as_str) {
        return Err(failure.to_owned());
    }
    let mut run: Run = serde_json::from_value(result).map_err(|error| error.to_string())?;
    for (turn, load) in run.turns.iter_mut().zip(&case.loads) {
        turn.chunks = f64::from(load.chunks());
    }
    run.outcome = outcome;
    match run.outcome.as_ref().and_then(|it| it.faults.first()) {
        Some(fault) if !case.judged => Err((*fault).to_owned()),
        _ => Ok(run),
    }
}

/// What the probe wrote down, and what came of the work on a file.
fn play(driver: &Driver, case: &Case) -> (Value, Option<Outcome>) {
    let before = "vim.g.loaded_acp = true".to_owned();
    let options = Options { width: 200, height: 50, before, ..Options::default() };
    let mut nvim = Nvim::start(target::newest(), options);
    let folder = root().join("benches/chat");
    let result = nvim.scratch().project().join("result.json");
    let work = case.loads.iter().find_map(|it| it.work());
    let spec = json!({
        "file": work.map(|it| it.prepare(nvim.scratch())),
        "driver": folder.join(driver.script),
        "command": nvim.scratch().scenario(&load::scenario(&case.loads)),
        "turns": turns(&nvim, case),
        "limit_ms": u64::try_from(TURN.as_millis()).unwrap(),
        "result": result,
    });
    let code = "local probe, spec = ... dofile(probe).run(spec)";
    nvim.lua(code, json!([folder.join("probe.lua"), spec]));
    let deadline = TURN * u32::try_from(case.loads.len() + 1).unwrap();
    let asked = wait(&mut nvim, &result, deadline, case.judged);
    let result: Value = serde_json::from_str(&fs::read_to_string(&result).unwrap()).unwrap();
    let work = work.filter(|_| result.get("failure").is_none());
    let mut outcome = work.map(|it| it.outcome(nvim.scratch()));
    if let Some(outcome) = outcome.as_mut().filter(|_| asked) {
        outcome.faults.push("the user was asked and nothing else went on");
    }
    (result, outcome)
}

/// Waits for the result. Whether Neovim stopped to ask something meanwhile is looked at only where
/// it matters: looking costs.
fn wait(nvim: &mut Nvim, result: &Path, deadline: Duration, watch: bool) -> bool {
    let mut asked = false;
    nvim.wait_until("the result", deadline, |nvim| {
        if watch && nvim.request("nvim_get_mode", json!([]))["blocking"] == true {
            asked = true;
            nvim.input("<CR>");
        }
        result.exists()
    });
    asked
}

fn turns(nvim: &Nvim, case: &Case) -> Vec<Value> {
    let turns = case.loads.iter().zip(1..);
    let turn = |(load, number): (&load::Load, usize)| {
        let expected = nvim.scratch().write(&format!("answer-{number}"), &load.answer(number));
        json!({ "prompt": load.prompt(), "marker": load::marker(number), "expected": expected })
    };
    turns.map(turn).collect()
}
