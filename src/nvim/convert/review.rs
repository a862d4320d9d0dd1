//! What is to be reviewed, and what the user makes of it.

use mlua::prelude::{Lua, LuaResult, LuaTable};

use super::{list, merge, optional_text, text};
use crate::runtime::handle::Action;
use crate::runtime::reviews::{Change, Chosen, Config, HunkText, Hunks, ShownHunk, Which};
use crate::runtime::taking_back::{TakenBack, TakingBack};

/// `accept`, `reject_file`, `taking_back`, `taken_back`, `hunks_again` and `review_options`.
pub(super) fn action(kind: &str, table: &LuaTable) -> LuaResult<Action> {
    Ok(match kind {
        "accept" => {
            Action::Accept(Chosen { path: optional_text(table, "path")?, which: which(table)? })
        }
        "reject_file" => Action::RejectFile(table.get("tag")?, text(table, "path")?, which(table)?),
        "taking_back" => {
            Action::TakingBack(TakingBack::Begins(table.get("buf")?, table.get("tick")?))
        }
        "taken_back" => {
            let stamp = table.get::<Option<LuaTable>>("stamp")?;
            let stamp = stamp.as_ref().map(merge::stamp).transpose()?;
            Action::TakingBack(TakingBack::Ends(TakenBack {
                tag: table.get("tag")?,
                buffer: table.get("buf")?,
                tick: table.get("tick")?,
                stamp,
            }))
        }
        "review_options" => Action::Keep(Config {
            state: text(table, "state")?.into(),
            keep: table.get("keep")?,
            days: table.get("days")?,
        }),
        _ => Action::HunksAgain(text(table, "path")?),
    })
}

/// Which hunks are meant: by their ids, by rows, by their session, or all.
pub(super) fn which(table: &LuaTable) -> LuaResult<Which> {
    if let Some(ids) = table.get::<Option<Vec<u64>>>("hunks")? {
        return Ok(Which::Ids(ids));
    }
    if let Some(rows) = table.get::<Option<Vec<usize>>>("rows")? {
        let at = |index: usize| rows.get(index).copied().unwrap_or_default();
        return Ok(Which::Rows(at(0)..at(1)));
    }
    Ok(table.get::<Option<u64>>("session")?.map_or(Which::All, Which::Of))
}

/// The effect that says what is to be shown of a file.
pub(super) fn hunks(lua: &Lua, it: Hunks) -> LuaResult<LuaTable> {
    Ok(table!(lua,
        type: "hunks", path: it.path, buf: it.buffer, full: it.full, kind: it.kind.word(),
        set: list(lua, it.set, shown)?, gone: it.gone, count: it.count,
    ))
}

fn shown(lua: &Lua, it: ShownHunk) -> LuaResult<LuaTable> {
    let removed = list(lua, it.removed, |lua, line| {
        let spans: Vec<Vec<usize>> = line.spans.iter().map(|it| vec![it.start, it.end]).collect();
        Ok(table!(lua, text: line.text, spans: spans))
    })?;
    let words: Vec<Vec<usize>> =
        it.words.iter().map(|it| vec![it.row, it.columns.start, it.columns.end]).collect();
    Ok(table!(lua,
        id: it.id, session: it.session.0, state: state(it.edited), first: it.rows.start,
        last: it.rows.end, tick: it.tick, removed: removed, words: words,
    ))
}

fn state(edited: bool) -> &'static str {
    if edited { "edited" } else { "pending" }
}

/// All that is to be reviewed, for programs.
pub(in crate::nvim) fn changes(lua: &Lua, changes: Vec<Change>) -> LuaResult<LuaTable> {
    list(lua, changes, |lua, it| {
        let sum = |lines: fn(&HunkText) -> usize| it.hunks.iter().map(lines).sum::<usize>();
        let (added, removed) = (sum(|it| it.new.len()), sum(|it| it.old.len()));
        let hunk = |lua: &Lua, it: HunkText| {
            Ok(table!(lua,
                id: it.id, start: it.start, old: it.old, new: it.new, state: state(it.edited),
                session: it.session.0,
            ))
        };
        Ok(table!(lua,
            path: it.path, kind: it.kind.word(), session: it.session.0, added: added,
            removed: removed, hunks: list(lua, it.hunks, hunk)?,
        ))
    })
}
