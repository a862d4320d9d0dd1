//! Who answers `initialize`, what it can do, and how one logs in.

use serde_json::Value;

use super::wire;
use crate::protocol::dialect::Place;
use crate::session::agent::{AgentInfo, AuthKind, AuthMethod, Capabilities};

/// The agent, and whether it takes words into running turns in all its sessions.
pub(super) fn agent_info(value: Value, old_form: bool) -> Result<(AgentInfo, bool), String> {
    let mut object = wire::object(Place::Initialized, value)?;
    let protocol = object.remove("protocolVersion").unwrap_or_default();
    let protocol = protocol.as_str().map_or_else(|| protocol.to_string(), str::to_owned);
    let can = object.remove("agentCapabilities").unwrap_or_default();
    let shutdown = old_form || supported(object.get("wantsShutdown"));
    let (title, version) = implementation(object.remove("agentInfo").unwrap_or_default());
    let methods = wire::items("authMethods", object.remove("authMethods"), auth_method);
    let modes = can.get("sessionModes").or_else(|| object.get("sessionModes")).cloned();
    let steering =
        [can.pointer("/_meta/steering"), object.get("_meta").and_then(|it| it.get("steering"))];
    let steering = steering.into_iter().flatten().any(steers);
    let info = AgentInfo {
        title,
        version,
        protocol,
        can: Capabilities { wants_shutdown: shutdown, ..capabilities(&can) },
        auth_methods: methods.unwrap_or_default(),
        modes: wire::texts(modes),
    };
    Ok((info, steering))
}

/// Whether `_meta.steering` says yes.
pub(super) fn steers(steering: &Value) -> bool {
    supported(steering.get("supported")) || steering.as_bool() == Some(true)
}

/// Agents write `true` where the protocol has an object and `{}` where it has `true`.
fn supported(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(yes)) => *yes,
        Some(Value::Object(_)) => true,
        _ => false,
    }
}

fn capabilities(can: &Value) -> Capabilities {
    let on = |pointer: &str| supported(can.pointer(pointer));
    Capabilities {
        load: on("/loadSession") || on("/sessionCapabilities/load"),
        resume: on("/sessionCapabilities/resume"),
        list: on("/sessionCapabilities/list"),
        delete: on("/sessionCapabilities/delete"),
        close: on("/sessionCapabilities/close"),
        fork: on("/sessionCapabilities/fork"),
        set_title: on("/sessionCapabilities/title"),
        directories: on("/sessionCapabilities/additionalDirectories"),
        logout: on("/auth/logout"),
        image: on("/promptCapabilities/image"),
        audio: on("/promptCapabilities/audio"),
        embedded_context: on("/promptCapabilities/embeddedContext"),
        mcp_http: on("/mcpCapabilities/http"),
        mcp_sse: on("/mcpCapabilities/sse"),
        queues_prompts: on("/_meta/claudeCode/promptQueueing"),
        wants_shutdown: false,
    }
}

/// Title and version.
fn implementation(info: Value) -> (Option<String>, Option<String>) {
    let word = |field| info.get(field).and_then(Value::as_str).map(str::to_owned);
    let title = word("title").or_else(|| word("name")).or(info.as_str().map(str::to_owned));
    (title, word("version"))
}

fn auth_method(value: Value) -> Result<AuthMethod, String> {
    let mut object = wire::object(Place::AuthMethod, value)?;
    let id = wire::required(&mut object, "id")?;
    let name = wire::text(&mut object, "name").unwrap_or_else(|| id.clone());
    let description = wire::text(&mut object, "description");
    let kind = match wire::text(&mut object, "type").as_deref() {
        Some("terminal") => AuthKind::Terminal {
            args: wire::texts(object.remove("args")),
            env: wire::pairs(object.remove("env")),
        },
        Some("env_var") => AuthKind::Variables(variables(&Value::Object(object))),
        _ => terminal_auth(object.get("_meta")).unwrap_or(AuthKind::Agent),
    };
    Ok(AuthMethod { id, name, description, kind })
}

/// The older way to say that a login takes a terminal.
fn terminal_auth(meta: Option<&Value>) -> Option<AuthKind> {
    let login = meta?.get("terminal-auth")?.as_object()?;
    let args = wire::texts(login.get("args").cloned());
    let env = wire::pairs(login.get("env").cloned());
    Some(match login.get("command").and_then(Value::as_str) {
        Some(command) => {
            AuthKind::Command { command: [vec![command.to_owned()], args].concat(), env }
        }
        None => AuthKind::Terminal { args, env },
    })
}

/// The variables to set, from a list of names or of objects, or from a single name.
fn variables(method: &Value) -> Vec<String> {
    let fields = ["vars", "variables", "env", "varName", "var", "envVar"];
    let named = |item: &Value| {
        let name = item.as_str().or_else(|| item.get("name")?.as_str());
        name.map(str::to_owned)
    };
    let value = fields.into_iter().find_map(|field| method.get(field));
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(named).collect(),
        Some(Value::Object(map)) if !map.contains_key("name") => map.keys().cloned().collect(),
        Some(one) => named(one).into_iter().collect(),
        None => Vec::new(),
    }
}
