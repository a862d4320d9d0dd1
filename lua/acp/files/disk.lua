--- Files that agents change on the disk by themselves, as most do: their buffers follow, with the
--- user's unsaved changes kept. Only while an agent works; otherwise all is as Neovim does it.

local as_read = require('acp.files.as_read')
local clean = require('acp.files.clean')
local client = require('acp.client')
local expected = require('acp.files.expected')
local find = require('acp.files.find')
local job = require('acp.files.job')
local moved = require('acp.files.moved')
local reload = require('acp.files.reload')
local watch = require('acp.files.watch')

local M = {}

--- How long after a turn a change may still be the agent's, in milliseconds.
local afterwards = 2000

---@type table<integer, true> sessions with a turn that runs
local running = {}
---@type table<integer, acp.MergeJob> by buffer
local open = {}
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
    clean.expect(buf, plan.is_theirs and vim.api.nvim_buf_get_changedtick(buf) or nil)
    watch.in_step(buf, path, plan.stamp)
  end
  reload.look(buf, active)
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
  reload.look(buf, active)
end

--- The file was deleted, and the user does not know yet.
---@param buf integer
---@param session integer
local function mourn(buf, session)
  -- What the user wishes need not be told.
  local known = watch.is_gone(buf) or expected.author(vim.api.nvim_buf_get_name(buf)) == 0
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
    require('acp.notify').show(shown(path), 'warn', fate)
  end
  moved.find(path, session, say)
end

--- The file of a buffer is about to be deleted, as the user wishes: nobody need be told.
---@param buf integer
function M.goes(buf)
  watch.gone(buf)
end

--- The file of a buffer was written or deleted as the user wishes: nothing is new to the buffer.
---@param buf integer
function M.rewritten(buf)
  local path = watch.path(buf)
  if path and not watch.stamp(path) then
    M.outlives(buf)
  elseif path and watch.is_behind(buf) then
    M.sync(buf, 0)
  end
end

--- What a buffer is about to follow is what the user wants, and no agent's change.
---@param buf integer
function M.own(buf)
  if open[buf] then
    open[buf].author = 0
  end
end

--- A buffer has been brought into step with its file.
---@param it acp.MergeJob
---@param plan acp.Merged
---@param session integer
local function followed(it, plan, session)
  local buf, path = it.buf, it.path
  local same = plan.is_theirs and watch.has_time(buf, plan.stamp)
  if #plan.changes > 0 or not same then
    follow(buf, path, plan)
    -- What nobody did to the buffer is no news.
    if #plan.changes > 0 or session > 0 then
      tell(buf, 'disk', session)
    end
  elseif plan.stamp then
    -- Nothing but who owns it, or who may read it.
    watch.in_step(buf, path, plan.stamp)
  end
  if it.edited and watch.is_behind(buf) then
    -- What was put together by hand was put together with what the file was then.
    M.sync(buf, session)
  end
end

--- Brings a buffer into step with its file.
---@param buf integer
---@param session integer
function M.sync(buf, session)
  local path = watch.path(buf)
  if path and open[buf] then
    -- What was asked about half a file may be no question when it is whole.
    return require('acp.files.conflict').look_again(open[buf], watch.stamp(path))
  elseif not path or find.protected(buf) then
    return
  end
  session = expected.author(path) or session
  local it ---@type acp.MergeJob
  it = {
    buf = buf,
    path = path,
    author = session,
    clash = function(_, plan)
      require('acp.files.conflict').ask(it, plan, session, function() end)
    end,
    done = function(plan, refused)
      open[buf] = nil
      if not vim.api.nvim_buf_is_loaded(buf) then
        return
      elseif plan then
        followed(it, plan, session)
      elseif refused == 'gone' then
        mourn(buf, session)
        if watch.is_behind(buf) then
          -- Somebody has brought it back meanwhile.
          M.sync(buf, session)
        end
      elseif watch.strayed(buf) then
        local fate = ' has become a link; its buffer does not follow'
        require('acp.notify').once('strayed' .. path, shown(path) .. fate, 'warn')
      end
    end,
  }
  open[buf] = it
  job.start(it)
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
  reload.hold()
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
    reload.release()
  end, afterwards)
end

--- What a write of the user settles: the file is what the buffer is.
---@param buf integer
function M.written(buf)
  clean.forget(buf)
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
      reload.hold()
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
