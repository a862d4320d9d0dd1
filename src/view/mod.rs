//! What to show: entries to rows, changes to patches.
//!
//! Knows rows, highlight groups and the words around what people say. Must not know windows,
//! colours, Lua or where the text goes. Wrapping and looks are Neovim's.

mod ansi;
mod block;
pub mod detail;
pub mod export;
pub mod guard;
mod markdown;
pub mod model;
mod opened;
pub mod painted;
pub mod patch;
pub mod screen;
mod text;
