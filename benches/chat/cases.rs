//! What is measured: for each case the turns to play, and the figures to take from them.

use crate::load::Load;
use crate::run::{Run, Turn};

/// Something to measure.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The turns of one chat, in order.
    pub(crate) loads: Vec<Load>,
    pub(crate) reps: usize,
    pub(crate) figures: Vec<Figure>,
}

/// One row of the table.
pub(crate) struct Figure {
    pub(crate) label: &'static str,
    /// Whether less is better, so that a ratio says something.
    pub(crate) cost: bool,
    pub(crate) value: fn(&Run) -> f64,
}

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
    if quick {
        cases.retain(|it| !["stream 100 000", "growth 10 x 10 000"].contains(&it.name));
        cases.iter_mut().for_each(|it| it.reps = it.reps.div_ceil(3));
    }
    cases
}

fn case(name: &'static str, loads: Vec<Load>, reps: usize, figures: Vec<Figure>) -> Case {
    Case { name, loads, reps, figures }
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
    Figure { label, cost: true, value }
}

fn rate(label: &'static str, value: fn(&Run) -> f64) -> Figure {
    Figure { label, cost: false, value }
}

/// The turn that counts: those before it only prepare.
fn last(run: &Run) -> &Turn {
    run.turns.last().unwrap()
}
