--- What the transcript and the prompt buffers have in common.

local M = {}

--- A new buffer for text in Markdown; wrapped items of a list are aligned with their text.
---@return integer buf
function M.create()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].formatlistpat = [[^\s*\%(\d\+[.)]\|[-*+]\)\s\+]]
  return buf
end

--- Names a buffer. Whatever else has that name is left over from a buffer of ours that was
--- unloaded, or from an earlier Neovim, and has to make room.
---@param buf integer
---@param ... string|integer parts of the name after "acp://", made safe here
function M.name(buf, ...)
  local parts = vim.tbl_map(tostring, { ... })
  local name = 'acp://' .. table.concat(vim.tbl_map(require('acp.text').name_part, parts), '/')
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    if other ~= buf and vim.api.nvim_buf_get_name(other) == name then
      pcall(vim.api.nvim_buf_delete, other, { force = true })
    end
  end
  pcall(vim.api.nvim_buf_set_name, buf, name)
end

return M
