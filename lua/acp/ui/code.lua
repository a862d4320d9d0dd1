--- Which rows of a surface are code, and how much time there is to colour it: what does not fit
--- into one redraw comes with the next.

local surface = require('acp.ui.surface')
local syntax = require('acp.ui.syntax')

local M = {}

--- How long code may be parsed in one redraw, in nanoseconds.
local budget = 3e6

--- Code is looked at with this many rows around those on the screen, and this many bytes at most:
--- more is not understood better, and takes longer.
local around, most = 60, 6 * 1024

--- Rows on the screen are taken to multiples of this, so that scrolling seldom changes the text.
local grain = 32

---@class (exact) acp.CodeRow
---@field piece acp.Piece
---@field index integer the row in the piece, from 0
---@field col integer the column the code begins at

---@class (exact) acp.CodeSeen
---@field buf integer
---@field version integer of the surface
---@field first integer
---@field last integer
---@field rows table<integer, acp.CodeRow>
---@field unknown? boolean a language has to be looked for

---@type table<integer, acp.CodeSeen> by window
local seen = {}
---@type table<integer, { [1]: integer, [2]: integer }> rows to draw again, by buffer
local missed = {}
---@type table<string, true> words and paths whose language is not known
local wanted = {}
local spent = 0
--- Whether the rest is to come, after a pause in milliseconds in which keys have their turn.
local waiting, pause = false, 8

--- The longest run of rows around the screen that is no more than we want to look at.
---@param lines string[]
---@param rows integer[]
---@param middle integer
---@return integer first, integer last indices
local function window(lines, rows, middle)
  local at = #rows
  for i, row in ipairs(rows) do
    if row >= middle then
      at = i
      break
    end
  end
  local first, last, size = at, at, #(lines[at] or '')
  while true do
    local up, down = first > 1 and #lines[first - 1], last < #rows and #lines[last + 1]
    if up and size + up + 1 <= most then
      first, size = first - 1, size + up + 1
    else
      up = false
    end
    if down and size + down + 1 <= most then
      last, size = last + 1, size + down + 1
    else
      down = false
    end
    if not up and not down then
      return first, last
    end
  end
end

---@param buf integer
---@param region acp.Code
---@param first integer
---@param last integer
---@return integer[] rows, string[] lines
local function text_of(buf, region, first, last)
  local rows = vim.tbl_filter(function(row)
    return row >= first - around and row < last + around
  end, region.rows)
  local top = rows[1]
  if not top then
    return {}, {}
  end
  local all = vim.api.nvim_buf_get_lines(buf, top, rows[#rows] + 1, false)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = (all[row - top + 1] or ''):sub(region.col + 1)
  end
  return rows, lines
end

---@param region acp.Code
---@param found acp.CodeSeen
local function add(region, found)
  local buf, lang = found.buf, syntax.known(region.lang)
  if lang == nil then
    wanted[region.lang], found.unknown = true, true
    M.late(buf, found.first)
    M.late(buf, found.last - 1)
    return
  end
  if not lang then
    return
  end
  local rows, lines = text_of(buf, region, found.first, found.last)
  if not rows[1] then
    return
  end
  local first, last = window(lines, rows, math.floor((found.first + found.last) / 2))
  local piece = syntax.piece(lang, table.concat(lines, '\n', first, last))
  for i = first, last do
    found.rows[rows[i]] = { piece = piece, index = i - first, col = region.col }
  end
end

--- The rows that are code, of those from `first` to before `last` and some around.
---@param win integer
---@param buf integer
---@param first integer
---@param last integer
---@return table<integer, acp.CodeRow>
function M.rows(win, buf, first, last)
  local state, native = surface.level(buf), require('acp.client').running()
  if not state or not native then
    return {}
  end
  first, last = first - first % grain, last + grain - last % grain
  local known = seen[win]
  local same = known and known.buf == buf and known.first == first and known.last == last
  if known and same and not known.unknown then
    if known.version == state.version or (state.changed[win] or 0) >= last + around then
      return known.rows
    end
  end
  known = { buf = buf, version = state.version, first = first, last = last, rows = {} }
  for _, region in ipairs(native.code(buf, first, last)) do
    add(region, known)
  end
  seen[win], state.changed[win] = known, math.huge
  return known.rows
end

--- Forgets windows that are gone.
local function tidy()
  for win in pairs(seen) do
    if not vim.api.nvim_win_is_valid(win) then
      seen[win] = nil
    end
  end
end

--- Whether there is time left in this redraw. Whoever asks goes on to parse.
---@return boolean
function M.may_look()
  local now = vim.uv.hrtime()
  spent = spent == 0 and now or spent
  return now - spent < budget
end

--- A row whose code has not been looked at has to be drawn again.
---@param buf integer
---@param row integer
function M.late(buf, row)
  local rows = missed[buf]
  if rows then
    rows[1], rows[2] = math.min(rows[1], row), math.max(rows[2], row + 1)
  else
    missed[buf] = { row, row + 1 }
  end
end

local function again()
  tidy()
  waiting = false
  local names, rows = wanted, missed
  wanted, missed = {}, {}
  for name in pairs(names) do
    syntax.learn(name)
  end
  for buf, range in pairs(rows) do
    if surface.level(buf) then
      surface.redraw(buf, range[1], range[2])
    end
  end
end

--- A redraw begins.
function M.begin()
  spent = 0
end

--- A redraw has ended.
function M.finish()
  if next(missed) and not waiting then
    waiting = true
    vim.defer_fn(function()
      require('acp.client').guard('the colours of code', again)
    end, pause)
  end
end

return M
