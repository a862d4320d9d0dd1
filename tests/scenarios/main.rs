//! One scenario for each way in which agents are known to behave, played by a real process through
//! the real core, with the test in the place of Neovim and its user.
//!
//! What each test asserts beside its own case: the turn ends, exactly once; the agent saw no
//! violation of the protocol; each question had exactly one answer; nothing hangs.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod dialects;
mod logins;
mod pressure;
mod questions;
mod reconnect;
mod rules;
mod sessions;
mod start;
mod terminals;
mod turns;
mod wire;
mod world;
