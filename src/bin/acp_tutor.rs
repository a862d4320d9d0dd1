//! `acp-tutor [FILE]`: an ACP agent on standard input and output that plays a scenario file, or the
//! built-in tour.
//!
//! `ACP_TUTOR_PACE` scales every pause of the scenario; 0 plays at once.

use std::io::{self, Write};
use std::path::Path;

use acp_nvim::tutor::engine::play;
use acp_nvim::tutor::host::{GRANDCHILD, Host, be_grandchild};
use acp_nvim::tutor::scenario::Scenario;
use acp_nvim::tutor::tour::Tour;

const USAGE: &str = "usage: acp-tutor [SCENARIO.json]";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, rest)) if first == GRANDCHILD => {
            be_grandchild(rest).map_err(|error| error.to_string())
        }
        Some((first, _)) if first.starts_with('-') => Err(USAGE.to_owned()),
        Some((file, [])) => Scenario::load(Path::new(file))
            .map_err(|error| format!("{file}: {error}"))
            .and_then(run),
        None => Tour::default().scenario().map_err(|error| error.to_string()).and_then(run),
        Some(_) => Err(USAGE.to_owned()),
    };
    let code = match done {
        Ok(()) => 0,
        Err(message) => {
            writeln!(io::stderr(), "acp-tutor: {message}").ok();
            2
        }
    };
    // Not by returning: a read of standard input that is under way would keep the process alive.
    std::process::exit(code);
}

fn run(mut scenario: Scenario) -> Result<(), String> {
    if let Ok(pace) = std::env::var("ACP_TUTOR_PACE") {
        let factor: f64 = pace
            .parse()
            .ok()
            .filter(|it: &f64| it.is_finite() && *it >= 0.0)
            .ok_or(format!("ACP_TUTOR_PACE must be a number, 0 or more: {pace:?}"))?;
        scenario.pace = Some(scenario.pace.unwrap_or(1.0) * factor);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| error.to_string())?;
    let playing = play(scenario, tokio::io::stdin(), tokio::io::stdout(), Host::Process);
    runtime.block_on(playing).map(|_| ()).map_err(|error| format!("report: {error}"))
}
