--- The public API. Expected failures are values: `nil` and an `acp.Err`; nothing is thrown.

local M = {}

--- Stores the options. Calling it is optional; `vim.g.acp` is read as well.
---@param opts? acp.Opts
function M.setup(opts)
  require('acp.config').set(opts)
  if package.loaded['acp.ui.look'] then
    require('acp.ui.look').send()
  end
  if package.loaded['acp.ui.window'] then
    require('acp.ui.window').restyle()
  end
  if package.loaded['acp.rules'] then
    require('acp.rules').apply()
  end
  if package.loaded['acp.options'] then
    require('acp.options').send()
  end
  if package.loaded['acp.review'] then
    require('acp.review').restyle()
  end
end

--- Opens a session, or shows again the one used last. `focus = false` makes no window; else the
--- chat is shown and gets the cursor. `load` takes up a session that the agent has kept, by its
--- `remote`; `fork` branches off one of ours. `on_ready(err, session)` is called exactly once.
---@param opts? acp.OpenOpts
---@return integer? id, acp.Err?
function M.open(opts)
  return require('acp.session').open(opts)
end

--- Sends a prompt: text, or content blocks as in the protocol. `on_done(err, result)` is called
--- exactly once, with `result.stop_reason`. `steer = true` says it into the running turn, where the
--- agent can take it; else it waits like any other.
---@param content string|table[]
---@param opts? acp.PromptOpts
---@return true?, acp.Err?
function M.prompt(content, opts)
  return require('acp.session').prompt(content, opts)
end

--- Stops what the agent is doing.
---@param id? integer
---@return true?, acp.Err?
function M.cancel(id)
  return require('acp.session').act('cancel', id)
end

--- Ends a session and its agent.
---@param id? integer
---@return true?, acp.Err?
function M.close(id)
  return require('acp.session').close(id)
end

--- All sessions.
---@return acp.SessionInfo[]
function M.sessions()
  return require('acp.session').list()
end

--- The whole chat as Markdown text.
---@param id? integer
---@return string?, acp.Err?
function M.transcript(id)
  return require('acp.session').transcript(id)
end

--- Buffer number of the transcript, nil when it was never shown.
---@param id? integer
---@return integer?, acp.Err?
function M.buffer(id)
  local session, err = require('acp.session').resolve(id)
  if not session then
    return nil, err
  end
  return require('acp.ui.transcript').buffer(session)
end

--- The permissions that wait for an answer.
---@return acp.Permission[]
function M.permissions()
  return require('acp.permission').list()
end

--- Answers a permission with one of its options; nil cancels it.
---@param permission_id integer
---@param option_id? string
---@return true?, acp.Err?
function M.respond(permission_id, option_id)
  return require('acp.permission').respond(permission_id, option_id)
end

--- Changes of agents that wait to be accepted or rejected, by path.
---@param id? integer only what this session has done
---@return acp.ChangedFile[]
function M.changes(id)
  return require('acp.review.diff').changes(id)
end

--- Accepts a hunk by its place in `changes`, else the whole file, without a path all files.
---@param opts? acp.ReviewOpts
---@return true?, acp.Err?
function M.accept(opts)
  return require('acp.review').accept(require('acp.review.api').target(opts))
end

--- Rejects the same: it is taken out of buffer and file. With a `reason` the agent is told.
---@param opts? acp.ReviewOpts
---@return true?, acp.Err?
function M.reject(opts)
  local target, err = require('acp.review.api').target(opts)
  return require('acp.review').reject(target, err, opts and opts.reason)
end

--- Takes files back to what they were before a turn; what you changed since is kept. The turn is a
--- number, or the name of an earlier rewind such as "r1". `on_done(err, result)` is called once.
---@param opts acp.RewindOpts
---@return true?, acp.Err?
function M.rewind(opts)
  return require('acp.rewind').rewind(opts)
end

--- A short text for a statusline, empty when there is no session.
---@return string
function M.status()
  return require('acp.ui.status').line()
end

return M
