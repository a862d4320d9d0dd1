--- The pump between the native library and Neovim: wake, drain, dispatch. The only caller of
--- `native.drain`, and the place where work is put off to the main loop.

local M = {}

--- How long one drain may keep the main loop, in nanoseconds.
local budget = 4e6

--- Modules that handle effects. For one effect they are called in this order.
local listeners = {
  'ui.look',
  'files',
  'review',
  'rewind',
  'ui.winbar',
  'ui.detail',
  'ui.attachment',
  'ui.plan',
  'follow',
  'ui.prompt',
  'failures',
  'callbacks',
  'events',
  'rules',
  'permission',
  'elicitation',
  'login',
}

---@type acp.Native?
local native
local closing = false

---@type acp.Effect[] drained but not yet handled, in order
local effects = {}
---@type table<string, fun(effect: any)[]>
local subscribers = {}

--- Runs `fn`; an error in it is told once per `what` and stops nothing else.
---@param what string
---@param fn function
---@param ... any
---@return boolean ok
function M.guard(what, fn, ...)
  local ok, err = xpcall(fn, debug.traceback, ...)
  if not ok then
    local key = what .. tostring(err):match('^[^\n]*')
    require('acp.notify').once(key, ('acp: error in %s: %s'):format(what, err), 'error')
  end
  return ok
end

--- Calls `fn` from the main loop, soon, unless Neovim is on its way out by then.
---@param fn fun()
function M.defer(fn)
  vim.schedule(function()
    if not closing then
      M.guard('a deferred call', fn)
    end
  end)
end

--- Calls `fn` for every effect of this type.
---@param type string
---@param fn fun(effect: any) it gets the class that belongs to the type
function M.subscribe(type, fn)
  subscribers[type] = subscribers[type] or {}
  table.insert(subscribers[type], fn)
end

--- Handles queued effects in order. A handler may wait and so let another drain in: that one goes
--- on with this same queue, and the order holds.
local function dispatch()
  while effects[1] do
    local effect = table.remove(effects, 1)
    for _, fn in ipairs(subscribers[effect.type] or {}) do
      M.guard(('the handler of "%s"'):format(effect.type), fn, effect)
    end
  end
end

--- Takes what the core has for us, for as long as the budget allows.
local function pump()
  if closing or not native then
    return
  end
  local surface = require('acp.ui.surface')
  local deadline = vim.uv.hrtime() + budget
  repeat
    local batch
    local ok = M.guard('drain', function()
      batch = native.drain()
    end)
    if batch then
      M.guard('patches', surface.apply, batch.patches or {})
      vim.list_extend(effects, batch.effects or {})
    end
    if not ok or not batch then
      break
    end
    if vim.uv.hrtime() > deadline then
      native.rearm()
      break
    end
  until false
  M.guard('the end of a drain', surface.settle)
  dispatch()
end

local function leave()
  closing = true
  if native then
    native.shutdown(200)
  end
end

---@param lib acp.Native
---@return acp.Native?, acp.Err?
local function begin(lib)
  local started, err = lib.start({
    log_dir = M.log_dir(),
    log_level = require('acp.config').get().log.level,
    programs = require('acp.native').programs(),
    wake = pump,
  })
  if not started then
    return nil, err
  end
  native = lib
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: end the agents',
    callback = leave,
  })
  for _, listener in ipairs(listeners) do
    require('acp.' .. listener).attach()
  end
  return native
end

--- The running core; started at the first call.
---@return acp.Native?, acp.Err?
function M.start()
  if native then
    return native
  end
  local lib, err = require('acp.native').load()
  if not lib then
    return nil, err
  end
  return begin(lib)
end

--- The core if it runs already.
---@return acp.Native?
function M.running()
  return native
end

--- Hands an action to the core.
---@param action acp.Action
---@return acp.Sent?, acp.Err?
function M.send(action)
  local lib, err = M.start()
  if not lib then
    return nil, err
  end
  return lib.send(action)
end

--- Where the core writes its log.
---@return string
function M.log_dir()
  return vim.fn.stdpath('log') --[[@as string]]
end

return M
