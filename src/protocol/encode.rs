//! What we say, in the protocol's words. One of the two files that name the schema crate.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;

use super::pending::{Expected, Pending};
use super::rpc;
use crate::session::effect::{Call, Reply};
use crate::session::failure::RpcError;
use crate::session::ids::{RemoteId, ReplyTo};
use crate::session::state::Content;

/// One of our requests, as a line; its answer is expected from now on.
pub(super) fn call(call: Call, pending: &mut Pending) -> Vec<u8> {
    match call {
        Call::Initialize => {
            let id = pending.open(Expected::Initialize);
            rpc::request(id, "initialize", initialize())
        }
        Call::NewSession { session, cwd } => {
            let id = pending.open(Expected::NewSession(session));
            rpc::request(id, "session/new", acp::NewSessionRequest::new(cwd))
        }
        Call::Prompt { session, remote, turn, content } => {
            let id = pending.open(Expected::Prompt(session, turn));
            let prompt = content.into_iter().filter_map(block).collect();
            rpc::request(id, "session/prompt", acp::PromptRequest::new(remote, prompt))
        }
    }
}

/// `session/cancel`, as a line.
pub(super) fn cancel_turn(remote: RemoteId) -> Vec<u8> {
    rpc::notification("session/cancel", acp::CancelNotification::new(remote))
}

/// Our answer to a request of the agent, as a line.
pub(super) fn reply(reply: &ReplyTo, answer: &Result<Reply, RpcError>) -> Vec<u8> {
    let result = answer.as_ref().map(|reply| match reply {
        Reply::Empty => Value::Object(Default::default()),
    });
    rpc::response(&reply.id, result)
}

fn initialize() -> acp::InitializeRequest {
    let info = acp::Implementation::new("acp.nvim", env!("CARGO_PKG_VERSION"))
        .title("Neovim (acp.nvim)".to_owned());
    acp::InitializeRequest::new(ProtocolVersion::V1).client_info(info)
}

fn block(content: Content) -> Option<acp::ContentBlock> {
    Some(match content {
        Content::Text(text) => acp::ContentBlock::Text(acp::TextContent::new(text)),
        Content::Image { mime, data } => {
            acp::ContentBlock::Image(acp::ImageContent::new(data, mime))
        }
        Content::Audio { mime, data } => {
            acp::ContentBlock::Audio(acp::AudioContent::new(data, mime))
        }
        Content::Link { uri, name } => {
            acp::ContentBlock::ResourceLink(acp::ResourceLink::new(name, uri))
        }
        Content::Resource { uri, text, mime } => {
            let text = acp::TextResourceContents::new(text, uri).mime_type(mime);
            let resource = acp::EmbeddedResourceResource::TextResourceContents(text);
            acp::ContentBlock::Resource(acp::EmbeddedResource::new(resource))
        }
        Content::Unknown(_) => return None,
    })
}
