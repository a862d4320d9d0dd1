//! Going back: what Lua wants, and what it is told.

use std::time::Duration;

use mlua::prelude::{Lua, LuaResult, LuaTable};

use super::{list, merge, text, texts};
use crate::runtime::handle::Action;
use crate::runtime::rewind::records::{Entry, Record};
use crate::runtime::rewind::{Config, Having, Refused, Rewound, Turns, Unsaved, Wanted};
use crate::session::ids::{SessionId, TurnId};

/// How many files of a turn are told: nobody reads more.
const MOST: usize = 50;

/// `rewind_options`, `recording`, `rewind` and `rewind_done`.
pub(super) fn action(kind: &str, table: &LuaTable) -> LuaResult<Action> {
    let session = || table.get("session").map(SessionId);
    Ok(Action::Rewind(match kind {
        "rewind_options" => Wanted::Config(config(table)?),
        "recording" => Wanted::Has(session()?, TurnId(table.get("turn")?), having(table)?),
        "rewind" => Wanted::To {
            session: session()?,
            tag: table.get("tag")?,
            id: text(table, "turn")?,
            having: having(table)?,
            loaded: texts(table, "loaded")?,
        },
        _ => Wanted::Done(table.get("tag")?, having(table)?),
    }))
}

fn config(table: &LuaTable) -> LuaResult<Option<Config>> {
    let (undo, look): (bool, bool) = (table.get("enabled")?, table.get("look")?);
    if !undo && !look {
        return Ok(None);
    }
    Ok(Some(Config {
        undo,
        look,
        state: text(table, "state")?.into(),
        keep: table.get("keep")?,
        days: table.get("days")?,
        most: table.get("bytes")?,
        wait: Duration::from_millis(table.get("wait_ms")?),
    }))
}

fn having(table: &LuaTable) -> LuaResult<Having> {
    let mut modified = Vec::new();
    for it in table.get::<Option<Vec<LuaTable>>>("modified")?.unwrap_or_default() {
        // What is not UTF-8 stays what the disk has.
        if let Ok(live) = merge::live(&it) {
            modified.push(Unsaved { path: text(&it, "path")?, live, text_of: it.get("text_of")? });
        }
    }
    Ok(Having { open: texts(table, "open")?, modified })
}

/// The effect that tells what can be undone, newest first.
pub(super) fn turns(lua: &Lua, it: &Turns) -> LuaResult<LuaTable> {
    let file = |lua: &Lua, it: &Entry| {
        let (added, removed) = it.lines.unzip();
        let path = it.changed.path.0.to_string_lossy();
        Ok(table!(lua, path: &*path, kind: it.kind(), added: added, removed: removed))
    };
    let turn = |lua: &Lua, it: &Record| {
        let lines = it.files.iter().filter_map(|it| it.lines);
        let (added, removed) = lines.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        Ok(table!(lua,
            id: it.id.as_str(), time: it.time, prompt: it.prompt.as_str(), rewind: it.is_rewind(),
            files: list(lua, it.files.iter().take(MOST), file)?, count: it.files.len(),
            added: added, removed: removed, complete: it.complete && !it.late, interrupted: it.interrupted,
        ))
    };
    let turns = list(lua, it.records.iter().rev(), turn)?;
    let ended = it.ended.map(|it| it.0);
    Ok(table!(lua, type: "turns", session: it.session.0, turns: turns, ended: ended))
}

/// The effect that tells what came of it.
pub(super) fn rewound(lua: &Lua, it: Rewound) -> LuaResult<LuaTable> {
    let effect = table!(lua, type: "rewound", session: it.session.0, tag: it.tag);
    Ok(match it.result {
        Ok(outcome) => {
            let done = list(lua, outcome.done, |lua, (path, what)| {
                Ok(table!(lua, path: path, what: what))
            })?;
            let kept =
                list(lua, outcome.kept, |lua, (path, why)| Ok(table!(lua, path: path, why: why)))?;
            table!(effect; done: done, kept: kept, merge: outcome.merge)
        }
        Err(Refused { code, message, hint }) => {
            table!(effect; err: table!(lua, code: code, message: message, hint: hint))
        }
    })
}
