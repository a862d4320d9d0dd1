//! What Lua asks for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use mlua::prelude::{LuaError, LuaResult, LuaString, LuaTable, LuaValue};

use super::{
    buffer, merge, optional_text, pairs, place, question, review, rewind, rule, text, texts,
};
use crate::runtime::git::{GitQuestion, GitTopic};
use crate::runtime::handle::Action;
use crate::runtime::surfaces::DetailWish;
use crate::session::agent::{How, Launch, McpServer, McpTransport};
use crate::session::audit::By;
use crate::session::content::Content;
use crate::session::event::{Ask, Origin, QueueChange, Wish};
use crate::session::ids::{AskId, SessionId};
use crate::view::detail::{Tab, Target};
use crate::view::model::{Look, SurfaceId};

/// An action from its table.
pub(in crate::nvim) fn action(
    kind: &str,
    table: &LuaTable,
    new_session: impl FnOnce() -> SessionId,
) -> LuaResult<Action> {
    Ok(Action::Wish(match kind {
        "open" => {
            let (launch, origin) = (launch(table)?, origin(table)?);
            Wish::Open { launch, origin, session: new_session() }
        }
        "probe" => Wish::Probe { tag: table.get("tag")?, launch: launch(table)? },
        "answer" => {
            let (ask, reaction) = (AskId(table.get("ask")?), question::reaction(table)?);
            let by = match optional_text(table, "by")?.as_deref() {
                Some("user") => By::User,
                _ => By::Api,
            };
            Wish::Answer { ask, reaction, by }
        }
        "rules" => Wish::SetRules(rule::rules(table)?),
        "private" => Wish::SetPrivate(texts(table, "patterns")?),
        "show" | "hide" | "look" | "toggle" | "toggle_all" | "detail" => {
            return rendering(kind, table);
        }
        "buffer" | "seed" | "empty" | "unloaded" | "buffers_known" => {
            return buffer::action(kind, table);
        }
        "accept" | "reject_file" | "taking_back" | "taken_back" | "hunks_again"
        | "review_options" => {
            return review::action(kind, table);
        }
        "git" => return Ok(Action::Git(git(table)?)),
        "place" => return Ok(Action::Place(Box::new(place::wanted(table)?))),
        "merge" | "track" | "forget" | "check" | "lost" | "max_read" => {
            return merge::action(kind, table);
        }
        "rewind_options" | "recording" | "rewind" | "rewind_done" => {
            return rewind::action(kind, table);
        }
        _ => for_session(kind, SessionId(table.get("session")?), table)?,
    }))
}

/// What is about what is rendered where.
fn rendering(kind: &str, table: &LuaTable) -> LuaResult<Action> {
    let surface = || table.get("surface").map(SurfaceId);
    Ok(match kind {
        "show" => Action::Show(SessionId(table.get("session")?), surface()?),
        "hide" => Action::Hide(surface()?),
        "detail" => Action::Detail(surface()?, detail(table)?),
        "look" => Action::Look(Look { ascii: table.get("ascii")?, conceal: table.get("conceal")? }),
        "toggle" => {
            let entry = from_one(table, "entry")?;
            Action::Toggle { surface: surface()?, entry: Some(entry), open: table.get("open")? }
        }
        _ => Action::Toggle { surface: surface()?, entry: None, open: table.get("open")? },
    })
}

fn git(table: &LuaTable) -> LuaResult<GitQuestion> {
    let what = match text(table, "what")?.as_str() {
        "files" => GitTopic::Files,
        _ => GitTopic::Diff,
    };
    let project: LuaString = table.get("cwd")?;
    let project = OsStr::from_bytes(&project.as_bytes()).into();
    Ok(GitQuestion { tag: table.get("tag")?, project, what })
}

/// A place in a list, which Lua counts from 1.
pub(super) fn from_one(table: &LuaTable, field: &str) -> LuaResult<usize> {
    let place = table.get::<usize>(field)?.checked_sub(1);
    place.ok_or_else(|| LuaError::runtime(format!("`{field}` counts from 1")))
}

fn detail(table: &LuaTable) -> LuaResult<DetailWish> {
    let target = match optional_text(table, "tool_call")? {
        Some(id) => Target::ToolCall(id.into()),
        None => Target::Entry(from_one(table, "entry")?),
    };
    Ok(DetailWish {
        session: SessionId(table.get("session")?),
        target,
        tab: optional_text(table, "tab")?.and_then(|word| Tab::named(&word)),
        right: table.get::<Option<u64>>("right")?.map(SurfaceId),
    })
}

fn for_session(kind: &str, session: SessionId, table: &LuaTable) -> LuaResult<Wish> {
    Ok(match kind {
        "prompt" => Wish::Prompt { session, content: content(table)?, tag: table.get("tag")? },
        "steer" => Wish::Steer { session, content: content(table)?, tag: table.get("tag")? },
        "queue_remove" | "queue_edit" | "queue_move" => {
            let change = match kind {
                "queue_remove" => QueueChange::Remove,
                "queue_edit" => QueueChange::Edit(content(table)?),
                _ => QueueChange::Move(from_one(table, "to")?),
            };
            Wish::Queue { session, tag: table.get("tag")?, change }
        }
        "cancel" => Wish::Cancel(session),
        "close" => Wish::Close(session),
        "restart" => Wish::Restart(session),
        "kill" => Wish::Kill(session),
        "wait" => Wish::Wait(session),
        "save" => Wish::Save {
            session,
            entry: from_one(table, "entry")?,
            attachment: from_one(table, "attachment")?,
            path: text(table, "path")?,
            tag: table.get("tag")?,
        },
        "ask" => Wish::Ask { session, ask: ask(table)?, tag: table.get("tag")? },
        "log_in" => Wish::LogIn { session, method: text(table, "method")? },
        "logged_in" => Wish::LoggedIn { session, ok: table.get("ok")? },
        other => return Err(LuaError::runtime(format!("there is no action `{other}`"))),
    })
}

fn origin(table: &LuaTable) -> LuaResult<Origin> {
    if let Some(remote) = optional_text(table, "load")? {
        return Ok(Origin::Kept(remote.into()));
    }
    let fork = table.get::<Option<u64>>("fork")?;
    Ok(fork.map_or(Origin::New, |session| Origin::Fork(SessionId(session))))
}

fn ask(table: &LuaTable) -> LuaResult<Ask> {
    let id = || text(table, "id");
    let what = text(table, "what")?;
    Ok(match what.as_str() {
        "set_mode" => Ask::SetMode(id()?),
        "set_model" => Ask::SetModel(id()?),
        "set_option" => Ask::SetOption(id()?, text(table, "value")?),
        "set_switch" => Ask::SetSwitch(id()?, table.get("value")?),
        "set_title" => Ask::SetTitle(text(table, "value")?),
        "list_sessions" => Ask::ListSessions,
        "delete_session" => Ask::DeleteSession(id()?.into()),
        "log_out" => Ask::LogOut,
        other => return Err(LuaError::runtime(format!("nobody can be asked to `{other}`"))),
    })
}

fn launch(table: &LuaTable) -> LuaResult<Launch> {
    let servers = table.get::<Option<Vec<LuaTable>>>("mcp_servers")?.unwrap_or_default();
    Ok(Launch {
        agent: text(table, "agent")?,
        how: how(table)?,
        env: pairs(table, "env")?,
        cwd: text(table, "cwd")?,
        directories: texts(table, "directories")?,
        mcp_servers: servers.iter().map(mcp_server).collect::<LuaResult<_>>()?,
        install: optional_text(table, "install")?,
        patience: patience(table)?,
    })
}

fn how(table: &LuaTable) -> LuaResult<How> {
    if let Some(url) = optional_text(table, "url")? {
        return Ok(How::Url(url));
    }
    let command = texts(table, "command")?;
    if !command.is_empty() {
        return Ok(How::Program(command));
    }
    match optional_text(table, "embedded")?.as_deref() {
        Some("tutor") => Ok(How::Tutor { pauses: pauses(table)? }),
        _ => Err(LuaError::runtime("`command` is missing")),
    }
}

/// A tool server, in the protocol's form or in the one that users know from elsewhere: `type` is
/// `local` or `remote`, and `command` a list.
fn mcp_server(table: &LuaTable) -> LuaResult<McpServer> {
    let name = text(table, "name")?;
    let transport = match optional_text(table, "url")? {
        Some(url) => {
            let headers = pairs(table, "headers")?;
            match optional_text(table, "type")?.as_deref() {
                Some("sse") => McpTransport::Sse { url, headers },
                _ => McpTransport::Http { url, headers },
            }
        }
        None => {
            let mut command = match table.get("command")? {
                LuaValue::String(program) => vec![program.to_string_lossy()],
                _ => texts(table, "command")?,
            };
            command.extend(texts(table, "args")?);
            let mut command = command.into_iter();
            let Some(program) = command.next() else {
                return Err(LuaError::runtime(format!("`{name}` has no `command` and no `url`")));
            };
            let (args, env) = (command.collect(), pairs(table, "env")?);
            McpTransport::Stdio { command: program, args, env }
        }
    };
    Ok(McpServer { name, transport })
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
            match resource.get::<Option<LuaString>>("blob")? {
                Some(data) => Content::Blob { uri, data: data.to_string_lossy(), mime },
                None => Content::Resource { uri, text: text(&resource, "text")?, mime },
            }
        }
        other => return Err(LuaError::runtime(format!("there is no content of type `{other}`"))),
    })
}
