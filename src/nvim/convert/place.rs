//! Places of code in buffers: what Lua wants to know, and what is known.

use mlua::prelude::{Lua, LuaResult, LuaTable};

use super::merge::{change, live};
use super::{list, optional_text};
use crate::runtime::placing::{
    At, Found, Kind, LineEdit, Missing, Placed, Places, Source, Target, Wanted, Why,
};
use crate::session::ids::SessionId;

/// What is to go where.
pub(super) fn wanted(table: &LuaTable) -> LuaResult<Wanted> {
    let source = match optional_text(table, "source")? {
        Some(source) => Source::Text(source, optional_text(table, "lang")?.unwrap_or_default()),
        None if table.contains_key("tool_call")? => {
            let call = super::text(table, "tool_call")?;
            Source::Proposed(SessionId(table.get("session")?), call.into())
        }
        None => Source::Code(SessionId(table.get("session")?), table.get("code")?),
    };
    let target = match table.get::<Option<LuaTable>>("live")? {
        Some(buffer) => Some(Target { live: live(&buffer)?, at: at(table)? }),
        None => None,
    };
    let file = super::action::from_one(table, "file")?;
    Ok(Wanted { tag: table.get("tag")?, source, file, target })
}

fn at(table: &LuaTable) -> LuaResult<At> {
    Ok(match table.get("first")? {
        Some(first) => At::Rows(first..table.get("last")?),
        None => At::Row(table.get("row")?),
    })
}

/// The effect that says what is known.
pub(super) fn placed(lua: &Lua, it: Placed) -> LuaResult<LuaTable> {
    let table = table!(lua, type: "placed", tag: it.tag);
    let Some(read) = it.read else { return Ok(table) };
    let files = list(lua, read.files, |lua, (path, kind)| {
        let kind = match kind {
            Kind::Changed => "changed",
            Kind::Made => "made",
            Kind::Deleted => "deleted",
        };
        Ok(table!(lua, path: path, kind: kind))
    })?;
    let table = table!(table; code: read.id, diff: read.is_diff, files: files);
    match it.places {
        Some(it) => Ok(table!(table; places: places(lua, it)?)),
        None => Ok(table),
    }
}

fn places(lua: &Lua, it: Places) -> LuaResult<LuaTable> {
    let (eol, bom) = it.format;
    let (hunks, missing) = (list(lua, it.found, hunk)?, list(lua, it.missing, missing)?);
    Ok(table!(lua, tick: it.tick, eol: eol, bom: bom, hunks: hunks, missing: missing))
}

fn hunk(lua: &Lua, it: Found) -> LuaResult<LuaTable> {
    let lines = list(lua, it.lines, |lua, it: LineEdit| {
        Ok(table!(lua, first: it.rows.start, last: it.rows.end, lines: it.lines))
    })?;
    let changes = list(lua, it.changes, change)?;
    Ok(table!(lua, edits: lines, changes: changes, score: it.score, how: it.how))
}

fn missing(lua: &Lua, it: Missing) -> LuaResult<LuaTable> {
    let (why, rows, score) = match it.why {
        Why::Already(row) => ("already", vec![row], None),
        Why::Ambiguous(rows) => ("ambiguous", rows, None),
        Why::Nowhere(Some((row, score))) => ("nowhere", vec![row], Some(score)),
        Why::Nowhere(None) => ("nowhere", Vec::new(), None),
        Why::NoContext => ("no_context", Vec::new(), None),
        Why::Overlaps(row) => ("overlaps", vec![row], None),
    };
    Ok(table!(lua, what: it.what, why: why, rows: rows, score: score))
}
