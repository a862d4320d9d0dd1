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
mod apply;
mod blocks;
mod budgets;
mod chat;
mod commands;
mod death;
mod detail;
mod elicitation;
mod elsewhere;
mod escapes;
mod extreme;
mod faults;
mod files;
mod files_agents;
mod files_attacks;
mod files_boundary;
mod files_conflict;
mod files_disk;
mod files_edges;
mod files_encodings;
mod files_merge;
mod files_random;
mod files_save;
mod follow;
mod harness;
mod harness_process;
mod install;
mod keys;
mod keys_random;
mod layout;
mod login;
mod messages;
mod paint;
mod permissions;
mod permissions_keys;
mod permissions_look;
mod permissions_preview;
mod permissions_typing;
mod plan;
mod prompt;
mod prompt_complete;
mod prompt_drafts;
mod prompt_mentions;
mod prompt_queue;
mod review;
mod review_kinds;
mod review_life;
mod review_persist;
mod review_ui;
mod review_unopened;
mod review_unsaved;
mod rewind;
mod rewind_api;
mod rules;
mod settings;
mod transcript;
mod winbar;
mod windows;
