--- The pump between the native library and Neovim: wake, drain, dispatch. The only caller of
--- `native.drain`, and the place where work is put off to the main loop.

local M = {}

--- How long one wake-up may keep the main loop, in nanoseconds.
local budget = 4e6

--- Milliseconds after the start of the core, and between two, in which those are loaded who have
--- nothing to do yet.
local pause, step = 100, 10

--- Modules that handle effects. For one effect they are called in this order. Those that have
--- nothing to know before certain effects come are loaded with the first of these, or in a pause.
---@type { [1]: string, on?: string[] }[]
local listeners = {
  { 'ui.look' },
  { 'options' },
  { 'files' },
  { 'files.job', on = { 'ahead', 'merged' } },
  { 'files.disk', on = { 'turn_started', 'turn_finished', 'worked', 'disk_changed' } },
  { 'review', on = { 'hunks', 'taken_up', 'rejected' } },
  { 'rewind', on = { 'recording', 'turns', 'rewound' } },
  { 'ui.winbar' },
  { 'ui.detail', on = { 'detail' } },
  { 'ui.attachment', on = { 'saved' } },
  { 'ui.plan', on = { 'settings' } },
  { 'follow', on = { 'touched' } },
  { 'ui.queue', on = { 'queue' } },
  { 'ui.prompt' },
  { 'failures', on = { 'failed', 'no_answer', 'notice', 'notify' } },
  { 'callbacks', on = { 'ready', 'turn_finished', 'ask_done', 'probed' } },
  { 'events', on = { 'ready', 'turn_started', 'turn_finished', 'agent_exited' } },
  { 'rules' },
  { 'permission', on = { 'asked' } },
  { 'elicitation', on = { 'asked' } },
  { 'login', on = { 'login_required', 'login_in_terminal', 'open_url' } },
}

---@type acp.Native?
local native
local closing = false

---@type table<integer, acp.Effect> drained but not yet handled, in order
local effects = {}
--- The place of the first of them, and of the next one to come.
local head, tail = 1, 1
---@type table<string, { place: number, fn: fun(effect: any) }[]> by type, sorted
local subscribers = {}
---@type table<integer, true> which of the listeners do listen
local attached = {}
--- The place in their order of who subscribes now; after all of them for anybody else.
local place = math.huge

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
  -- A copy: the others may be in the middle of being called.
  local list = vim.list_extend({}, subscribers[type] or {})
  local at = #list + 1
  while at > 1 and list[at - 1].place > place do
    at = at - 1
  end
  table.insert(list, at, { place = place, fn = fn })
  subscribers[type] = list
end

--- Lets one of the listeners listen.
---@param i integer its place
---@param name string
local function attach_one(i, name)
  attached[i], place = true, i
  M.guard(('the start of "%s"'):format(name), function()
    require('acp.' .. name).attach()
  end)
  place = math.huge
end

--- Whether a listener has to listen now. Whoever was loaded by somebody else may have something to
--- lose by any effect.
---@param listener { [1]: string, on?: string[] }
---@param type? string
---@return boolean
local function is_due(listener, type)
  return not listener.on
    or package.loaded['acp.' .. listener[1]] ~= nil
    or type ~= nil and vim.list_contains(listener.on, type)
end

--- Lets those listen who have to from the beginning, or now that such an effect has come.
---@param type? string
local function attach(type)
  for i, listener in ipairs(listeners) do
    if not attached[i] and is_due(listener, type) then
      attach_one(i, listener[1])
    end
  end
end

--- Lets the others listen, one at a time: what the first turn needs is there when it begins.
local function attach_others()
  for i, listener in ipairs(listeners) do
    if not attached[i] and not closing then
      attach_one(i, listener[1])
      vim.defer_fn(attach_others, step)
      return
    end
  end
end

---@param batch acp.Effect[]
local function enqueue(batch)
  for _, effect in ipairs(batch) do
    effects[tail] = effect
    tail = tail + 1
  end
end

---@return acp.Effect?
local function dequeue()
  local effect = effects[head]
  if effect then
    effects[head] = nil
    head = head + 1
  end
  return effect
end

--- Handles queued effects in order, one at least, until the deadline. A handler may wait and so let
--- another wake-up in: that one continues with this same queue, and the order holds.
---@param lib acp.Native
---@param deadline number
---@return boolean done whether none is left
local function dispatch(lib, deadline)
  local effect = dequeue()
  if effect and effects[head] then
    lib.rearm()
  end
  while effect do
    attach(effect.type)
    for _, subscriber in ipairs(subscribers[effect.type] or {}) do
      M.guard(('the handler of "%s"'):format(effect.type), subscriber.fn, effect)
    end
    if vim.uv.hrtime() > deadline then
      break
    end
    effect = dequeue()
  end
  return effects[head] == nil
end

--- Takes what the core has for us: patches are applied, effects are queued.
---@param lib acp.Native
---@param deadline number
---@return boolean done whether there is nothing more to take
local function drain(lib, deadline)
  local surface = require('acp.ui.surface')
  local batch ---@type acp.Batch?
  repeat
    batch = nil
    M.guard('drain', function()
      batch = lib.drain()
    end)
    if batch then
      M.guard('patches', surface.apply, batch.patches or {})
      enqueue(batch.effects or {})
    end
  until not batch or vim.uv.hrtime() > deadline
  M.guard('the end of a drain', surface.settle)
  return not batch
end

--- Does what there is to do, for as long as the budget allows; the rest has to wait for the next
--- wake-up, so that the user's keys come in between. Nothing more is taken from the core while
--- effects wait: there it is coalesced.
local function pump()
  if closing or not native then
    return
  end
  local deadline = vim.uv.hrtime() + budget
  local done = dispatch(native, deadline)
    and vim.uv.hrtime() <= deadline
    and drain(native, deadline)
    and vim.uv.hrtime() <= deadline
    and dispatch(native, deadline)
  if not done and native then
    native.rearm()
  end
end

local function leave()
  closing = true
  if native then
    -- It takes less, unless the disk is too busy to write down what is under review.
    native.shutdown(1500)
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
  attach()
  vim.defer_fn(attach_others, pause)
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
