//! The agent's side of the wire: an ACP agent that plays a scenario.
//!
//! Embedded it is the tour that greets users who have no agent yet; as the program `acp-tutor` it is
//! every agent of the tests, the nasty ones included. It is an implementation of its own, on JSON
//! values alone: it must not name any other module of this crate, or tests against it would prove
//! nothing.

pub mod engine;
pub mod host;
pub(crate) mod message;
pub(crate) mod model;
pub(crate) mod peer;
pub mod report;
pub(crate) mod rules;
pub mod scenario;
pub(crate) mod template;
pub mod tour;
