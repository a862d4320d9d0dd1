//! Lua tables to actions, items to Lua tables. `lua/acp/native/types.lua` documents the shapes.

/// Sets fields of a table, a new one if it is given a `Lua`; one that is `None` stays unset.
macro_rules! table {
    ($table:expr; $($field:ident: $value:expr),* $(,)?) => {{
        let table = $table;
        $(table.raw_set(stringify!($field), $value)?;)*
        table
    }};
    ($lua:ident, $($field:ident: $value:expr),* $(,)?) => {
        table!($lua.create_table()?; $($field: $value),*)
    };
}

mod action;
mod buffer;
mod item;
mod merge;
mod place;
mod question;
mod review;
mod rewind;
mod rule;
mod settings;

use mlua::prelude::{Lua, LuaError, LuaResult, LuaString, LuaTable, LuaValue};

pub(super) use action::action;
pub(super) use buffer::lines_changed;
pub(super) use item::{batch, code, queue, summary};
pub(super) use question::permission;
pub(super) use review::changes;
pub(super) use settings::settings;

/// A field that must be text. Lua strings are bytes: what is not UTF-8 is replaced.
pub(super) fn text(table: &LuaTable, field: &str) -> LuaResult<String> {
    let text = optional_text(table, field)?;
    text.ok_or_else(|| LuaError::runtime(format!("`{field}` is missing")))
}

fn optional_text(table: &LuaTable, field: &str) -> LuaResult<Option<String>> {
    Ok(table.get::<Option<LuaString>>(field)?.map(|text| text.to_string_lossy()))
}

/// A field that is a list of texts; none is an empty one.
fn texts(table: &LuaTable, field: &str) -> LuaResult<Vec<String>> {
    let texts = table.get::<Option<Vec<LuaString>>>(field)?.unwrap_or_default();
    Ok(texts.iter().map(LuaString::to_string_lossy).collect())
}

/// A field that has texts by name, in the order of the names: Lua's own order is nobody's, and
/// equal tables must be equal.
fn pairs(table: &LuaTable, field: &str) -> LuaResult<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    if let Some(table) = table.get::<Option<LuaTable>>(field)? {
        for pair in table.pairs::<LuaString, LuaString>() {
            let (name, value) = pair?;
            pairs.push((name.to_string_lossy(), value.to_string_lossy()));
        }
    }
    pairs.sort();
    Ok(pairs)
}

/// A list of tables.
fn list<T>(
    lua: &Lua,
    items: impl IntoIterator<Item = T>,
    table: impl Fn(&Lua, T) -> LuaResult<LuaTable>,
) -> LuaResult<LuaTable> {
    let list = lua.create_table()?;
    for item in items {
        list.raw_push(table(lua, item)?)?;
    }
    Ok(list)
}

/// `nil, { code, message }`
pub(super) fn refusal(
    lua: &Lua,
    code: &str,
    message: &str,
) -> LuaResult<(LuaValue, Option<LuaTable>)> {
    Ok((LuaValue::Nil, Some(table!(lua, code: code, message: message))))
}

/// The words of an error without mlua's traceback.
pub(super) fn plain(error: &LuaError) -> String {
    match error {
        LuaError::RuntimeError(words) => words.clone(),
        other => other.to_string(),
    }
}
