--- Marks that Neovim drops when their line is changed by a call: they go on where they were.

local M = {}

--- A mark that is set by its name.
---@class (exact) acp.Mark
---@field name string
---@field row integer
---@field col integer

---@param buf integer
---@return acp.Mark[] marks of the user, and those around what was last changed
local function marks_of(buf)
  local all = {} ---@type acp.Mark[]
  ---@param it { mark: string, pos: integer[] }
  local function add(it)
    local of, line, col = unpack(it.pos)
    if of == buf and line and col then
      table.insert(all, { name = it.mark:sub(2), row = line - 1, col = col - 1 })
    end
  end
  for _, it in ipairs(vim.fn.getmarklist(buf)) do
    add(it --[[@as any]])
  end
  for _, it in ipairs(vim.fn.getmarklist()) do
    add(it --[[@as any]])
  end
  return all
end

---@param buf integer
---@param mark acp.Mark
local function put(buf, mark)
  local last = vim.api.nvim_buf_line_count(buf) - 1
  local row = math.max(math.min(mark.row, last), 0)
  pcall(vim.api.nvim_buf_set_mark, buf, mark.name, row + 1, math.max(mark.col, 0), {})
end

--- Makes a change. What was on a line that it replaces is on the line in its place.
---@param buf integer
---@param change acp.Change
---@param marks acp.Mark[] as they are before it
---@param make fun(buf: integer, change: acp.Change)
local function across(buf, change, marks, make)
  make(buf, change)
  local first, count = change.first, change.text and 1 or #(change.lines or {})
  local last = change.text and first + 1 or change.last or first
  for _, mark in ipairs(marks) do
    if count > 0 and mark.row >= first and mark.row < last and mark.name:match('^%a$') then
      local row = math.min(mark.row, first + count - 1)
      put(buf, { name = mark.name, row = row, col = mark.col })
    end
  end
end

--- Where a row is after changes, none of which is of this row alone.
---@param row integer
---@param changes acp.Change[]
---@return integer
local function moved(row, changes)
  local to = row
  for _, change in ipairs(changes) do
    local last = change.last or change.first
    if not change.text and last <= row then
      to = to + #(change.lines or {}) - (last - change.first)
    end
  end
  return to
end

--- Makes changes, the last row's first.
---@param buf integer
---@param changes acp.Change[]
---@param make fun(buf: integer, change: acp.Change)
function M.keep(buf, changes, make)
  local marks = marks_of(buf)
  for _, change in ipairs(changes) do
    across(buf, change, marks, make)
  end
  for _, mark in ipairs(marks) do
    if mark.name == '[' or mark.name == ']' then
      put(buf, { name = mark.name, row = moved(mark.row, changes), col = mark.col })
    end
  end
end

return M
