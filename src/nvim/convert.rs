//! Lua tables to actions, items to Lua tables. `lua/acp/native.lua` documents the shapes.

use std::time::Duration;

use mlua::prelude::{Lua, LuaError, LuaResult, LuaString, LuaTable, LuaValue};

use crate::runtime::handle::Action;
use crate::runtime::outbox::Item;
use crate::runtime::published::Summary;
use crate::session::effect::Tell;
use crate::session::event::Wish;
use crate::session::failure::{Exit, Failure};
use crate::session::ids::SessionId;
use crate::session::state::{AgentInfo, Content, How, Launch};
use crate::view::model::{Patch, Place};

/// A field that must be text. Lua strings are bytes: what is not UTF-8 is replaced.
pub(super) fn text(table: &LuaTable, field: &str) -> LuaResult<String> {
    let text = optional_text(table, field)?;
    text.ok_or_else(|| LuaError::runtime(format!("`{field}` is missing")))
}

fn optional_text(table: &LuaTable, field: &str) -> LuaResult<Option<String>> {
    Ok(table.get::<Option<LuaString>>(field)?.map(|text| text.to_string_lossy()))
}

/// `nil, { code, message }`
pub(super) fn refusal(
    lua: &Lua,
    code: &str,
    message: &str,
) -> LuaResult<(LuaValue, Option<LuaTable>)> {
    let table = lua.create_table()?;
    table.set("code", code)?;
    table.set("message", message)?;
    Ok((LuaValue::Nil, Some(table)))
}

/// The words of an error without mlua's traceback.
pub(super) fn plain(error: &LuaError) -> String {
    match error {
        LuaError::RuntimeError(words) => words.clone(),
        other => other.to_string(),
    }
}

/// A session's id.
pub(super) fn id(session: SessionId) -> LuaValue {
    LuaValue::Integer(i64::try_from(session.0).unwrap_or(i64::MAX))
}

/// An action from its table.
pub(super) fn action(
    kind: &str,
    table: &LuaTable,
    new_session: impl FnOnce() -> SessionId,
) -> LuaResult<Action> {
    let session = || table.get::<u64>("session").map(SessionId);
    Ok(match kind {
        "open" => Action::Wish(Wish::Open { launch: launch(table)?, session: new_session() }),
        "prompt" => {
            let (content, tag) = (content(table)?, table.get("tag")?);
            Action::Wish(Wish::Prompt { session: session()?, content, tag })
        }
        "cancel" => Action::Wish(Wish::Cancel(session()?)),
        "close" => Action::Wish(Wish::Close(session()?)),
        "restart" => Action::Wish(Wish::Restart(session()?)),
        "kill" => Action::Wish(Wish::Kill(session()?)),
        "wait" => Action::Wish(Wish::Wait(session()?)),
        "probe" => Action::Wish(Wish::Probe { tag: table.get("tag")?, launch: launch(table)? }),
        "show" => Action::Show(session()?),
        "hide" => Action::Hide(session()?),
        other => return Err(LuaError::runtime(format!("there is no action `{other}`"))),
    })
}

fn launch(table: &LuaTable) -> LuaResult<Launch> {
    let how = match table.get::<Option<Vec<LuaString>>>("command")? {
        Some(command) if !command.is_empty() => {
            How::Program(command.iter().map(LuaString::to_string_lossy).collect())
        }
        Some(_) => return Err(LuaError::runtime("`command` is empty")),
        None => match optional_text(table, "embedded")?.as_deref() {
            Some("tutor") => How::Tutor { pauses: pauses(table)? },
            _ => return Err(LuaError::runtime("`command` is missing")),
        },
    };
    let mut env = Vec::new();
    if let Some(variables) = table.get::<Option<LuaTable>>("env")? {
        for pair in variables.pairs::<LuaString, LuaString>() {
            let (name, value) = pair?;
            env.push((name.to_string_lossy(), value.to_string_lossy()));
        }
    }
    // Lua's order of pairs is nobody's; equal launches must be equal.
    env.sort();
    Ok(Launch {
        agent: text(table, "agent")?,
        how,
        env,
        cwd: text(table, "cwd")?,
        install: optional_text(table, "install")?,
        patience: patience(table)?,
    })
}

/// Seconds an agent may be silent while starting. Slow agents take 10 on a busy machine.
fn patience(table: &LuaTable) -> LuaResult<Duration> {
    let seconds = table.get::<Option<f64>>("patience")?.unwrap_or(30.0);
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// The tutor's pace, given as a factor on its pauses.
fn pauses(table: &LuaTable) -> LuaResult<u32> {
    let pace = table.get::<Option<f64>>("pace")?.unwrap_or(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    Ok((pace.clamp(0.0, 100.0) * 100.0) as u32)
}

fn content(table: &LuaTable) -> LuaResult<Vec<Content>> {
    if let Some(text) = optional_text(table, "text")? {
        return Ok(vec![Content::Text(text)]);
    }
    let blocks: Vec<LuaTable> = table.get("blocks")?;
    blocks.iter().map(block).collect()
}

fn block(table: &LuaTable) -> LuaResult<Content> {
    let kind = text(table, "type")?;
    Ok(match kind.as_str() {
        "text" => Content::Text(text(table, "text")?),
        "image" => Content::Image { mime: text(table, "mimeType")?, data: text(table, "data")? },
        "audio" => Content::Audio { mime: text(table, "mimeType")?, data: text(table, "data")? },
        "resource_link" => Content::Link { uri: text(table, "uri")?, name: text(table, "name")? },
        "resource" => {
            let resource: LuaTable = table.get("resource")?;
            let (uri, mime) = (text(&resource, "uri")?, optional_text(&resource, "mimeType")?);
            Content::Resource { uri, text: text(&resource, "text")?, mime }
        }
        other => return Err(LuaError::runtime(format!("there is no content of type `{other}`"))),
    })
}

/// What Lua fetches at once: changes to transcripts, then what happened.
pub(super) fn batch(lua: &Lua, items: Vec<Item>) -> LuaResult<LuaTable> {
    let (patches, effects) = (lua.create_table()?, lua.create_table()?);
    for item in items {
        match item {
            Item::Patch(session, patch) => patches.raw_push(self::patch(lua, session, patch)?)?,
            Item::Tell(tell) => effects.raw_push(self::tell(lua, tell)?)?,
            Item::Session(summary) => {
                let table = lua.create_table()?;
                table.set("type", "session")?;
                table.set("info", self::summary(lua, &summary)?)?;
                effects.raw_push(table)?;
            }
            Item::Notice(message) => {
                let table = lua.create_table()?;
                table.set("type", "notify")?;
                table.set("level", "error")?;
                table.set("message", message)?;
                effects.raw_push(table)?;
            }
        }
    }
    let batch = lua.create_table()?;
    batch.raw_set("patches", patches)?;
    batch.raw_set("effects", effects)?;
    Ok(batch)
}

fn patch(lua: &Lua, session: SessionId, patch: Patch) -> LuaResult<LuaTable> {
    let table = lua.create_table_with_capacity(0, 4)?;
    table.raw_set("session", id(session))?;
    match patch.place {
        Place::All => {
            table.raw_set("first", 0)?;
            table.raw_set("last", -1)?;
        }
        Place::Rows { first, last } => {
            table.raw_set("first", first)?;
            table.raw_set("last", last)?;
        }
        Place::Append { row, col } => {
            table.raw_set("first", row)?;
            table.raw_set("col", col)?;
        }
    }
    let lines = lua.create_table_with_capacity(patch.lines.len(), 0)?;
    for line in patch.lines {
        lines.raw_push(lua.create_string(line)?)?;
    }
    table.raw_set("lines", lines)?;
    Ok(table)
}

/// A session in a few words.
pub(super) fn summary(lua: &Lua, summary: &Summary) -> LuaResult<LuaTable> {
    let table = lua.create_table()?;
    table.set("id", id(summary.id))?;
    table.set("agent", summary.agent.as_str())?;
    table.set("title", summary.title.as_str())?;
    table.set("cwd", summary.cwd.as_str())?;
    table.set("state", summary.state)?;
    table.set("pending_permissions", 0)?;
    table.set("queued", summary.queued)?;
    Ok(table)
}

fn tell(lua: &Lua, tell: Tell) -> LuaResult<LuaTable> {
    let table = lua.create_table()?;
    let set = |kind: &str, session: SessionId| {
        table.set("type", kind)?;
        table.set("session", id(session))
    };
    match tell {
        Tell::SessionChanged(session) => set("session", session)?,
        Tell::Ready(session) => set("ready", session)?,
        Tell::Closed(session) => set("closed", session)?,
        Tell::Failed { session, failure } => {
            set("failed", session)?;
            table.set("err", self::failure(lua, &failure)?)?;
        }
        Tell::TurnStarted { session, turn } => {
            set("turn_started", session)?;
            table.set("turn", turn.0)?;
        }
        Tell::TurnFinished { session, turn, tag, result } => {
            set("turn_finished", session)?;
            table.set("turn", turn.map(|turn| turn.0))?;
            table.set("tag", tag)?;
            match result {
                Ok(reason) => table.set("stop_reason", reason.word())?,
                Err(failure) => table.set("err", self::failure(lua, &failure)?)?,
            }
        }
        Tell::AgentExited { session, agent, exit, expected } => {
            set("agent_exited", session)?;
            table.set("agent", agent)?;
            table.set("expected", expected)?;
            match exit {
                Exit::Code(code) => table.set("code", code)?,
                Exit::Signal(signal) => table.set("signal", signal)?,
                Exit::Closed => {}
            }
        }
        Tell::NoAnswer { session, what, seconds } => {
            set("no_answer", session)?;
            table.set("what", what)?;
            table.set("seconds", seconds)?;
        }
        Tell::Probed { tag, result } => probed(lua, &table, tag, result)?,
    }
    Ok(table)
}

fn probed(
    lua: &Lua,
    table: &LuaTable,
    tag: u64,
    result: Result<AgentInfo, Failure>,
) -> LuaResult<()> {
    table.set("type", "probed")?;
    table.set("tag", tag)?;
    table.set("ok", result.is_ok())?;
    match result {
        Ok(info) => {
            table.set("name", info.title)?;
            table.set("version", info.version)?;
            table.set("protocol", info.protocol)
        }
        Err(failure) => table.set("err", self::failure(lua, &failure)?),
    }
}

fn failure(lua: &Lua, failure: &Failure) -> LuaResult<LuaTable> {
    let table = lua.create_table()?;
    table.set("code", failure.code())?;
    table.set("message", failure.message())?;
    table.set("hint", failure.hint())?;
    Ok(table)
}
