--- Builds the native library and puts it where it is loaded from. `build.lua` runs this file by
--- path, so it names no other module of the plugin but the one beside it.

local M = {}

--- Longer than any build should take, so that a hanging one does not hang a plugin manager.
local timeout_ms = 30 * 60 * 1000

---@class (exact) acp.Build
---@field lines string[] progress not yet shown
---@field done boolean
---@field err? string
---@field result? string

---@param root string
---@return acp.Build
local function begin(root)
  ---@type acp.Build
  local build = { lines = {}, done = false }
  local cargo = dofile(root .. '/lua/acp/install/cargo.lua')
  cargo.build(root, function(line)
    table.insert(build.lines, line)
  end, function(err, files)
    local result
    if not err then
      local ok, failure = pcall(cargo.install, root, files)
      err = not ok and tostring(failure) or nil
      result = 'acp.nvim: the native library is built'
    end
    build.done, build.err, build.result = true, err, result
  end)
  return build
end

--- Whether this Neovim runs the library that was just replaced.
---@return boolean
local function in_use()
  local native = package.loaded['acp.native'] ---@type any
  return native ~= nil and native.is_loaded()
end

---@param build acp.Build
---@return string
local function outcome(build)
  if build.err then
    return build.err
  end
  return build.result .. (in_use() and ': restart Neovim to use it' or '')
end

---@param build acp.Build
---@param show fun(line: string)
local function flush(build, show)
  local lines = build.lines
  build.lines = {}
  for _, line in ipairs(lines) do
    show(line)
  end
end

--- Inside a coroutine of a plugin manager: progress is yielded, and between two looks the manager's
--- own sleep is used where it has one, as resuming us at every turn of its loop burns a processor.
---@async
---@param build acp.Build
local function run_yielding(build)
  local async = package.loaded['lazy.async']
  local sleep = async and async.running and async.running() and async.sleep
  while not build.done do
    flush(build, coroutine.yield)
    if sleep then
      sleep(100)
    else
      coroutine.yield()
    end
  end
  flush(build, coroutine.yield)
end

--- The messages of the plugin. A plugin manager may build before it knows the folder.
---@param root string
---@return table
local function messages(root)
  if not pcall(require, 'acp.notify') then
    vim.opt.runtimepath:append(root)
  end
  return require('acp.notify')
end

---@param build acp.Build
---@param root string
local function run_blocking(build, root)
  local function show(line)
    if #vim.api.nvim_list_uis() == 0 then
      io.stderr:write(line, '\n')
    else
      messages(root).progress(line)
    end
  end
  vim.wait(timeout_ms, function()
    flush(build, show)
    return build.done
  end, 100)
  flush(build, show)
end

--- Builds and returns when it is done; throws what went wrong, as build hooks report errors.
---@async
---@param root string
function M.run(root)
  local build = begin(root)
  local thread, is_main = coroutine.running()
  if thread and not is_main then
    run_yielding(build)
  else
    run_blocking(build, root)
  end
  if not build.done then
    error('acp.nvim: the build takes too long', 0)
  elseif build.err then
    error(outcome(build), 0)
  end
  if thread and not is_main then
    coroutine.yield(outcome(build))
  elseif #vim.api.nvim_list_uis() == 0 then
    io.stderr:write(outcome(build), '\n')
  else
    messages(root).show(outcome(build))
  end
end

---@type acp.Build?
local running

--- Builds while the user goes on working; tells the end by a notification.
function M.start()
  local notify = require('acp.notify')
  if running then
    return notify.show('A build is running already', 'warn')
  end
  local build = begin(require('acp.native').root())
  running = build
  vim.fn.timer_start(100, function(timer)
    flush(build, notify.progress)
    if build.done then
      vim.fn.timer_stop(timer)
      running = nil
      notify.show(outcome(build), build.err and 'error' or 'info')
    end
  end, { ['repeat'] = -1 })
end

return M
