//! The rules a client must keep, as far as its agent can see them.
//!
//! It judges messages in order and remembers just enough for that. It must not know scenarios; what
//! they add is told to it. It never changes what the agent answers.

use std::collections::HashSet;

use serde_json::Value;

use super::message::Answer;
use super::peer::Question;
use super::report::Violation;

/// Every method of a client, whether it is a request, and the capability that allows it.
const METHODS: [(&str, bool, &str); 17] = [
    ("initialize", true, ""),
    ("authenticate", true, ""),
    ("logout", true, "/auth/logout"),
    ("session/new", true, ""),
    ("session/load", true, "/loadSession"),
    ("session/resume", true, "/sessionCapabilities/resume"),
    ("session/list", true, "/sessionCapabilities/list"),
    ("session/delete", true, "/sessionCapabilities/delete"),
    ("session/close", true, "/sessionCapabilities/close"),
    ("session/fork", true, "/sessionCapabilities/fork"),
    ("session/set_mode", true, ""),
    ("session/set_model", true, ""),
    ("session/set_config_option", true, ""),
    ("session/prompt", true, ""),
    ("session/cancel", false, ""),
    ("$/cancel_request", false, ""),
    ("mcp/message", false, "/mcpCapabilities/acp"),
];

/// What has been seen so far.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    ids: HashSet<String>,
    initialize_seen: bool,
    /// The result of `initialize`, once it has been sent.
    offered: Option<Value>,
}

impl Rules {
    /// The agent told what it can do.
    pub(crate) fn initialized(&mut self, result: Value) {
        self.offered = Some(result);
    }

    /// Judges a request, before it is handled. `handled` means that the scenario expects it.
    pub(crate) fn request(&mut self, id: &str, call: Call<'_>) -> Vec<Violation> {
        let mut violations = Vec::new();
        if !self.ids.insert(id.to_owned()) {
            violations.push(Violation::new("reused_id", format!("id {id} was used before")));
        }
        let method = call.method;
        if method == "initialize" {
            if std::mem::replace(&mut self.initialize_seen, true) {
                violations.push(Violation::new("second_initialize", "`initialize` came again"));
            }
        } else if self.offered.is_none() {
            let text = format!("`{method}` before the answer to `initialize`");
            violations.push(Violation::new("too_early", text));
        }
        violations.extend(self.method(&call, true));
        violations.extend(self.params(&call));
        violations
    }

    /// Judges a notification.
    pub(crate) fn notification(&self, call: Call<'_>) -> Vec<Violation> {
        self.method(&call, false).into_iter().collect()
    }

    fn method(&self, call: &Call<'_>, is_request: bool) -> Option<Violation> {
        let method = call.method;
        let Some((_, wants_answer, capability)) = METHODS.iter().find(|it| it.0 == method) else {
            let foreign = method.starts_with('_') || method.starts_with("$/") || call.handled;
            let text = format!("`{method}` is not a method of the protocol");
            return (!foreign).then(|| Violation::new("unknown_method", text));
        };
        if *wants_answer != is_request {
            let text =
                format!("`{method}` must{} have an id", if is_request { " not" } else { "" });
            return Some(Violation::new("wrong_kind", text));
        }
        let offered = capability.is_empty() || self.offers("/agentCapabilities", capability);
        let text = format!("`{method}` needs a capability that was not offered");
        (!offered && self.offered.is_some()).then(|| Violation::new("not_offered", text))
    }

    fn offers(&self, section: &str, capability: &str) -> bool {
        let result = self.offered.as_ref();
        let value = result.and_then(|it| it.pointer(&format!("{section}{capability}")));
        value.is_some_and(|it| it.is_object() || *it == Value::Bool(true))
    }

    fn params(&self, call: &Call<'_>) -> Vec<Violation> {
        let params = call.params;
        let mut problems = Vec::new();
        let mut need = |holds: bool, problem: &str| {
            if !holds {
                problems
                    .push(Violation::new("bad_params", format!("`{}`: {problem}", call.method)));
            }
        };
        match call.method {
            "initialize" => {
                need(params["protocolVersion"].is_u64(), "`protocolVersion` is not an integer");
            }
            "session/new" | "session/load" => {
                let cwd = params["cwd"].as_str();
                need(cwd.is_some_and(is_absolute), "`cwd` is not an absolute path");
                need(params["mcpServers"].is_array(), "`mcpServers` is not a list");
            }
            "session/prompt" => {
                let prompt = params["prompt"].as_array();
                need(
                    prompt.is_some_and(|it| !it.is_empty()),
                    "`prompt` is not a list with content",
                );
                let all_typed = prompt.into_iter().flatten().all(|it| it["type"].is_string());
                need(all_typed, "a content block has no `type`");
            }
            "authenticate" => {
                let methods = self.offered.as_ref().and_then(|it| it["authMethods"].as_array());
                let mut ids = methods.into_iter().flatten().map(|it| &it["id"]);
                need(ids.any(|id| *id == params["methodId"]), "`methodId` was not offered");
            }
            _ => {}
        }
        problems.extend(self.blocks(params));
        problems
    }

    fn blocks(&self, params: &Value) -> Option<Violation> {
        let unwanted = |block: &Value| {
            let kind = block["type"].as_str()?;
            let capability = match kind {
                "image" => "/image",
                "audio" => "/audio",
                "resource" => "/embeddedContext",
                _ => return None,
            };
            let offered = self.offers("/agentCapabilities/promptCapabilities", capability);
            (!offered).then(|| format!("a content block `{kind}` was not offered"))
        };
        let text = params["prompt"].as_array()?.iter().find_map(unwanted)?;
        Some(Violation::new("not_offered", text))
    }
}

/// A request or notification to judge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    /// The scenario has a handler for it.
    pub(crate) handled: bool,
}

/// Judges the answer to a request of the agent.
pub(crate) fn answer(question: &Question, answer: &Answer) -> Option<Violation> {
    let Answer::Result(result) = answer else { return None };
    let bad = |text: String| Some(Violation::new("bad_answer", text));
    match question.method.as_str() {
        "session/request_permission" => {
            let outcome = &result["outcome"];
            match outcome["outcome"].as_str() {
                Some("cancelled") => None,
                Some("selected") if question.cancelled => {
                    let text = "a permission was given after the turn had been cancelled";
                    Some(Violation::new("selected_after_cancel", text))
                }
                Some("selected") => {
                    let options = question.params.get("options").and_then(Value::as_array);
                    let options = options.into_iter().flatten();
                    let known = options.into_iter().any(|it| it["optionId"] == outcome["optionId"]);
                    if known {
                        None
                    } else {
                        bad(format!("no such option: {}", outcome["optionId"]))
                    }
                }
                _ => bad(format!("not an outcome: {result}")),
            }
        }
        "fs/read_text_file" if !result["content"].is_string() => bad("no `content`".to_owned()),
        "terminal/create" if !result["terminalId"].is_string() => bad("no `terminalId`".to_owned()),
        "terminal/output" if !result["output"].is_string() || !result["truncated"].is_boolean() => {
            bad("no `output` or no `truncated`".to_owned())
        }
        "elicitation/create" if !result["action"].is_string() => bad("no `action`".to_owned()),
        _ => None,
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || std::path::Path::new(path).is_absolute()
}
