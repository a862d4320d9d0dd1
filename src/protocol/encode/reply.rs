//! Our answers to the agent's requests.

use agent_client_protocol_schema::v1 as acp;
use serde_json::{Map, Value, json};

use super::value;
use crate::protocol::rpc;
use crate::session::effect::Reply;
use crate::session::failure::RpcError;
use crate::session::ids::ReplyTo;
use crate::session::question::FieldValue;
use crate::session::tool_call::TerminalExit;

/// Our answer to a request of the agent, as a line.
pub(in crate::protocol) fn reply(reply: &ReplyTo, answer: &Result<Reply, RpcError>) -> Vec<u8> {
    match answer {
        Ok(answer) => success(&reply.id, answer),
        Err(error) => rpc::response(&reply.id, Err(error)),
    }
}

fn success(id: &str, reply: &Reply) -> Vec<u8> {
    let result = match reply {
        // Files are long, and need no tree of values on their way.
        Reply::Text(text) => return rpc::content(id, text),
        Reply::Empty => json!({}),
        // An old dialect looks for the option at the root; others do not mind.
        Reply::Permission(Some(option)) => json!({
            "outcome": { "outcome": "selected", "optionId": option },
            "optionId": option,
        }),
        Reply::Permission(None) => {
            let cancelled = acp::RequestPermissionOutcome::Cancelled;
            value(acp::RequestPermissionResponse::new(cancelled))
        }
        Reply::Entries(entries) => {
            let entry = |(name, folder): &(String, bool)| json!({ "name": name, "type": if *folder { "directory" } else { "file" } });
            json!({ "entries": entries.iter().map(entry).collect::<Vec<_>>() })
        }
        Reply::Terminal(terminal) => json!({ "terminalId": terminal }),
        Reply::Output { output, truncated, exit } => {
            let response = acp::TerminalOutputResponse::new(output.as_str(), *truncated);
            value(response.exit_status(exit.as_ref().map(exit_status)))
        }
        Reply::Exit(exit) => value(acp::WaitForTerminalExitResponse::new(exit_status(exit))),
        Reply::Ran { output, truncated, exit } => {
            let mut ran = value(exit_status(exit));
            if let Some(ran) = ran.as_object_mut() {
                ran.insert("output".into(), output.as_str().into());
                ran.insert("truncated".into(), (*truncated).into());
            }
            ran
        }
        Reply::Accept(values) => json!({ "action": "accept", "content": content(values) }),
        Reply::Decline => json!({ "action": "decline" }),
        Reply::Dismiss => json!({ "action": "cancel" }),
    };
    rpc::response(id, Ok(result))
}

fn exit_status(exit: &TerminalExit) -> acp::TerminalExitStatus {
    acp::TerminalExitStatus::new().exit_code(exit.code).signal(exit.signal.clone())
}

fn content(values: &[(String, FieldValue)]) -> Map<String, Value> {
    let json = |value: &FieldValue| match value {
        FieldValue::Text(text) => json!(text),
        FieldValue::Integer(number) => json!(number),
        FieldValue::Number(number) => json!(number),
        FieldValue::Boolean(yes) => json!(yes),
        FieldValue::List(texts) => json!(texts),
    };
    values.iter().map(|(name, value)| (name.clone(), json(value))).collect()
}
