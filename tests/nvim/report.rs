//! What the client said to the scripted agent, as the agent has reported it. Scenarios that are
//! looked at this way have `"report": REPORT`.

use serde_json::{Value, json};

use crate::support::nvim::{DEADLINE, Nvim};

/// The file of the report, beside the project: in it, it would be one more change to review.
pub(crate) const REPORT: &str = "../report.ndjson";

/// All lines of the report so far.
fn lines(nvim: &Nvim) -> Vec<Value> {
    // An agent that was not started yet has written none.
    let text = std::fs::read_to_string(nvim.scratch().project().join(REPORT)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Parameters of the client's calls of this method.
pub(crate) fn calls(nvim: &Nvim, method: &str) -> Vec<Value> {
    let lines = lines(nvim).into_iter().filter(|it| it["in"]["method"] == method);
    lines.map(|it| it["in"]["params"].clone()).collect()
}

/// Waits for the client's first call of this method.
pub(crate) fn wait_call(nvim: &mut Nvim, method: &str) -> Value {
    nvim.wait_for(&format!("a call of {method}"), DEADLINE, |nvim| {
        calls(nvim, method).into_iter().next()
    })
}

/// The client's answers to the agent, in order: the whole messages.
pub(crate) fn answers(nvim: &Nvim) -> Vec<Value> {
    let lines = lines(nvim).into_iter().map(|it| it["in"].clone());
    lines.filter(|it| it.is_object() && it["method"].is_null()).collect()
}

/// Waits for so many answers.
pub(crate) fn wait_answers(nvim: &mut Nvim, count: usize) -> Vec<Value> {
    nvim.wait_for(&format!("{count} answers"), DEADLINE, |nvim| {
        let answers = answers(nvim);
        (answers.len() >= count).then_some(answers)
    })
}

/// Sends a prompt to a session without a window.
pub(crate) fn send(nvim: &mut Nvim, text: &str) {
    let code = "
        local acp = require('acp')
        assert(acp.open({ focus = false }))
        _G.turn = nil
        acp.prompt(..., { on_done = function(err, result) _G.turn = { err = err, result = result } end })
    ";
    nvim.lua(code, json!([text]));
}

/// Waits for the end of that turn, and fails if the client broke a rule until then.
pub(crate) fn finish(nvim: &mut Nvim) {
    let turn = nvim.wait_for("the end of the turn", DEADLINE, |nvim| {
        let turn = nvim.lua("return _G.turn", json!([]));
        (!turn.is_null()).then_some(turn)
    });
    assert!(turn["err"].is_null(), "{turn}");
    assert_polite(nvim);
}

/// Fails if the client broke a rule of the protocol.
pub(crate) fn assert_polite(nvim: &Nvim) {
    let lines = lines(nvim);
    let broken: Vec<_> = lines.iter().filter(|it| it.get("violation").is_some()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}
