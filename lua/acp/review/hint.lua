--- What can be done with the hunk under the cursor, said at its end: in the current window only.

local store = require('acp.review.store')

local M = {}

---@class (exact) acp.ReviewHint
---@field win integer
---@field buf integer
---@field hunk acp.ReviewHunk
---@field row integer where it is shown
---@field words string[][]

---@type acp.ReviewHint?
local shown

---@param buf integer
---@param hunk acp.ReviewHunk
---@return string
local function place_of(buf, hunk)
  local file = store.of_buf(buf)
  return file and ('%d/%d'):format(store.number(file, hunk), file.count) or ''
end

--- The keys, and where one is; fewer words where there is little room.
---@param win integer
---@param buf integer
---@param place acp.ReviewPlace
---@param row integer
---@return string[][]
local function words_for(win, buf, place, row)
  local info = vim.fn.getwininfo(win)[1]
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  line = #line > 1000 and line:sub(1, 1000) or line
  local room = info and info.width - info.textoff - 3 or 0
  room = room - vim.fn.strdisplaywidth(line) % math.max(room, 1)
  local edited = place.hunk.state == 'edited' and 'edited, ' or ''
  local where = edited .. place_of(buf, place.hunk)
  for _, keys in ipairs(require('acp.review.keys').in_words(buf)) do
    local words = keys ~= '' and ('%s  %s'):format(keys, where) or where
    if vim.fn.strdisplaywidth(words) <= room then
      return { { ' ' .. words, 'AcpReviewHint' } }
    end
  end
  return { { ' ' .. where, 'AcpReviewHint' } }
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
  if shown and shown.win == win and shown.hunk == place.hunk and shown.row == row then
    return shown
  end
  local words = words_for(win, buf, place, row)
  return { win = win, buf = buf, hunk = place.hunk, row = row, words = words }
end

---@param hint acp.ReviewHint?
local function redraw(hint)
  if hint then
    require('acp.review.inline').redraw(hint.buf, hint.row, hint.row + 1)
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

--- What is said at this row of a window.
---@param win integer
---@param buf integer
---@param row integer
---@return string[][]?
function M.at(win, buf, row)
  if shown and shown.win == win and shown.buf == buf and shown.row == row then
    return shown.words
  end
end

return M
