--- What the transcript and the prompt buffers have in common.

local M = {}

--- Names a buffer. Whatever else has that name is left over from a buffer of ours that was
--- unloaded, or from an earlier Neovim, and has to make room.
---@param buf integer
---@param parts string[]
local function name(buf, parts)
  local full = 'acp://' .. table.concat(vim.tbl_map(require('acp.text').name_part, parts), '/')
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    if other ~= buf and vim.api.nvim_buf_get_name(other) == full then
      pcall(vim.api.nvim_buf_delete, other, { force = true })
    end
  end
  pcall(vim.api.nvim_buf_set_name, buf, full)
end

--- Makes a buffer of a session. Its filetype is set when it is first shown.
---@param info acp.SessionInfo
---@param role acp.Role
---@return integer buf
function M.create(info, role)
  local buf = vim.api.nvim_create_buf(false, true)
  local parts = { tostring(info.id), info.agent }
  name(buf, role == 'prompt' and vim.list_extend(parts, { role }) or parts)
  vim.b[buf].acp_session, vim.b[buf].acp_role = info.id, role
  -- Wrapped rows of an item are aligned with its text.
  vim.bo[buf].formatlistpat = [[^\s*\%(\d\+[.)]\|[-*+]\)\s\+]]
  require('acp.ui.keymaps').attach(buf, role)
  vim.api.nvim_create_autocmd('BufEnter', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    desc = 'acp: this session is the last used one',
    callback = function()
      require('acp.session').touch(info.id)
    end,
  })
  return buf
end

return M
