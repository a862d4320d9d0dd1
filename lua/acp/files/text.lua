--- The text of a buffer, as its file would have it and as merges want it.

local M = {}

---@type table<string, string>
local newline = { unix = '\n', dos = '\r\n', mac = '\r' }

local byte_order_mark = '\239\187\191'

--- Whether the file of a buffer is UTF-8 with no byte order mark: its text is what the disk has.
---@param buf integer
---@return boolean
function M.is_plain(buf)
  local bo = vim.bo[buf]
  return (bo.fileencoding == '' or bo.fileencoding == 'utf-8') and not bo.bomb
end

--- Whether the file begins with a byte order mark that is a character of its text. Other encodings
--- have one of their own, which readers take away.
---@param buf integer
---@return boolean
function M.has_mark(buf)
  local bo = vim.bo[buf]
  return bo.bomb and not bo.binary and (bo.fileencoding == '' or bo.fileencoding == 'utf-8')
end

--- Whether a buffer has no lines: it shows an empty one for that too.
---@param buf integer
---@return boolean
function M.is_empty(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, 2, false)
  if #lines ~= 1 or lines[1] ~= '' then
    return false
  end
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.wordcount().bytes == 0
  end)
end

--- In the lines of a "mac" buffer the characters stand in for each other.
---@param lines string[]
---@param ending string
---@return string
local function joined(lines, ending)
  if ending == '\r' then
    for i, each in ipairs(lines) do
      lines[i] = each:gsub('\r', '\n')
    end
  end
  return table.concat(lines, ending)
end

--- Lines of a buffer as its file would have them. A missing end of line stays missing, although
--- `:write` may add it.
---@param buf integer
---@param line? integer the first one, from 1
---@param limit? integer how many
---@return string
function M.of(buf, line, limit)
  local bo, count = vim.bo[buf], vim.api.nvim_buf_line_count(buf)
  local first = math.max(line or 1, 1) - 1
  local last = limit and math.min(first + limit, count) or count
  if first >= last then
    return ''
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first, last, false)
  local mark = first == 0 and M.has_mark(buf) and byte_order_mark or ''
  if count == 1 and M.is_empty(buf) then
    return ''
  end
  local ending = newline[bo.fileformat] or '\n'
  local closed = last < count or bo.endofline
  return mark .. joined(lines, ending) .. (closed and ending or '')
end

--- What a merge is good for.
---@param buf integer
---@return acp.Live
function M.state(buf)
  return {
    ending = vim.bo[buf].fileformat,
    eol = vim.bo[buf].endofline,
    bom = M.has_mark(buf),
    modified = vim.bo[buf].modified,
    tick = vim.api.nvim_buf_get_changedtick(buf),
  }
end

--- What a merge is made with: the text, unless the core has a copy of it.
---@param buf integer
---@param copied boolean
---@return acp.Live
function M.live(buf, copied)
  local live = M.state(buf)
  if copied then
    live.text_of = buf
  else
    live.text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    live.empty = M.is_empty(buf)
  end
  return live
end

return M
