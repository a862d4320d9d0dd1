--- `g?`: the keys of the buffer one is in, as they are really mapped there.

local M = {}

---@class (exact) acp.HelpRow
---@field desc string
---@field n string[] keys in normal mode
---@field i string[] keys in insert mode

--- As people write them: Neovim has `<C-S>` for `<C-s>`.
---@param lhs string
---@return string
local function written(lhs)
  return (
    lhs:gsub('<([CMAT])%-(%u)>', function(modifier, letter)
      return ('<%s-%s>'):format(modifier, letter:lower())
    end)
  )
end

---@param buf integer
---@return acp.HelpRow[]
local function keys_of(buf)
  local rows, by_desc = {}, {} ---@type acp.HelpRow[], table<string, acp.HelpRow>
  for _, mode in ipairs({ 'n', 'i' }) do
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
      local desc = (map.desc or ''):match('^acp: (.*)')
      if desc then
        local row = by_desc[desc] or { desc = desc, n = {}, i = {} }
        if not by_desc[desc] then
          by_desc[desc] = row
          table.insert(rows, row)
        end
        table.insert(row[mode], written(map.lhs or ''))
      end
    end
  end
  return rows
end

---@param row acp.HelpRow
---@return string
local function sort_key(row)
  local first = row.n[1] or row.i[1] or ''
  -- Letters after what is in brackets, help and leaving last.
  local rank = (first:match('^<') and '1') or (row.desc:match('^show these') and '3') or '2'
  return rank .. first:lower()
end

--- Lists the keys of the current buffer in a float.
function M.show()
  local role = vim.b.acp_role
  local found, inserts = keys_of(vim.api.nvim_get_current_buf()), false
  for _, row in ipairs(found) do
    table.sort(row.n)
    table.sort(row.i)
    inserts = inserts or #row.i > 0
  end
  table.sort(found, function(a, b)
    return sort_key(a) < sort_key(b)
  end)
  local rows = inserts and { { 'Normal', 'Insert', '' } } or {}
  ---@param n string
  ---@param i string
  ---@param desc string
  local function add(n, i, desc)
    table.insert(rows, inserts and { n, i, desc } or { n, desc })
  end
  for _, row in ipairs(found) do
    add(table.concat(row.n, ' '), table.concat(row.i, ' '), row.desc)
  end
  if role == 'prompt' or role == 'transcript' then
    add('', '', '')
    add(':AcpChat!', '', 'start a new session')
    add(':Acp', '', 'everything else, with completion')
    add(':help acp', '', 'the manual')
  end
  require('acp.ui.float').table(role and 'Keys in the ' .. role or 'Keys', rows)
  vim.w.acp_role = 'help'
end

return M
