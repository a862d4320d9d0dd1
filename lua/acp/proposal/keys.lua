--- Keys in a file while a proposed change is shown in it. What was mapped there comes back.

local M = {}

---@class (exact) acp.PreviewKey
---@field name string of the option
---@field desc string
---@field word? string for the hint

---@type acp.PreviewKey[]
M.all = {
  { name = 'allow', desc = 'allow what is accepted', word = 'allow' },
  { name = 'reject', desc = 'reject all and say why', word = 'reject' },
  { name = 'refuse', desc = 'refuse this part of the proposal', word = 'refuse' },
  { name = 'accept', desc = 'accept this part of the proposal', word = 'accept' },
  { name = 'edit', desc = 'edit this part of the proposal', word = 'edit' },
  { name = 'next', desc = 'go to the next part', word = 'next' },
  { name = 'leave', desc = 'leave the question open', word = 'leave' },
  { name = 'help', desc = 'show these keys', word = 'keys' },
  { name = 'previous', desc = 'go to the part before' },
  { name = 'toggle', desc = 'accept this part, or refuse it' },
}

---@type table<integer, { lhs: string, before?: table<string, any> }[]> by buffer
local mapped = {}

--- Maps the keys in a buffer.
---@param buf integer
---@param actions table<string, fun()> by name
function M.add(buf, actions)
  if mapped[buf] then
    return
  end
  -- They come back when the proposal goes.
  require('acp.review.keys').remove(buf)
  local made = {}
  local keys = require('acp.config').get().permissions.keys
  for _, key in ipairs(M.all) do
    local lhs, run = keys[key.name], actions[key.name]
    if lhs and run then
      local before = vim.api.nvim_buf_call(buf, function()
        return vim.fn.maparg(lhs, 'n', false, true)
      end)
      table.insert(made, { lhs = lhs, before = before.buffer == 1 and before or nil })
      local opts = { buffer = buf, nowait = true, desc = 'acp: ' .. key.desc }
      vim.keymap.set('n', lhs, run, opts)
    end
  end
  mapped[buf] = made
end

--- Takes them away.
---@param buf integer
function M.remove(buf)
  local made = mapped[buf]
  mapped[buf] = nil
  if not made or not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  for _, each in ipairs(made) do
    pcall(vim.keymap.del, 'n', each.lhs, { buffer = buf })
    if each.before then
      vim.api.nvim_buf_call(buf, function()
        vim.fn.mapset('n', false, each.before)
      end)
    end
  end
  if require('acp.review.store').of_buf(buf) then
    require('acp.review.keys').add(buf)
  end
end

--- What the keys do, after these words: in two rows where one is too short, and no more of them
--- than there is room for.
---@param words string
---@param width integer
---@return string[]
function M.in_words(words, width)
  local keys = require('acp.config').get().permissions.keys
  local rows, count = { words }, 0 ---@type string[], integer
  for _, key in ipairs(M.all) do
    local lhs = key.word and keys[key.name]
    local more = lhs and ('  %s %s'):format(lhs, key.word) or ''
    local row = rows[#rows] .. more
    if vim.fn.strdisplaywidth(row) <= width then
      rows[#rows] = row
      count = count + (more ~= '' and #rows == 2 and 1 or 0)
    elseif #rows == 1 then
      rows[2], count = more:sub(2), 1
    end
  end
  -- A key alone is not worth a row.
  return count == 1 and { rows[1] } or rows
end

return M
