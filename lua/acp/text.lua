--- Makes text from outside (agents, file names) safe for one-line places.

local M = {}

--- One line without control characters.
---@param text string
---@return string
function M.one_line(text)
  return (text:gsub('%c+', ' '))
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
  -- No character is narrower than a cell: what is further right can't stay.
  text = vim.fn.strcharpart(text, 0, math.max(width, 0))
  while text ~= '' and vim.fn.strdisplaywidth(text) > width - 1 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text == '' and '' or text .. '…'
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
