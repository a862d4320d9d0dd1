--- Which letter chooses which item of a list. Digits are counts and never choose; letters that move
--- the cursor or close the window are left alone.

local M = {}

--- Motions, `q`, and what confirms.
local reserved = 'ghjklqyGHJKLQY'

--- One letter for each label; none where there are more items than letters.
---@param labels string[]
---@param wanted table<integer, string?> by index: the letter that an item has to have
---@param taken string[] keys of the window
---@return table<integer, string?>
function M.assign(labels, wanted, taken)
  local used, result = {}, {}
  for letter in reserved:gmatch('.') do
    used[letter] = true
  end
  for _, key in ipairs(taken) do
    used[key] = true
  end
  for i in ipairs(labels) do
    local letter = wanted[i]
    if letter then
      used[letter], result[i] = true, letter
    end
  end
  ---@param i integer
  ---@param letters string
  local function take(i, letters)
    for letter in letters:gmatch('%a') do
      if not result[i] and not used[letter] then
        used[letter], result[i] = true, letter
      end
    end
  end
  for i, label in ipairs(labels) do
    local words = label:lower()
    -- The beginnings of its words, then any letter of it, then any letter.
    for word in words:gmatch('%a+') do
      take(i, word:sub(1, 1))
    end
    take(i, words)
    take(i, 'abcdefimnoprstuvwxz')
  end
  return result
end

return M
