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

--- What is known of an item, beside its place.
---@class (exact) acp.ReviewItem
---@field path string
---@field id integer
---@field counts string
---@field words string
---@field kind string

--- Where a hunk begins: marks know better than what was told.
---@param file acp.ChangedFile
---@param hunk acp.ChangedHunk
---@return integer # from 1
local function line_of(file, hunk)
  local known = store.file(file.path)
  local mine = known and known.hunks[hunk.id]
  local line = known and mine and store.rows(known, mine) + 1 or hunk.start
  local rows = known and known.buf and vim.api.nvim_buf_line_count(known.buf)
  return math.max(rows and math.min(line, rows) or line, 1)
end

---@return table[] in the form of `setqflist`
local function items()
  local all = {}
  for _, file in ipairs(diff.changes(session)) do
    for _, hunk in ipairs(file.hunks) do
      local counts, words = diff.summary(hunk.old, hunk.new)
      table.insert(all, {
        filename = file.path,
        lnum = line_of(file, hunk),
        text = ('%s %s'):format(counts, words),
        user_data = {
          path = file.path,
          id = hunk.id,
          counts = counts,
          words = words,
          kind = file.kind,
        },
      })
    end
  end
  return all
end

--- The lines of the list, aligned.
---@param info { id: integer, start_idx: integer, end_idx: integer }
---@return string[]
function M.text(info)
  local all = vim.fn.getqflist({ id = info.id, items = 1 }).items
  local cells, widths = {}, {} ---@type string[][], table<integer, integer>
  for i = info.start_idx, info.end_idx do
    local item = all[i]
    local data = type(item.user_data) == 'table' and item.user_data or {}
    local name = text.one_line(vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':~:.'))
    local where = ('%s:%d'):format(name, item.lnum)
    local kind = data.kind ~= 'changed' and data.kind and ('%s: '):format(data.kind) or ''
    local row = { where, data.counts or '', kind .. (data.words or item.text) }
    for column = 1, 2 do
      widths[column] = math.max(widths[column] or 0, vim.fn.strdisplaywidth(row[column] or ''))
    end
    table.insert(cells, row)
  end
  return vim.tbl_map(function(row)
    local line = ''
    for column = 1, 2 do
      local cell = row[column] or ''
      local pad = (widths[column] or 0) - vim.fn.strdisplaywidth(cell) + 2
      line = line .. cell .. (' '):rep(pad)
    end
    return line .. row[3]
  end, cells)
end

--- The window that shows our list, if any does.
---@return integer? win
local function window()
  local now = list and vim.fn.getqflist({ id = 0, winid = 0 })
  return now and now.id == list and now.winid ~= 0 and now.winid or nil
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

---@param item table
---@return acp.HunkText?
local function hunk_of(item)
  local data = item.user_data --[[@as acp.ReviewItem]]
  for _, file in ipairs(diff.changes(session)) do
    for _, hunk in ipairs(file.path == data.path and file.hunks or {}) do
      if hunk.id == data.id then
        local at = { path = file.path, session = hunk.session, line = hunk.start, old = hunk.old }
        at.new = hunk.new
        return at
      end
    end
  end
end

--- Shows the hunk under the cursor.
local function look()
  local win = window()
  if not win or vim.api.nvim_get_current_win() ~= win then
    return close_preview()
  end
  local row = vim.api.nvim_win_get_cursor(win)[1]
  local item = vim.fn.getqflist({ id = list, items = 1 }).items[row]
  local hunk = item and type(item.user_data) == 'table' and hunk_of(item)
  if not hunk then
    return close_preview()
  end
  local rows, groups = diff.rows(hunk.old, hunk.new, 200)
  local name = vim.fn.fnamemodify(hunk.path, ':~:.')
  local title = ('%s:%d'):format(text.one_line(name), hunk.line)
  local float = require('acp.ui.float')
  if not preview or not vim.api.nvim_win_is_valid(preview) then
    local buf = vim.api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = 'wipe'
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, rows)
    local opts = { buf = buf, enter = false, stay = true, keys = false, focusable = false }
    opts.title, opts.place = title, above(#rows)
    preview = float.show(opts)
  end
  local buf = vim.api.nvim_win_get_buf(preview)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, rows)
  for i, group in ipairs(groups) do
    local opts = { end_row = i, hl_group = group, hl_eol = true, strict = false }
    vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, 0, opts)
  end
  float.update(preview, { title = title, place = above(#rows) })
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
  vim.api.nvim_create_autocmd({ 'WinLeave', 'BufWipeout', 'BufWinLeave' }, {
    group = group,
    buffer = buf,
    desc = 'acp: close the look at a change',
    callback = close_preview,
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
  for i = #all, 1, -1 do
    if all[i].filename == here then
      idx = i
    end
  end
  local known = list and vim.fn.getqflist({ id = list, nr = 0 }).nr > 0
  vim.fn.setqflist({}, known and 'r' or ' ', {
    id = known and list or nil,
    title = 'Changes to review',
    items = all,
    idx = idx,
    quickfixtextfunc = "v:lua.require'acp.review.quickfix'.text",
  })
  if known then
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
