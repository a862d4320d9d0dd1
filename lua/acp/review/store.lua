--- What is pending where: the hunks of each file, each with an extmark that goes with the text. It
--- knows no looks, and no more of a hunk than the core has told.

local drift = require('acp.review.drift')

local M = {}

--- One mark for each hunk, from its first row to the row after its last.
M.namespace = vim.api.nvim_create_namespace('acp.review')

---@class (exact) acp.ReviewHunk
---@field id integer
---@field session integer
---@field state 'pending'|'edited'
---@field removed acp.RemovedLine[]
---@field words [integer, integer, integer][] with rows as they were told
---@field by_row? table<integer, [integer, integer][]> the same, see `words`
---@field first integer where it was when it was told; for a buffer ask `rows`
---@field last integer
---@field below? boolean it is after the last row, and its mark on that one
---@field mark? integer
---@field view? integer the mark of what is shown

---@class (exact) acp.ReviewFile
---@field path string
---@field kind 'changed'|'made'|'deleted'
---@field count integer hunks that are left
---@field hunks table<integer, acp.ReviewHunk> by id
---@field marks table<integer, acp.ReviewHunk> by mark
---@field buf? integer loaded, and with marks in it

---@class (exact) acp.ReviewPlace
---@field hunk acp.ReviewHunk
---@field first integer
---@field last integer

---@type table<string, acp.ReviewFile>
local files = {}
---@type table<integer, acp.ReviewFile>
local by_buf = {}

---@param path string
---@return acp.ReviewFile?
function M.file(path)
  return files[path]
end

---@param buf integer
---@return acp.ReviewFile?
function M.of_buf(buf)
  return by_buf[buf]
end

--- All files with something pending, by path.
---@return acp.ReviewFile[]
function M.files()
  local all = vim.tbl_values(files)
  table.sort(all, function(a, b)
    return a.path < b.path
  end)
  return all
end

--- How many hunks wait, of one session or of all.
---@param session? integer
---@return integer
function M.count(session)
  local count = 0
  for _, file in pairs(files) do
    if not session then
      count = count + file.count
    else
      for _, hunk in pairs(file.hunks) do
        count = count + (hunk.session == session and 1 or 0)
      end
    end
  end
  return count
end

--- Where a hunk is now.
---@param file acp.ReviewFile
---@param hunk acp.ReviewHunk
---@return integer first, integer last
function M.rows(file, hunk)
  if file.buf and hunk.mark then
    local at =
      vim.api.nvim_buf_get_extmark_by_id(file.buf, M.namespace, hunk.mark, { details = true })
    if at[1] then
      local first = at[1] + (hunk.below and 1 or 0)
      return first, math.max(at[3] and at[3].end_row or first, first)
    end
  end
  return hunk.first, hunk.last
end

--- Hunks that have rows from `first` to before `last`, or removed text shown there, in order.
---@param buf integer
---@param first integer
---@param last integer
---@return acp.ReviewPlace[]
function M.within(buf, first, last)
  local file, found = by_buf[buf], {} ---@type acp.ReviewFile?, acp.ReviewPlace[]
  last = math.min(last, vim.api.nvim_buf_line_count(buf))
  if not file or last <= first then
    return found
  end
  local opts = { details = true, overlap = true }
  for _, mark in
    ipairs(vim.api.nvim_buf_get_extmarks(buf, M.namespace, { first, 0 }, { last - 1, -1 }, opts))
  do
    local hunk = file.marks[mark[1]]
    local from, to = mark[2], mark[4] and mark[4].end_row or mark[2]
    if hunk and (to > first or to == from) then
      local top = from + (hunk.below and 1 or 0)
      table.insert(found, { hunk = hunk, first = top, last = math.max(to, top) })
    end
  end
  return found
end

--- The hunk on a row.
---@param buf integer
---@param row integer
---@return acp.ReviewPlace?
function M.at(buf, row)
  return M.within(buf, row, row + 1)[1]
end

--- The row on which the cursor meets a hunk, so many further in this direction; nil where the file
--- has fewer.
---@param buf integer
---@param row integer
---@param direction 1|-1
---@param count integer
---@return integer? row, integer found how many there are at most
function M.next_row(buf, row, direction, count)
  local from = direction > 0 and { row + 1, 0 } or { row - 1, -1 }
  local to = direction > 0 and -1 or 0
  if from[1] < 0 or from[1] >= vim.api.nvim_buf_line_count(buf) then
    return nil, 0
  end
  local marks = vim.api.nvim_buf_get_extmarks(buf, M.namespace, from, to, { limit = count })
  return marks[count] and marks[count][2], #marks
end

--- The how manieth of its file a hunk is.
---@param file acp.ReviewFile
---@param hunk acp.ReviewHunk
---@return integer
function M.number(file, hunk)
  local row = M.rows(file, hunk)
  local last = { row, 0 }
  local marks = vim.api.nvim_buf_get_extmarks(file.buf or 0, M.namespace, 0, last, {})
  for i = #marks, 1, -1 do
    if marks[i][1] == hunk.mark then
      return i
    end
  end
  return #marks
end

--- All hunks of a file in order.
---@param file acp.ReviewFile
---@return acp.ReviewPlace[]
function M.places(file)
  if file.buf then
    return M.within(file.buf, 0, math.max(vim.api.nvim_buf_line_count(file.buf), 1))
  end
  local all = vim.tbl_map(function(hunk)
    return { hunk = hunk, first = hunk.first, last = hunk.last }
  end, vim.tbl_values(file.hunks))
  table.sort(all, function(a, b)
    return a.first < b.first
  end)
  return all
end

---@param file acp.ReviewFile
---@param hunk acp.ReviewHunk
local function unmark(file, hunk)
  if hunk.mark then
    file.marks[hunk.mark] = nil
    if file.buf then
      pcall(vim.api.nvim_buf_del_extmark, file.buf, M.namespace, hunk.mark)
    end
    hunk.mark = nil
  end
end

--- Puts the mark of a hunk where it is by now.
---@param file acp.ReviewFile
---@param hunk acp.ReviewHunk
---@param tick integer the state of the buffer that its rows are of
local function mark(file, hunk, tick)
  local buf = file.buf --[[@as integer]]
  local rows = vim.api.nvim_buf_line_count(buf)
  local first, last = drift.rows(buf, tick, hunk.first, hunk.last)
  local gone = hunk.first == hunk.last
  first = math.min(first, rows)
  last = gone and first or math.min(math.max(last, first), rows)
  -- An empty buffer shows a row; what was above it is better seen below.
  hunk.below = gone and (first == rows or rows == 1 and vim.api.nvim_buf_get_offset(buf, 1) <= 1)
    or nil
  if hunk.below then
    first = math.max(first - 1, 0)
  end
  local opts = gone and {} or { end_row = last, end_col = 0, end_right_gravity = false }
  hunk.mark = vim.api.nvim_buf_set_extmark(buf, M.namespace, first, 0, opts)
  file.marks[hunk.mark] = hunk
end

--- Changed words by row, counted from the first one of the hunk. Found when they are first drawn.
---@param hunk acp.ReviewHunk
---@return table<integer, [integer, integer][]>
function M.words(hunk)
  local by_row = hunk.by_row or {}
  if not hunk.by_row then
    hunk.by_row = by_row
    for _, word in ipairs(hunk.words) do
      local row = word[1] - hunk.first ---@type integer
      local before = by_row[row] or {}
      by_row[row] = before
      table.insert(before, { word[2], word[3] })
    end
  end
  return by_row
end

---@param told acp.Hunk
---@return acp.ReviewHunk
local function read(told)
  return {
    id = told.id,
    session = told.session,
    state = told.state,
    removed = told.removed,
    words = told.words,
    first = told.first,
    last = told.last,
  }
end

--- The buffer is no longer loaded, or another one has the file: its marks are gone.
---@param file acp.ReviewFile
function M.leave(file)
  if file.buf then
    -- `:edit` reads the text again and would keep them.
    if vim.api.nvim_buf_is_loaded(file.buf) then
      vim.api.nvim_buf_clear_namespace(file.buf, M.namespace, 0, -1)
    end
    by_buf[file.buf] = nil
    file.buf, file.marks = nil, {}
    for _, hunk in pairs(file.hunks) do
      hunk.mark, hunk.view = nil, nil
    end
  end
end

--- What has become of the hunks of a file, for whoever shows them.
---@class (exact) acp.ReviewNews
---@field file acp.ReviewFile
---@field full boolean nothing is as it was
---@field set acp.ReviewHunk[] new, or otherwise than before
---@field gone acp.ReviewHunk[]
---@field left? integer the buffer that was left

--- The file may be in another buffer by now, or in none.
---@param file acp.ReviewFile
---@param buf? integer
---@return integer? buf that is loaded
---@return integer? left the one it was in before
local function move_to(file, buf)
  buf = buf and vim.api.nvim_buf_is_loaded(buf) and buf or nil
  local left = file.buf
  if not left or left == buf then
    return buf, nil
  end
  M.leave(file)
  return buf, left
end

---@param file acp.ReviewFile
---@param effect acp.Hunks
---@param news acp.ReviewNews
local function forget(file, effect, news)
  if effect.full then
    news.gone = vim.tbl_values(file.hunks)
    file.hunks, file.marks = {}, {}
    if file.buf then
      vim.api.nvim_buf_clear_namespace(file.buf, M.namespace, 0, -1)
    end
    return
  end
  for _, id in ipairs(effect.gone) do
    local hunk = file.hunks[id]
    if hunk then
      unmark(file, hunk)
      file.hunks[id] = nil
      table.insert(news.gone, hunk)
    end
  end
end

--- Hunks that were known before there was a buffer.
---@param file acp.ReviewFile
---@param news acp.ReviewNews
local function mark_rest(file, news)
  local tick = vim.api.nvim_buf_get_changedtick(file.buf --[[@as integer]])
  for _, hunk in pairs(file.hunks) do
    if not hunk.mark then
      mark(file, hunk, tick)
      table.insert(news.set, hunk)
    end
  end
end

--- Takes in what the core tells of a file.
---@param effect acp.Hunks
---@return acp.ReviewNews
function M.take(effect)
  local file = files[effect.path]
    or { path = effect.path, kind = effect.kind, count = 0, hunks = {}, marks = {} }
  local news = { file = file, full = effect.full, set = {}, gone = {} } ---@type acp.ReviewNews
  local buf
  buf, news.left = move_to(file, effect.buf)
  forget(file, effect, news)
  local opened = buf ~= nil and not file.buf
  file.kind, file.count, file.buf = effect.kind, effect.count, buf
  if buf then
    by_buf[buf] = file
  end
  for _, told in ipairs(effect.set) do
    local old, hunk = file.hunks[told.id], read(told)
    if old then
      unmark(file, old)
      table.insert(news.gone, old)
    end
    file.hunks[told.id] = hunk
    if buf then
      mark(file, hunk, told.tick)
    end
    table.insert(news.set, hunk)
  end
  if opened then
    mark_rest(file, news)
  end
  files[effect.path] = effect.count > 0 and file or nil
  if effect.count == 0 then
    news.left = news.left or buf
    M.leave(file)
  end
  return news
end

return M
