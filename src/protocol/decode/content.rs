//! Content blocks.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;

use crate::protocol::dialect::{self, Place};
use crate::session::content::Content;

/// The blocks of a list. What is no block keeps its place by name.
pub(super) fn blocks(list: Option<Value>) -> Vec<Content> {
    match list {
        Some(Value::Array(list)) => list.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(one) => vec![block(one)],
    }
}

/// One block.
pub(super) fn block(mut value: Value) -> Content {
    dialect::canonical(Place::Block, &mut value);
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("content").to_owned();
    match serde_json::from_value::<acp::ContentBlock>(value) {
        Ok(block) => known(block, kind),
        Err(error) => {
            tracing::warn!(%kind, %error, "a block of content that can't be read: only named");
            Content::Unknown(kind)
        }
    }
}

fn known(block: acp::ContentBlock, kind: String) -> Content {
    match block {
        acp::ContentBlock::Text(it) => Content::Text(it.text),
        acp::ContentBlock::Image(it) => Content::Image { mime: it.mime_type, data: it.data },
        acp::ContentBlock::Audio(it) => Content::Audio { mime: it.mime_type, data: it.data },
        acp::ContentBlock::ResourceLink(it) => {
            Content::Link { uri: it.uri, name: it.title.unwrap_or(it.name) }
        }
        acp::ContentBlock::Resource(it) => match it.resource {
            acp::EmbeddedResourceResource::TextResourceContents(it) => {
                Content::Resource { uri: it.uri, text: it.text, mime: it.mime_type }
            }
            acp::EmbeddedResourceResource::BlobResourceContents(it) => {
                Content::Blob { uri: it.uri, data: it.blob, mime: it.mime_type }
            }
            _ => Content::Unknown(kind),
        },
        _ => Content::Unknown(kind),
    }
}
