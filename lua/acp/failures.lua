--- What the user is told when an agent fails and the transcript, which says it too, is not in view.

local client = require('acp.client')
local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

---@param session integer
---@return boolean
local function in_view(session)
  return #require('acp.ui.window').windows_of(session) > 0
end

---@param session integer
---@return string
local function key(session)
  return ('no answer %d'):format(session)
end

--- Whether an agent still owes the answer it was asked about for.
---@param session integer
---@return boolean
local function is_silent(session)
  local info = require('acp.session').info(session)
  return info ~= nil and vim.list_contains({ 'starting', 'cancelling' }, info.state)
end

--- Lets the user choose what to do with an agent that does not answer.
---@param effect acp.NoAnswer
---@param message string
---@param done fun(answered: boolean)
---@param moment acp.Moment
---@return acp.Choosing
local function ask(effect, message, done, moment)
  ---@type { label: string, letter: string, action: string }[]
  local choices = {
    { label = ('Wait %d s more'):format(effect.seconds), letter = 'w', action = 'wait' },
    { label = 'Kill the agent and stop', letter = 'x', action = 'kill' },
    { label = 'Kill and start again', letter = 'r', action = 'restart' },
  }
  return require('acp.ui.select').open(choices, {
    prompt = message,
    kind = 'acp_no_answer',
    question = true,
    letter_of = function(choice)
      return choice.letter
    end,
    format_item = function(choice)
      return choice.label
    end,
    moment = moment,
  }, function(choice)
    done(choice ~= nil)
    if choice and is_silent(effect.session) then
      require('acp.questions').drop(key(effect.session))
      require('acp.commands').act(choice.action, effect.session)
    elseif choice then
      notify.show('It has answered meanwhile: nothing was done')
    end
  end)
end

---@param effect acp.NoAnswer
local function no_answer(effect)
  local agent = require('acp.session').agent_of(effect.session)
  local words = '%s has not answered "%s" for %d s'
  local message = text.one_line(words:format(agent, effect.what, effect.seconds))
  require('acp.questions').push({
    key = key(effect.session),
    what = message,
    command = ':Acp permissions',
    session = effect.session,
    open = function(done, moment)
      return ask(effect, message, done, moment)
    end,
  })
end

--- An agent that has answered, or is gone, is not waited for.
---@param session integer
local function answered(session)
  if not is_silent(session) then
    require('acp.questions').drop(key(session))
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
  ---@param effect acp.SessionChanged
  client.subscribe('session', function(effect)
    answered(effect.info.id)
  end)
  for _, type in ipairs({ 'ready', 'failed', 'closed' }) do
    ---@param effect acp.SessionEffect
    client.subscribe(type, function(effect)
      answered(effect.session)
    end)
  end
  client.subscribe('notice', notice)
  ---@param effect acp.Notice
  client.subscribe('notify', function(effect)
    notify.show(effect.message, effect.level)
  end)
end

return M
