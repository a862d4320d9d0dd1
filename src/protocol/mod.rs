//! The wire: bytes to events, effects to bytes.
//!
//! Knows ACP and JSON-RPC, and that agents get both wrong in many ways. Must not know processes,
//! clocks, sessions' contents or the editor. Whatever can't be read is logged and skipped; it
//! never ends a connection.

mod decode;
mod encode;
mod frame;
pub mod peer;
mod pending;
mod rpc;
