--- Where the user is in a detail: kept for each tab, and for a diff that is shown in another way.
--- Rows come in pieces, so that the place may be there only later.

local tail = require('acp.ui.tail')

local M = {}

--- A line of a diff to find: in the new text where it has one, else in the old.
---@class (exact) acp.Seek
---@field file integer
---@field old integer
---@field new integer
---@field at integer the first row that has not been looked at

---@param detail acp.Detail
---@return integer? win of the left side
local function window(detail)
  local win = detail.left.win
  return win and vim.api.nvim_win_is_valid(win) and win or nil
end

--- Remembers where the user is in the tab that is left.
---@param detail acp.Detail
function M.leave(detail)
  local win = window(detail)
  if detail.tab and win then
    detail.views[detail.tab] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  detail.going, detail.seek = nil, nil
end

--- The rows of a diff are about to be others: remembers the line.
---@param detail acp.Detail
function M.mark(detail)
  local native, win = require('acp.client').running(), window(detail)
  if not native or not win then
    return
  end
  local row = vim.api.nvim_win_get_cursor(win)[1] - 1
  local file, _, old, new = native.row(detail.left.buf, row)
  if detail.right then
    new = select(4, native.row(detail.right.buf, row)) --[[@as integer]]
  end
  detail.seek = (old > 0 or new > 0) and { file = file, old = old, new = new, at = 0 } or nil
end

--- Goes where the user was in the tab that is shown now; in a terminal, to its end.
---@param detail acp.Detail
function M.arrive(detail)
  local win = window(detail)
  if not win then
    return
  end
  local view = detail.views[detail.tab or '']
  if view then
    detail.going = view
    M.settle(detail)
  elseif detail.tab == 'terminal' then
    tail.go_to(win)
  elseif detail.switched then
    vim.api.nvim_win_set_cursor(win, { 1, 0 })
  end
  detail.switched = nil
end

---@param detail acp.Detail
---@param seek acp.Seek
---@return integer? row
local function find(detail, seek)
  local native = assert(require('acp.client').running())
  local side = seek.new > 0 and detail.right or detail.left
  local rows = vim.api.nvim_buf_line_count(side.buf)
  for row = seek.at, rows - 1 do
    local file, _, old, new = native.row(side.buf, row)
    local same = seek.new > 0 and new == seek.new or seek.new == 0 and old == seek.old
    if file == seek.file and same then
      return row
    end
  end
  seek.at = rows
end

--- More rows have come.
---@param detail acp.Detail
function M.settle(detail)
  local win, view, seek = window(detail), detail.going, detail.seek
  if not win then
    return
  end
  local rows = vim.api.nvim_buf_line_count(detail.left.buf)
  if view and rows >= view.lnum then
    detail.going = nil
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
  local row = seek and find(detail, seek)
  if row and row < rows then
    detail.seek = nil
    vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
    vim.api.nvim_win_call(win, function()
      vim.cmd.normal({ args = { 'zz' }, bang = true })
    end)
  end
end

return M
