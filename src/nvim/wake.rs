//! The wake-up: from the core's thread to a safe moment of Neovim's main loop.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mlua::prelude::{Lua, LuaError, LuaFunction, LuaResult, LuaTable};
use nvim_oxi::libuv::AsyncHandle;

use crate::runtime::bell::Bell;

/// A bell that makes Neovim call `wake`. libuv calls us in the middle of its loop, where the
/// editor must not be touched: all we do there is `vim.schedule`.
pub(super) fn bell(lua: &Lua, wake: LuaFunction) -> LuaResult<Bell> {
    let schedule: LuaFunction = lua.globals().get::<LuaTable>("vim")?.get("schedule")?;
    let handle = AsyncHandle::new(move || {
        // A panic here would abort Neovim.
        let called = catch_unwind(AssertUnwindSafe(|| schedule.call::<()>(wake.clone())));
        if let Ok(Err(error)) = called {
            tracing::error!(%error, "vim.schedule failed");
        }
        Ok::<(), Infallible>(())
    });
    let handle = handle.map_err(LuaError::external)?;
    Ok(Bell::new(move || {
        if let Err(error) = handle.send() {
            tracing::error!(%error, "Neovim could not be woken");
        }
    }))
}
