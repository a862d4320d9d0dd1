--- Finds and loads the native library, and carries its types. Nothing else calls `loadlib`.

local M = {}

-- The tables that cross are described in `acp/native/types.lua`.

---@class (exact) acp.StartOpts
---@field log_dir string
---@field log_level string
---@field programs string where acp-guard and acp-tutor are
---@field wake fun() called on the main loop when there is something to drain

---@alias acp.LinesFn fun(
---  buf: integer, tick: integer, first: integer, last: integer, by: integer, lines?: string[])

---@class (exact) acp.Native
---@field abi integer
---@field version string
---@field groups string[] highlight groups that `paint` refers to
---@field start fun(opts: acp.StartOpts): true?, acp.Err?
---@field send fun(action: acp.Action): acp.Sent?, acp.Err?
---@field lines acp.LinesFn
---@field tick fun(buf: integer, tick: integer)
---@field drain fun(): acp.Batch?
---@field rearm fun()
---@field paint fun(surface: integer, first: integer, last: integer): integer[]
---@field row fun(buf: integer, row: integer): integer, integer, integer, integer, integer, integer
---@field code fun(surface: integer, first: integer, last: integer): acp.Code[]
---@field sessions fun(): acp.SessionInfo[]
---@field transcript fun(session: integer): string?
---@field permissions fun(): acp.Permission[] those that wait for an answer
---@field settings fun(session: integer, known?: integer): acp.Settings?, integer?
---@field queue fun(session: integer): acp.Queued[] prompts that wait, in order
---@field changes fun(session?: integer): acp.ChangedFile[] what waits for the user, by path
---@field form_matches fun(pattern: string, text: string): boolean?, string?
---@field shutdown fun(timeout_ms: integer)

--- The shape of the boundary this Lua code expects.
M.abi = 6

local entry = 'luaopen_acp_nvim'

---@type acp.Native?
local loaded

--- The root of the plugin.
---@return string
function M.root()
  local here = assert(debug.getinfo(1, 'S'))
  return vim.fn.fnamemodify(here.source:sub(2), ':p:h:h:h')
end

--- The library's name in lib/, on every system: loading goes by path, whatever its ending.
M.file_name = 'acp_nvim.so'

--- Where the library is, or is expected.
---@return string
function M.path()
  local given = vim.env.ACP_NVIM_LIB
  if given and given ~= '' then
    return vim.fn.fnamemodify(given, ':p')
  end
  return vim.fs.joinpath(M.root(), 'lib', M.file_name)
end

--- The folder with the programs that belong to the library.
---@return string
function M.programs()
  return vim.fs.dirname(M.path())
end

--- Whether the library is part of this process already.
---@return boolean
function M.is_loaded()
  return loaded ~= nil
end

---@param code string
---@param message string
---@param hint string
---@return nil, acp.Err
local function fail(code, message, hint)
  return nil, { code = code, message = message, hint = hint }
end

---@return acp.Native?, acp.Err?
local function load()
  local path = M.path()
  if not vim.uv.fs_stat(path) then
    local given = vim.env.ACP_NVIM_LIB and (': ' .. path) or ''
    local reason = 'the native library is not built yet' .. given
    return fail('library_missing', reason, 'Run :Acp build (it needs Rust)')
  end
  local open, why = package.loadlib(path, entry)
  if not open then
    local reason = ('the native library does not load: %s'):format(why)
    return fail('library_broken', reason, 'Run :Acp build, then restart Neovim')
  end
  local ok, lib = pcall(open)
  if not ok or type(lib) ~= 'table' then
    local reason = ('the native library does not start: %s'):format(tostring(lib))
    return fail('library_broken', reason, 'Run :Acp build, then restart Neovim')
  end
  if lib.abi ~= M.abi then
    local reason = ('the native library has interface %s, this plugin needs %d'):format(
      tostring(lib.abi),
      M.abi
    )
    return fail('library_abi', reason, 'Run :Acp build, then restart Neovim')
  end
  return lib
end

---@type acp.Err?
local last_err

--- Loads on whatever state it is called; only for `load`.
function M._load()
  loaded, last_err = load()
end

--- The library, loaded at the first call.
---@return acp.Native?, acp.Err?
function M.load()
  if loaded then
    return loaded
  end
  local thread, is_main = coroutine.running()
  if thread and not is_main then
    -- The library keeps the state it is opened on, and a coroutine's dies with it.
    vim.cmd.lua([[require('acp.native')._load()]])
  else
    M._load()
  end
  return loaded, last_err
end

return M
