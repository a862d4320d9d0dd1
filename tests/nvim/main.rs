//! Drives a real Neovim, with a screen attached, the way a user would.
//!
//! Every test runs against the oldest and the newest Neovim we support; see `support/target.rs` for
//! where they come from. The tests know the plugin by what it shows and by its public Lua API,
//! never by the types of the crate. They need Linux: processes are looked up in `/proc`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at the first surprise and says why on stderr"
)]

#[macro_use]
mod support;

mod plugin;
mod report;

mod api;
mod chat;
mod death;
mod elicitation;
mod faults;
mod files;
mod harness;
mod harness_process;
mod install;
mod login;
mod permissions;
mod settings;
mod windows;
