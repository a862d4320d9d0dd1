//! OpenCode in a chat of the plugin, with the scripted model behind it.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::Model;
use crate::plugin::{self, states, transcript};
use crate::support::nvim::{Nvim, Options};
use crate::support::scratch::Scratch;
use crate::support::target::Target;

/// OpenCode takes up to 15 s to start on a busy machine, and as long for its first answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Keeps a question to the user from holding up Neovim: the tests answer through the API.
const BEFORE: &str = "vim.ui.select = function() end";

/// A Neovim that knows OpenCode. Ends before its model does.
pub(crate) struct OpenCode {
    pub(crate) nvim: Nvim,
    pub(crate) model: Model,
}

impl Deref for OpenCode {
    type Target = Nvim;

    fn deref(&self) -> &Nvim {
        &self.nvim
    }
}

impl DerefMut for OpenCode {
    fn deref_mut(&mut self) -> &mut Nvim {
        &mut self.nvim
    }
}

impl OpenCode {
    /// Starts Neovim in a home and project of its own.
    pub(crate) fn start(target: &Target) -> OpenCode {
        OpenCode::start_in(target, &Rc::new(Scratch::new()))
    }

    /// Starts Neovim in a home and project that another may have used before.
    pub(crate) fn start_in(target: &Target, scratch: &Rc<Scratch>) -> OpenCode {
        let program = program();
        let model = Model::start();
        let scratch = Some(Rc::clone(scratch));
        let options = Options { scratch, before: BEFORE.to_owned(), ..Options::default() };
        let mut nvim = Nvim::start(target, options);
        let agent = json!({ "command": [program, "acp"], "env": environment(&model) });
        let setup = json!({
            "default_agent": "opencode",
            "start_timeout": PATIENCE.as_secs(),
            "agents": { "opencode": agent },
        });
        nvim.lua("require('acp').setup(...)", json!([setup]));
        OpenCode { nvim, model }
    }

    /// The same with the chat open, the cursor in the prompt, and the agent ready.
    pub(crate) fn chat(target: &Target) -> OpenCode {
        let mut it = OpenCode::start(target);
        plugin::open(&mut it, "AcpChat");
        it.wait_state("ready");
        it
    }

    /// Sends a prompt as a program would; `wait_done` tells how the last one ended.
    pub(crate) fn prompt(&mut self, text: &str) {
        let code = "
            local turn = {}
            _G.last_turn = turn
            local function on_done(err, result)
                turn.over, turn.err, turn.stop_reason = true, err, result and result.stop_reason
            end
            assert(require('acp').prompt((...), { on_done = on_done }))";
        self.lua(code, json!([text]));
    }

    /// Waits until the last prompt is over and asserts why it ended.
    pub(crate) fn wait_done(&mut self, stop_reason: &str) {
        let turn = self.wait_for("the end of the turn", PATIENCE, |it| {
            let turn = it.lua("return _G.last_turn", json!([]));
            (turn["over"] == true).then_some(turn)
        });
        let expected = json!({ "over": true, "stop_reason": stop_reason });
        assert_eq!(turn, expected, "{}", transcript(self));
    }

    /// Waits until the last session is in this state; fails at once when the agent has failed.
    pub(crate) fn wait_state(&mut self, state: &str) {
        self.wait_until(state, PATIENCE, |it| {
            let states = states(it);
            let last = states.last().map_or("none", String::as_str);
            assert!(last == state || last != "failed", "OpenCode has failed: {}", transcript(it));
            last == state
        });
    }

    /// Waits until the chat has the text, and returns the chat.
    pub(crate) fn wait_transcript(&mut self, text: &str) -> String {
        plugin::wait_transcript_for(self, text, PATIENCE)
    }
}

fn program() -> PathBuf {
    let Some(path) = std::env::var_os("ACP_TEST_OPENCODE").map(PathBuf::from) else {
        panic!("ACP_TEST_OPENCODE must name the program: run `make agents`, which installs it");
    };
    assert!(path.is_file(), "ACP_TEST_OPENCODE: there is no {}", path.display());
    path
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
