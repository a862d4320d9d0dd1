//! acp.nvim: the native core of the Neovim plugin.
//!
//! The layers, from pure to impure; an arrow means "may name", and there are no others
//! (`tests/tidy.rs` holds us to it):
//!
//! ```text
//! nvim ─► runtime ─► protocol ─► session
//!            ├─────► view ─────► session
//!            ├─────► changes ──► session
//!            └─────► tutor (names nothing of ours)
//! ```
//!
//! `session`, `protocol`, `view` and `changes` do no I/O and read no clock. `ARCHITECTURE.md` has the tour.

pub mod changes;
pub mod protocol;
pub mod runtime;
pub mod session;
pub mod tutor;
pub mod view;

#[cfg(feature = "nvim")]
pub mod nvim;
