--- Turns what the user points at into text for the prompt.

local M = {}

---@param lines string[]
---@return string a fence longer than any run of backticks in the lines
local function fence_for(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch('`+') do
      longest = math.max(longest, #run)
    end
  end
  return ('`'):rep(longest + 1)
end

---@param buf integer
---@return string
local function name_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' then
    return '[No Name]'
  end
  return vim.fn.fnamemodify(name, ':.')
end

--- Lines of a buffer as a fenced block under its name and line numbers.
---@param buf integer
---@param first integer 1-based
---@param last integer inclusive
---@return string[]
function M.lines(buf, first, last)
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  local fence = fence_for(lines)
  local where = first == last and tostring(first) or ('%d-%d'):format(first, last)
  local block = { ('%s:%s'):format(name_of(buf), where), fence .. vim.bo[buf].filetype }
  vim.list_extend(block, lines)
  table.insert(block, fence)
  return block
end

return M
