//! The bridge: the only code that knows Lua and Neovim's loop.
//!
//! A table of contents: each export converts and forwards. Expected failures are values
//! (`nil, { code, message, hint }`); a panic never crosses.

mod convert;
mod wake;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use mlua::prelude::{
    IntoLua, Lua, LuaError, LuaFunction, LuaResult, LuaString, LuaTable, LuaValue,
};

use crate::runtime::buffers::News;
use crate::runtime::handle::{Action, Handle, Options};
use crate::runtime::outbox::Item;
use crate::session::event::Wish;
use crate::session::form_pattern;
use crate::session::ids::SessionId;
use crate::view::model::{Group, SurfaceId};
use crate::view::painted::Painted;

/// Changes with every change of the shape of what crosses; `lua/acp/native.lua` has the same.
const ABI: u32 = 6;

/// What the main thread owns of us.
#[derive(Default)]
struct Main {
    handle: Option<Handle>,
    /// What each buffer's rows are, kept level with the patches Lua has taken.
    painted: HashMap<SurfaceId, Painted>,
}

thread_local! {
    /// Lua states know only one thread, and so does this.
    static MAIN: RefCell<Main> = RefCell::default();
}

/// Neovim's way in, called by `package.loadlib`.
///
/// # Safety
/// Called by Lua with its own state.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn luaopen_acp_nvim(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the state is Lua's own. A coroutine's state may die before us, and both libraries
    // remember the first one they see; so only the main one is let in.
    unsafe {
        let is_main = mlua::ffi::lua_pushthread(state) == 1;
        mlua::ffi::lua_pop(state, 1);
        if !is_main {
            mlua::ffi::luaL_error(state, c"acp_nvim: load it from the main Lua thread".as_ptr());
        }
        nvim_oxi::lua::init(state.cast());
        nvim_oxi::libuv::init(state.cast());
        mlua::Lua::entrypoint1(state, |lua| guard(|| exports(lua)))
    }
}

fn exports(lua: &Lua) -> LuaResult<LuaTable> {
    // Every string and table would cross in a protected call of its own, for the case that memory
    // runs out; then Neovim ends anyway.
    lua.skip_memory_check(true);
    let table = lua.create_table()?;
    table.set("abi", ABI)?;
    table.set("version", concat!(env!("CARGO_PKG_VERSION"), " (", env!("ACP_COMMIT"), ")"))?;
    table.set("groups", Group::NAMES.to_vec())?;
    table.set("start", lua.create_function(|lua, options| guard(|| start(lua, &options)))?)?;
    table.set("send", lua.create_function(|lua, action| guard(|| send(lua, &action)))?)?;
    table.set("lines", lua.create_function(|_, change| guard(|| lines(change)))?)?;
    table.set("tick", lua.create_function(|_, tick| guard(|| self::tick(tick)))?)?;
    table.set("drain", lua.create_function(|lua, ()| guard(|| drain(lua)))?)?;
    table.set("rearm", lua.create_function(|_, ()| guard(rearm))?)?;
    table.set("paint", lua.create_function(|lua, rows| guard(|| paint(lua, rows)))?)?;
    table.set("row", lua.create_function(|_, at| guard(|| row(at)))?)?;
    table.set("code", lua.create_function(|lua, rows| guard(|| code(lua, rows)))?)?;
    table.set("sessions", lua.create_function(|lua, ()| guard(|| sessions(lua)))?)?;
    table.set("transcript", lua.create_function(|lua, id| guard(|| transcript(lua, id)))?)?;
    table.set("permissions", lua.create_function(|lua, ()| guard(|| permissions(lua)))?)?;
    table.set("changes", lua.create_function(|lua, id| guard(|| changes(lua, id)))?)?;
    table.set("queue", lua.create_function(|lua, id| guard(|| queue(lua, id)))?)?;
    table.set("settings", lua.create_function(|lua, id| guard(|| settings(lua, id)))?)?;
    table.set("form_matches", lua.create_function(|_, it| guard(|| form_matches(it)))?)?;
    table.set("shutdown", lua.create_function(|_, ms| guard(|| shutdown(ms)))?)?;
    Ok(table)
}

/// A value, or nothing and why.
type Answer = LuaResult<(LuaValue, Option<LuaTable>)>;

fn start(lua: &Lua, options: &LuaTable) -> Answer {
    if with_main(|main| main.handle.is_some())? {
        return Ok((LuaValue::Boolean(true), None));
    }
    let wake: LuaFunction = options.get("wake")?;
    let bell = wake::bell(lua, wake)?;
    let path = |name: &str| convert::text(options, name).map(PathBuf::from);
    let log_level = convert::text(options, "log_level")?;
    let options = Options { log_dir: path("log_dir")?, log_level, programs: path("programs")? };
    match Handle::start(options, bell) {
        Ok(handle) => {
            with_main(|main| main.handle = Some(handle))?;
            Ok((LuaValue::Boolean(true), None))
        }
        Err(error) => convert::refusal(lua, "not_started", &error.to_string()),
    }
}

fn send(lua: &Lua, action: &LuaTable) -> Answer {
    let kind = convert::text(action, "type")?;
    MAIN.with_borrow_mut(|main| {
        let Some(handle) = &main.handle else {
            return convert::refusal(lua, "not_running", "the core is not running");
        };
        if kind == "log_level" {
            handle.set_log_level(&convert::text(action, "level")?);
            return Ok((LuaValue::Boolean(true), None));
        }
        let action = match convert::action(&kind, action, || handle.new_session()) {
            Ok(action) => action,
            Err(error) => return convert::refusal(lua, "bad_action", &convert::plain(&error)),
        };
        let answer = match &action {
            Action::Wish(Wish::Open { session, .. }) => session.0.into_lua(lua)?,
            _ => LuaValue::Boolean(true),
        };
        if let Action::Hide(surface) | Action::Show(_, surface) | Action::Detail(surface, _) =
            &action
        {
            main.painted.remove(surface);
        }
        match handle.send(action) {
            true => Ok((answer, None)),
            false => convert::refusal(lua, "not_running", "the core has ended"),
        }
    })
}

/// Called for each key that is typed into a buffer: no table but that of the lines.
fn lines(
    (buffer, tick, first, last, author, lines): (u64, u64, usize, usize, i64, Option<LuaTable>),
) -> LuaResult<()> {
    let action = convert::lines_changed((buffer, tick), first..last, (lines.as_ref(), author));
    with_main(|main| main.handle.as_ref().map(|it| it.send(action))).map(|_| ())
}

fn tick((buffer, tick): (u64, u64)) -> LuaResult<()> {
    let action = Action::Buffer(News::Tick(buffer, tick));
    with_main(|main| main.handle.as_ref().map(|it| it.send(action))).map(|_| ())
}

fn drain(lua: &Lua) -> LuaResult<Option<LuaTable>> {
    MAIN.with_borrow_mut(|main| {
        let Some(items) = main.handle.as_ref().and_then(Handle::drain) else { return Ok(None) };
        for item in &items {
            if let Item::Patch(surface, patch) = item {
                main.painted.entry(*surface).or_default().apply(patch);
            }
        }
        convert::batch(lua, items).map(Some)
    })
}

fn rearm() -> LuaResult<()> {
    with_main(|main| main.handle.as_ref().map(Handle::rearm)).map(|_| ())
}

fn paint(lua: &Lua, (surface, first, last): (u64, usize, usize)) -> LuaResult<LuaTable> {
    MAIN.with_borrow(|main| {
        let spans = main.painted.get(&SurfaceId(surface)).into_iter();
        let flat = spans
            .flat_map(|painted| painted.spans(first, last))
            .flat_map(|span| [span.row, span.start, span.end, span.group as usize + 1]);
        lua.create_sequence_from(flat)
    })
}

/// Integers and no table: this is asked for every row of a diff that is drawn.
fn row((surface, row): (u64, usize)) -> LuaResult<(u32, u32, u32, u32, u8, u32)> {
    MAIN.with_borrow(|main| {
        let row = main.painted.get(&SurfaceId(surface)).map(|it| it.row(row)).unwrap_or_default();
        Ok((row.owner, row.code, row.old, row.new, row.sign as u8, row.part))
    })
}

fn code(lua: &Lua, (surface, first, last): (u64, usize, usize)) -> LuaResult<LuaTable> {
    MAIN.with_borrow(|main| {
        let code = main.painted.get(&SurfaceId(surface)).map(|it| it.code(first, last));
        convert::code(lua, code.unwrap_or_default())
    })
}

fn sessions(lua: &Lua) -> LuaResult<LuaTable> {
    let summaries = with_main(|main| main.handle.as_ref().map(|it| it.published().summaries()))?;
    let tables = summaries.unwrap_or_default().into_iter().map(|it| convert::summary(lua, &it));
    lua.create_sequence_from(tables.collect::<LuaResult<Vec<_>>>()?)
}

fn transcript(lua: &Lua, session: u64) -> LuaResult<LuaValue> {
    let session = SessionId(session);
    let text = with_main(|main| main.handle.as_ref()?.published().transcript(session))?;
    text.map_or(Ok(LuaValue::Nil), |text| lua.create_string(text).map(LuaValue::String))
}

fn permissions(lua: &Lua) -> LuaResult<LuaTable> {
    let open = with_main(|main| main.handle.as_ref().map(|it| it.published().open_permissions()))?;
    let tables = open.unwrap_or_default().into_iter().map(|it| convert::permission(lua, it));
    lua.create_sequence_from(tables.collect::<LuaResult<Vec<_>>>()?)
}

fn changes(lua: &Lua, session: Option<u64>) -> LuaResult<LuaTable> {
    let session = session.map(SessionId);
    let changes = with_main(|main| main.handle.as_ref().map(|it| it.published().changes(session)))?;
    convert::changes(lua, changes.unwrap_or_default())
}

fn queue(lua: &Lua, session: u64) -> LuaResult<LuaTable> {
    let session = SessionId(session);
    let queue = with_main(|main| main.handle.as_ref().map(|it| it.published().queue(session)))?;
    convert::queue(lua, queue.unwrap_or_default())
}

/// What a session can be set to, unless it is still what the caller has, and which revision that is.
fn settings(
    lua: &Lua,
    (session, known): (u64, Option<u64>),
) -> LuaResult<(Option<LuaTable>, Option<u64>)> {
    let session = SessionId(session);
    match with_main(|main| main.handle.as_ref()?.published().settings(session))? {
        Some(info) if known == Some(info.revision) => Ok((None, known)),
        Some(info) => Ok((Some(convert::settings(lua, &info)?), Some(info.revision))),
        None => Ok((None, None)),
    }
}

/// Whether a text fits a pattern of a form; nothing and why where that can't be told.
fn form_matches(
    (pattern, text): (LuaString, LuaString),
) -> LuaResult<(Option<bool>, Option<String>)> {
    Ok(match form_pattern::matches(&pattern.to_string_lossy(), &text.to_string_lossy()) {
        Ok(fits) => (Some(fits), None),
        Err(why) => (None, Some(why)),
    })
}

fn shutdown(milliseconds: u64) -> LuaResult<()> {
    if let Some(handle) = with_main(|main| main.handle.take())? {
        handle.shutdown(Duration::from_millis(milliseconds));
    }
    Ok(())
}

/// Lua may call us while we call it; then there is a second borrow, and an error rather than a
/// panic.
fn with_main<T>(work: impl FnOnce(&mut Main) -> T) -> LuaResult<T> {
    MAIN.with(|main| match main.try_borrow_mut() {
        Ok(mut main) => Ok(work(&mut main)),
        Err(_) => Err(LuaError::runtime("acp_nvim was entered twice")),
    })
}

/// Turns a panic into a Lua error; the panic itself is in the log.
fn guard<T>(work: impl FnOnce() -> LuaResult<T>) -> LuaResult<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(LuaError::runtime("a bug in acp.nvim: see :Acp log")))
}
