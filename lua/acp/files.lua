--- Files as the user has them: agents read and write through loaded buffers, so that unsaved text
--- counts and every change can be undone. What no buffer holds is left to the core and the disk.

local client = require('acp.client')
local find = require('acp.files.find')

local M = {}

M.find, M.text_of = find.find, require('acp.files.text').of

--- Answers exactly once, whatever happens here.
---@param effect acp.AskedRead
local function read(effect)
  local ok, result = pcall(require('acp.files.read').read, effect)
  if not ok then
    result = { kind = 'failed', value = find.words_of(result) }
  end
  local answer = { type = 'answer', ask = effect.ask }
  client.send(vim.tbl_extend('error', answer, result) --[[@as acp.Action]])
end

---@param effect acp.AskedWrite
local function write(effect)
  local ok, err = pcall(require('acp.files.write').write, effect)
  if not ok then
    local words = find.words_of(err)
    client.send({ type = 'answer', ask = effect.ask, kind = 'failed', value = words })
  end
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Asked
  client.subscribe('asked', function(effect)
    if effect.kind == 'read' then
      read(effect --[[@as acp.AskedRead]])
    elseif effect.kind == 'write' then
      write(effect --[[@as acp.AskedWrite]])
    end
  end)
  ---@param effect acp.Settled
  client.subscribe('settled', function(effect)
    require('acp.files.write').drop(effect.ask)
  end)
  require('acp.files.mirror').attach()
  require('acp.files.watch').attach()
end

return M
