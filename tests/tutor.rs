//! The scenario engine, over an in-memory pipe and as a program.

#[cfg(test)]
#[path = "tutor/client.rs"]
mod client;

#[cfg(test)]
#[path = "tutor/cancel.rs"]
mod cancel;
#[cfg(test)]
#[path = "tutor/defaults.rs"]
mod defaults;
#[cfg(test)]
#[cfg(unix)]
#[path = "tutor/program.rs"]
mod program;
#[cfg(test)]
#[path = "tutor/requests.rs"]
mod requests;
#[cfg(test)]
#[path = "tutor/scenario_file.rs"]
mod scenario_file;
#[cfg(test)]
#[path = "tutor/verbs.rs"]
mod verbs;
#[cfg(test)]
#[path = "tutor/violations.rs"]
mod violations;
#[cfg(test)]
#[path = "tutor/volleys.rs"]
mod volleys;
