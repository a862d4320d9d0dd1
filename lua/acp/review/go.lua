--- From one pending hunk to the next, through all files.

local store = require('acp.review.store')

local M = {}

---@class (exact) acp.ReviewStop
---@field file acp.ReviewFile
---@field row integer

--- The row that the cursor goes to for a hunk: what was after the last row is seen from there.
---@param file acp.ReviewFile
---@param place acp.ReviewPlace
---@return integer
local function row_of(file, place)
  local rows = file.buf and vim.api.nvim_buf_line_count(file.buf)
  return rows and math.max(math.min(place.first, rows - 1), 0) or place.first
end

--- Files one can go to: those that are deleted have no rows.
---@return acp.ReviewFile[]
local function reachable()
  return vim.tbl_filter(function(file)
    return file.buf ~= nil or file.kind ~= 'deleted'
  end, store.files())
end

---@param files acp.ReviewFile[]
---@param here acp.ReviewFile?
---@param direction 1|-1
---@return integer # the place of the file to go on in
local function start(files, here, direction)
  for i, file in ipairs(files) do
    if file == here then
      return (i - 1 + direction) % #files + 1
    end
  end
  return direction > 0 and 1 or #files
end

--- The hunk that is `count` further, through the files by their paths and round again.
---@param direction 1|-1
---@param count integer
---@return acp.ReviewStop?
local function find(direction, count)
  local here = store.of_buf(vim.api.nvim_get_current_buf())
  if here then
    local at = vim.api.nvim_win_get_cursor(0)[1] - 1
    local row, passed = store.next_row(vim.api.nvim_get_current_buf(), at, direction, count)
    if row then
      return { file = here, row = row }
    end
    count = count - passed
  end
  local files = reachable()
  local total = 0
  for _, file in ipairs(files) do
    total = total + #store.places(file)
  end
  if total == 0 then
    return nil
  end
  count = (count - 1) % total + 1
  local at = start(files, here, direction)
  while true do
    local file = files[at] --[[@as acp.ReviewFile]]
    local all = store.places(file)
    if count <= #all then
      local place = all[direction > 0 and count or #all - count + 1] --[[@as acp.ReviewPlace]]
      return { file = file, row = row_of(file, place) }
    end
    count, at = count - #all, (at - 1 + direction) % #files + 1
  end
end

--- Puts the cursor on a row, in this window where it shows the file, else where files are opened.
---@param file acp.ReviewFile
---@param row integer
local function to(file, row)
  if file.buf and file.buf == vim.api.nvim_get_current_buf() then
    vim.cmd.normal({ args = { "m'" }, bang = true })
    vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
    vim.cmd.normal({ args = { '^zv' }, bang = true })
  else
    require('acp.ui.jump').to(file.path, row + 1)
  end
  if file.buf then
    require('acp.review.inline').make_room(file.buf)
  end
end

--- Goes to a hunk.
---@param file acp.ReviewFile
---@param place acp.ReviewPlace
function M.to(file, place)
  to(file, row_of(file, place))
end

--- Goes to the next hunk, or the one before.
---@param direction 1|-1
---@param count integer
function M.by(direction, count)
  local stop = find(direction, count)
  if stop then
    to(stop.file, stop.row)
  else
    require('acp.notify').show('There is nothing to review')
  end
end

return M
