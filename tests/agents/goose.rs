//! goose: has its commands run by the plugin, and leaves them running when it is cancelled.

use serde_json::{Value, json};

use crate::chat::{Agent, Chat};
use crate::model::Model;
use crate::support::target::Target;

const GOOSE: Agent = Agent {
    name: "goose",
    variable: "ACP_TEST_GOOSE",
    args: &["acp", "--with-builtin", "developer"],
    environment,
};

/// A chat that is ready.
pub(crate) fn chat(target: &Target) -> Chat {
    Chat::open(target, GOOSE)
}

/// Makes goose use the model, run commands without asking, and leave the network alone.
fn environment(model: &Model) -> Value {
    json!({
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "scripted",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_HOST": model.proxy(),
        "OPENAI_API_KEY": "none",
        "HTTP_PROXY": model.proxy(),
        "HTTPS_PROXY": model.proxy(),
        "NO_PROXY": "127.0.0.1",
    })
}
