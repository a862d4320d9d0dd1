//! What is true, and what follows from it: the one reducer.
//!
//! Knows agents, sessions, turns and messages as data. Must not know bytes, JSON, clocks,
//! processes, Lua or windows: whatever happens arrives as an [`event::Event`], whatever has to be
//! done leaves as an [`effect::Effect`].

pub mod agent;
pub mod audit;
pub mod command_line;
pub mod content;
pub mod diff;
pub mod effect;
pub mod entry;
pub mod event;
pub mod failure;
pub mod form_pattern;
pub mod glob;
pub mod ids;
pub mod letter;
pub mod live;
pub mod message;
pub mod outcome;
pub mod parts;
pub mod paths;
pub mod pending;
pub mod question;
mod reduce;
pub mod rule;
pub mod settings;
pub mod state;
pub mod subject;
pub mod terminal;
pub mod tool_call;
pub mod wish;
