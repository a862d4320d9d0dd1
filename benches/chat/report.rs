//! The table: medians of all runs, and how the plugin compares.

use std::fmt;

use crate::cases::{Case, Value};
use crate::run::{DRIVERS, Run};

/// A table in Markdown.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    /// Adds the figures of a case.
    pub(crate) fn add(&mut self, case: &Case, runs: &[Vec<Run>; 2]) {
        for (row, figure) in case.figures.iter().enumerate() {
            let [reference, ours, ratio] = match figure.value {
                Value::Cost(value) => {
                    let [reference, ours] = medians(runs, value);
                    let ratio = format!("{:.2}x", ours / reference);
                    let ratio = if reference > 0.0 { ratio } else { String::new() };
                    [number(reference), number(ours), ratio]
                }
                Value::Rate(value) => {
                    let [reference, ours] = medians(runs, value).map(number);
                    [reference, ours, String::new()]
                }
                Value::Verdict(faults) => {
                    let [reference, ours] = runs.each_ref().map(|it| verdict(it, faults));
                    [reference, ours, String::new()]
                }
            };
            let name = if row == 0 { case.name } else { "" }.to_owned();
            self.rows.push([name, figure.label.to_owned(), reference, ours, ratio]);
        }
    }

    /// Says that there are no figures, and why.
    pub(crate) fn add_failure(&mut self, name: &str, failure: &str) {
        let reason = failure.lines().next().unwrap_or_default();
        self.rows.push([name, "FAILED", reason, "", ""].map(str::to_owned));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["case", "figure", DRIVERS[0].name, DRIVERS[1].name, "ratio"].map(str::to_owned);
        let all = || std::iter::once(&head).chain(&self.rows);
        let widths: [usize; 5] =
            std::array::from_fn(|at| all().map(|row| row[at].chars().count()).max().unwrap_or(0));
        for (number, row) in all().enumerate() {
            for (at, cell) in row.iter().enumerate() {
                let width = widths[at];
                match at {
                    0 | 1 => write!(out, "| {cell:width$} ")?,
                    _ => write!(out, "| {cell:>width$} ")?,
                }
            }
            writeln!(out, "|")?;
            if number == 0 {
                let rule = |at: usize| "-".repeat(widths[at] + 1) + if at < 2 { "-" } else { ":" };
                writeln!(out, "|{}|", [0, 1, 2, 3, 4].map(rule).join("|"))?;
            }
        }
        Ok(())
    }
}

fn medians(runs: &[Vec<Run>; 2], value: fn(&Run) -> f64) -> [f64; 2] {
    runs.each_ref().map(|it| median(it.iter().map(value).collect()))
}

fn verdict(runs: &[Run], faults: fn(&Run) -> Vec<String>) -> String {
    let mut all: Vec<String> = runs.iter().flat_map(faults).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { "pass".to_owned() } else { format!("FAIL: {}", all.join("; ")) }
}

/// The one in the middle, or what is between the two there.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

/// Three digits, which is more than the measurements are worth.
fn number(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
