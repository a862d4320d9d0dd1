--- The end of a buffer in its windows: who is there, and staying there.

local M = {}

---@param win integer
---@return boolean whether its cursor is on the last row
function M.is_at(win)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  return vim.api.nvim_win_get_cursor(win)[1] >= last
end

--- Shows the end in a window.
---@param win integer
function M.go_to(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local last = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ''
  vim.api.nvim_win_set_cursor(win, { last, #line })
end

--- Whether the user is selecting text there: the cursor is not ours to move.
---@param win integer
---@return boolean
function M.is_selecting(win)
  return win == vim.api.nvim_get_current_win() and vim.fn.mode():match('^[vV\22]') ~= nil
end

--- Leaves no room under the last row: Neovim scrolls far enough, but sometimes further.
---@param win integer
function M.align(win)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  local room = vim.api.nvim_win_get_height(win) - (vim.wo[win].winbar ~= '' and 1 or 0)
  local top = last
  while top > 1 do
    local height = vim.api.nvim_win_text_height(win, { start_row = top - 2, end_row = last - 1 })
    if height.all > room then
      break
    end
    top = top - 1
  end
  vim.api.nvim_win_call(win, function()
    if vim.fn.line('w0') > top then
      vim.fn.winrestview({ topline = top })
    end
  end)
end

return M
