--- `:Acp review`: every pending hunk in the quickfix list, with a look at the one under the cursor.
--- Hunks that are dealt with leave the list.

local diff = require('acp.review.diff')
local store = require('acp.review.store')
local text = require('acp.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.review.preview')

---@type integer? the quickfix list that is ours
local list
---@type integer?
local session
---@type integer? the window of the preview
local preview
--- What the list is made of, in order, and by `key`.
---@type acp.ReviewItem[]
local entries = {}
---@type table<string, acp.ReviewItem>
local by_key = {}

---@class (exact) acp.ReviewItem
---@field path string
---@field key string
---@field hunk acp.ChangedHunk
---@field where string
---@field counts string
---@field words string

--- Where a hunk begins: marks know better than what was told.
---@param file acp.ChangedFile
---@param hunk acp.ChangedHunk
---@return integer # from 1
local function line_of(file, hunk)
  local it = store.file(file.path)
  local mine = it and it.hunks[hunk.id]
  local line = it and mine and store.rows(it, mine) + 1 or hunk.start
  local rows = it and it.buf and vim.api.nvim_buf_line_count(it.buf)
  return math.max(rows and math.min(line, rows) or line, 1)
end

---@param file acp.ChangedFile
---@param name string
---@param hunk acp.ChangedHunk
---@return acp.ReviewItem, integer line
local function entry(file, name, hunk)
  local counts, words = diff.summary(hunk.old, hunk.new)
  local line = line_of(file, hunk)
  return {
    path = file.path,
    key = ('%s %s'):format(hunk.id, file.path),
    hunk = hunk,
    where = ('%s:%d'):format(name, line),
    counts = counts,
    words = file.kind ~= 'changed' and ('%s: %s'):format(file.kind, words) or words,
  },
    line
end

---@return vim.quickfix.entry[]
local function items()
  local all = {}
  entries, by_key = {}, {}
  for _, file in ipairs(diff.changes(session)) do
    -- Names would be looked up for each item.
    local buf = vim.fn.bufadd(file.path)
    local name = text.one_line(vim.fn.fnamemodify(file.path, ':~:.'))
    for _, hunk in ipairs(file.hunks) do
      local it, line = entry(file, name, hunk)
      table.insert(entries, it)
      by_key[it.key] = it
      local words = ('%s %s'):format(it.counts, it.words)
      table.insert(all, { bufnr = buf, lnum = line, text = words, user_data = it.key })
    end
  end
  return all
end

--- The window that shows our list, if any does.
---@return integer? win
local function window()
  local now = list and vim.fn.getqflist({ id = 0, winid = 0 })
  return now and now.id == list and now.winid ~= 0 and now.winid or nil
end

--- The lines of the list, aligned, each on one row: the preview has the rest.
---@param info { id: integer, start_idx: integer, end_idx: integer }
---@return string[]
function M.text(info)
  local rows = vim.list_slice(entries, info.start_idx, info.end_idx)
  local where, counts = 0, 0
  for _, it in ipairs(rows) do
    where = math.max(where, vim.fn.strdisplaywidth(it.where))
    counts = math.max(counts, vim.fn.strchars(it.counts))
  end
  local win = window()
  local shown = win and vim.fn.getwininfo(win)[1]
  local width = shown and shown.width - shown.textoff or vim.o.columns
  local room = math.max(width - where - counts - 4, 10)
  return vim.tbl_map(function(it)
    local gap = where - vim.fn.strdisplaywidth(it.where) + 2
    local second = counts - vim.fn.strchars(it.counts) + 2
    return it.where
      .. (' '):rep(gap)
      .. it.counts
      .. (' '):rep(second)
      .. text.brief(it.words, room)
  end, rows)
end

local function close_preview()
  local win = preview
  preview = nil
  if win then
    require('acp.ui.float').close(win)
  end
end

--- Above the list, where there is room.
---@param rows integer
---@return fun(room: acp.Room): acp.Box
local function above(rows)
  return function(room)
    local win = window()
    local at = win and vim.api.nvim_win_get_position(win) or { room.height, room.col }
    local width = win and math.max(vim.api.nvim_win_get_width(win) - 2, 1) or room.width
    local height = math.floor(math.max(math.min(rows, at[1] - 2, 15), 1))
    return { row = math.max(at[1] - height - 2, 0), col = at[2], width = width, height = height }
  end
end

--- What is under the cursor in the list.
---@return acp.ReviewItem?
local function under_cursor()
  local win = window()
  if not win or vim.api.nvim_get_current_win() ~= win then
    return nil
  end
  local row = vim.api.nvim_win_get_cursor(win)[1]
  local item = vim.fn.getqflist({ id = list, idx = row, items = 1 }).items[1]
  return item and by_key[item.user_data or '']
end

---@param rows string[]
---@return integer win
local function open_preview(rows)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, rows)
  local opts = { buf = buf, enter = false, stay = true, keys = false, focusable = false }
  opts.place = above(#rows)
  return (require('acp.ui.float').show(opts))
end

--- Shows the hunk under the cursor.
local function look()
  local item = under_cursor()
  if not item then
    return close_preview()
  end
  local rows, groups = diff.rows(item.hunk.old, item.hunk.new, 200)
  if not preview or not vim.api.nvim_win_is_valid(preview) then
    preview = open_preview(rows)
  end
  local buf = vim.api.nvim_win_get_buf(preview)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, rows)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for i, group in ipairs(groups) do
    local opts = { end_row = i, hl_group = group, hl_eol = true, strict = false }
    vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, 0, opts)
  end
  require('acp.ui.float').update(preview, { title = item.where, place = above(#rows) })
end

---@param verb 'accept'|'reject'|'reject_with_reason'
---@return fun()
local function act(verb)
  return function()
    local item = under_cursor()
    if item then
      local hunk = item.hunk
      local target = { path = item.path, ids = { hunk.id }, session = hunk.session }
      local ok, err = require('acp.review')[verb](target)
      if not ok and err then
        require('acp.notify').err(err)
      end
    end
  end
end

---@type table<string, 'accept'|'reject'|'reject_with_reason'>
local verbs = { accept = 'accept', reject = 'reject', reason = 'reject_with_reason' }

--- The list takes the same keys as the files, while it is ours.
---@param buf integer
---@param on boolean
local function map(buf, on)
  for _, key in ipairs(require('acp.review.keys').all) do
    local lhs, verb = require('acp.review.keys').of(key.name), verbs[key.name]
    if lhs and verb and on then
      vim.keymap.set('n', lhs, act(verb), { buffer = buf, desc = 'acp: ' .. key.desc })
    elseif lhs and verb then
      pcall(vim.keymap.del, 'n', lhs, { buffer = buf })
    end
  end
end

--- Whoever is in another window needs no preview; another list in this one neither.
---@param win integer
local function watch(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local group = vim.api.nvim_create_augroup('acp.review.quickfix', { clear = true })
  vim.api.nvim_create_autocmd('CursorMoved', {
    group = group,
    buffer = buf,
    desc = 'acp: look at a change',
    callback = look,
  })
  map(buf, true)
  vim.api.nvim_create_autocmd({ 'WinLeave', 'BufWipeout', 'BufWinLeave' }, {
    group = group,
    buffer = buf,
    desc = 'acp: close the look at a change',
    callback = function(event)
      close_preview()
      if event.event ~= 'WinLeave' then
        map(buf, false)
      end
    end,
  })
end

--- Fills the list and opens it, with the first hunk of this file under the cursor.
---@param of? integer only what this session has done
function M.open(of)
  session = of
  local all = items()
  if #all == 0 then
    return require('acp.notify').show('There is nothing to review')
  end
  require('acp.ui.highlights').attach()
  local here, idx = vim.api.nvim_buf_get_name(0), 1
  for i = #entries, 1, -1 do
    if entries[i].path == here then
      idx = i
    end
  end
  local again = list and vim.fn.getqflist({ id = list, nr = 0 }).nr > 0
  vim.fn.setqflist({}, again and 'r' or ' ', {
    id = again and list or nil,
    title = 'Changes to review',
    items = all,
    idx = idx,
    quickfixtextfunc = "v:lua.require'acp.review.quickfix'.text",
  })
  if again then
    vim.cmd({
      cmd = 'chistory',
      count = vim.fn.getqflist({ id = list, nr = 0 }).nr,
      mods = {
        silent = true,
      },
    })
  else
    list = vim.fn.getqflist({ id = 0 }).id
  end
  vim.cmd('botright copen')
  watch(vim.api.nvim_get_current_win())
  pcall(vim.api.nvim_win_set_cursor, 0, { idx, 0 })
  look()
end

--- Brings the list up to date, if it is still there. The cursor stays with what comes next.
function M.refresh()
  local old = list and vim.fn.getqflist({ id = list, nr = 0, idx = 0 })
  if not old or old.nr == 0 then
    list = nil
    return
  end
  local win = window()
  local row = win and vim.api.nvim_win_get_cursor(win)[1] or 1
  local all = items()
  local idx = math.max(math.min(old.idx, #all), 1)
  vim.fn.setqflist({}, 'r', { id = list, items = all, idx = #all > 0 and idx or nil })
  if win and #all == 0 then
    close_preview()
    pcall(vim.api.nvim_win_close, win, true)
    require('acp.notify').show('All changes are reviewed')
  elseif win then
    pcall(vim.api.nvim_win_set_cursor, win, { math.min(row, #all), 0 })
    if vim.api.nvim_get_current_win() == win then
      look()
    end
  end
end

return M
