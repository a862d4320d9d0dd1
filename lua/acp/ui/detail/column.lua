--- Line numbers and signs beside a diff. Evaluated for every row that Neovim draws.

local M = {}

--- What 'statuscolumn' evaluates.
M.option = "%{%v:lua.require'acp.ui.detail.column'.render()%}"

---@type table<integer, integer> digits of the longest number seen, by buffer
local digits = {}

local added, removed = '%#AcpPlus#+ %*', '%#AcpMinus#- %*'
---@type table<integer, string> by sign
local signs = { [0] = '  ', added, removed, '  ', '  ' }

---@param number integer 0 is none
---@param width integer
---@return string
local function cell(number, width)
  return number > 0 and ('%' .. width .. 'd '):format(number) or (' '):rep(width + 1)
end

---@param buf integer
---@param old integer
---@param new integer
---@return integer
local function width_for(buf, old, new)
  local width = digits[buf] or 3
  while math.max(old, new) >= 10 ^ width do
    width = width + 1
  end
  digits[buf] = width
  return width
end

--- The column of the row that is being drawn.
---@return string
function M.render()
  local native = require('acp.client').running()
  local buf = vim.api.nvim_get_current_buf()
  if not native then
    return ''
  end
  local _, _, old, new, sign = native.row(buf, vim.v.lnum - 1)
  local width = width_for(buf, old, new)
  local which = vim.w.acp_column
  if vim.v.virtnum ~= 0 or sign == 4 then
    old, new, sign = 0, 0, 0
  end
  local numbers
  if which == 'old' then
    numbers = cell(old, width)
  elseif which == 'new' then
    numbers = cell(new, width)
  else
    numbers = cell(old, width) .. cell(new, width)
  end
  return '%#AcpLineNr#' .. numbers .. (signs[sign] or signs[0])
end

--- Forgets a buffer.
---@param buf integer
function M.forget(buf)
  digits[buf] = nil
end

return M
