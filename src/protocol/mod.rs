//! The wire: bytes to events, effects to bytes.
//!
//! Knows ACP and JSON-RPC, and that agents get both wrong in many ways. Must not know processes,
//! clocks, sessions' contents or the editor. Whatever can't be read is logged and skipped; it
//! never ends a connection.

mod decode;
mod dialect;
mod encode;
mod frame;
mod json_text;
mod memory;
pub mod peer;
mod pending;
mod rpc;
mod surrogate;
