--- Asks the core where something goes in a buffer, and brings the answer to whoever has asked.

local client = require('acp.client')

local M = {}

---@type table<integer, fun(effect: acp.Placed)> by tag
local waiting = {}
local last_tag = 0
local attached = false

---@param effect acp.Placed
local function placed(effect)
  local fn = waiting[effect.tag]
  waiting[effect.tag] = nil
  if fn then
    fn(effect)
  end
end

--- Asks. `fn` is called at most once.
---@param what table<string, any> the action but for its type and tag
---@param fn fun(effect: acp.Placed)
---@return integer? tag, acp.Err? err
function M.send(what, fn)
  if not attached then
    attached = true
    client.subscribe('placed', placed)
  end
  last_tag = last_tag + 1
  local action = vim.tbl_extend('error', what, { type = 'place', tag = last_tag })
  local ok, err = client.send(action --[[@as acp.PlaceAction]])
  if not ok then
    return nil, err
  end
  waiting[last_tag] = fn
  return last_tag
end

return M
