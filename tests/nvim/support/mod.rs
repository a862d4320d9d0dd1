//! What the tests stand on: a Neovim process, its screen, its files, its descendants.
//! Knows nothing of agents but where the fake one lies.

#[macro_use]
pub(crate) mod target;

mod gate;
mod json;
pub(crate) mod nvim;
pub(crate) mod process;
mod rpc;
pub(crate) mod scratch;
pub(crate) mod screen;
pub(crate) mod snapshot;
