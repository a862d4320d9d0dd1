--- What has happened to the rows of a buffer since some state of it: hunks are found for a state
--- that may be a few keystrokes old when they arrive.

local M = {}

--- Changes that are remembered. Hunks are never that late.
local most = 512

---@class (exact) acp.Splice
---@field tick integer the state it has led to
---@field first integer
---@field last integer before it
---@field new_last integer after it

---@class (exact) acp.SpliceLog
---@field splices acp.Splice[] a ring
---@field next integer

---@type table<integer, acp.SpliceLog> by buffer
local logs = {}

---@param log acp.SpliceLog
---@param splice acp.Splice
local function note(log, splice)
  log.splices[log.next] = splice
  log.next = log.next % most + 1
end

--- Remembers changes of a buffer from now on.
---@param buf integer
function M.watch(buf)
  if logs[buf] then
    return
  end
  ---@type acp.SpliceLog
  local log = { splices = {}, next = 1 }
  logs[buf] = log
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, tick, first, last, new_last)
      if logs[buf] ~= log then
        return true
      elseif last ~= new_last then
        note(log, { tick = tick or 0, first = first, last = last, new_last = new_last })
      end
    end,
    on_detach = function()
      if logs[buf] == log then
        logs[buf] = nil
      end
    end,
  })
end

--- Forgets a buffer.
---@param buf integer
function M.forget(buf)
  logs[buf] = nil
end

---@param row integer
---@param splice acp.Splice
---@return integer
local function moved(row, splice)
  if row <= splice.first then
    return row
  elseif row >= splice.last then
    return row + splice.new_last - splice.last
  end
  return math.min(row, splice.new_last)
end

--- Where rows of a former state are now.
---@param buf integer
---@param tick integer
---@param first integer
---@param last integer
---@return integer first, integer last
function M.rows(buf, tick, first, last)
  local log = logs[buf]
  if not log or tick >= vim.api.nvim_buf_get_changedtick(buf) then
    return first, last
  end
  for i = 0, most - 1 do
    local splice = log.splices[(log.next - 1 + i) % most + 1]
    if splice and splice.tick > tick then
      first, last = moved(first, splice), moved(last, splice)
    end
  end
  return first, last
end

return M
