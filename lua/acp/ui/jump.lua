--- Opens files that agents name, in a window beside the chat.

local M = {}

--- A path of the agent as one of a file, whatever else it could be taken for: it begins at a root.
---@param session integer?
---@param path string
---@return string
function M.absolute(session, path)
  if path:match('^/') or path:match('^%a:[\\/]') then
    return path
  end
  local info = session and require('acp.session').info(session)
  return vim.fs.joinpath(info and info.cwd or vim.fn.getcwd(), path)
end

---@param path string
---@param split boolean?
local function edit(path, split)
  local win = require('acp.ui.window').outside()
  if win then
    vim.api.nvim_set_current_win(win)
  end
  if not win then
    vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), true, { split = 'left', win = -1 })
  elseif split then
    vim.cmd.split()
  end
  vim.cmd.normal({ args = { "m'" }, bang = true })
  if vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':p') ~= path then
    vim.cmd.edit({ args = { vim.fn.fnameescape(path) } })
  end
end

--- Opens a file in the window that was used last beside the chat.
---@param path string
---@param line? integer
---@param split? boolean whether in a new window
function M.to(path, line, split)
  local ok, err = pcall(edit, path, split)
  if not ok then
    return require('acp.notify').show(require('acp.text').one_line(tostring(err)), 'error')
  end
  if line then
    line = math.max(math.min(line, vim.api.nvim_buf_line_count(0)), 1)
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd.normal({ args = { 'zvzz' }, bang = true })
  end
end

return M
