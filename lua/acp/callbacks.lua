--- Callbacks that wait for something of the core. Each is called exactly once, whatever happens.

local client = require('acp.client')

local M = {}

---@alias acp.OnReady fun(err: acp.Err?, session: acp.SessionInfo?)
---@alias acp.OnDone fun(err: acp.Err?, result: { stop_reason: string }?)
---@alias acp.OnProbed fun(effect: acp.Probed)
---@alias acp.OnAsked fun(err: acp.Err?, sessions: acp.Kept[]?)

---@type table<integer, acp.OnReady[]> by session
local ready = {}
---@type table<integer, { session: integer, fn: acp.OnDone }> by tag
local done = {}
---@type table<integer, { session: integer, fn: acp.OnAsked }> by tag
local asked = {}
---@type table<integer, acp.OnProbed> by tag
local probed = {}
local last_tag = 0

---@return integer
function M.next_tag()
  last_tag = last_tag + 1
  return last_tag
end

--- Waits for a session to be usable.
---@param session integer
---@param fn acp.OnReady
function M.on_ready(session, fn)
  ready[session] = ready[session] or {}
  table.insert(ready[session], fn)
end

--- Waits for the end of the turn that was sent with `tag`.
---@param tag integer
---@param session integer
---@param fn acp.OnDone
function M.on_done(tag, session, fn)
  done[tag] = { session = session, fn = fn }
end

--- Waits for what comes of asking the agent for something.
---@param tag integer
---@param session integer
---@param fn acp.OnAsked
function M.on_asked(tag, session, fn)
  asked[tag] = { session = session, fn = fn }
end

--- Forgets a callback whose prompt or request was never accepted.
---@param tag integer
function M.forget(tag)
  done[tag], asked[tag] = nil, nil
end

---@param tag integer
---@param fn acp.OnProbed
function M.on_probed(tag, fn)
  probed[tag] = fn
end

---@param session integer
---@param err acp.Err?
---@param info acp.SessionInfo?
---@return boolean any
local function call_ready(session, err, info)
  local waiting = ready[session] or {}
  ready[session] = nil
  for _, fn in ipairs(waiting) do
    client.guard('on_ready', fn, err, info)
  end
  return #waiting > 0
end

---@param tag integer?
---@param err acp.Err?
---@param result { stop_reason: string }?
local function call_done(tag, err, result)
  local waiting = tag and done[tag]
  if waiting then
    done[tag] = nil
    client.guard('on_done', waiting.fn, err, result)
  end
end

---@param tag integer
---@param err acp.Err?
---@param sessions acp.Kept[]?
local function call_asked(tag, err, sessions)
  local waiting = asked[tag]
  if waiting then
    asked[tag] = nil
    client.guard('a callback', waiting.fn, err, sessions)
  end
end

---@param waiting table<integer, { session: integer }>
---@param session integer
---@return integer[] tags in order
local function tags_of(waiting, session)
  local tags = {}
  for tag, entry in pairs(waiting) do
    if entry.session == session then
      table.insert(tags, tag)
    end
  end
  table.sort(tags)
  return tags
end

--- The session will not answer any more: everybody who waits for it is told.
---@param session integer
---@param err acp.Err
local function give_up(session, err)
  call_ready(session, err)
  for _, tag in ipairs(tags_of(done, session)) do
    call_done(tag, err)
  end
  for _, tag in ipairs(tags_of(asked, session)) do
    call_asked(tag, err)
  end
end

--- Whether somebody is going to be told when this session is ready or has failed.
---@param session integer
---@return boolean
function M.awaited(session)
  return ready[session] ~= nil
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.SessionEffect
  client.subscribe('ready', function(effect)
    call_ready(effect.session, nil, require('acp.session').info(effect.session))
  end)
  ---@param effect acp.TurnFinished
  client.subscribe('turn_finished', function(effect)
    if effect.err then
      call_done(effect.tag, effect.err)
    else
      call_done(effect.tag, nil, { stop_reason = effect.stop_reason or 'end_turn' })
    end
  end)
  ---@param effect acp.SessionFailed
  client.subscribe('failed', function(effect)
    give_up(effect.session, effect.err)
  end)
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    give_up(effect.session, { code = 'session_closed', message = 'the session was closed' })
  end)
  ---@param effect acp.AskDone
  client.subscribe('ask_done', function(effect)
    call_asked(effect.tag, effect.err, effect.sessions)
  end)
  ---@param effect acp.Probed
  client.subscribe('probed', function(effect)
    local fn = probed[effect.tag]
    probed[effect.tag] = nil
    if fn then
      fn(effect)
    end
  end)
end

return M
