--- What can be done with the hunk under the cursor, said at its end: in the current window only.

local store = require('acp.review.store')

local M = {}

---@class (exact) acp.HintSpot
---@field win integer
---@field buf integer
---@field hunk acp.ReviewHunk
---@field row integer where it is shown
---@field aside? integer how far the window is scrolled to the right; nil where lines wrap

---@class (exact) acp.ReviewHint
---@field spot acp.HintSpot
---@field words string
---@field place 'eol'|'right_align'

---@type acp.ReviewHint?
local shown

---@param buf integer
---@param hunk acp.ReviewHunk
---@return string
local function place_of(buf, hunk)
  local file = store.of_buf(buf)
  return file and ('%d/%d'):format(store.number(file, hunk), file.count) or ''
end

--- How many columns there are behind the end of a row.
---@param spot acp.HintSpot
---@return integer room
---@return boolean ends whether the row ends in sight, or further to the right
local function room_behind(spot)
  local info = vim.fn.getwininfo(spot.win)[1]
  local width = info and info.width - info.textoff or 0
  local line = vim.api.nvim_buf_get_lines(spot.buf, spot.row, spot.row + 1, false)[1] or ''
  -- Further than that nobody sees anything of it.
  local length = vim.fn.strdisplaywidth(line:sub(1, 1000 + 4 * (spot.aside or 0)))
  if not spot.aside then
    -- A row that fills the window has its end at the edge.
    length = length > 0 and (length - 1) % math.max(width, 1) + 1 or 0
  end
  local aside = spot.aside or 0
  return width - 2 - math.max(length - aside, 0), length >= aside
end

--- What there is to say, in ever fewer words: the keys, and where one is; at last this alone.
---@param spot acp.HintSpot
---@return string[]
local function phrases(spot)
  local edited = spot.hunk.state == 'edited' and 'edited, ' or ''
  local where = edited .. place_of(spot.buf, spot.hunk)
  local all = vim.tbl_map(function(keys)
    return keys ~= '' and (' %s  %s'):format(keys, where) or ' ' .. where
  end, require('acp.review.keys').in_words(spot.buf))
  table.insert(all, ' ' .. where)
  return all
end

--- As many words as there is room for. Where there is none a few cover the end of what is seen of
--- the row.
---@param spot acp.HintSpot
---@return acp.ReviewHint
local function hint_for(spot)
  local all = phrases(spot)
  local room, ends = room_behind(spot)
  for _, words in ipairs(all) do
    if vim.fn.strdisplaywidth(words) <= room then
      return { spot = spot, words = words, place = ends and 'eol' or 'right_align' }
    end
  end
  return { spot = spot, words = all[#all - 1] or all[#all], place = 'right_align' }
end

--- Whether the cursor, in the current window, would be below the words.
---@param hint acp.ReviewHint
---@param at integer the row of the cursor
---@return boolean
local function hides_cursor(hint, at)
  local width = vim.api.nvim_win_get_width(hint.spot.win)
  return hint.place == 'right_align'
    and hint.spot.row == at
    and vim.fn.wincol() > width - vim.fn.strdisplaywidth(hint.words)
end

---@param one acp.HintSpot
---@param other acp.HintSpot
---@return boolean
local function is_same(one, other)
  return one.win == other.win
    and one.hunk == other.hunk
    and one.row == other.row
    and one.aside == other.aside
end

---@return acp.ReviewHint?
local function current()
  local inline = require('acp.review.inline')
  local typing = vim.api.nvim_get_mode().mode:match('^[iR]')
  if typing or not inline.shown() or not require('acp.config').get().review.hint then
    return nil
  end
  local win, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local at = vim.api.nvim_win_get_cursor(win)[1] - 1
  local place = store.at(buf, at)
  if not place then
    return nil
  end
  -- The first row of it that is on the screen.
  local first = math.min(place.first, at)
  local row = math.max(first, math.min(vim.fn.line('w0', win) - 1, at))
  local aside = not vim.wo[win].wrap and vim.fn.winsaveview().leftcol or nil
  local spot = { win = win, buf = buf, hunk = place.hunk, row = row, aside = aside }
  local hint = shown
  if not hint or not is_same(hint.spot, spot) then
    hint = hint_for(spot)
  end
  return not hides_cursor(hint, at) and hint or nil
end

---@param hint acp.ReviewHint?
local function redraw(hint)
  if hint then
    local row = hint.spot.row
    require('acp.review.inline').redraw(hint.spot.buf, row, row + 1)
  end
end

--- Takes the hint away.
function M.clear()
  local before = shown
  shown = nil
  redraw(before)
end

--- Brings the hint to where the cursor is.
---@param anew? boolean its words may be others
function M.update(anew)
  local before = shown
  if anew then
    shown = nil
  end
  local now = current()
  if now ~= before then
    shown = now
    redraw(before)
    redraw(now)
  end
end

--- What is said at this row of a window, and where.
---@param win integer
---@param buf integer
---@param row integer
---@return string[][]? words
---@return 'eol'|'right_align'? place
function M.at(win, buf, row)
  local spot = shown and shown.spot
  if shown and spot and spot.win == win and spot.buf == buf and spot.row == row then
    return { { shown.words, 'AcpReviewHint' } }, shown.place
  end
end

return M
