--- Autocommands of the plugin: in one group, and each says what it is for.

local M = {}

--- Calls `callback` whenever this happens, from now on.
---@param event vim.api.keyset.events|vim.api.keyset.events[]
---@param desc string
---@param callback fun(event: vim.api.keyset.create_autocmd.callback_args)
---@param buf? integer the only buffer it is for
function M.on(event, desc, callback, buf)
  vim.api.nvim_create_autocmd(event, {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    desc = desc,
    callback = callback,
  })
end

return M
