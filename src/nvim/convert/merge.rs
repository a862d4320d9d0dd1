//! Merges of files: what Lua wants, and what came of it.

use mlua::prelude::{Lua, LuaError, LuaResult, LuaString, LuaTable};

use super::{list, optional_text, review, text};
use crate::runtime::ahead::Ahead;
use crate::runtime::bases::InStep;
use crate::runtime::handle::Action;
use crate::runtime::merging::{
    ByHand, Change, Choice, Clash, Merged, Of, Plan, Refusal, Settled, Stamp, Wanted,
};
use crate::runtime::moved::Lost;
use crate::session::ids::{AskId, SessionId};
use crate::session::live::Live;

/// `merge`, `track`, `forget`, `lost` and `check`.
pub(super) fn action(kind: &str, table: &LuaTable) -> LuaResult<Action> {
    Ok(match kind {
        "merge" => Action::Merge(Box::new(wanted(table)?)),
        "track" => {
            let files: Vec<LuaTable> = table.get("files")?;
            let file = |it: &LuaTable| {
                let saved = it.get::<Option<bool>>("saved")?.unwrap_or_default();
                let written = it.get::<Option<u64>>("written")?.map(|buffer| (buffer, saved));
                let mut file = InStep::new(text(it, "path")?, stamp(it)?, written);
                file.buffer = it.get("buf")?;
                file.real = optional_text(it, "real")?;
                file.unseen |= it.get::<Option<bool>>("mixed")?.unwrap_or_default();
                Ok(file)
            };
            Action::Track(files.iter().map(file).collect::<LuaResult<_>>()?)
        }
        "max_read" => Action::MaxRead(table.get("bytes")?),
        "lost" => {
            let session = SessionId(table.get("session")?);
            let (path, below) = (text(table, "path")?, text(table, "below")?);
            Action::Lost(Lost { session, path, below })
        }
        "forget" => Action::Forget(text(table, "path")?),
        _ => Action::Check(table.get("tag")?, super::texts(table, "paths")?),
    })
}

/// What the disk says of a file.
pub(super) fn stamp(table: &LuaTable) -> LuaResult<Stamp> {
    let (seconds, nanoseconds) = (table.get("sec")?, table.get("nsec")?);
    let changed = (table.get("csec")?, table.get("cnsec")?);
    Ok(Stamp { seconds, nanoseconds, size: table.get("size")?, changed, inode: table.get("ino")? })
}

fn wanted(table: &LuaTable) -> LuaResult<Wanted> {
    let (ask, rewind) = (table.get::<Option<u64>>("ask")?, table.get("rewind")?);
    let of = match (ask, rewind, table.get::<Option<LuaTable>>("reject")?) {
        (Some(ask), ..) => Of::Write(AskId(ask), text(table, "path")?),
        (None, Some(tag), _) => Of::Rewind(tag, text(table, "path")?),
        (None, None, Some(rejected)) => Of::Review(review::which(&rejected)?),
        (None, None, None) => Of::Disk(text(table, "path")?),
    };
    let edited = match (optional_text(table, "edited_from")?, optional_text(table, "edited")?) {
        (Some(base), Some(text)) => Some(ByHand { base, text }),
        _ => None,
    };
    let mut wanted = Wanted::new(table.get("tag")?, of, live(table)?, table.get("text_of")?);
    (wanted.settled, wanted.edited) = (settled(table)?, edited);
    Ok(wanted)
}

fn settled(table: &LuaTable) -> LuaResult<Vec<Settled>> {
    let all: Option<Vec<LuaTable>> = table.get("settled")?;
    let one = |it: &LuaTable| {
        let choice = match text(it, "pick")?.as_str() {
            "theirs" => Choice::Theirs,
            "both" => Choice::Both,
            _ => Choice::Ours,
        };
        Ok(Settled { ours: super::texts(it, "ours")?, theirs: super::texts(it, "theirs")?, choice })
    };
    all.unwrap_or_default().iter().map(one).collect()
}

/// A buffer as it is.
pub(super) fn live(table: &LuaTable) -> LuaResult<Live> {
    // Columns count bytes: a text that is not quite what the buffer has would be changed elsewhere.
    let text = match table.get::<Option<LuaString>>("text")? {
        Some(bytes) => {
            bytes.to_str().map_err(|_| LuaError::runtime("the buffer is not UTF-8"))?.to_owned()
        }
        None => String::new(),
    };
    Ok(Live {
        text,
        empty: table.get::<Option<bool>>("empty")?.unwrap_or_default(),
        ending: self::text(table, "ending")?,
        final_eol: table.get("eol")?,
        bom: table.get("bom")?,
        modified: table.get("modified")?,
        tick: table.get("tick")?,
    })
}

/// The effect that says that a merge is under way.
pub(super) fn ahead(lua: &Lua, it: Ahead) -> LuaResult<LuaTable> {
    let live = it.live;
    Ok(table!(lua,
        type: "ahead", ask: it.ask.0, tag: it.tag, buf: it.buffer, tick: live.tick,
        ending: live.ending, eol: live.final_eol, bom: live.bom, modified: live.modified,
    ))
}

/// The effect that says what to do.
pub(super) fn merged(lua: &Lua, it: Merged) -> LuaResult<LuaTable> {
    let table = table!(lua, type: "merged", tag: it.tag, tick: it.tick);
    Ok(match it.result {
        Ok(plan) => self::plan(lua, table, plan)?,
        Err(Refusal::Gone) => table!(table; refused: "gone"),
        Err(Refusal::NoBase) => table!(table; refused: "no_base"),
        Err(Refusal::NoCopy) => table!(table; refused: "no_copy"),
        Err(Refusal::Other(words)) => table!(table; refused: words),
    })
}

fn plan(lua: &Lua, table: LuaTable, plan: Plan) -> LuaResult<LuaTable> {
    let stamp = match plan.stamp {
        Some(it) => Some(table!(lua,
            sec: it.seconds, nsec: it.nanoseconds, size: it.size,
            csec: it.changed.0, cnsec: it.changed.1, ino: it.inode,
        )),
        None => None,
    };
    let clashes = list(lua, plan.clashes, |lua, it: Clash| {
        Ok(table!(lua, line: it.line, ours: it.ours, theirs: it.theirs))
    })?;
    Ok(table!(table;
        changes: list(lua, plan.changes, change)?, eol: plan.final_eol, bom: plan.bom,
        clashes: clashes, marked: plan.marked, is_theirs: plan.is_theirs, stamp: stamp,
    ))
}

/// A change to a buffer.
pub(super) fn change(lua: &Lua, it: Change) -> LuaResult<LuaTable> {
    Ok(match it {
        Change::Lines(first, last, lines) => {
            table!(lua, first: first, last: last, lines: lines)
        }
        Change::Text(row, (from, to), text) => {
            table!(lua, first: row, from: from, to: to, text: text)
        }
    })
}
