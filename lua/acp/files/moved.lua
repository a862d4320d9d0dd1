--- Where a file is that is not where it was: the core looks for it.

local client = require('acp.client')

local M = {}

---@type table<string, fun(to?: string)> who waits, by the file
local waiting = {}

--- Looks for a file that is gone.
---@param path string
---@param session integer whose agent works
---@param found fun(to?: string)
function M.find(path, session, found)
  waiting[path] = found
  client.send({ type = 'lost', session = session, path = path, below = vim.fn.getcwd() })
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Moved
  client.subscribe('moved', function(effect)
    local found = waiting[effect.path]
    waiting[effect.path] = nil
    if found then
      found(effect.to)
    end
  end)
end

return M
