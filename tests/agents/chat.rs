//! A real agent in a chat of the plugin, with the scripted model behind it.

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

/// Agents take up to 15 s to start on a busy machine, and as long for their first answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Keeps a question to the user from holding up Neovim: the tests answer through the API.
const BEFORE: &str = "vim.ui.select = function() end";

/// An agent, and how it is made to use the model.
#[derive(Clone, Copy)]
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The variable that names its program.
    pub(crate) variable: &'static str,
    pub(crate) args: &'static [&'static str],
    pub(crate) environment: fn(&Model) -> Value,
}

/// A Neovim that knows one agent. Ends before its model does.
pub(crate) struct Chat {
    pub(crate) nvim: Nvim,
    pub(crate) model: Model,
}

impl Deref for Chat {
    type Target = Nvim;

    fn deref(&self) -> &Nvim {
        &self.nvim
    }
}

impl DerefMut for Chat {
    fn deref_mut(&mut self) -> &mut Nvim {
        &mut self.nvim
    }
}

impl Chat {
    /// Starts Neovim in a home and project that another may have used before.
    pub(crate) fn start(target: &Target, scratch: &Rc<Scratch>, agent: Agent) -> Chat {
        let program = program(agent.variable);
        let model = Model::start();
        let scratch = Some(Rc::clone(scratch));
        let options = Options { scratch, before: BEFORE.to_owned(), ..Options::default() };
        let mut nvim = Nvim::start(target, options);
        let mut command = vec![json!(program)];
        command.extend(agent.args.iter().map(|it| json!(it)));
        let env = (agent.environment)(&model);
        let setup = json!({
            "default_agent": agent.name,
            "start_timeout": PATIENCE.as_secs(),
            "agents": { agent.name: { "command": command, "env": env } },
        });
        nvim.lua("require('acp').setup(...)", json!([setup]));
        Chat { nvim, model }
    }

    /// In a home and project of its own, with the chat open, the cursor in the prompt, and the agent
    /// ready.
    pub(crate) fn open(target: &Target, agent: Agent) -> Chat {
        let mut it = Chat::start(target, &Rc::new(Scratch::new()), agent);
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
            assert!(last == state || last != "failed", "the agent has failed: {}", transcript(it));
            last == state
        });
    }

    /// Waits until the chat has the text, and returns the chat.
    pub(crate) fn wait_transcript(&mut self, text: &str) -> String {
        plugin::wait_transcript_for(self, text, PATIENCE)
    }
}

fn program(variable: &str) -> PathBuf {
    let Some(path) = std::env::var_os(variable).map(PathBuf::from) else {
        panic!("{variable} must name the program: run `make agents`, which installs it");
    };
    assert!(path.is_file(), "{variable}: there is no {}", path.display());
    path
}
