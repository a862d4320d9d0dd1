//! What changes in files: texts taken apart, compared, merged, and kept level with the editor's.
//!
//! Knows texts and lines. Must not know where a text comes from, how it is shown, or how late it is:
//! what would take too long is found out more coarsely instead. Of who changed it only `review`
//! knows: a number for each agent.
//!
//! `diff` is for showing. The rest is for doing, and has a text as a list of lines with no line
//! endings in them. No lines at all are a file of no bytes; one line of no characters is a file of
//! one line ending. (Neovim shows an empty line for both.)

mod align;
mod alike;
pub mod diff;
pub mod edits;
pub mod encoding;
pub mod format;
mod lines;
pub mod merge;
pub mod mirror;
mod pairs;
pub mod place;
pub mod review;
mod script;
mod slide;
mod tokens;
mod walk;
mod words;
