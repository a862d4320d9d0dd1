//! What Lua fetches: changes to transcripts, and what happened.

use mlua::prelude::{Lua, LuaResult, LuaTable};

use super::{list, merge, place, question, review, rewind, settings};
use crate::runtime::outbox::Item;
use crate::runtime::published::{Queued, Summary};
use crate::session::effect::Tell;
use crate::session::event::Kept;
use crate::session::failure::{Exit, Failure};
use crate::session::ids::SessionId;
use crate::session::settings::Usage;
use crate::session::tool_call::Location;
use crate::view::detail::{Attached, File, Header, Tab};
use crate::view::export;
use crate::view::model::{Code, Patch, Place, SurfaceId};

/// What Lua fetches at once: changes to transcripts, then what happened.
pub(in crate::nvim) fn batch(lua: &Lua, items: Vec<Item>) -> LuaResult<LuaTable> {
    let (patches, effects) = (lua.create_table()?, lua.create_table()?);
    for item in items {
        match item {
            Item::Patch(surface, patch) => patches.raw_push(self::patch(lua, surface, patch)?)?,
            Item::Tell(tell) => effects.raw_push(self::tell(lua, tell)?)?,
            Item::Detail(surface, header) => effects.raw_push(detail(lua, surface, header)?)?,
            Item::Session(summary) => {
                let info = self::summary(lua, &summary)?;
                effects.raw_push(table!(lua, type: "session", info: info))?;
            }
            Item::Ahead(ahead) => effects.raw_push(merge::ahead(lua, ahead)?)?,
            Item::Merged(merged) => effects.raw_push(merge::merged(lua, merged)?)?,
            Item::Placed(placed) => effects.raw_push(place::placed(lua, placed)?)?,
            Item::DiskChanged(tag, paths) => {
                effects.raw_push(table!(lua, type: "disk_changed", tag: tag, paths: paths))?;
            }
            Item::DiskDiffers(tag, paths) => {
                let kind = "disk_changed";
                effects.raw_push(table!(lua, type: kind, tag: tag, paths: paths, sure: true))?;
            }
            Item::Moved(path, to) => {
                effects.raw_push(table!(lua, type: "moved", path: path, to: to))?;
            }
            Item::Hunks(hunks) => effects.raw_push(review::hunks(lua, hunks)?)?,
            Item::TakenUp { session, files, hunks } => {
                let session = session.0;
                effects.raw_push(
                    table!(lua, type: "taken_up", session: session, files: files, hunks: hunks),
                )?;
            }
            Item::Rejected(tag, path, err) => {
                let err = match err {
                    Some(message) => Some(table!(lua, code: "not_rejected", message: message)),
                    None => None,
                };
                effects.raw_push(table!(lua, type: "rejected", tag: tag, path: path, err: err))?;
            }
            Item::Record(session, turn, behind) => {
                let (kind, session, turn) = ("recording", session.0, turn.0);
                let it = table!(lua, type: kind, session: session, turn: turn, behind: behind);
                effects.raw_push(it)?;
            }
            Item::Turns(it) => effects.raw_push(rewind::turns(lua, &it)?)?,
            Item::Rewound(it) => effects.raw_push(rewind::rewound(lua, it)?)?,
            Item::Git(it) => {
                let bytes = lua.create_string(&it.bytes)?;
                let it = table!(lua, type: "git", tag: it.tag, text: bytes, known: it.known, cut: it.cut, last: it.last);
                effects.raw_push(it)?;
            }
            Item::Notice(message) => {
                effects.raw_push(table!(lua, type: "notify", level: "error", message: message))?;
            }
        }
    }
    Ok(table!(lua, patches: patches, effects: effects))
}

fn patch(lua: &Lua, surface: SurfaceId, patch: Patch) -> LuaResult<LuaTable> {
    let lines = lua.create_table_with_capacity(patch.lines.len(), 0)?;
    for line in patch.lines {
        lines.raw_push(lua.create_string(&line)?)?;
    }
    let table = lua.create_table_with_capacity(0, 6)?;
    let repaint = patch.repaint.map(|it| it.first);
    let code = (!patch.code.is_empty()).then_some(true);
    let table = table!(table; surface: surface.0, lines: lines, repaint: repaint, code: code);
    Ok(match patch.place {
        Place::All => table!(table; first: 0, last: -1),
        Place::Rows { first, last } => table!(table; first: first, last: last),
        Place::Append { row, col } => table!(table; first: row, col: col),
    })
}

/// Prompts that wait.
pub(in crate::nvim) fn queue(lua: &Lua, queue: Vec<Queued>) -> LuaResult<LuaTable> {
    list(lua, queue, |lua, it| Ok(table!(lua, tag: it.tag, text: it.text, blocks: it.blocks)))
}

/// Code, each piece with its rows.
pub(in crate::nvim) fn code(lua: &Lua, code: Vec<(&Code, Vec<usize>)>) -> LuaResult<LuaTable> {
    list(lua, code, |lua, (code, rows)| {
        Ok(table!(lua, id: code.id, lang: &*code.lang, col: code.col, rows: rows))
    })
}

fn detail(lua: &Lua, surface: SurfaceId, it: Header) -> LuaResult<LuaTable> {
    let tab = |lua: &Lua, it: Tab| Ok(table!(lua, id: it.word(), label: it.label()));
    let file =
        |lua: &Lua, it: File| Ok(table!(lua, path: it.path, added: it.added, removed: it.removed));
    let location = |lua: &Lua, it: Location| Ok(table!(lua, path: it.path, line: it.line));
    let attached =
        |lua: &Lua, it: Attached| Ok(table!(lua, label: it.label, mime: it.mime, size: it.size));
    Ok(table!(lua,
        type: "detail", surface: surface.0, title: it.title, kind: it.kind, status: it.status,
        elapsed: it.elapsed.map(|it| it.as_secs_f64()), tabs: list(lua, it.tabs, tab)?,
        tab: it.tab.word(), files: list(lua, it.files, file)?,
        locations: list(lua, it.locations, location)?,
        attachments: list(lua, it.attachments, attached)?, live: it.live, gone: it.gone,
    ))
}

/// A session in a few words.
pub(in crate::nvim) fn summary(lua: &Lua, it: &Summary) -> LuaResult<LuaTable> {
    Ok(table!(lua,
        id: it.id.0, agent: it.agent.as_str(), title: it.title.as_str(), cwd: it.cwd.as_str(),
        state: it.state, pending_permissions: it.pending_permissions, queued: it.queued,
        remote: it.remote.as_deref(),
        usage: it.usage.as_ref().map(|it| usage(lua, it)).transpose()?,
        failure: it.failure.as_ref().map(|it| err(lua, it)).transpose()?,
    ))
}

fn usage(lua: &Lua, it: &Usage) -> LuaResult<LuaTable> {
    let cost = match &it.cost {
        Some((amount, currency)) => Some(table!(lua, amount: *amount, currency: currency.as_str())),
        None => None,
    };
    Ok(table!(lua, used: it.used, size: it.size, cost: cost))
}

#[expect(clippy::too_many_lines, reason = "one arm for each, and none forgotten")]
fn tell(lua: &Lua, tell: Tell) -> LuaResult<LuaTable> {
    let effect = |kind: &str, session: SessionId| -> LuaResult<LuaTable> {
        Ok(table!(lua, type: kind, session: session.0))
    };
    Ok(match tell {
        // The core sends the summary itself, as an item of its own.
        Tell::SessionChanged(session) => effect("session", session)?,
        Tell::SettingsChanged(session) => effect("settings", session)?,
        Tell::QueueChanged(session) => effect("queue", session)?,
        Tell::Ready(session) => effect("ready", session)?,
        Tell::Closed(session) => effect("closed", session)?,
        Tell::Failed { session, failure } => failed(lua, effect("failed", session)?, &failure)?,
        Tell::TurnStarted { session, turn } => {
            table!(effect("turn_started", session)?; turn: turn.0)
        }
        Tell::TurnFinished { session, turn, tag, result } => {
            let turn = turn.map(|turn| turn.0);
            let effect = table!(effect("turn_finished", session)?; turn: turn, tag: tag);
            match result {
                Ok(reason) => table!(effect; stop_reason: reason.word()),
                Err(failure) => failed(lua, effect, &failure)?,
            }
        }
        Tell::AgentExited { session, agent, exit, expected } => {
            let effect = exited(effect("agent_exited", session)?, exit)?;
            table!(effect; agent: agent, expected: expected)
        }
        Tell::NoAnswer { session, what, seconds } => {
            table!(effect("no_answer", session)?; what: what, seconds: seconds)
        }
        Tell::Probed { tag, result } => {
            let effect = table!(lua, type: "probed", tag: tag, ok: result.is_ok());
            match result {
                Ok(it) => {
                    table!(effect; name: it.title, version: it.version, protocol: it.protocol)
                }
                Err(failure) => failed(lua, effect, &failure)?,
            }
        }
        Tell::Asked(ask, question) => question::asked(lua, ask, question)?,
        Tell::Settled { ask, session, option } => {
            table!(effect("settled", session)?; ask: ask.0, option: option)
        }
        Tell::Ruled { session, title, verdict, rule } => {
            let verdict = verdict.word();
            table!(effect("ruled", session)?; title: title, verdict: verdict, rule: rule)
        }
        Tell::LoginRequired { session, methods } => {
            let methods = list(lua, methods, settings::method)?;
            table!(effect("login_required", session)?; methods: methods)
        }
        Tell::LoginInTerminal { session, command, env, cwd } => {
            let env = lua.create_table_from(env)?;
            table!(effect("login_in_terminal", session)?; command: command, env: env, cwd: cwd)
        }
        Tell::OpenUrl { session, url } => table!(effect("open_url", session)?; url: url),
        Tell::AskDone { session, tag, result } => {
            let effect = table!(effect("ask_done", session)?; tag: tag);
            match result {
                Ok(sessions) => table!(effect; sessions: list(lua, sessions, kept)?),
                Err(failure) => failed(lua, effect, &failure)?,
            }
        }
        Tell::Worked(session) => effect("worked", session)?,
        Tell::Touched { session, path, line } => {
            table!(effect("touched", session)?; path: path, line: line)
        }
        Tell::Saved { session, tag, path, result } => {
            let err = match result {
                Ok(()) => None,
                Err(message) => Some(table!(lua, code: "not_saved", message: message)),
            };
            table!(effect("saved", session)?; tag: tag, path: path, err: err)
        }
        Tell::Notice { session, severity, message } => {
            table!(effect("notice", session)?; severity: severity, message: message)
        }
    })
}

fn exited(effect: LuaTable, exit: Exit) -> LuaResult<LuaTable> {
    Ok(match exit {
        Exit::Code(code) => table!(effect; code: code),
        Exit::Signal(signal) | Exit::Unguarded(signal) => table!(effect; signal: signal),
        Exit::Closed => effect,
    })
}

fn kept(lua: &Lua, it: Kept) -> LuaResult<LuaTable> {
    Ok(table!(lua, id: &*it.remote, cwd: it.cwd, title: it.title, updated: it.updated))
}

fn failed(lua: &Lua, effect: LuaTable, it: &Failure) -> LuaResult<LuaTable> {
    Ok(table!(effect; err: err(lua, it)?))
}

fn err(lua: &Lua, it: &Failure) -> LuaResult<LuaTable> {
    let last_words = export::last_words(it);
    let last_words = (!last_words.is_empty()).then_some(last_words);
    Ok(table!(lua,
        code: it.code(), message: it.message(), hint: it.hint(), last_words: last_words))
}
