//! The flows of a session through the pure reducer: what is sent, told and shown, step by step.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../support/mod.rs"]
mod support;

mod boundary;
mod commands;
mod duties;
mod endings;
mod inputs;
mod limits;
mod making;
mod recording;
mod rules;
mod terminals;
mod waiting;
mod works;
mod world;
