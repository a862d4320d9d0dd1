--- Keys in buffers with pending hunks, there only while there are some. What the user has mapped
--- is left alone.

local M = {}

---@class (exact) acp.ReviewKey
---@field name string of the option
---@field plug string
---@field desc string
---@field word? string for the hint
---@field x? boolean whether in visual mode too

---@type acp.ReviewKey[]
M.all = {
  { name = 'accept', plug = 'accept', desc = 'accept this change', word = 'accept', x = true },
  { name = 'reject', plug = 'reject', desc = 'reject this change', word = 'reject', x = true },
  { name = 'edit', plug = 'edit', desc = 'accept this change and edit it', word = 'edit' },
  { name = 'reason', plug = 'reason', desc = 'reject it and say why', word = 'why', x = true },
  { name = 'next', plug = 'next', desc = 'go to the next change', word = 'next' },
  { name = 'previous', plug = 'previous', desc = 'go to the change before' },
  { name = 'accept_file', plug = 'accept-file', desc = 'accept all changes of this file' },
  { name = 'reject_file', plug = 'reject-file', desc = 'reject all changes of this file' },
  { name = 'toggle', plug = 'toggle', desc = 'show changes in their files, or do not' },
  { name = 'list', plug = 'list', desc = 'list all changes' },
}

---@class (exact) acp.ReviewMap
---@field mode 'n'|'x'
---@field lhs string
---@field plug string

---@type table<integer, acp.ReviewMap[]> what is mapped, by buffer
local mapped = {}

---@param plug string
---@return string
local function rhs(plug)
  return ('<Plug>(acp-review-%s)'):format(plug)
end

---@type table<string, string> what our maps are called, by what they do
local ours = {}
for _, key in ipairs(M.all) do
  ours[rhs(key.plug)] = 'acp: ' .. key.desc
end

--- Whether somebody has mapped this, or something that begins with it, or the beginning of it.
---@param mode 'n'|'x'
---@param lhs string
---@return boolean
local function taken(mode, lhs)
  return vim.fn.mapcheck(lhs, mode) ~= ''
end

--- The key that the options have for something, if any.
---@param name string
---@return string|false
function M.of(name)
  local keys = require('acp.config').get().review.keys
  return keys and keys[name] or false
end

--- Maps the keys in a buffer.
---@param buf integer
function M.add(buf)
  if mapped[buf] then
    return
  end
  local free = {} ---@type acp.ReviewMap[]
  vim.api.nvim_buf_call(buf, function()
    -- All are looked at before the first is mapped: they begin alike.
    for _, key in ipairs(M.all) do
      local lhs = M.of(key.name)
      for _, mode in ipairs(key.x and { 'n', 'x' } or { 'n' }) do
        if lhs and not taken(mode, lhs) then
          table.insert(free, { mode = mode, lhs = lhs, plug = key.plug })
        end
      end
    end
  end)
  for _, each in ipairs(free) do
    local opts = { buffer = buf, remap = true, desc = ours[rhs(each.plug)] }
    vim.keymap.set(each.mode, each.lhs, rhs(each.plug), opts)
  end
  mapped[buf] = free
end

--- Takes the keys away again, those that are still ours.
---@param buf integer
function M.remove(buf)
  local made = mapped[buf]
  mapped[buf] = nil
  if not made or not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  for _, mode in ipairs({ 'n', 'x' }) do
    for _, now in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
      local desc = ours[now.rhs or '']
      if desc and desc == now.desc then
        pcall(vim.api.nvim_buf_del_keymap, buf, mode, now.lhs or '')
      end
    end
  end
end

--- What the keys of a buffer do, in words: all, and then ever fewer.
---@param buf integer
---@return string[]
function M.in_words(buf)
  local lhs = {} ---@type table<string, string>
  for _, each in ipairs(mapped[buf] or {}) do
    if each.mode == 'n' then
      lhs[each.plug] = each.lhs
    end
  end
  local long, short, shortest = {}, {}, {}
  for i, key in ipairs(M.all) do
    if key.word and lhs[key.plug] then
      local words = ('%s %s'):format(lhs[key.plug], key.word)
      table.insert(long, words)
      if i <= 2 then
        table.insert(short, words)
        table.insert(shortest, lhs[key.plug])
      end
    end
  end
  return vim.tbl_map(function(words)
    return table.concat(words, '  ')
  end, { long, short, shortest })
end

return M
