--- Lines that an agent has taken away, as virtual lines: without tabs and odd characters, to the
--- edge of any window.

local text = require('acp.text')

local M = {}

--- Lines that are shown of one hunk, and bytes of one line: nobody sees more at once.
local most_lines, most_bytes = 300, 2000

--- How many rows they take.
---@param lines acp.RemovedLine[]
---@return integer
function M.height(lines)
  return math.min(#lines, most_lines + 1)
end

--- A piece of a line with its tabs as spaces.
---@param piece string
---@param col integer the column it begins at
---@param tabstop integer
---@return string, integer col
local function expanded(piece, col, tabstop)
  if not piece:find('[%c\128-\255]') then
    return piece, col + #piece
  end
  local parts = vim.split(piece, '\t', { plain = true })
  local result = ''
  for i, each in ipairs(parts) do
    each = text.one_line(each)
    result, col = result .. each, col + vim.fn.strdisplaywidth(each)
    if i < #parts then
      local width = tabstop - col % tabstop
      result, col = result .. (' '):rep(width), col + width
    end
  end
  return result, col
end

---@param line acp.RemovedLine
---@param tabstop integer
---@param width integer
---@return string[][]
local function chunks(line, tabstop, width)
  local words = #line.text > most_bytes and line.text:sub(1, most_bytes) or line.text
  local result, col, at = {}, 0, 0 ---@type string[][], integer, integer
  ---@param to integer
  ---@param group string
  local function add(to, group)
    to = math.min(to, #words)
    if to > at then
      local piece
      piece, col = expanded(words:sub(at + 1, to), col, tabstop)
      table.insert(result, { piece, group })
      at = to
    end
  end
  for _, span in ipairs(line.spans) do
    add(span[1], 'AcpReviewDelete')
    add(span[2], 'AcpReviewDeleteWord')
  end
  add(#words, 'AcpReviewDelete')
  table.insert(result, { (' '):rep(math.max(width - col, 1)), 'AcpReviewDelete' })
  return result
end

--- Virtual lines for what was removed.
---@param buf integer
---@param lines acp.RemovedLine[]
---@return string[][][]
function M.lines(buf, lines)
  -- The screen may become wider.
  local tabstop, width = vim.bo[buf].tabstop, math.max(vim.o.columns, 300)
  local result = {}
  for i, line in ipairs(lines) do
    if i > most_lines then
      break
    end
    table.insert(result, chunks(line, tabstop, width))
  end
  if #lines > most_lines then
    local rest = ('%s %d more lines were removed'):format(
      require('acp.ui.look').glyphs().ellipsis,
      #lines - most_lines
    )
    table.insert(result, chunks({ text = rest, spans = {} }, tabstop, width))
  end
  return result
end

return M
