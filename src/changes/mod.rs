//! What changes in files: two texts to the lines and words that differ.
//!
//! Knows texts and lines. Must not know where a text comes from, who changed it, how it is shown,
//! or how late it is: what would take too long is found out more coarsely instead.

pub mod diff;
mod lines;
mod pairs;
mod slide;
mod walk;
mod words;
