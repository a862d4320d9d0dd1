--- Files that agents change on the disk by themselves, as most do: their buffers follow, with the
--- user's unsaved changes kept. Only while an agent works; otherwise all is as Neovim does it.

local as_read = require('acp.files.as_read')
local client = require('acp.client')
local expected = require('acp.files.expected')
local find = require('acp.files.find')
local job = require('acp.files.job')
local moved = require('acp.files.moved')
local watch = require('acp.files.watch')

local M = {}

--- How long after a turn a change may still be the agent's, in milliseconds.
local afterwards = 2000

---@type table<integer, true> sessions with a turn that runs
local running = {}
---@type table<integer, acp.MergeJob> by buffer
local open = {}
---@type table<integer, true> buffers that would reload by themselves, and do not now
local quiet = {}
local active = false
--- How many turns have ended: what waits after one is for nothing after the next.
local turns_ended = 0

---@param buf integer
---@param kind 'disk'|'deleted'
---@param session integer
local function tell(buf, kind, session)
  require('acp.events').emit('AcpFileChanged', {
    session = session,
    path = vim.api.nvim_buf_get_name(buf),
    buf = buf,
    kind = kind,
  })
end

--- A buffer that would be read again as a whole loses its marks.
---@param buf integer
local function hush(buf)
  local own = vim.bo[buf].autoread --[[@as boolean?]]
  if own or own == nil and vim.go.autoread then
    quiet[buf] = true
    vim.bo[buf].autoread = false
  end
end

local function no_reload()
  for _, buf in pairs(watch.buffers()) do
    hush(buf)
  end
end

---@param buf integer
local function reload_again(buf)
  quiet[buf] = nil
  if vim.api.nvim_buf_is_loaded(buf) then
    vim.api.nvim_buf_call(buf, function()
      vim.cmd(vim.go.autoread and 'set autoread<' or 'setlocal autoread')
    end)
  end
end

--- Neovim remembers when it last looked at the file. It looks now, and says nothing.
---@param buf integer
local function look(buf)
  local group
  if active then
    no_reload()
  else
    -- It would read the file again or ask: no agent works, but what was rejected is undone now.
    hush(buf)
    group = vim.api.nvim_create_augroup('acp.files.look', { clear = true })
    vim.api.nvim_create_autocmd('FileChangedShell', {
      group = group,
      buffer = buf,
      desc = 'acp: the buffer follows by itself',
      callback = function()
        vim.v.fcs_choice = ''
      end,
    })
  end
  vim.cmd.checktime({ args = { buf }, mods = { silent = true } })
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    if quiet[buf] then
      reload_again(buf)
    end
  end
end

---@type table<integer, integer> the state of each buffer that is what its file is; 0 if none is
local in_file = {}
---@type table<integer, boolean> buffers whose changes are told
local listening = {}

--- Undo brings back whether the buffer was modified. What was not once is now, as the file has
--- changed, until it is saved.
---@param buf integer
---@param clean? integer the state of the buffer that is what the file is
local function expect_undo(buf, clean)
  in_file[buf] = clean or 0
  if listening[buf] then
    return
  end
  local function check()
    local state = in_file[buf]
    if state and vim.api.nvim_buf_is_loaded(buf) and not vim.bo[buf].modified then
      vim.bo[buf].modified = vim.api.nvim_buf_get_changedtick(buf) ~= state
    end
  end
  local function forget()
    in_file[buf], listening[buf] = nil, nil
  end
  -- An autocommand would tell of the current buffer only.
  listening[buf] = vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      if not in_file[buf] then
        forget()
        return true
      end
      client.defer(check)
    end,
    on_reload = forget,
    on_detach = forget,
  })
end

---@param buf integer
---@param path string
---@param plan acp.Merged
local function follow(buf, path, plan)
  if plan.is_theirs then
    vim.bo[buf].modified = false
  elseif not vim.bo[buf].modified then
    vim.bo[buf].modified = true
  end
  if plan.stamp then
    as_read.take(buf, plan.stamp)
    expect_undo(buf, plan.is_theirs and vim.api.nvim_buf_get_changedtick(buf) or nil)
    watch.in_step(buf, path, plan.stamp)
  end
  look(buf)
end

---@param path string
---@return string
local function shown(path)
  return require('acp.text').one_line(vim.fn.fnamemodify(path, ':~:.'))
end

--- The file is no more: what is in the buffer is all there is.
---@param buf integer
function M.outlives(buf)
  watch.gone(buf)
  vim.bo[buf].modified = true
  look(buf)
end

--- The file was deleted, and the user does not know yet.
---@param buf integer
---@param session integer
local function mourn(buf, session)
  local known = watch.is_gone(buf)
  M.outlives(buf)
  if known then
    return
  end
  tell(buf, 'deleted', session)
  local path = vim.api.nvim_buf_get_name(buf)
  ---@param to? string
  local function say(to)
    local fate = to and (' was moved to %s; its buffer stays'):format(shown(to))
      or ' was deleted; its buffer stays'
    require('acp.notify').show(require('acp.notify').fitting(shown(path), fate), 'warn')
  end
  moved.find(path, session, say)
end

--- The file of a buffer is about to be deleted, as the user wishes: nobody need be told.
---@param buf integer
function M.goes(buf)
  watch.gone(buf)
end

--- What a buffer is about to follow is what the user wants, and no agent's change.
---@param buf integer
function M.own(buf)
  if open[buf] then
    open[buf].author = 0
  end
end

--- Brings a buffer into step with its file.
---@param buf integer
---@param session integer
function M.sync(buf, session)
  local path = watch.path(buf)
  if not path or open[buf] or find.protected(buf) then
    return
  end
  session = expected.author(path) or session
  open[buf] = {
    buf = buf,
    path = path,
    author = session,
    clash = function(it, plan)
      require('acp.files.conflict').ask(it, plan, session, function() end)
    end,
    done = function(plan, refused)
      open[buf] = nil
      if not vim.api.nvim_buf_is_loaded(buf) then
        return
      elseif plan then
        local same = plan.is_theirs and watch.has_time(buf, plan.stamp)
        if #plan.changes > 0 or not same then
          follow(buf, path, plan)
          tell(buf, 'disk', session)
        elseif plan.stamp then
          -- Nothing but who owns it, or who may read it.
          watch.in_step(buf, path, plan.stamp)
        end
      elseif refused == 'gone' then
        mourn(buf, session)
        if watch.is_behind(buf) then
          -- Somebody has brought it back meanwhile.
          M.sync(buf, session)
        end
      end
    end,
  }
  job.start(open[buf])
end

--- Looks whether files of buffers have changed.
---@param session integer
local function check(session)
  local paths = vim.tbl_keys(watch.buffers())
  if #paths > 0 then
    client.send({ type = 'check', tag = session, paths = paths })
  end
end

---@param effect acp.DiskChanged
local function changed(effect)
  if not active then
    return
  end
  local buffers = watch.buffers()
  for _, path in ipairs(effect.paths) do
    local buf = buffers[path]
    -- It may have been looked at twice before it was followed once.
    if buf and (effect.sure or watch.is_behind(buf)) then
      M.sync(buf, effect.tag)
    end
  end
end

--- Neovim has noticed by itself.
---@param event { buf: integer }
local function noticed(event)
  local buf = event.buf
  if not watch.path(buf) or find.protected(buf) then
    vim.v.fcs_choice = 'ask'
    return
  end
  vim.v.fcs_choice = ''
  if not open[buf] and watch.is_behind(buf) then
    local session = next(running) or 0
    client.defer(function()
      M.sync(buf, session)
    end)
  end
end

local function begin()
  watch.track_all()
  if not active then
    active = true
    vim.api.nvim_create_autocmd('FileChangedShell', {
      group = vim.api.nvim_create_augroup('acp.files.shell', { clear = true }),
      desc = 'acp: an agent has changed the file',
      callback = noticed,
    })
  end
  no_reload()
end

--- Leaves files to Neovim again, unless another agent works or something is not settled yet.
local function end_soon()
  turns_ended = turns_ended + 1
  local last = turns_ended
  vim.defer_fn(function()
    if next(running) or not active or last ~= turns_ended then
      return
    elseif next(open) then
      return end_soon()
    end
    active = false
    vim.api.nvim_create_augroup('acp.files.shell', { clear = true })
    for buf in pairs(quiet) do
      reload_again(buf)
    end
  end, afterwards)
end

--- What a write of the user settles: the file is what the buffer is.
---@param buf integer
function M.written(buf)
  in_file[buf] = nil
  as_read.forget(buf)
  local it = open[buf]
  if it then
    open[buf] = nil
    require('acp.files.conflict').drop(it)
    job.drop(it)
  end
end

--- The file was written from its buffer, and no autocommand told.
---@param buf integer
function M.saved(buf)
  M.written(buf)
  watch.track(buf, true)
end

--- Starts listening to the core and to Neovim.
function M.attach()
  watch.attach()
  moved.attach()
  ---@param effect acp.TurnStarted
  client.subscribe('turn_started', function(effect)
    running[effect.session] = true
    begin()
  end)
  ---@param effect acp.TurnFinished
  client.subscribe('turn_finished', function(effect)
    if running[effect.session] then
      running[effect.session] = nil
      check(effect.session)
      end_soon()
    end
  end)
  ---@param effect acp.SessionEffect
  client.subscribe('worked', function(effect)
    if active then
      no_reload()
      check(effect.session)
    end
  end)
  client.subscribe('disk_changed', changed)
  vim.api.nvim_create_autocmd('BufWritePost', {
    group = vim.api.nvim_create_augroup('acp.files.disk', { clear = true }),
    desc = 'acp: the file is what the buffer is',
    callback = function(event)
      M.written(event.buf)
    end,
  })
end

return M
