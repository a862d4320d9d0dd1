//! Rules, as tables.

use mlua::prelude::{Lua, LuaError, LuaResult, LuaTable, LuaValue};

use super::{optional_text, text, texts};
use crate::session::rule::{Rule, Verdict};

/// The rules of an action. One that can't be read spoils them all: whoever rejects something
/// must not find it allowed by a later rule.
pub(super) fn rules(table: &LuaTable) -> LuaResult<Vec<Rule>> {
    let tables: Vec<LuaTable> = table.get("rules")?;
    let numbered = (1..).zip(&tables);
    let rule = |(number, table): (usize, &LuaTable)| {
        let bad = |words: String| LuaError::runtime(format!("rule {number}: {words}"));
        let rule = rule(table).map_err(|error| bad(super::plain(&error)))?;
        rule.check().map_err(bad)?;
        Ok(rule)
    };
    numbered.map(rule).collect()
}

fn rule(table: &LuaTable) -> LuaResult<Rule> {
    let verdict = text(table, "action")?;
    Ok(Rule {
        verdict: match verdict.as_str() {
            "allow" => Verdict::Allow,
            "reject" => Verdict::Reject,
            "ask" => Verdict::Ask,
            other => return Err(LuaError::runtime(format!("there is no action `{other}`"))),
        },
        kinds: match table.get("kind")? {
            LuaValue::String(kind) => vec![kind.to_string_lossy()],
            _ => texts(table, "kind")?,
        },
        tool: optional_text(table, "tool")?,
        path: optional_text(table, "path")?,
        inside: table.get("inside")?,
        command: optional_text(table, "command")?,
        url: optional_text(table, "url")?,
        agent: optional_text(table, "agent")?,
        project: optional_text(table, "project")?,
        source: optional_text(table, "source")?.unwrap_or_default(),
    })
}

/// A rule that could be stored.
pub(super) fn stored(lua: &Lua, it: Rule) -> LuaResult<LuaTable> {
    Ok(table!(lua,
        action: it.verdict.word(), kind: it.kinds.into_iter().next(), tool: it.tool,
        path: it.path, command: it.command, url: it.url, agent: it.agent, project: it.project,
    ))
}
