--- From one pending hunk to the next, through all files.

local store = require('acp.review.store')

local M = {}

---@class (exact) acp.ReviewStop
---@field file acp.ReviewFile
---@field place acp.ReviewPlace

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

--- Where in a file to go on, from this row; nil when it is at its end.
---@param file acp.ReviewFile
---@param direction 1|-1
---@param count integer
---@return acp.ReviewPlace?, integer left of the count
local function step(file, direction, count)
  local all = store.places(file)
  local at = vim.api.nvim_win_get_cursor(0)[1] - 1
  if direction < 0 then
    for i = #all, 1, -1 do
      if row_of(file, all[i]) < at then
        count = count - 1
        if count == 0 then
          return all[i], 0
        end
      end
    end
    return nil, count
  end
  for _, place in ipairs(all) do
    if row_of(file, place) > at then
      count = count - 1
      if count == 0 then
        return place, 0
      end
    end
  end
  return nil, count
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
    local place
    place, count = step(here, direction, count)
    if place then
      return { file = here, place = place }
    end
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
      return { file = file, place = place }
    end
    count, at = count - #all, (at - 1 + direction) % #files + 1
  end
end

--- Puts the cursor on a hunk, in this window where it shows the file, else where files are opened.
---@param file acp.ReviewFile
---@param place acp.ReviewPlace
function M.to(file, place)
  local row = row_of(file, place)
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

--- Goes to the next hunk, or the one before.
---@param direction 1|-1
---@param count integer
function M.by(direction, count)
  local stop = find(direction, count)
  if stop then
    M.to(stop.file, stop.place)
  else
    require('acp.notify').show('There is nothing to review')
  end
end

return M
