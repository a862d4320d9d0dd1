//! Requests of the agent. Parameters that can't be read make a request that is answered with the
//! reason, so that no agent waits for ever.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::elicitation::elicit;
use super::tool_call::tool_call;
use super::{bounds, session_of, wire};
use crate::protocol::dialect::{self, Object, Place};
use crate::protocol::memory::Memory;
use crate::session::event::{CommandLine, Request, TerminalVerb};
use crate::session::ids::RemoteId;
use crate::session::question::{PermissionKind, PermissionOption};

/// A request of the agent, with its id for where a dialect gives nothing else to tell it by.
pub(in crate::protocol) fn request(
    id: &RawValue,
    method: &str,
    params: Option<&RawValue>,
    memory: &mut Memory,
) -> Request {
    let Some((place, read)) = offered(method) else {
        tracing::warn!(method, params = %super::start_of(params), "a method this client does not offer");
        return Request::Unknown { method: method.to_owned() };
    };
    let params = wire::parse(params).map(|mut params| {
        dialect::canonical(place, &mut params);
        params
    });
    let request = params.and_then(|params| read(Asked { id: id.get(), params, memory }));
    request.unwrap_or_else(|why| {
        tracing::warn!(method, why, "a request that can't be read: refused");
        Request::Invalid { method: method.to_owned(), why }
    })
}

/// A request to be read.
pub(super) struct Asked<'a> {
    id: &'a str,
    params: Value,
    memory: &'a mut Memory,
}

impl Asked<'_> {
    /// The session's name, and the parameters.
    fn in_session(mut self) -> Result<(RemoteId, Object), String> {
        let remote = session_of(&self.params, self.memory)?;
        Ok((remote, self.take()?))
    }

    /// The parameters.
    pub(super) fn take(&mut self) -> Result<Object, String> {
        match self.params.take() {
            Value::Object(object) => Ok(object),
            _ => Err("the parameters are no object".to_owned()),
        }
    }
}

type Read = fn(Asked<'_>) -> Result<Request, String>;

/// The most answers that one permission may offer.
const OPTIONS: usize = 100;

/// What this client offers.
fn offered(method: &str) -> Option<(Place, Read)> {
    Some(match method {
        "session/request_permission" => (Place::Permission, permission),
        "fs/read_text_file" => (Place::File, read_file),
        "fs/write_text_file" => (Place::File, write_file),
        "fs/list_directory" => (Place::File, list_directory),
        "terminal/create" => (Place::Terminal, |asked| run(asked, false)),
        "terminal/run" => (Place::Terminal, |asked| run(asked, true)),
        "terminal/output" => (Place::Terminal, |asked| terminal(asked, TerminalVerb::Output)),
        "terminal/wait_for_exit" => (Place::Terminal, |asked| terminal(asked, TerminalVerb::Wait)),
        "terminal/kill" => (Place::Terminal, |asked| terminal(asked, TerminalVerb::Kill)),
        "terminal/release" => (Place::Terminal, |asked| terminal(asked, TerminalVerb::Release)),
        "elicitation/create" => (Place::Elicitation, elicit),
        _ => return None,
    })
}

fn permission(asked: Asked<'_>) -> Result<Request, String> {
    let id = asked.id;
    let mut asked = asked;
    // Nobody may be asked to allow what is not shown.
    bounds::refuse(&mut asked.params)?;
    let (remote, mut object) = asked.in_session()?;
    let mut call = object.remove("toolCall").unwrap_or_default();
    dialect::canonical(Place::ToolCall, &mut call);
    if let Some(call) = call.as_object_mut() {
        // Two questions about nothing must not become one.
        call.entry("toolCallId").or_insert_with(|| format!("permission {id}").into());
    }
    let (tool_call, update) = tool_call(call)?;
    let options = wire::items("options", object.remove("options"), permission_option);
    match options {
        Some(options) if options.len() > OPTIONS => {
            Err(format!("{} options to choose from; {OPTIONS} are the most", options.len()))
        }
        Some(options) if !options.is_empty() => {
            Ok(Request::Permission { remote, tool_call, update, options })
        }
        _ => Err("there are no options to choose from".to_owned()),
    }
}

fn permission_option(value: Value) -> Result<PermissionOption, String> {
    let mut object = wire::object(Place::PermissionOption, value)?;
    let kind = object.remove("kind").map(serde_json::from_value::<acp::PermissionOptionKind>);
    Ok(PermissionOption {
        id: wire::required(&mut object, "optionId")?,
        name: wire::required(&mut object, "name")?,
        kind: match kind {
            Some(Ok(acp::PermissionOptionKind::AllowOnce)) => PermissionKind::AllowOnce,
            Some(Ok(acp::PermissionOptionKind::AllowAlways)) => PermissionKind::AllowAlways,
            Some(Ok(acp::PermissionOptionKind::RejectOnce)) => PermissionKind::RejectOnce,
            Some(Ok(acp::PermissionOptionKind::RejectAlways)) => PermissionKind::RejectAlways,
            _ => PermissionKind::Unknown,
        },
    })
}

fn read_file(asked: Asked<'_>) -> Result<Request, String> {
    let (remote, mut object) = asked.in_session()?;
    let number = |field| {
        let number = object.get(field).and_then(Value::as_u64)?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    let (line, limit) = (number("line"), number("limit"));
    Ok(Request::ReadFile { remote, path: path(&mut object)?, line, limit })
}

fn write_file(asked: Asked<'_>) -> Result<Request, String> {
    let (remote, mut object) = asked.in_session()?;
    let text = wire::required(&mut object, "content")?;
    Ok(Request::WriteFile { remote, path: path(&mut object)?, text })
}

fn list_directory(asked: Asked<'_>) -> Result<Request, String> {
    let (remote, mut object) = asked.in_session()?;
    Ok(Request::ListDirectory { remote, path: path(&mut object)? })
}

fn path(object: &mut Object) -> Result<String, String> {
    match wire::required(object, "path")? {
        path if path.is_empty() => Err("the path is empty".to_owned()),
        path if path.contains('\0') => Err("no path has a NUL in it".to_owned()),
        path => Ok(path),
    }
}

fn run(asked: Asked<'_>, to_the_end: bool) -> Result<Request, String> {
    let (remote, mut object) = asked.in_session()?;
    let command = CommandLine {
        command: wire::required(&mut object, "command")?,
        args: arguments(object.remove("args"))?,
        env: wire::pairs(object.remove("env")),
        cwd: wire::text(&mut object, "cwd").filter(|cwd| !cwd.is_empty()),
        limit: object.get("outputByteLimit").and_then(Value::as_u64),
    };
    match command.command.is_empty() {
        true => Err("the command is empty".to_owned()),
        false => Ok(Request::Run { remote, command, to_the_end }),
    }
}

/// The arguments, all of them: a command without one of its arguments is another command.
fn arguments(list: Option<Value>) -> Result<Vec<String>, String> {
    let count = match &list {
        Some(Value::Array(list)) => list.len(),
        None | Some(Value::Null) => 0,
        Some(_) => return Err("the arguments are no list".to_owned()),
    };
    let args = wire::texts(list);
    if args.len() == count { Ok(args) } else { Err("an argument is no text".to_owned()) }
}

fn terminal(asked: Asked<'_>, verb: TerminalVerb) -> Result<Request, String> {
    let (remote, mut object) = asked.in_session()?;
    let terminal = wire::required(&mut object, "terminalId")?.into();
    Ok(Request::Terminal { remote, terminal, verb })
}
