--- Writes to the disk that are known of before anybody sees them, and in whose name they are:
--- whatever an agent is at meanwhile, it is not the one.

local find = require('acp.files.find')

local M = {}

---@class (exact) acp.ExpectedWrite
---@field path string
---@field author integer

---@type table<acp.ExpectedWrite, true>
local all = {}

--- Expects a write of a file, until the function is called that this returns.
---@param path string
---@param author integer as of a change in a buffer: see `acp.files.mirror`
---@return fun() over
function M.write(path, author)
  local it = { path = path, author = author }
  all[it] = true
  return function()
    all[it] = nil
  end
end

--- Who writes a file just now, if that is known.
---@param path string
---@return integer? author
function M.author(path)
  for it in pairs(all) do
    if it.path == path or find.resolved(it.path) == find.resolved(path) then
      return it.author
    end
  end
end

return M
