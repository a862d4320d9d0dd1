//! What to show: entries to rows, changes to patches.
//!
//! Knows rows, highlight groups and the words around what people say. Must not know windows,
//! colours, Lua or where the text goes. Wrapping and looks are Neovim's.

mod block;
pub mod export;
pub mod model;
pub mod painted;
pub mod screen;
