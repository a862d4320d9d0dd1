--- Makes text from outside (agents, file names) safe for one-line places.

local M = {}

--- One line without control characters.
---@param text string
---@return string
function M.one_line(text)
  return (text:gsub('%c+', ' '))
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

--- A part of a buffer name.
---@param text string
---@return string
function M.name_part(text)
  return (text:gsub('[^%w%-_.]', '_'))
end

return M
