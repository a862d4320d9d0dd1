--- Makes text from outside (agents, file names) safe for one-line places.

local M = {}

--- Characters that terminals obey, that turn the direction of text, or that nobody sees; as they
--- are written in UTF-8.
---@type string[]
local odd = {
  '\194[\128-\159]', -- U+0080 to U+009F
  '\216\156', -- U+061C
  '\226\128[\139\142\143]', -- U+200B, U+200E, U+200F
  '\226\128[\168-\174]', -- U+2028 to U+202E
  '\226\129[\160-\175]', -- U+2060 to U+206F
  '\239\187\191', -- U+FEFF
  '\239\191[\185-\187]', -- U+FFF9 to U+FFFB
  '\243\160[\128\129][\128-\191]', -- U+E0000 to U+E007F
}

--- One line without control characters.
---@param text string
---@return string
function M.one_line(text)
  text = text:gsub('%c+', ' ')
  if text:find('[\194\216\226\239\243]') then
    for _, pattern in ipairs(odd) do
      text = text:gsub(pattern, ' ')
    end
  end
  return text
end

--- One line of at most this width, cut at its end.
---@param text string
---@param width integer
---@return string
function M.shorten(text, width)
  text = M.one_line(text)
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  local ellipsis = require('acp.ui.look').glyphs().ellipsis
  local room = width - vim.fn.strdisplaywidth(ellipsis)
  -- No character is narrower than a cell: what is further right can't stay.
  text = vim.fn.strcharpart(text, 0, math.max(width, 0))
  while text ~= '' and vim.fn.strdisplaywidth(text) > room do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text == '' and '' or text .. ellipsis
end

--- The same for text of any length, which is not looked at to its end.
---@param text string
---@param width integer
---@return string
function M.brief(text, width)
  -- No character has more than a few bytes.
  return M.shorten(#text > 16 * width and text:sub(1, 16 * width) or text, width)
end

--- The same without blanks and full stops at its end. A pattern would try each of many blanks anew.
---@param text string
---@return string
function M.without_end(text)
  local last = #text
  while last > 0 and text:find('^[.%s]', last) do
    last = last - 1
  end
  return text:sub(1, last)
end

--- One line that a statusline or winbar shows literally: an agent must not smuggle in `%` items.
---@param text string
---@return string
function M.statusline(text)
  return (M.one_line(text):gsub('%%', '%%%%'))
end

--- One line that is literal whether or not the reader interprets `%`, as statusline plugins differ.
---@param text string
---@return string
function M.no_percent(text)
  return (M.one_line(text):gsub('%%', ''))
end

--- The name of something for people, or its id where it has no name.
---@param name string?
---@param id string
---@return string one line
function M.label(name, id)
  return M.one_line((name and name ~= '') and name or id)
end

--- A part of a buffer name.
---@param text string
---@return string
function M.name_part(text)
  return (text:gsub('[^%w%-_.]', '_'))
end

return M
