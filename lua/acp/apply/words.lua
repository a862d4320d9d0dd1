--- What is said about places, in words.

local text = require('acp.text')

local M = {}

---@type table<string, string>
local hows = {
  exact = 'fits exactly',
  moved = 'fits exactly, on another line than it says',
  spaces = 'fits but for blanks',
  fuzzy = 'fits roughly',
  region = 'takes the place of what begins like it',
  whole = 'takes the place of everything',
  selection = 'takes the place of what is selected',
  cursor = 'goes to the cursor: nothing says where it belongs',
}

--- How a place was found.
---@param how string
---@param score integer
---@return string
function M.how(how, score)
  local words = hows[how] or how
  local unsure = how == 'fuzzy' or how == 'region'
  return unsure and ('%s (%d %%)'):format(words, score) or words
end

---@param count integer
---@param noun string
---@return string
function M.count(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

---@param rows integer[]
---@return string
local function lines(rows)
  local numbers = vim.tbl_map(function(row)
    return tostring(row + 1)
  end, rows)
  return (#numbers == 1 and 'line ' or 'lines ') .. table.concat(numbers, ', ')
end

---@param it acp.PlacedMissing
---@return string
local function why(it)
  if it.why == 'already' then
    return 'is there already, ' .. lines(it.rows)
  elseif it.why == 'ambiguous' then
    return 'fits in several places: ' .. lines(it.rows)
  elseif it.why == 'no_context' then
    return 'says nothing of where it belongs'
  elseif it.why == 'overlaps' then
    return 'changes what another part changes, ' .. lines(it.rows)
  elseif it.rows[1] then
    return ('fits nowhere; nearest is %s (%d %%)'):format(lines(it.rows), it.score or 0)
  end
  return 'fits nowhere'
end

--- Why something has no place.
---@param it acp.PlacedMissing
---@return string one line
function M.missing(it)
  return ('"%s" %s'):format(text.brief(it.what, 40), why(it))
end

return M
