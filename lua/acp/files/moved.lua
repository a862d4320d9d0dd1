--- Where a file is that is not where it was: the core looks for it.

local client = require('acp.client')

local M = {}

---@type table<string, (fun(to?: string))[]> who waits, by the file, in the order of asking
local waiting = {}

--- Hands an answer to whoever has waited longest for it.
---@param path string
---@param to? string
local function answer(path, to)
  local all = waiting[path] or {}
  local found = table.remove(all, 1)
  if not all[1] then
    waiting[path] = nil
  end
  if found then
    found(to)
  end
end

--- Looks for a file that is gone. `found` is called once for each search; without a name where
--- nobody knows, or there is nobody to look.
---@param path string
---@param session integer whose agent works
---@param found fun(to?: string)
function M.find(path, session, found)
  local action = { type = 'lost', session = session, path = path, below = vim.fn.getcwd() }
  if not client.send(action) then
    return found()
  end
  waiting[path] = waiting[path] or {}
  table.insert(waiting[path], found)
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Moved
  client.subscribe('moved', function(effect)
    answer(effect.path, effect.to)
  end)
end

return M
