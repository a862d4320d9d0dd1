--- Whether the encoding of a file can hold the text of its buffer. `:write` would put other
--- characters in the place of those it has not got, and `:write!` would not even say so.

local M = {}

--- Whether an encoding has all characters.
---@param encoding string
---@return boolean
local function holds_all(encoding)
  return encoding == '' or encoding:match('^utf') ~= nil or encoding:match('^ucs%-4') ~= nil
end

--- Whether a text is the same when it is read again. If not, that need be nobody's loss: in some
--- encodings one character stands for two.
---@param text string
---@param encoding string
---@return boolean
local function comes_back(text, encoding)
  local there = vim.iconv(text, 'utf-8', encoding)
  return there ~= nil and vim.iconv(there, encoding, 'utf-8') == text
end

--- Whether something else is written in the place of a character.
---@param character string
---@param encoding string
---@return boolean
local function is_missing(character, encoding)
  local there = vim.iconv(character, 'utf-8', encoding)
  -- What goes with another character is left out here, and replaced in a file.
  local replaced = there == nil or there:match('^[?\191]*$') ~= nil
  return replaced and character ~= '?' and not comes_back(character, encoding)
end

--- The first character that is not in an encoding.
---@param lines string[]
---@param encoding string
---@return string? character, integer? line
local function first_missing(lines, encoding)
  local known = {} ---@type table<integer, true>
  for number, line in ipairs(lines) do
    for _, code in ipairs(comes_back(line, encoding) and {} or vim.fn.str2list(line)) do
      local character = vim.fn.nr2char(code, true)
      if not known[code] and is_missing(character, encoding) then
        return character, number
      end
      known[code] = true
    end
  end
end

--- Why the text of a buffer can't be written in the encoding of its file.
---@param buf integer
---@return string?
function M.problem(buf)
  local encoding = vim.bo[buf].fileencoding
  if holds_all(encoding) then
    return nil
  elseif not vim.iconv('a', 'utf-8', encoding) then
    return vim.o.charconvert == '' and ('its encoding %s is not known'):format(encoding) or nil
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  if comes_back(table.concat(lines, '\n'), encoding) then
    return nil
  end
  local character, line = first_missing(lines, encoding)
  if character then
    local name = require('acp.text').one_line(character)
    return ('%s has no "%s" (line %d)'):format(encoding, name, line)
  end
end

return M
