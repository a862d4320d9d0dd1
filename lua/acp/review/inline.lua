--- How pending hunks look in their buffers. Signs and removed lines are marks; rows and words are
--- painted as Neovim draws them, so that a file with many hunks costs no more than the screen.

local removed = require('acp.review.removed')
local store = require('acp.review.store')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.review.view')
local set_extmark = vim.api.nvim_buf_set_extmark

--- How long one slice of marks may take, in nanoseconds; this many are no matter at all.
local slice, few = 3e6, 20

---@type boolean? what the user has said since
local wanted

--- Whether hunks are shown in their buffers.
---@return boolean
function M.shown()
  if wanted == nil then
    return require('acp.config').get().review.inline
  end
  return wanted
end

---@param hunk acp.ReviewHunk
---@param first integer
---@param last integer
---@return string text, string group
local function sign(hunk, first, last)
  local ascii = require('acp.ui.look').ascii()
  local group = 'AcpReviewSignChange'
  if hunk.state == 'edited' then
    group = 'AcpReviewSignEdited'
  elseif first == last then
    group = 'AcpReviewSignDelete'
  elseif #hunk.removed == 0 then
    group = 'AcpReviewSignAdd'
  end
  if first == last then
    return ascii and '_' or (hunk.below and '▁' or '▔'), group
  end
  return ascii and '|' or '┃', group
end

--- Shows the signs and the removed lines of a hunk.
---@param file acp.ReviewFile
---@param hunk acp.ReviewHunk
local function show(file, hunk)
  local buf = file.buf --[[@as integer]]
  local first, last = store.rows(file, hunk)
  local rows = vim.api.nvim_buf_line_count(buf)
  local row = math.min(hunk.below and first - 1 or first, rows - 1)
  ---@type vim.api.keyset.set_extmark
  local opts = { id = hunk.view, undo_restore = false, strict = false, right_gravity = true }
  if last > first then
    opts.end_row, opts.end_col = math.min(last, rows) - 1, 0
  end
  local config = require('acp.config').get().review
  if config.signs then
    opts.sign_text, opts.sign_hl_group = sign(hunk, first, last)
    opts.priority = config.sign_priority
  end
  if #hunk.removed > 0 then
    opts.virt_lines = removed.lines(buf, hunk.removed)
    opts.virt_lines_above = not hunk.below
  end
  hunk.view = set_extmark(buf, namespace, math.max(row, 0), 0, opts)
end

---@param buf integer
---@param hunk acp.ReviewHunk
local function hide(buf, hunk)
  if hunk.view and vim.api.nvim_buf_is_loaded(buf) then
    pcall(vim.api.nvim_buf_del_extmark, buf, namespace, hunk.view)
  end
  hunk.view = nil
end

--- What is above the first row is seen only where the window is told to leave room for it.
---@param buf integer
function M.make_room(buf)
  local place = M.shown() and store.at(buf, 0)
  if not place or place.first > 0 or place.hunk.below or #place.hunk.removed == 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill == 0 then
        local most = vim.api.nvim_win_get_height(win) - 2
        local room = math.min(removed.height(place.hunk.removed), most)
        vim.fn.winrestview({ topfill = math.max(room, 0) })
      end
    end)
  end
end

--- And what is below the last row, where there was room for that row and no more. For the window
--- that the cursor is in.
---@param buf integer
local function make_room_below(buf)
  local place = M.shown() and store.at(buf, vim.api.nvim_buf_line_count(buf) - 1)
  if place and place.hunk.below then
    local height = vim.api.nvim_win_get_height(0)
    local room = math.min(removed.height(place.hunk.removed), height - 1)
    local missing = vim.fn.winline() + room - height
    if missing > 0 then
      vim.cmd.normal({ args = { missing .. vim.keycode('<C-e>') }, bang = true })
    end
  end
end

--- The cursor has come to another line: at either end, lines that are gone come into sight.
---@param buf integer
---@param line integer
function M.arrived(buf, line)
  if line == 1 then
    M.make_room(buf)
  end
  if line == vim.api.nvim_buf_line_count(buf) then
    make_room_below(buf)
  end
end

---@type table<acp.ReviewFile, acp.ReviewHunk[]> hunks that are to be shown, the last one first
local queues = {}

--- Shows what waits for it, a slice at a time.
---@param file acp.ReviewFile
local function go_on(file)
  local queue = queues[file]
  local deadline = vim.uv.hrtime() + slice
  while queue and #queue > 0 and vim.uv.hrtime() < deadline do
    local hunk = table.remove(queue) --[[@as acp.ReviewHunk]]
    if file.buf and hunk.mark and not hunk.view and file.hunks[hunk.id] == hunk then
      show(file, hunk)
    end
  end
  if queue and #queue > 0 then
    -- Not at once, so that keys come first.
    vim.defer_fn(function()
      require('acp.client').guard('the view of changes', go_on, file)
    end, 1)
  else
    queues[file] = nil
  end
end

--- The rows of a buffer that are on the screen, somewhere.
---@param buf integer
---@return [integer, integer][] first and last, from 0
local function on_screen(buf)
  return vim.tbl_map(function(win)
    return { vim.fn.line('w0', win) - 1, vim.fn.line('w$', win) }
  end, vim.fn.win_findbuf(buf))
end

---@param file acp.ReviewFile
---@param hunks acp.ReviewHunk[]
local function show_all(file, hunks)
  local buf = file.buf --[[@as integer]]
  if #hunks > few then
    local before = queues[file]
    queues[file] = vim.list_extend(before or {}, hunks)
    for _, rows in ipairs(on_screen(buf)) do
      for _, place in ipairs(store.within(buf, rows[1], rows[2])) do
        if not place.hunk.view then
          show(file, place.hunk)
        end
      end
    end
    if not before then
      vim.defer_fn(function()
        require('acp.client').guard('the view of changes', go_on, file)
      end, 1)
    end
  else
    for _, hunk in ipairs(hunks) do
      show(file, hunk)
    end
  end
  M.make_room(buf)
end

--- Draws a buffer again, as far as it is on the screen.
---@param buf integer
---@param first? integer
---@param last? integer
function M.redraw(buf, first, last)
  if vim.api.nvim_buf_is_loaded(buf) then
    local range = { first or 0, last or -1 }
    -- Not at once, which is what newer versions do when nothing is said: more may come.
    pcall(vim.api.nvim__redraw, { buf = buf, range = range, valid = true, flush = false })
  end
end

---@type integer, integer the window that is being drawn, and up to which row hunks are known
local drawn, upto = 0, 0
---@type table<integer, { group: string, words?: [integer, integer][] }> by row
local rows = {}

---@type vim.api.keyset.set_extmark
local whole = { ephemeral = true, hl_eol = true, end_col = 0, priority = 60, strict = false }
---@type vim.api.keyset.set_extmark
local part = { ephemeral = true, hl_group = 'AcpReviewWord', priority = 150, strict = false }
---@type vim.api.keyset.set_extmark
local tip = { ephemeral = true, hl_mode = 'combine', priority = 9000 }

---@param buf integer
---@param first integer
---@param last integer
local function look_up(buf, first, last)
  for _, place in ipairs(store.within(buf, first, last)) do
    for row = math.max(place.first, first), math.min(place.last, last) - 1 do
      local words = store.words(place.hunk)[row - place.first]
      rows[row] = { group = words and 'AcpReviewChange' or 'AcpReviewAdd', words = words }
    end
  end
  upto = last
end

---@param win integer
---@param buf integer
---@param first integer
---@param last integer
---@return boolean
local function paint_window(_, win, buf, first, last)
  if not store.of_buf(buf) or not M.shown() then
    return false
  end
  drawn, rows = win, {}
  look_up(buf, first, last + 1)
  return true
end

---@param buf integer
---@param row integer
local function paint_row(_, _, buf, row)
  if row >= upto then
    look_up(buf, row, row + 50)
  end
  local look = rows[row]
  if look then
    whole.end_row, whole.hl_group = row + 1, look.group
    set_extmark(buf, namespace, row, 0, whole)
    for _, word in ipairs(look.words or {}) do
      part.end_col = word[2]
      set_extmark(buf, namespace, row, word[1], part)
    end
  end
  local words, place = require('acp.review.hint').at(drawn, buf, row)
  if words then
    tip.virt_text, tip.virt_text_pos = words, place
    set_extmark(buf, namespace, row, 0, tip)
  end
end

local painting = false

local function paint()
  if not painting then
    painting = true
    require('acp.ui.highlights').attach()
    vim.api.nvim_set_decoration_provider(namespace, { on_win = paint_window, on_line = paint_row })
  end
end

--- Shows nothing in a buffer any more.
---@param buf integer
function M.clear(buf)
  if vim.api.nvim_buf_is_loaded(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- Shows what has changed.
---@param news acp.ReviewNews
function M.update(news)
  local file = news.file
  local buf = file.buf or news.left
  if not buf then
    return
  end
  if news.full then
    M.clear(buf)
  else
    for _, hunk in ipairs(news.gone) do
      hide(buf, hunk)
    end
  end
  if news.left then
    M.clear(news.left)
  end
  if file.buf and M.shown() then
    paint()
    show_all(file, news.set)
  end
  M.redraw(buf)
end

--- Shows hunks in their buffers from now on, or does not.
---@param on? boolean by default the other way round
function M.toggle(on)
  if on == nil then
    on = not M.shown()
  end
  wanted, queues = on, {}
  for _, file in ipairs(store.files()) do
    if file.buf then
      vim.api.nvim_buf_clear_namespace(file.buf, namespace, 0, -1)
      for _, hunk in pairs(file.hunks) do
        hunk.view = nil
      end
      if on then
        paint()
        show_all(file, vim.tbl_values(file.hunks))
      end
      M.redraw(file.buf)
    end
  end
end

--- Shows all anew, as the options say it now.
function M.restyle()
  wanted = nil
  M.toggle(M.shown())
end

return M
