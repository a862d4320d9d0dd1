--- Review: changes of agents wait in their files until the user has accepted or rejected them. Here
--- is what the core tells of them, and what is done about the one that is meant.

local client = require('acp.client')
local diff = require('acp.review.diff')
local inline = require('acp.review.inline')
local keys = require('acp.review.keys')
local notify = require('acp.notify')
local store = require('acp.review.store')
local verbs = require('acp.review.verbs')

local M = {}

---@type table<integer, integer> autocommand groups by buffer
local groups = {}

---@param buf integer
local function detach(buf)
  if groups[buf] then
    pcall(vim.api.nvim_del_augroup_by_id, groups[buf])
    groups[buf] = nil
  end
  require('acp.review.drift').forget(buf)
  keys.remove(buf)
end

---@param buf integer
local function unloaded(buf)
  local file = store.of_buf(buf)
  if file then
    store.leave(file)
  end
  inline.clear(buf)
  detach(buf)
end

--- What a buffer needs while there is something to review in it.
---@param buf integer
local function attach(buf)
  if groups[buf] then
    return
  end
  local group = vim.api.nvim_create_augroup(('acp.review.%d'):format(buf), { clear = true })
  groups[buf] = group
  local hint = require('acp.review.hint')
  ---@param events vim.api.keyset.events[]
  ---@param desc string
  ---@param callback fun()
  local function on(events, desc, callback)
    local opts = { group = group, buffer = buf, desc = desc, callback = callback }
    vim.api.nvim_create_autocmd(events, opts)
  end
  local moved = { 'CursorMoved', 'TextChanged', 'InsertLeave', 'BufEnter', 'WinEnter' }
  local line = 0
  on(moved, 'acp: what to do with a change', function()
    local now = vim.api.nvim_win_get_cursor(0)[1]
    if now ~= line then
      line = now
      inline.arrived(buf, now)
    end
    hint.update()
  end)
  on({ 'BufLeave', 'WinLeave', 'InsertEnter' }, 'acp: no hint elsewhere', hint.clear)
  -- It tells of one of the windows only.
  vim.api.nvim_create_autocmd({ 'WinResized', 'WinScrolled' }, {
    group = group,
    desc = 'acp: as many words as there is room for',
    callback = function(event)
      if vim.api.nvim_get_current_buf() == buf then
        hint.update(event.event == 'WinResized')
      end
    end,
  })
  on({ 'BufWinEnter' }, 'acp: room for removed lines', function()
    inline.make_room(buf)
  end)
  on({ 'BufUnload' }, 'acp: marks go with the text', function()
    unloaded(buf)
  end)
  require('acp.review.drift').watch(buf)
  keys.add(buf)
end

local due = false

--- Lists and numbers follow when all has been told.
local function tell_others()
  if due then
    return
  end
  due = true
  client.defer(function()
    due = false
    for _, name in ipairs({ 'quickfix', 'files' }) do
      local module = package.loaded['acp.review.' .. name]
      if module then
        module.refresh()
      end
    end
    require('acp.ui.status').expire()
    require('acp.ui.winbar').refresh()
    for _, detail in ipairs(require('acp.ui.detail').list()) do
      require('acp.ui.detail.window').arrange(detail)
    end
  end)
end

--- Takes in what the core tells of a file.
---@param effect acp.Hunks
function M.told(effect)
  local news = store.take(effect)
  local buf = news.file.buf
  if buf then
    attach(buf)
  end
  if news.left and news.left ~= buf then
    detach(news.left)
  end
  inline.update(news)
  if buf and buf == vim.api.nvim_get_current_buf() or news.left then
    require('acp.review.hint').update(true)
  end
  tell_others()
end

---@return nil, acp.Err
local function nothing_here()
  local key = keys.of('next')
  local hint = store.count() == 0 and 'There is nothing to review'
    or (key and ('%s goes to the next one'):format(key))
    or ':Acp review lists all changes'
  return nil, { code = 'no_change', message = 'there is no change here', hint = hint }
end

--- What the cursor is on, or these rows have.
---@param rows? [integer, integer] first and last, the last one excluded
---@return acp.ReviewTarget?, acp.Err?
function M.here(rows)
  local buf = vim.api.nvim_get_current_buf()
  local file = store.of_buf(buf)
  local at = vim.api.nvim_win_get_cursor(0)[1] - 1
  if not file then
    return nothing_here()
  elseif rows then
    if #store.within(buf, rows[1], rows[2]) == 0 then
      return nothing_here()
    end
    return { path = file.path, rows = rows }
  end
  local place = store.at(buf, at)
  if not place then
    return nothing_here()
  end
  return { path = file.path, ids = { place.hunk.id }, session = place.hunk.session }
end

--- All of the file in this window.
---@return acp.ReviewTarget?, acp.Err?
function M.here_file()
  local file = store.of_buf(vim.api.nvim_get_current_buf())
  if not file then
    return nothing_here()
  end
  return { path = file.path }
end

---@param target? acp.ReviewTarget
---@param err? acp.Err
---@return true?, acp.Err?
function M.accept(target, err)
  if not target then
    return nil, err
  end
  return verbs.accept(target)
end

--- What a target has, to be quoted.
---@param target acp.ReviewTarget
---@return acp.HunkText[]
local function quoted(target)
  local file = store.file(target.path --[[@as string]])
  if not file then
    return {}
  end
  local ids = target.ids
  if target.rows and file.buf then
    ids = vim.tbl_map(function(place)
      return place.hunk.id
    end, store.within(file.buf, target.rows[1], target.rows[2]))
  end
  return diff.of(file, ids)
end

--- Rejects what is in these files; with a reason the agents are told when all is done.
---@param targets acp.ReviewTarget[] each with a path
---@param reason? string
local function reject_these(targets, reason)
  local left, hunks = #targets, {} ---@type integer, acp.HunkText[]
  for _, target in ipairs(targets) do
    local its = reason and quoted(target) or {}
    verbs.reject(target, function(failed, on_disk, hint)
      if failed then
        notify.err(failed)
      else
        vim.list_extend(hunks, its)
      end
      if on_disk then
        verbs.tell_on_disk(target.path --[[@as string]], on_disk, hint)
        for _, hunk in ipairs(its) do
          hunk.on_disk = true
        end
      end
      left = left - 1
      if left == 0 and reason and #hunks > 0 then
        require('acp.review.reason').tell(hunks, reason)
      end
    end)
  end
end

---@param file acp.ReviewFile
---@param session integer
---@return integer[] ids of what this session has done
local function ids_of(file, session)
  local ids = {}
  for id, hunk in pairs(file.hunks) do
    if hunk.session == session then
      table.insert(ids, id)
    end
  end
  table.sort(ids)
  return ids
end

--- Rejects all files, or what one session has done in them.
---@param session? integer
---@param reason? string
---@return true?, acp.Err?
function M.reject_all(session, reason)
  local targets = {} ---@type acp.ReviewTarget[]
  for _, file in ipairs(store.files()) do
    local ids = session and ids_of(file, session) or nil
    if not ids or #ids > 0 then
      table.insert(targets, { path = file.path, ids = ids, session = session })
    end
  end
  if #targets == 0 then
    return nil, { code = 'no_change', message = 'there is nothing to review' }
  end
  reject_these(targets, reason)
  return true
end

--- Rejects; with a reason the agent is told.
---@param target? acp.ReviewTarget
---@param err? acp.Err
---@param reason? string
---@return true?, acp.Err?
function M.reject(target, err, reason)
  if not target then
    return nil, err
  elseif not target.path then
    return M.reject_all(target.session, reason)
  end
  reject_these({ target }, reason)
  return true
end

--- Accepts the hunk under the cursor and puts the cursor at its beginning, to go on from there.
---@return true?, acp.Err?
function M.edit()
  local target, err = M.here()
  local file = target and store.file(target.path --[[@as string]])
  local hunk = file and target and target.ids and file.hunks[target.ids[1]]
  if not target or not file or not hunk then
    return nil, err
  end
  local first = store.rows(file, hunk)
  local row = math.min(first, vim.api.nvim_buf_line_count(0) - 1)
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd.normal({ args = { '^zv' }, bang = true })
  return verbs.accept(target)
end

--- Rejects after the user has said why.
---@param target? acp.ReviewTarget
---@param err? acp.Err
---@return true?, acp.Err?
function M.reject_with_reason(target, err)
  if not target then
    return nil, err
  end
  require('acp.review.reason').ask(function(reason)
    M.reject(target, nil, reason)
  end)
  return true
end

--- Shows hunks in their files, or does not.
---@param on? boolean by default the other way round
function M.toggle(on)
  inline.toggle(on)
  require('acp.review.hint').update(true)
end

--- Changes of last time are offered again.
---@param effect acp.TakenUp
local function taken_up(effect)
  local one = effect.hunks == 1
  local words = ('%d change%s of last time'):format(effect.hunks, one and '' or 's')
  local ending = (' wait%s for review: :Acp review'):format(one and 's' or '')
  notify.show(words, 'info', ending)
end

--- Shows what waits as the options say now.
function M.restyle()
  for _, file in ipairs(store.files()) do
    if file.buf then
      keys.remove(file.buf)
      keys.add(file.buf)
    end
  end
  inline.restyle()
  require('acp.review.hint').update(true)
end

--- Starts listening to the core.
function M.attach()
  client.subscribe('hunks', M.told)
  client.subscribe('taken_up', taken_up)
  verbs.attach()
end

return M
