//! What Lua tells of buffers.

use std::ops::Range;

use mlua::prelude::{LuaError, LuaResult, LuaString, LuaTable};

use super::text;
use crate::runtime::buffers::{Author, BufferId, Ending, Format, Known, News, Seed, Splice};
use crate::runtime::handle::Action;

/// `buffer`, `seed`, `empty`, `unloaded` and `buffers_known`.
pub(super) fn action(kind: &str, table: &LuaTable) -> LuaResult<Action> {
    let id = || table.get::<BufferId>("buf");
    Ok(Action::Buffer(match kind {
        "buffer" => News::Known(id()?, known(table)?),
        "seed" => seed(id()?, table)?,
        "empty" => News::Empty(id()?, table.get("empty")?),
        "unloaded" => News::Gone(id()?),
        _ => News::All,
    }))
}

fn known(table: &LuaTable) -> LuaResult<Known> {
    let ending = match text(table, "ending")?.as_str() {
        "dos" => Ending::CrLf,
        "mac" => Ending::Cr,
        _ => Ending::Lf,
    };
    Ok(Known {
        name: text(table, "name")?,
        path: text(table, "path")?,
        format: Format { ending, final_eol: table.get("eol")?, bom: table.get("bom")? },
        plain: table.get("plain")?,
        modified: table.get("modified")?,
    })
}

fn seed(buffer: BufferId, table: &LuaTable) -> LuaResult<News> {
    let Ok(lines) = lines(&table.get("lines")?) else { return Ok(News::Lost(buffer)) };
    let (tick, piece) = (table.get("tick")?, table.get("piece")?);
    Ok(News::Seed(Seed { buffer, tick, piece, lines, last: table.get("last")? }))
}

/// A change of a buffer, as `on_lines` has it; with no lines, one that is too large to be told.
/// The author is a session, or 0 for the user, or -1 for us when we take something back.
pub(in crate::nvim) fn lines_changed(
    (buffer, tick): (BufferId, u64),
    rows: Range<usize>,
    (table, author): (Option<&LuaTable>, i64),
) -> Action {
    let by = match u64::try_from(author) {
        Ok(0) => Author::User,
        Ok(session) => Author::Agent(session),
        Err(_) => Author::Review,
    };
    Action::Buffer(match table.map(lines) {
        Some(Ok(lines)) => News::Lines(Splice { buffer, tick, rows, lines, by }),
        Some(Err(_)) | None => News::Lost(buffer),
    })
}

/// Lines with a `\n` after each. They must be UTF-8: columns count bytes.
fn lines(table: &LuaTable) -> LuaResult<String> {
    let mut text = String::new();
    for line in table.sequence_values::<LuaString>() {
        text.push_str(line?.to_str().map_err(|_| LuaError::runtime("not UTF-8"))?.as_ref());
        text.push('\n');
    }
    Ok(text)
}
