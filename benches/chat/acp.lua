--- The plugin, by its public API only.

local M = {}

---@type integer
local session

---@param command string[]
function M.setup(command)
  -- The harness has made the plugin believe that it was loaded: here it really is.
  vim.g.loaded_acp = nil
  vim.cmd.runtime('plugin/acp.lua')
  require('acp').setup({ agents = { bench = { command = command } } })
end

---@param ready fun()
function M.open(ready)
  require('acp').open({
    agent = 'bench',
    new = true,
    on_ready = function(err, info)
      assert(info, err and err.message)
      session = info.id
      ready()
    end,
  })
end

---@param text string
---@param done fun()
function M.prompt(text, done)
  require('acp').prompt(text, {
    session = session,
    on_done = function(err)
      assert(not err, err and err.message)
      done()
    end,
  })
end

---@return string
function M.text()
  return (assert(require('acp').transcript(session)))
end

---@return integer
function M.buf()
  return (assert(require('acp').buffer(session)))
end

return M
