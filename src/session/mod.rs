//! What is true, and what follows from it: the one reducer.
//!
//! Knows agents, sessions, turns and messages as data. Must not know bytes, JSON, clocks,
//! processes, Lua or windows: whatever happens arrives as an [`event::Event`], whatever has to be
//! done leaves as an [`effect::Effect`].

pub mod effect;
pub mod event;
pub mod failure;
pub mod ids;
pub mod outcome;
mod reduce;
pub mod state;
