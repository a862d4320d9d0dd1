--- What is under the cursor of a transcript, and what can be done to it. Nothing but the core knows
--- what an entry is: it says to which one a row belongs, and how the row is painted.

local M = {}

--- Rows looked at in one go when something is sought.
local stretch = 200

---@class (exact) acp.EntryHere
---@field buf integer
---@field session integer
---@field row integer from 0
---@field entry integer from 1
---@field part integer which attachment, from 1; 0 is none
---@field kind 'tool_call'|'thought'|'other'

---@return acp.Native?
local function native()
  return require('acp.client').running()
end

--- The groups that a row is painted with.
---@param buf integer
---@param first integer
---@param last integer exclusive
---@return { row: integer, group: string }[]
local function groups(buf, first, last)
  local lib = assert(native())
  local spans, found = lib.paint(buf, first, last), {}
  for i = 1, #spans, 4 do
    local number = spans[i + 3] or 0
    table.insert(found, { row = spans[i], group = lib.groups[number] })
  end
  return found
end

---@type table<string, 'tool_call'|'thought'>
local kinds = { AcpTool = 'tool_call', AcpKind = 'tool_call', AcpThought = 'thought' }

--- The row that stands for an entry when it is collapsed, and what it is. Above it may be an empty
--- row and the name of who speaks.
---@param buf integer
---@param row integer a row of it
---@return integer head, 'tool_call'|'thought'|'other' kind
local function head_of(buf, row)
  local lib = assert(native())
  local entry, first = lib.row(buf, row), row
  while first > 0 and lib.row(buf, first - 1) == entry do
    first = first - 1
  end
  for _, it in ipairs(groups(buf, first, math.min(first + 3, row + 1))) do
    if kinds[it.group] then
      return it.row, kinds[it.group]
    end
  end
  return row, 'other'
end

--- What is under the cursor, nil where there is nothing of a session.
---@return acp.EntryHere?
function M.here()
  local buf, lib = vim.api.nvim_get_current_buf(), native()
  local session = require('acp.session').of_buffer(buf)
  if not lib or not session or not require('acp.ui.surface').level(buf) then
    return nil
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local entry, _, _, _, _, part = lib.row(buf, row)
  if entry == 0 then
    return nil
  end
  local _, kind = head_of(buf, row)
  return { buf = buf, session = session, row = row, entry = entry, part = part, kind = kind }
end

--- Expands or collapses what is under the cursor; without a wish, the other way.
---@param open? boolean
function M.toggle(open)
  local here = M.here()
  if not here then
    return
  end
  -- The rows below the first one may be about to go.
  local head = head_of(here.buf, here.row)
  if open ~= true and head < here.row then
    vim.api.nvim_win_set_cursor(0, { head + 1, 0 })
  end
  require('acp.client').send({
    type = 'toggle',
    surface = here.buf,
    entry = here.entry,
    open = open,
  })
end

--- Expands or collapses everything in the transcript.
---@param open boolean
function M.toggle_all(open)
  local buf = vim.api.nvim_get_current_buf()
  if require('acp.ui.surface').level(buf) then
    require('acp.client').send({ type = 'toggle_all', surface = buf, open = open })
  end
end

--- Opens what is under the cursor: what waits for an answer, a tool call in a float, an attachment,
--- or a thought in place.
function M.open()
  local here = M.here()
  if not here then
    return
  elseif here.part > 0 then
    require('acp.ui.attachment').open(here)
  elseif here.kind == 'tool_call' and require('acp.permission').open_at(here) then
    return
  elseif here.kind == 'tool_call' then
    require('acp.ui.detail').open({ session = here.session, entry = here.entry })
  else
    M.toggle()
  end
end

--- Saves the attachment under the cursor to a file.
function M.save()
  local here = M.here()
  if here and here.part > 0 then
    require('acp.ui.attachment').save(here)
  else
    require('acp.notify').show('There is nothing to save here')
  end
end

--- The row of the next or previous thing the user said.
---@param buf integer
---@param from integer
---@param direction 1|-1
---@return integer?
local function message_from(buf, from, direction)
  local rows = vim.api.nvim_buf_line_count(buf)
  local at = from + direction
  while at >= 0 and at < rows do
    local first = direction == 1 and at or math.max(at - stretch + 1, 0)
    local last = direction == 1 and math.min(at + stretch, rows) or at + 1
    local found
    for _, it in ipairs(groups(buf, first, last)) do
      if it.group == 'AcpUser' and (not found or direction == -1) then
        found = it.row
      end
    end
    if found then
      return found
    end
    at = direction == 1 and last or first - 1
  end
end

--- Goes to the next or previous thing the user said.
---@param direction 1|-1
---@param count integer
function M.go_to_message(direction, count)
  local buf = vim.api.nvim_get_current_buf()
  if not native() or not require('acp.ui.surface').level(buf) then
    return
  end
  local start = vim.api.nvim_win_get_cursor(0)[1] - 1
  local row = start
  for _ = 1, count do
    row = message_from(buf, row, direction) or row
  end
  if row ~= start then
    vim.cmd.normal({ args = { "m'" }, bang = true })
    vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  end
end

return M
