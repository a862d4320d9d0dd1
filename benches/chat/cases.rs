//! What is measured: for each case the turns to play, and the figures to take from them.

use crate::files::{Kind, Outcome, Work};
use crate::load::Load;
use crate::run::{Run, Turn};

/// Something to measure.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The turns of one chat, in order.
    pub(crate) loads: Vec<Load>,
    pub(crate) reps: usize,
    /// Faults are a figure, not the end of it.
    pub(crate) judged: bool,
    pub(crate) figures: Vec<Figure>,
}

/// One row of the table.
pub(crate) struct Figure {
    pub(crate) label: &'static str,
    pub(crate) value: Value,
}

/// What is in the row.
pub(crate) enum Value {
    /// Less is better, so that a ratio says something.
    Cost(fn(&Run) -> f64),
    Rate(fn(&Run) -> f64),
    /// What is wrong; nothing is a pass.
    Verdict(fn(&Run) -> Vec<String>),
}

/// An agent must not wait longer for a small change of an open file.
const PROMPT_MS: f64 = 50.0;

/// The cases, or a few of them that give a first idea.
pub(crate) fn all(quick: bool) -> Vec<Case> {
    let paced = |chunks: u32| if quick { chunks / 5 * 2 } else { chunks };
    let hundred = Load::Paced { chunks: paced(500), pause_ms: 9 };
    let five_hundred = Load::Paced { chunks: paced(2500), pause_ms: 1 };
    let stream = |name, chunks, reps| case(name, vec![Load::Flood(chunks)], reps, streaming());
    let mut cases = vec![
        case("start", vec![], 7, starting()),
        stream("stream 2 000", 2_000, 7),
        stream("stream 20 000", 20_000, 5),
        stream("stream 100 000", 100_000, 3),
        case("growth 10 x 10 000", vec![Load::Flood(10_000); 10], 3, growing()),
        case("tools 200", vec![Load::Tools(200)], 3, streaming()),
        case("paced 100/s", vec![hundred], 3, pacing()),
        case("paced 500/s", vec![five_hundred], 3, pacing()),
        case("long chat, then 100/s", vec![Load::Flood(20_000), hundred], 3, pacing()),
    ];
    cases.extend(on_files());
    if quick {
        let long = ["stream 100 000", "growth 10 x 10 000", "read 100 000 lines x 20"];
        cases.retain(|it| !long.contains(&it.name));
        cases.iter_mut().for_each(|it| it.reps = it.reps.div_ceil(3));
    }
    cases
}

fn case(name: &'static str, loads: Vec<Load>, reps: usize, figures: Vec<Figure>) -> Case {
    Case { name, loads, reps, judged: false, figures }
}

/// The agent works on a file that is open and has changes nobody has saved.
fn on_files() -> Vec<Case> {
    let file = |name, reps, (lines, times), kind| {
        case(name, vec![Load::File(Work { lines, times, kind })], reps, asking())
    };
    let in_turn = Kind::Read { in_flight: 1 };
    let part = Kind::ReadPart { line: 50_000, limit: 100 };
    let unsaved = file("write into unsaved", 3, (100, 1), Kind::Write);
    vec![
        file("read 1000 lines x 1000", 3, (1_000, 1_000), in_turn),
        file("read 1000 lines x 1000, 64 open", 3, (1_000, 1_000), Kind::Read { in_flight: 64 }),
        file("read 100 000 lines x 20", 3, (100_000, 20), in_turn),
        file("read 100 of 100 000 x 200", 3, (100_000, 200), part),
        file("write 10 000 lines x 100", 3, (10_000, 100), Kind::Write),
        Case { judged: true, figures: judging(), ..unsaved },
    ]
}

fn asking() -> Vec<Figure> {
    vec![
        cost("round trip p50 us", |run| outcome(run).p50_us),
        cost("round trip p99 us", |run| outcome(run).p99_us),
        cost("cpu us / request", |run| 1000.0 * last(run).cpu_ms / outcome(run).count()),
        cost("longest stall ms", |run| last(run).stall_ms),
        cost("peak RSS MB", |run| last(run).peak_rss_kb / 1024.0),
    ]
}

fn judging() -> Vec<Figure> {
    let verdict = |run: &Run| {
        let outcome = outcome(run);
        let mut faults: Vec<String> = outcome.faults.iter().map(|it| (*it).to_owned()).collect();
        if outcome.max_ms() > PROMPT_MS {
            faults.push(format!("answered after more than {PROMPT_MS} ms"));
        }
        faults
    };
    vec![
        Figure { label: "verdict", value: Value::Verdict(verdict) },
        cost("answered after ms", |run| outcome(run).max_ms()),
        cost("longest stall ms", |run| last(run).stall_ms),
    ]
}

fn starting() -> Vec<Figure> {
    vec![
        cost("load + setup ms", |run| run.load_ms),
        cost("open until ready ms", |run| run.open_ms),
        cost("of it blocking ms", |run| run.blocking_ms),
    ]
}

fn streaming() -> Vec<Figure> {
    vec![
        cost("wall ms", |run| last(run).wall_net_ms),
        cost("cpu ms", |run| last(run).cpu_ms),
        cost("longest stall ms", |run| last(run).stall_ms),
        cost("stall p99 ms", |run| last(run).stall_p99_ms),
        cost("longest without a frame ms", |run| last(run).no_frame_ms),
        cost("peak RSS MB", |run| last(run).peak_rss_kb / 1024.0),
    ]
}

fn growing() -> Vec<Figure> {
    vec![
        cost("cpu ms / 1000 chunks at 10k", |run| run.turns[0].cpu_ms / 10.0),
        cost("cpu ms / 1000 chunks at 50k", |run| run.turns[4].cpu_ms / 10.0),
        cost("cpu ms / 1000 chunks at 100k", |run| run.turns[9].cpu_ms / 10.0),
        cost("last turn / first turn", |run| run.turns[9].cpu_ms / run.turns[0].cpu_ms),
        cost("longest stall ms", |run| run.turns.iter().map(|it| it.stall_ms).fold(0.0, f64::max)),
        cost("peak RSS MB", |run| last(run).peak_rss_kb / 1024.0),
    ]
}

fn pacing() -> Vec<Figure> {
    vec![
        cost("cpu %", |run| 100.0 * last(run).cpu_ms / last(run).wall_ms),
        cost("longest stall ms", |run| last(run).stall_ms),
        cost("stall p99 ms", |run| last(run).stall_p99_ms),
        cost("longest without a frame ms", |run| last(run).no_frame_ms),
        rate("frames/s", |run| 1000.0 * last(run).frames / last(run).wall_ms),
        // The agent's pauses are whole milliseconds, and longer on a busy machine.
        rate("chunks/s, in fact", |run| 1000.0 * last(run).chunks / last(run).wall_ms),
    ]
}

fn cost(label: &'static str, value: fn(&Run) -> f64) -> Figure {
    Figure { label, value: Value::Cost(value) }
}

fn rate(label: &'static str, value: fn(&Run) -> f64) -> Figure {
    Figure { label, value: Value::Rate(value) }
}

/// The turn that counts: those before it only prepare.
fn last(run: &Run) -> &Turn {
    run.turns.last().unwrap()
}

/// Of the work on a file.
fn outcome(run: &Run) -> &Outcome {
    run.outcome.as_ref().unwrap()
}
