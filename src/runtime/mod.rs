//! The only place with threads, clocks, files and processes.
//!
//! One named thread runs one loop that owns all sessions (`core_loop`); small tasks on the same
//! thread move bytes and own nothing (`agent`, `terminal`, `disk`). The rest of the plugin sees a [`handle::Handle`]
//! and the [`outbox`] it drains.

mod action;
mod agent;
pub mod ahead;
mod at_rest;
pub mod audit;
mod base64;
pub mod bases;
pub mod bell;
pub mod buffers;
mod core_loop;
mod diffs;
pub mod disk;
pub mod git;
mod guard;
pub mod handle;
mod indexed;
pub mod input;
mod kill_switch;
mod last_words;
pub mod log;
pub mod merging;
pub mod moved;
mod nofollow;
pub mod outbox;
mod owner;
mod perform;
pub mod placing;
pub mod published;
pub mod real_paths;
pub mod reviews;
pub mod rewind;
pub mod snapshot;
mod stamp;
pub mod surfaces;
mod system_error;
pub mod taking_back;
pub mod terminal;
mod timer;
pub mod transport;
mod utf8;
mod versions;
mod watcher;
