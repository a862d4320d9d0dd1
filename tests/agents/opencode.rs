//! OpenCode: runs its commands itself, and asks before.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::chat::{Agent, Chat};
use crate::model::Model;
use crate::support::scratch::Scratch;
use crate::support::target::Target;

const OPENCODE: Agent =
    Agent { name: "opencode", variable: "ACP_TEST_OPENCODE", args: &["acp"], environment };

/// A chat that is ready.
pub(crate) fn chat(target: &Target) -> Chat {
    Chat::open(target, OPENCODE)
}

/// A Neovim in a home and project that another may have used before.
pub(crate) fn start_in(target: &Target, scratch: &Rc<Scratch>) -> Chat {
    Chat::start(target, scratch, OPENCODE)
}

/// Makes OpenCode use the model, ask before it changes anything, and leave the network alone.
fn environment(model: &Model) -> Value {
    let limit = json!({ "context": 128_000, "output": 8192 });
    let scripted =
        json!({ "name": "Scripted", "tool_call": true, "reasoning": true, "limit": limit });
    let config = json!({
        "autoupdate": false,
        "share": "disabled",
        "enabled_providers": ["test"],
        "model": "test/scripted",
        "small_model": "test/scripted",
        "provider": { "test": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": model.url(), "apiKey": "none" },
            "models": { "scripted": scripted },
        } },
        "permission": { "edit": "ask", "bash": "ask", "webfetch": "ask" },
    });
    json!({
        "OPENCODE_CONFIG_CONTENT": config.to_string(),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "HTTP_PROXY": model.proxy(),
        "HTTPS_PROXY": model.proxy(),
        "NO_PROXY": "127.0.0.1",
    })
}
