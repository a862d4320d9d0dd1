--- The record of permissions: every request, rule and verdict, as the core has written them down.

local M = {}

---@return string
function M.path()
  return vim.fs.joinpath(require('acp.client').log_dir(), 'audit.log')
end

--- Opens it at its end. Nothing in it can be changed from here.
function M.open()
  local path = M.path()
  if not vim.uv.fs_stat(path) then
    return require('acp.notify').show('Nothing was recorded yet in ' .. path, 'warn')
  end
  vim.cmd.split({ args = { vim.fn.fnameescape(path) }, mods = { keepalt = true } })
  vim.bo.readonly, vim.bo.modifiable, vim.bo.autoread = true, false, true
  vim.bo.swapfile = false
  vim.cmd.normal({ args = { 'G' }, bang = true })
end

return M
