//! What is asked of the editor and the user, and what they answer.

use mlua::prelude::{Lua, LuaError, LuaResult, LuaString, LuaTable, LuaValue};

use super::{list, optional_text, rule, text};
use crate::runtime::published::PermissionInfo;
use crate::session::ids::AskId;
use crate::session::letter;
use crate::session::question::{
    Body, ElicitationMode, Field, FieldInput, FieldValue, Permission, Question, Reaction,
};

/// The effect that asks.
pub(super) fn asked(lua: &Lua, ask: AskId, question: Question) -> LuaResult<LuaTable> {
    let table = table!(lua, type: "asked", ask: ask.0, session: question.session.0);
    Ok(match question.body {
        Body::Read(it) => {
            table!(table; kind: "read", path: it.path, line: it.line, limit: it.limit)
        }
        Body::Write { path, .. } => table!(table; kind: "write", path: path),
        Body::List(path) => table!(table; kind: "list", path: path),
        Body::Permission(permission) => {
            let table = table!(table; kind: "permission", tool_kind: permission.kind.as_str());
            about(lua, table, *permission)?
        }
        Body::Elicitation(it) => {
            let call = it.tool_call.as_deref();
            let table = table!(table; kind: "elicitation", message: it.message, tool_call: call);
            match it.mode {
                ElicitationMode::Form(fields) => table!(table; fields: list(lua, fields, field)?),
                ElicitationMode::Url { url, .. } => table!(table; url: url),
            }
        }
    })
}

/// One of the permissions that wait for an answer.
pub(in crate::nvim) fn permission(lua: &Lua, info: PermissionInfo) -> LuaResult<LuaTable> {
    let (session, permission) = (info.session.0, info.permission);
    let table = table!(lua, id: info.ask.0, session: session, kind: permission.kind.as_str());
    about(lua, table, permission)
}

fn about(lua: &Lua, table: LuaTable, it: Permission) -> LuaResult<LuaTable> {
    let letters = letter::of(&it.options).into_iter();
    let letters = letters.map(|it| it.map(String::from).unwrap_or_default());
    let letters = letters.collect::<Vec<String>>();
    let options = list(lua, it.options, |lua, it| {
        Ok(table!(lua, id: it.id, name: it.name, kind: it.kind.word()))
    })?;
    let (command, entry) = (it.subject.command.map(|it| it.text()), it.entry.map(|it| it + 1));
    let cut = it.subject.unreadable.then_some(true);
    let rule = it.rule.map(|it| rule::stored(lua, it)).transpose()?;
    Ok(table!(table;
        title: it.title, options: options, tool_call: &*it.tool_call, paths: it.subject.paths,
        command: command, cwd: it.subject.cwd, url: it.subject.url, tool: it.subject.tool,
        entry: entry, rule: rule, changes: it.changes, letters: letters, cut: cut,
    ))
}

fn field(lua: &Lua, it: Field) -> LuaResult<LuaTable> {
    let table = table!(lua, name: it.name, title: it.title, description: it.description);
    let table = table!(table; required: it.required);
    let choice =
        |lua: &Lua, (value, title)| Ok(table!(lua, value: value as String, title: title as String));
    Ok(match it.input {
        FieldInput::Text { default, format, length: (min, max), pattern } => table!(table;
            type: "text", default: default, format: format, pattern: pattern, min: min, max: max),
        FieldInput::Number { default, integer, range: (min, max) } => table!(table;
            type: if integer { "integer" } else { "number" }, default: default,
            min: min, max: max),
        FieldInput::Boolean { default } => table!(table; type: "boolean", default: default),
        FieldInput::Select { values, default } => table!(table;
            type: "select", default: default, values: list(lua, values, choice)?),
        FieldInput::MultiSelect { values, default, count: (min, max) } => table!(table;
            type: "multiselect", default: default, values: list(lua, values, choice)?,
            min: min, max: max),
    })
}

/// The answer, from the table of the action.
pub(super) fn reaction(table: &LuaTable) -> LuaResult<Reaction> {
    let kind = text(table, "kind")?;
    Ok(match kind.as_str() {
        "text" => Reaction::Text(text(table, "value")?),
        "not_loaded" => Reaction::NotLoaded,
        "part" => {
            let whole = optional_text(table, "whole")?.map(Into::into);
            Reaction::Part { text: text(table, "value")?, whole }
        }
        "done" => Reaction::Done,
        "conflict" => Reaction::Conflict,
        "option" => Reaction::Option(text(table, "value")?),
        "accept" => Reaction::Accept(values(table)?),
        "decline" => Reaction::Decline,
        "dismiss" => Reaction::Dismiss,
        "failed" => Reaction::Failed(text(table, "value")?),
        other => return Err(LuaError::runtime(format!("there is no answer of kind `{other}`"))),
    })
}

/// The values of a form, in the order of their names: Lua's own order is nobody's.
fn values(table: &LuaTable) -> LuaResult<Vec<(String, FieldValue)>> {
    let Some(table) = table.get::<Option<LuaTable>>("value")? else { return Ok(Vec::new()) };
    let mut values = Vec::new();
    for pair in table.pairs::<LuaString, LuaValue>() {
        let (name, value) = pair?;
        values.push((name.to_string_lossy(), self::value(&value)?));
    }
    values.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(values)
}

fn value(value: &LuaValue) -> LuaResult<FieldValue> {
    Ok(match value {
        LuaValue::String(text) => FieldValue::Text(text.to_string_lossy()),
        LuaValue::Integer(number) => FieldValue::Integer(*number),
        LuaValue::Number(number) => FieldValue::Number(*number),
        LuaValue::Boolean(answer) => FieldValue::Boolean(*answer),
        LuaValue::Table(chosen) => {
            let chosen = chosen.sequence_values::<LuaString>();
            FieldValue::List(chosen.map(|it| Ok(it?.to_string_lossy())).collect::<LuaResult<_>>()?)
        }
        other => {
            let kind = other.type_name();
            return Err(LuaError::runtime(format!("a field can't have a {kind}")));
        }
    })
}
