//! Agents that work for the agent: who they are, in the words of each agent that has them.

use serde_json::Value;

use crate::session::tool_call::{Subagent, ToolCallId};

/// How many of the tools that a subagent used are kept.
const TOOLS: usize = 100;

/// What a tool call tells, in part.
pub(super) struct Told<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) input: &'a Value,
    pub(super) output: &'a Value,
    pub(super) meta: &'a Value,
}

impl Told<'_> {
    /// The tool call that this one is part of, and the name of the subagent that makes it.
    pub(super) fn parent(&self) -> (Option<ToolCallId>, Option<String>) {
        let parent = text(self.meta, &["claudeCode", "parentToolUseId"])
            .or_else(|| in_meta(self.meta, "parentToolCallId"));
        let child = (!self.is_task()).then(|| in_meta(self.meta, "agentId")).flatten();
        (parent.map(Into::into), child.map(str::to_owned))
    }

    /// The subagent that this tool call sets to work.
    pub(super) fn subagent(&self) -> Option<Box<Subagent>> {
        if !self.is_task() {
            return None;
        }
        let Told { input, output, meta, .. } = self;
        let result = at(meta, &["claudeCode", "toolResponse"]).unwrap_or(&Value::Null);
        let kind = kind_in(input).or_else(|| text(result, &["agentType"]));
        let model = text(result, &["resolvedModel"])
            .or_else(|| text(output, &["metadata", "model", "modelID"]))
            .or_else(|| text(output, &["metadata", "model"]))
            .or_else(|| text(input, &["model"]));
        let remote = text(output, &["metadata", "sessionId"])
            .or_else(|| written_in(output))
            .or_else(|| text(result, &["agentId"]))
            .or_else(|| in_meta(meta, "agentId"));
        let tools = at(output, &["metadata", "summary"]).or_else(|| result.get("toolsUsed"));
        let subagent = Subagent {
            kind: kind.map(str::to_owned),
            description: text(input, &["description"]).map(str::to_owned),
            model: model.map(str::to_owned),
            remote: remote.map(str::to_owned),
            tools: tools.map(tool_names).unwrap_or_default(),
        };
        (subagent != Subagent::default()).then(|| Box::new(subagent))
    }

    fn is_task(&self) -> bool {
        let named = self
            .name
            .is_some_and(|name| ["task", "agent"].iter().any(|it| name.eq_ignore_ascii_case(it)));
        let answered = at(self.meta, &["claudeCode", "toolResponse", "agentType"]).is_some()
            || at(self.output, &["metadata", "parentSessionId"]).is_some();
        named || answered || kind_in(self.input).is_some()
    }
}

fn kind_in(input: &Value) -> Option<&str> {
    ["subagent_type", "subagentType", "agent_type", "agentType"]
        .iter()
        .find_map(|field| text(input, &[field]))
}

/// What is in a field of a field.
fn at<'a>(value: &'a Value, fields: &[&str]) -> Option<&'a Value> {
    fields.iter().try_fold(value, |value, field| value.get(field))
}

fn text<'a>(value: &'a Value, fields: &[&str]) -> Option<&'a str> {
    at(value, fields).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A field of `_meta`, or of what one vendor has in it.
fn in_meta<'a>(meta: &'a Value, field: &str) -> Option<&'a str> {
    let of = |value: &'a Value| value.get(field).and_then(Value::as_str);
    let vendors = meta.as_object().into_iter().flat_map(|meta| meta.values());
    of(meta).or_else(|| vendors.filter_map(of).next())
}

/// The child's id in the text for the model, where there is no other.
fn written_in(output: &Value) -> Option<&str> {
    let said = output.as_str().or_else(|| text(output, &["output"]))?;
    let after = |marker: &str| said.split_once(marker).map(|(_, rest)| rest);
    let id = after("<task id=\"").and_then(|rest| rest.split('"').next()).or_else(|| {
        after("<task_metadata>")?.split_once("session_id:")?.1.split_whitespace().next()
    });
    id.map(|id| id.trim_end_matches("</task_metadata>")).filter(|id| !id.is_empty())
}

fn tool_names(list: &Value) -> Vec<String> {
    let name = |item: &Value| match item {
        Value::String(name) => Some(name.clone()),
        item => text(item, &["tool"]).or_else(|| text(item, &["name"])).map(str::to_owned),
    };
    list.as_array().into_iter().flatten().filter_map(name).take(TOOLS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(name: Option<&str>, call: &Value) -> Option<Subagent> {
        let none = Value::Null;
        let field = |name: &str| call.get(name).unwrap_or(&none);
        let (input, output, meta) = (field("rawInput"), field("rawOutput"), field("_meta"));
        Told { name, input, output, meta }.subagent().map(|it| *it)
    }

    #[test]
    fn each_convention() {
        let opencode = json!({
            "rawInput": { "description": "d", "prompt": "p", "subagent_type": "general" },
            "rawOutput": { "output": "x", "metadata": {
                "parentSessionId": "a", "sessionId": "b", "model": { "modelID": "m" },
                "summary": [{ "tool": "read" }, { "tool": "bash" }, 7]
            } }
        });
        let all = Subagent {
            kind: Some("general".into()),
            description: Some("d".into()),
            model: Some("m".into()),
            remote: Some("b".into()),
            tools: vec!["read".into(), "bash".into()],
        };
        assert_eq!(told(None, &opencode), Some(all));
        for output in [
            json!("<task_metadata>\nsession_id: ses_1\n</task_metadata>"),
            json!({ "output": "<task id=\"ses_1\" state=\"completed\">" }),
        ] {
            let call = json!({ "rawOutput": output });
            assert_eq!(told(Some("task"), &call).unwrap().remote.as_deref(), Some("ses_1"));
        }
        let claude = json!({ "_meta": { "claudeCode": { "toolName": "Agent", "toolResponse": {
            "agentId": "a", "agentType": "t", "toolsUsed": ["Read"], "resolvedModel": "m"
        } } } });
        let it = told(Some("Agent"), &claude).unwrap();
        assert_eq!((it.kind.as_deref(), it.model.as_deref()), (Some("t"), Some("m")));
        assert_eq!((it.remote.as_deref(), it.tools), (Some("a"), vec!["Read".to_owned()]));
        let copilot = json!({ "_meta": { "github": { "agentId": "a" } } });
        assert_eq!(told(Some("task"), &copilot).unwrap().remote.as_deref(), Some("a"));
        assert_eq!(told(Some("bash"), &copilot), None);
        assert_eq!(told(Some("Bash"), &json!({ "rawInput": { "description": "d" } })), None);
        assert_eq!(told(Some("task"), &json!({ "rawInput": {} })), None);
    }

    #[test]
    fn whose_a_tool_call_is() {
        let parent = |meta: Value| {
            let told =
                Told { name: Some("bash"), input: &Value::Null, output: &Value::Null, meta: &meta };
            let (parent, child) = told.parent();
            (parent.map(|it| it.to_string()), child)
        };
        let some = |text: &str| Some(text.to_owned());
        let claude = json!({ "claudeCode": { "parentToolUseId": "p" } });
        assert_eq!(parent(claude), (some("p"), None));
        let copilot = json!({ "agentId": "a", "parentToolCallId": "p" });
        assert_eq!(parent(copilot), (some("p"), some("a")));
        assert_eq!(parent(json!({ "x": { "agentId": "a" } })), (None, some("a")));
        assert_eq!(parent(Value::Null), (None, None));
    }
}
