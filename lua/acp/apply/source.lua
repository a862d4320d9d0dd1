--- What is to be applied: the code under the cursor of a transcript, selected rows of it, or the
--- last code of the chat.

local M = {}

--- What the core is told of it: a text, a block of the chat, or neither for the last block.
---@class (exact) acp.ApplySource
---@field session integer
---@field code? integer
---@field source? string
---@field lang? string

---@param message string
---@return nil, acp.Err
local function refuse(message)
  return nil, { code = 'no_code', message = message }
end

--- Selected rows: of one block its code, elsewhere the rows as they are.
---@param buf integer
---@param session integer
---@param first integer from 0
---@param last integer exclusive
---@return acp.ApplySource?, acp.Err?
local function selected(buf, session, first, last)
  local native = require('acp.client').running()
  local regions = native and native.code(buf, first, last) or {}
  if #regions > 1 then
    return refuse('There is more than one code block in these lines: apply them one by one')
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first, last, false)
  local region = regions[1]
  if region then
    local inner = {}
    for _, row in ipairs(region.rows) do
      if row >= first and row < last then
        local line = lines[row - first + 1] or ''
        table.insert(inner, line:sub(region.col + 1))
      end
    end
    lines = inner
  end
  local text = table.concat(lines, '\n')
  return { session = session, source = text, lang = region and region.lang or '' }
end

--- The block that a row belongs to; its fences do too.
---@param buf integer
---@param row integer
---@return integer? code
local function code_at(buf, row)
  local native = require('acp.client').running()
  for _, at in ipairs(native and { row, row + 1, math.max(row - 1, 0) } or {}) do
    local _, code = assert(native).row(buf, at)
    if code > 0 then
      return code
    end
  end
end

--- What is meant where the user is.
---@param range? acp.LineRange
---@return acp.ApplySource?, acp.Err?
function M.here(range)
  local buf = vim.api.nvim_get_current_buf()
  if vim.b[buf].acp_role ~= 'transcript' then
    local session, err = require('acp.session').resolve()
    return session and { session = session } or nil, err
  end
  local session = require('acp.session').of_buffer(buf)
  if not session or not require('acp.ui.surface').level(buf) then
    return refuse('There is no chat here')
  elseif range then
    return selected(buf, session, range.first - 1, range.last)
  end
  local code = code_at(buf, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not code then
    return refuse('There is no code block here: go to one, or select lines')
  end
  return { session = session, code = code }
end

return M
