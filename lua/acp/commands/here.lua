--- What subcommands act on: the session that is meant, and what its agent can do. Where there is
--- none, the user is told.

local notify = require('acp.notify')

local M = {}

--- The session numbered, or the one meant now.
---@param argument? string
---@return acp.SessionInfo?
function M.session(argument)
  local id = tonumber(argument) --[[@as integer?]]
  if argument and not id then
    notify.show(('"%s" is not the number of a session'):format(argument), 'error')
    return nil
  end
  local session = require('acp.session')
  local found, err = session.resolve(id)
  if not found then
    notify.err(err --[[@as acp.Err]])
    return nil
  end
  return session.info(found)
end

--- What the agent has told of the session meant now, without a word when there is nothing.
---@return acp.Settings?
function M.settings()
  local client = package.loaded['acp.client']
  local id = client and client.running() and require('acp.session').resolve()
  return id and require('acp.settings').get(id) or nil
end

--- Whether the agent can do something, as far as it has said.
---@param info acp.SessionInfo
---@param words string
---@param ... string names of capabilities, one of which is enough
---@return boolean
function M.can(info, words, ...)
  local settings = require('acp.settings').get(info.id)
  for i = 1, select('#', ...) do
    if not settings or settings.can[select(i, ...)] then
      return true
    end
  end
  notify.show(('%s can not %s'):format(info.agent, words), 'warn')
  return false
end

--- Asks the agent for something; a failure is told, success only where there are words for it.
---@param info acp.SessionInfo
---@param ask acp.Ask
---@param words? string
function M.ask(info, ask, words)
  require('acp.session').ask(info.id, ask, function(err)
    if err then
      notify.err(err)
    elseif words then
      notify.show(require('acp.text').one_line(words))
    end
  end)
end

--- Numbers of all sessions, for completion.
---@return string[]
function M.ids()
  return vim.tbl_map(function(info)
    return tostring(info.id)
  end, require('acp.session').list())
end

return M
