//! What several tests of the pure core need.

use std::time::Duration;

use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::failure::RpcError;

/// How to run an agent; two agents are programs, two are reached by an address.
pub(crate) fn launch(agent: u64) -> Launch {
    let how = match agent {
        0 | 1 => How::Program(vec!["agent".into()]),
        _ => How::Url("tcp://127.0.0.1:1".into()),
    };
    Launch {
        agent: format!("agent {agent}"),
        how,
        env: vec![],
        cwd: "/project".into(),
        directories: vec![],
        mcp_servers: vec![],
        install: None,
        patience: Duration::ZERO,
    }
}

/// An agent's refusal.
pub(crate) fn error() -> RpcError {
    RpcError::new(-1, "no")
}
