//! What we say, in the protocol's words. Only the files of `decode` and `encode` name the schema
//! crate; what it does not have (older methods, those still in the making) is written as JSON.

mod initialize;
mod reply;

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::{Value, json};

pub(super) use self::reply::reply;
use super::pending::{Expected, Pending};
use super::rpc;
use crate::session::agent::{McpServer, McpTransport};
use crate::session::content::Content;
use crate::session::effect::{Call, Make, Place};
use crate::session::event::Ask;
use crate::session::ids::{RemoteId, SessionId};

/// One of our requests, as a line; its answer is expected from now on.
pub(super) fn call(call: Call, pending: &mut Pending) -> Vec<u8> {
    let (expected, method, params) = match call {
        Call::Initialize { old_form } => {
            (Expected::Initialize { old_form }, "initialize", initialize::params(old_form))
        }
        Call::Session { session, how, place } => make(session, how, place),
        Call::Prompt { session, remote, turn, content } => {
            let prompt = content.into_iter().filter_map(block).collect();
            let params = value(acp::PromptRequest::new(remote, prompt));
            (Expected::Prompt(session, turn), "session/prompt", params)
        }
        Call::Steer { session, remote, content } => {
            let prompt: Vec<_> = content.into_iter().filter_map(block).collect();
            let params = json!({ "sessionId": remote, "prompt": prompt });
            (Expected::Steer(session), "_session/steering", params)
        }
        Call::Authenticate { session, method } => {
            // An old dialect has another name for the same thing.
            let params = json!({ "methodId": method, "authMethodId": method });
            (Expected::Authenticate(session), "authenticate", params)
        }
        Call::Ask { session, remote, ask, tag, cursor, cwd } => {
            let (method, params) = asked(&remote, &ask, Page { cursor, cwd });
            (Expected::Ask { session, ask, tag }, method, params)
        }
        Call::Close(remote) => {
            let params = value(acp::CloseSessionRequest::new(remote));
            (Expected::Nothing("session/close"), "session/close", params)
        }
        Call::Shutdown => (Expected::Nothing("shutdown"), "shutdown", json!({})),
    };
    rpc::request(pending.open(expected), method, params)
}

/// `session/cancel`, as a line.
pub(super) fn cancel_turn(remote: RemoteId) -> Vec<u8> {
    rpc::notification("session/cancel", acp::CancelNotification::new(remote))
}

/// `$/cancel_request` for one of our requests, as a line.
pub(super) fn cancel_request(id: u64) -> Vec<u8> {
    rpc::notification("$/cancel_request", json!({ "requestId": id }))
}

fn make(session: SessionId, how: Make, place: Place) -> (Expected, &'static str, Value) {
    let servers: Vec<_> = place.mcp_servers.into_iter().map(server).collect();
    let mut params = json!({ "cwd": place.cwd, "mcpServers": servers });
    let mut add = |field: &str, value: Value| {
        if let Some(params) = params.as_object_mut() {
            params.insert(field.to_owned(), value);
        }
    };
    if !place.directories.is_empty() {
        add("additionalDirectories", place.directories.into());
    }
    let (method, named) = match how {
        Make::New => ("session/new", None),
        Make::Load(remote) => ("session/load", Some(remote)),
        Make::Resume(remote) => ("session/resume", Some(remote)),
        Make::Fork(remote) => {
            add("sessionId", (*remote).into());
            ("session/fork", None)
        }
    };
    if let Some(remote) = &named {
        add("sessionId", (**remote).into());
    }
    (Expected::Session { session, named }, method, params)
}

fn server(server: McpServer) -> acp::McpServer {
    let headers = |headers: Vec<(String, String)>| -> Vec<_> {
        headers.into_iter().map(|(name, value)| acp::HttpHeader::new(name, value)).collect()
    };
    match server.transport {
        McpTransport::Stdio { command, args, env } => {
            let env = env.into_iter().map(|(name, value)| acp::EnvVariable::new(name, value));
            let stdio = acp::McpServerStdio::new(server.name, command).args(args);
            acp::McpServer::Stdio(stdio.env(env.collect()))
        }
        McpTransport::Http { url, headers: with } => {
            acp::McpServer::Http(acp::McpServerHttp::new(server.name, url).headers(headers(with)))
        }
        McpTransport::Sse { url, headers: with } => {
            acp::McpServer::Sse(acp::McpServerSse::new(server.name, url).headers(headers(with)))
        }
    }
}

/// Which part of a list is wanted.
struct Page {
    cursor: Option<String>,
    cwd: String,
}

fn asked(remote: &RemoteId, ask: &Ask, page: Page) -> (&'static str, Value) {
    match ask {
        Ask::SetMode(mode) => {
            let params = acp::SetSessionModeRequest::new(remote.clone(), mode.clone());
            ("session/set_mode", value(params))
        }
        Ask::SetModel(model) => {
            ("session/set_model", json!({ "sessionId": remote, "modelId": model }))
        }
        Ask::SetOption(option, chosen) => (
            "session/set_config_option",
            json!({ "sessionId": remote, "configId": option, "value": chosen }),
        ),
        Ask::SetSwitch(option, on) => (
            "session/set_config_option",
            json!({ "sessionId": remote, "configId": option, "type": "boolean", "value": on }),
        ),
        Ask::SetTitle(title) => {
            ("session/set_title", json!({ "sessionId": remote, "title": title }))
        }
        Ask::ListSessions => {
            let mut params = acp::ListSessionsRequest::new().cursor(page.cursor);
            params.cwd = Some(page.cwd).filter(|cwd| !cwd.is_empty()).map(Into::into);
            ("session/list", value(params))
        }
        Ask::DeleteSession(kept) => {
            ("session/delete", value(acp::DeleteSessionRequest::new(kept.clone())))
        }
        Ask::LogOut => ("logout", json!({})),
    }
}

/// A block of a prompt; what this client does not know can't be sent.
fn block(content: Content) -> Option<acp::ContentBlock> {
    let resource = |resource| acp::ContentBlock::Resource(acp::EmbeddedResource::new(resource));
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
            resource(acp::EmbeddedResourceResource::TextResourceContents(text))
        }
        Content::Blob { uri, data, mime } => {
            let blob = acp::BlobResourceContents::new(data, uri).mime_type(mime);
            resource(acp::EmbeddedResourceResource::BlobResourceContents(blob))
        }
        Content::Unknown(_) => return None,
    })
}

fn value<T: Serialize>(params: T) -> Value {
    // Only a map with keys that are no strings fails, and the schema has none.
    serde_json::to_value(params).unwrap_or_else(|error| {
        tracing::error!(%error, "parameters of ours could not be written");
        Value::Null
    })
}
