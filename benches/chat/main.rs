//! Measures the plugin against a chat in pure Lua, in the same run and on the same agent.
//!
//! `make bench`, or `scripts/bench.sh [--quick] [--reps N] [CASE…]`, where a part of its name is
//! enough to choose a case. Every run is a fresh Neovim with a screen of 200x50 attached. The contestants take
//! turns within a case, so that the machine's moods hit both; the table has medians.
//!
//! Fails when a run does not finish or loses text, never because of a figure.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement stops at the first surprise, and printing is what it is for"
)]

mod cases;
mod core;
mod files;
mod load;
mod report;
mod run;

#[expect(
    dead_code,
    unused_macros,
    reason = "the harness is made for the tests; this needs only some of it"
)]
#[path = "../../tests/nvim/support/mod.rs"]
#[macro_use]
mod support;

use std::process::ExitCode;

use cases::Case;
use report::Table;
use run::{DRIVERS, Run};
use support::target;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(complaint) => {
            eprintln!("{complaint}\nusage: [--quick] [--reps N] [CASE…]");
            return ExitCode::from(2);
        }
    };
    let newest = target::newest();
    println!("{newest}, {} CPUs, medians; ratios are acp.nvim / baseline\n", cpus());
    let mut table = Table::default();
    let mut failures = Vec::new();
    for case in cases::all(options.quick).iter().filter(|it| options.wants(it.name)) {
        let reps = options.reps.unwrap_or(case.reps);
        match measure(case, reps) {
            Ok(runs) => {
                table.add(case, &runs);
                failures.extend(faults(&runs[1]).map(|it| format!("{}: {it}", case.name)));
            }
            Err(failure) => {
                table.add_failure(case.name, &failure);
                failures.push(format!("{}: {failure}", case.name));
            }
        }
    }
    print!("{table}");
    if options.wants("core") {
        println!("\n{}", core::measure(if options.quick { 3 } else { 9 }));
    }
    for failure in &failures {
        eprintln!("FAILED {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All runs of a case, by contestant.
fn measure(case: &Case, reps: usize) -> Result<[Vec<Run>; 2], String> {
    let mut runs = [Vec::new(), Vec::new()];
    for rep in 1..=reps {
        for (driver, runs) in DRIVERS.iter().zip(&mut runs) {
            let run = run::run(driver, case).map_err(|it| format!("{}: {it}", driver.name))?;
            eprintln!("{:24} {:9} {rep}/{reps}  {run}", case.name, driver.name);
            runs.push(run);
        }
    }
    Ok(runs)
}

/// What the plugin did wrong to a file; how long it took is a figure only.
fn faults(runs: &[Run]) -> impl Iterator<Item = &'static str> {
    runs.iter().filter_map(|run| run.outcome.as_ref()?.faults.first().copied())
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

#[derive(Default)]
struct Options {
    quick: bool,
    reps: Option<usize>,
    /// Parts of the names of the cases wanted; all when empty.
    cases: Vec<String>,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                // Cargo adds it.
                "--bench" => {}
                "--quick" => options.quick = true,
                "--reps" => {
                    let reps = value()?.parse().ok().filter(|it| *it > 0);
                    options.reps = Some(reps.ok_or("--reps needs a number above 0")?);
                }
                other if other.starts_with('-') => {
                    return Err(format!("there is no option {other}"));
                }
                case => options.cases.push(case.to_owned()),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|it| name.contains(it.as_str()))
    }
}
