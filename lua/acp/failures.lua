--- What the user is told when an agent fails and the transcript, which says it too, is not in view.

local client = require('acp.client')
local notify = require('acp.notify')

local M = {}

---@type table<integer, true> sessions with an open question
local asking = {}

---@param session integer
---@return boolean
local function in_view(session)
  return #require('acp.ui.window').windows_of(session) > 0
end

--- Whether a question may take the keyboard: only where the user looks at this very session and is
--- not typing.
---@param session integer
---@return boolean
local function may_ask(session)
  local here = require('acp.session').of_buffer(vim.api.nvim_get_current_buf())
  return here == session and vim.api.nvim_get_mode().mode == 'n'
end

---@param session integer
---@param seconds integer
---@param message string
local function ask(session, seconds, message)
  ---@type { label: string, action: string }[]
  local choices = {
    { label = ('Wait %d s more'):format(seconds), action = 'wait' },
    { label = 'Kill the agent and stop', action = 'kill' },
    { label = 'Kill and start again', action = 'restart' },
  }
  asking[session] = true
  require('acp.ui.select').open(choices, {
    prompt = message,
    kind = 'acp_no_answer',
    format_item = function(choice)
      return choice.label
    end,
  }, function(choice)
    asking[session] = nil
    local info = require('acp.session').info(session)
    -- It may have answered while the question stood.
    if choice and info and vim.list_contains({ 'starting', 'cancelling' }, info.state) then
      require('acp.commands').act(choice.action, session)
    end
  end)
end

--- What to type, with the session's number where it is not the one meant without.
---@param session integer
---@return string
local function advice(session)
  local id = require('acp.session').resolve() == session and '' or (' ' .. session)
  return ('Type :Acp wait%s, :Acp restart%s or :Acp kill%s'):format(id, id, id)
end

---@param effect acp.NoAnswer
local function no_answer(effect)
  local session = effect.session
  local message = ('%s has not answered "%s" for %d s'):format(
    require('acp.session').agent_of(session),
    effect.what,
    effect.seconds
  )
  if asking[session] then
    return
  end
  if may_ask(session) then
    ask(session, effect.seconds, message)
  elseif not in_view(session) then
    notify.show(message .. '. ' .. advice(session), 'warn')
  end
end

---@param effect acp.SessionFailed
local function failed(effect)
  if not in_view(effect.session) and not require('acp.callbacks').awaited(effect.session) then
    notify.err(effect.err)
  end
end

---@type table<string, 'error'|'warn'|'info'>
local severities = { error = 'error', warning = 'warn', warn = 'warn' }

---@param effect acp.AgentNotice
local function notice(effect)
  local agent = require('acp.session').agent_of(effect.session)
  notify.show(('%s: %s'):format(agent, effect.message), severities[effect.severity] or 'info')
end

--- Starts listening to the core. It attaches before the callbacks: whoever waits for a session is
--- told of its failure there, and only there.
function M.attach()
  client.subscribe('failed', failed)
  client.subscribe('no_answer', no_answer)
  client.subscribe('notice', notice)
  ---@param effect acp.Notice
  client.subscribe('notify', function(effect)
    notify.show(effect.message, effect.level)
  end)
end

return M
