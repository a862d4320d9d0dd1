--- Saving a buffer after somebody else has changed it.

local M = {}

--- Saves like `:write`, with all its autocommands if the user wants them. `!` is for the questions
--- it would ask, such as whether to overwrite a file that has changed: that is settled already.
---@param buf integer
---@return string? err
function M.save(buf)
  local bo = vim.bo[buf]
  -- A line ending that was left out is not for us to add.
  local fix = bo.fixendofline
  bo.fixendofline = fix and bo.endofline
  local watch = require('acp.files.watch')
  local autocmds = require('acp.config').get().files.save_autocmds
  watch.saving = buf
  local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd((autocmds and '' or 'noautocmd ') .. 'silent keepalt write! ++p')
  end)
  if ok and not autocmds then
    require('acp.files.mirror').tell(buf)
    require('acp.files.disk').saved(buf)
  end
  watch.saving = nil
  if vim.api.nvim_buf_is_valid(buf) then
    bo.fixendofline = fix
  end
  return not ok and require('acp.files.find').words_of(err) or nil
end

return M
