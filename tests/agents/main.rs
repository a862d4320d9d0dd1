//! Drives real agents through the plugin in a real Neovim, with no network.
//!
//! The agent is the program its users run; only its language model is ours: `model` does what the
//! prompt says, so that what the agent will do is known beforehand. `make agents` installs the
//! agents and runs this; the tests fail where an agent is missing. They need Linux, as those in
//! `tests/nvim` do, whose harness they use.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at the first surprise and says why on stderr"
)]

#[expect(dead_code, reason = "the harness is made for tests/nvim; these need only some of it")]
#[path = "../nvim/support/mod.rs"]
#[macro_use]
mod support;

#[expect(dead_code, reason = "made for tests/nvim as well")]
#[path = "../nvim/plugin.rs"]
mod plugin;

mod chat;
mod goose;
mod model;
mod opencode;

mod commands;
mod talk;
mod tools;
