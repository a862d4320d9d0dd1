//! The only place with threads, clocks, files and processes.
//!
//! One named thread runs one loop that owns all sessions (`core_loop`); small tasks on the same
//! thread move bytes and own nothing (`agent`). The rest of the plugin sees a [`handle::Handle`]
//! and the [`outbox`] it drains.

mod agent;
pub mod bell;
mod core_loop;
pub mod handle;
pub mod log;
pub mod outbox;
pub mod published;
