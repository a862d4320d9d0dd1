--- Prompts on their way to the core. What one mentions may take a moment to gather; those after it
--- wait, so that they are sent in the order in which they were written.

local M = {}

---@class (exact) acp.Outgoing
---@field text string
---@field steer? boolean
---@field content? string|table[] nil while it is gathered
---@field on_err fun(err: acp.Err)

---@type table<integer, acp.Outgoing[]> by session, in order
local lines = {}

---@param session integer
local function flush(session)
  local line = lines[session] or {}
  while line[1] and line[1].content do
    local prompt = table.remove(line, 1)
    local content = prompt.content --[[@as string|table[] ]]
    local tag = require('acp.callbacks').next_tag()
    local opts = { session = session, steer = prompt.steer, tag = tag }
    if type(content) == 'table' then
      require('acp.ui.queue').note(tag, prompt.text)
    end
    local ok, err = require('acp.session').prompt(content, opts)
    if not ok then
      prompt.on_err(err --[[@as acp.Err]])
    end
  end
  if #line == 0 then
    lines[session] = nil
  end
end

--- Sends a text with what it mentions. `on_err` is called when the core does not take it.
---@param info acp.SessionInfo
---@param text string
---@param steer boolean?
---@param on_err fun(err: acp.Err)
function M.send(info, text, steer, on_err)
  local prompt = { text = text, steer = steer, on_err = on_err } ---@type acp.Outgoing
  lines[info.id] = lines[info.id] or {}
  table.insert(lines[info.id], prompt)
  require('acp.context').content(info, text, function(content)
    prompt.content = content
    flush(info.id)
  end)
end

return M
