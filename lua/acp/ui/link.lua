--- Links of a transcript: what is under the cursor is opened where it leads, though its address may
--- be hidden or stand beside it. A file is opened here, an address only after it was shown.

local M = {}

---@class (exact) acp.LinkSpan
---@field col integer
---@field end_col integer
---@field url boolean an address; else the words of a link

---@param buf integer
---@param row integer
---@return acp.LinkSpan[]
local function spans_of(buf, row)
  local native, found = require('acp.client').running(), {}
  ---@type table<integer, integer>
  local spans = native and native.paint(buf, row, row + 1) or {}
  for i = 1, #spans, 4 do
    local group = native and native.groups[spans[i + 3]]
    if group == 'AcpUrl' or group == 'AcpLink' then
      table.insert(found, { col = spans[i + 1], end_col = spans[i + 2], url = group == 'AcpUrl' })
    end
  end
  return found
end

--- The address that belongs to a column: itself, or the next one after the words of a link.
---@param spans acp.LinkSpan[]
---@param col integer
---@return acp.LinkSpan?
local function address_at(spans, col)
  local words
  for _, span in ipairs(spans) do
    local here = span.col <= col and col < span.end_col
    if span.url and (here or words and span.col >= words.end_col) then
      return span
    elseif here then
      words = span
    end
  end
end

---@return string?
local function under_cursor()
  local at = vim.api.nvim_win_get_cursor(0)
  local span = address_at(spans_of(vim.api.nvim_get_current_buf(), at[1] - 1), at[2])
  local text = span and vim.api.nvim_get_current_line():sub(span.col + 1, span.end_col)
  return text and (text:gsub('^[<(]+', ''):gsub('[>)]+$', '')) or nil
end

--- A file of the project that an address leads to, with a line after it or not.
---@param address string
---@return string? path, integer? line
local function file_of(address)
  local name = vim.uri_decode((address:gsub('^file://', '')))
  local line = name:match('#L(%d+)') or name:match(':(%d+)[:%d]*$')
  name = name:gsub('#L%d+.*$', ''):gsub(':%d[:%d]*$', '')
  local session = require('acp.session').of_buffer(vim.api.nvim_get_current_buf())
  local path = require('acp.ui.jump').absolute(session, name)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type == 'file' then
    return path, line and math.floor(tonumber(line) or 1) or nil
  end
end

--- What the key does elsewhere.
local function ordinary()
  for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
    if map.lhs == 'gx' and map.callback then
      return map.callback()
    end
  end
end

--- Opens the link under the cursor.
function M.open()
  local address = under_cursor()
  if not address then
    return ordinary()
  end
  local path, line = file_of(address)
  if path then
    require('acp.ui.jump').to(path, line)
  else
    require('acp.visit').ask('A link of the agent', address, function() end)
  end
end

return M
