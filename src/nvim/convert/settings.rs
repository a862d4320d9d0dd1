//! What a session can be set to, and what its agent can do.

use mlua::prelude::{Lua, LuaResult, LuaTable};

use super::list;
use crate::runtime::published::SettingsInfo;
use crate::session::agent::{AuthKind, AuthMethod, Capabilities};
use crate::session::command_line::Command;
use crate::session::settings::{
    Choice, ConfigOption, Plan, PlanBody, PlanEntry, PlanStatus, Priority, Setting,
};

/// All of a session that is not its chat.
pub(in crate::nvim) fn settings(lua: &Lua, info: &SettingsInfo) -> LuaResult<LuaTable> {
    let settings = &info.settings;
    let [mode, model] =
        ["mode", "model"].map(|it| settings.option_for(it).map(|it| it.id.as_str()));
    let choice = |it: &Option<Choice>| it.as_ref().map(|it| self::choice(lua, it)).transpose();
    let commands = list(lua, &settings.commands, |lua, it| {
        let (name, description) = (it.name.as_str(), it.description.as_str());
        Ok(table!(lua, name: name, description: description, hint: it.hint.as_deref()))
    })?;
    let (title, version) = (info.agent.0.as_deref(), info.agent.1.as_deref());
    Ok(table!(lua,
        modes: choice(&settings.modes)?,
        models: choice(&settings.models)?,
        options: list(lua, &settings.options, option)?,
        option_for: table!(lua, mode: mode, model: model),
        commands: commands,
        plans: list(lua, &settings.plans, plan)?,
        can: can(lua, info.can, info.steering)?,
        auth_methods: list(lua, info.auth_methods.clone(), method)?,
        agent: table!(lua, title: title, version: version),
    ))
}

fn choice(lua: &Lua, choice: &Choice) -> LuaResult<LuaTable> {
    let values = list(lua, &choice.values, |lua, it| {
        let (description, group) = (it.description.as_deref(), it.group.as_deref());
        let table = table!(lua, id: it.id.as_str(), name: it.name.as_str());
        Ok(table!(table; description: description, group: group))
    })?;
    Ok(table!(lua, current: choice.current.as_str(), values: values))
}

fn option(lua: &Lua, it: &ConfigOption) -> LuaResult<LuaTable> {
    let table = match &it.setting {
        Setting::Select(choice) => table!(self::choice(lua, choice)?; type: "select"),
        Setting::Boolean(current) => table!(lua, type: "boolean", current: *current),
    };
    let (description, category) = (it.description.as_deref(), it.category.as_deref());
    Ok(table!(table;
        id: it.id.as_str(), name: it.name.as_str(), description: description, category: category))
}

fn plan(lua: &Lua, plan: &Plan) -> LuaResult<LuaTable> {
    let table = table!(lua, id: plan.id.as_deref());
    Ok(match &plan.body {
        PlanBody::Items(entries) => table!(table; entries: list(lua, entries, entry)?),
        PlanBody::Markdown(text) => table!(table; markdown: text.as_str()),
        PlanBody::File(path) => table!(table; file: path.as_str()),
    })
}

fn entry(lua: &Lua, entry: &PlanEntry) -> LuaResult<LuaTable> {
    let priority = match entry.priority {
        Priority::High => "high",
        Priority::Medium => "medium",
        Priority::Low => "low",
    };
    let status = match entry.status {
        PlanStatus::Pending => "pending",
        PlanStatus::InProgress => "in_progress",
        PlanStatus::Completed => "completed",
    };
    Ok(table!(lua, content: entry.content.as_str(), priority: priority, status: status))
}

fn can(lua: &Lua, can: Capabilities, steering: bool) -> LuaResult<LuaTable> {
    Ok(table!(lua,
        load: can.load, resume: can.resume, list: can.list, delete: can.delete, close: can.close,
        fork: can.fork, set_title: can.set_title, directories: can.directories,
        logout: can.logout, image: can.image, audio: can.audio,
        embedded_context: can.embedded_context, mcp_http: can.mcp_http, mcp_sse: can.mcp_sse,
        steering: steering,
    ))
}

/// A way to log in, with the whole command that it takes.
pub(super) fn method(lua: &Lua, it: AuthMethod) -> LuaResult<LuaTable> {
    let table = table!(lua, id: it.id, name: it.name, description: it.description);
    Ok(match it.kind {
        AuthKind::Agent => table!(table; kind: "agent"),
        AuthKind::Terminal { .. } => table!(table; kind: "terminal"),
        AuthKind::Command { command, env } => {
            let command = Command::with_variables(&env, command);
            table!(table; kind: "command", command: command)
        }
        AuthKind::Variables(names) => table!(table; kind: "variables", variables: names),
    })
}
