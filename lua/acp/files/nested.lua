--- Autocommands in the middle of another one, such as a formatter's that waits for its server: no
--- others are called there, unless that is asked for.

local M = {}

--- Runs something that needs autocommands. Where the user wants none at all it is not run.
---@param fn fun()
---@return boolean done
function M.run(fn)
  local done = false
  local id = vim.api.nvim_create_autocmd('User', {
    pattern = 'AcpNested',
    nested = true,
    desc = 'acp: have autocommands called',
    callback = function()
      done = pcall(fn)
    end,
  })
  vim.api.nvim_exec_autocmds('User', { pattern = 'AcpNested', modeline = false })
  vim.api.nvim_del_autocmd(id)
  return done
end

return M
