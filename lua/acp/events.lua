--- `User` autocommands, for other plugins and the user's own.

local client = require('acp.client')

local M = {}

--- Tells whoever listens.
---@param pattern string
---@param data table
function M.emit(pattern, data)
  vim.api.nvim_exec_autocmds('User', { pattern = pattern, data = data, modeline = false })
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.SessionEffect
  client.subscribe('ready', function(effect)
    local info = require('acp.session').info(effect.session)
    M.emit('AcpSessionReady', { session = effect.session, agent = info and info.agent })
  end)
  ---@param effect acp.TurnStarted
  client.subscribe('turn_started', function(effect)
    M.emit('AcpTurnStarted', { session = effect.session, turn = effect.turn })
  end)
  ---@param effect acp.TurnFinished
  client.subscribe('turn_finished', function(effect)
    M.emit('AcpTurnFinished', {
      session = effect.session,
      turn = effect.turn,
      stop_reason = effect.stop_reason,
      err = effect.err,
    })
  end)
  ---@param effect acp.AgentExited
  client.subscribe('agent_exited', function(effect)
    M.emit('AcpAgentExited', {
      session = effect.session,
      agent = effect.agent,
      code = effect.code,
      signal = effect.signal,
      expected = effect.expected,
    })
  end)
end

return M
