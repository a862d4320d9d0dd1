//! Who we are and what we can do.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use serde_json::{Value, json};

use super::value;

/// The parameters of `initialize`. The old form is for agents that refuse the present one: the
/// version is a text, and the capabilities stand under their old name too.
pub(super) fn params(old_form: bool) -> Value {
    let info = acp::Implementation::new("acp.nvim", env!("CARGO_PKG_VERSION"))
        .title("Neovim (acp.nvim)".to_owned());
    let capabilities = capabilities();
    let request = acp::InitializeRequest::new(ProtocolVersion::V1).client_info(info);
    let mut params = value(request);
    if let Some(params) = params.as_object_mut() {
        if old_form {
            params.insert("protocolVersion".into(), "1".into());
            params.insert("capabilities".into(), capabilities.clone());
        }
        params.insert("clientCapabilities".into(), capabilities);
    }
    params
}

fn capabilities() -> Value {
    let fs = acp::FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
    let options = acp::SessionConfigOptionsCapabilities::new()
        .boolean(acp::BooleanConfigOptionCapabilities::new());
    let session = acp::ClientSessionCapabilities::new()
        .config_options(options)
        .notices(acp::NoticeCapabilities::new())
        .compaction(acp::CompactionCapabilities::new());
    let elicitation = acp::ElicitationCapabilities::new()
        .form(acp::ElicitationFormCapabilities::new())
        .url(acp::ElicitationUrlCapabilities::new());
    let capabilities = acp::ClientCapabilities::new()
        .fs(fs)
        .terminal(true)
        .session(session)
        .auth(acp::AuthCapabilities::new().terminal(true))
        .elicitation(elicitation);
    let mut capabilities = value(capabilities);
    if let Some(capabilities) = capabilities.as_object_mut() {
        // Plans with names, still in the making. Subagents are not offered: what they say comes
        // under session ids of their own, which nobody here has opened.
        capabilities.insert("plan".into(), json!({}));
        let meta = json!({ "terminal_output": true, "terminal-auth": true });
        capabilities.insert("_meta".into(), meta);
    }
    capabilities
}
