--- The record of permissions: every request, rule and verdict, as the core has written them down.

local M = {}

---@return string
function M.path()
  return vim.fs.joinpath(require('acp.client').log_dir(), 'audit.log')
end

--- Why it cannot be written, if it cannot.
---@return string?
function M.unwritable()
  local path = M.path()
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type ~= 'file' then
    return 'it is a ' .. stat.type
  end
  while not stat and path ~= vim.fs.dirname(path) do
    -- What is not there is made in the first folder above it that is.
    path = vim.fs.dirname(path)
    stat = vim.uv.fs_stat(path)
    if stat and stat.type ~= 'directory' then
      return path .. ' is no folder'
    end
  end
  return not vim.uv.fs_access(path, 'W') and 'permission denied' or nil
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
