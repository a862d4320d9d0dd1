--- Reads of agents, from loaded buffers.

local find = require('acp.files.find')
local text = require('acp.files.text')

local M = {}

--- How many bytes of a buffer are remembered as seen when an agent reads a part of it.
local most_whole = 4 * 1024 * 1024

---@class (exact) acp.FileAnswer
---@field kind 'text'|'part'|'not_loaded'|'failed'
---@field value? string
---@field whole? string

--- Whether the disk has the same text or a newer one: then it is read there, off the main loop.
---@param buf integer
---@return boolean
local function disk_has_it(buf)
  return text.is_plain(buf)
    and not vim.bo[buf].modified
    and vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf)) ~= nil
end

---@param effect acp.AskedRead
---@return acp.FileAnswer
function M.read(effect)
  local buf = find.find_resolved(effect.path)
  if not buf or vim.bo[buf].buftype ~= '' or disk_has_it(buf) then
    return { kind = 'not_loaded' }
  end
  local most = require('acp.config').get().files.max_read
  local value = text.of(buf, effect.line, effect.limit)
  if #value > most * 1024 * 1024 then
    local words = ('%s is larger than %s MB: read it in parts'):format(effect.path, most)
    return { kind = 'failed', value = words }
  end
  if not effect.line and not effect.limit then
    return { kind = 'text', value = value }
  end
  local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  return { kind = 'part', value = value, whole = size <= most_whole and text.of(buf) or nil }
end

return M
