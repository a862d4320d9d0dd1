--- Sessions as the rest of the Lua code names them: which one is meant, and what to ask of it.
--- Their state lives in the core.

local client = require('acp.client')

local M = {}

---@class (exact) acp.OpenOpts
---@field agent? string
---@field cwd? string
---@field new? boolean a new session even where one could be shown again
---@field focus? boolean false: no window at all
---@field load? string the agent's name of a session it has kept
---@field fork? integer a session of ours to branch off
---@field mcp_servers? table tool servers beside those in the options
---@field directories? string[] further folders the agent may work in
---@field on_ready? acp.OnReady

---@class (exact) acp.PromptOpts
---@field session? integer
---@field steer? boolean into the running turn, where the agent can take it
---@field on_done? acp.OnDone
---@field tag? integer what it is known by while it waits, of `callbacks.next_tag`

---@type table<integer, integer> when each session was last used, on a clock of its own
local used = {}
local clock = 0

--- Notes that the user or a program works with this session now.
---@param id integer
function M.touch(id)
  clock = clock + 1
  used[id] = clock
end

---@return acp.SessionInfo[]
function M.list()
  local native = client.running()
  return native and native.sessions() or {}
end

---@param id integer
---@return acp.SessionInfo?
function M.info(id)
  for _, info in ipairs(M.list()) do
    if info.id == id then
      return info
    end
  end
end

--- The name of a session's agent.
---@param id integer
---@return string
function M.agent_of(id)
  local info = M.info(id)
  return info and info.agent or ('session %d'):format(id)
end

--- The session a buffer of ours belongs to.
---@param buf integer
---@return integer?
function M.of_buffer(buf)
  return vim.b[buf].acp_session
end

---@param fits fun(info: acp.SessionInfo): boolean
---@return acp.SessionInfo?
local function last_used(fits)
  local best
  for _, info in ipairs(M.list()) do
    if fits(info) and (not best or (used[info.id] or 0) > (used[best.id] or 0)) then
      best = info
    end
  end
  return best
end

---@param info acp.SessionInfo
---@return boolean
local function alive(info)
  return info.state ~= 'closed'
end

--- The session meant by `id`, or without it by the current window, else the last used one.
---@param id? integer
---@return integer?, acp.Err?
function M.resolve(id)
  if id == nil then
    local here = M.of_buffer(vim.api.nvim_get_current_buf())
    local info = here and M.info(here) or last_used(alive)
    if info then
      return info.id
    end
    return nil, { code = 'no_session', message = 'there is no session', hint = 'Type :AcpChat' }
  end
  if M.info(id) then
    return id
  end
  return nil,
    {
      code = 'no_session',
      message = ('there is no session %s'):format(tostring(id)),
      hint = ':Acp sessions lists them',
    }
end

--- The session that `:AcpChat` without `!` shows again.
---@param opts acp.OpenOpts
---@return acp.SessionInfo?
local function reusable(opts)
  local function fits(info)
    return alive(info)
      and (not opts.agent or info.agent == opts.agent)
      and (not opts.cwd or vim.fs.normalize(opts.cwd) == vim.fs.normalize(info.cwd))
  end
  local here = M.of_buffer(vim.api.nvim_get_current_buf()) or vim.t.acp_session
  local info = here and M.info(here)
  if info and fits(info) then
    return info
  end
  return last_used(fits)
end

---@param opts acp.OpenOpts
---@return integer?, acp.Err?
local function start(opts)
  local action, err = require('acp.launch').action(opts)
  if not action then
    return nil, err
  end
  local id ---@type acp.Sent?
  id, err = client.send(action)
  if not id then
    return nil, err
  end
  -- At once, so that no change of the agent can come first.
  require('acp.files.watch').track_all()
  return id --[[@as integer]]
end

--- Calls `fn` when a session that is shown again is usable, at once if it is already.
---@param info acp.SessionInfo
---@param fn acp.OnReady
local function when_ready(info, fn)
  if info.state == 'starting' then
    return require('acp.callbacks').on_ready(info.id, fn)
  end
  client.defer(function()
    if info.failure then
      fn(info.failure)
    else
      fn(nil, info)
    end
  end)
end

---@param opts? acp.OpenOpts
---@return integer?, acp.Err?
function M.open(opts)
  opts = opts or {}
  local fresh = opts.new or opts.load or opts.fork
  local shown = not fresh and client.running() and reusable(opts) or nil
  local id, err
  if shown then
    id = shown.id
  else
    id, err = start(opts)
  end
  if not id then
    if opts.on_ready then
      client.defer(function()
        opts.on_ready(err)
      end)
    end
    return nil, err
  end
  M.touch(id)
  if opts.on_ready and shown then
    when_ready(shown, opts.on_ready)
  elseif opts.on_ready then
    -- However fast the core is: what becomes of a new session is heard of on the main loop, later.
    require('acp.callbacks').on_ready(id, opts.on_ready)
  end
  if opts.focus ~= false then
    local ok, why = require('acp.ui.window').show(id)
    if not ok then
      require('acp.notify').err(why --[[@as acp.Err]])
    end
  end
  return id
end

---@param content string|table[]
---@param opts? acp.PromptOpts
---@return true?, acp.Err?
function M.prompt(content, opts)
  opts = opts or {}
  local id, err = M.resolve(opts.session)
  local callbacks = require('acp.callbacks')
  local tag = opts.tag or callbacks.next_tag()
  local ok
  if id then
    M.touch(id)
    if opts.on_done then
      callbacks.on_done(tag, id, opts.on_done)
    end
    ok, err = client.send({
      type = opts.steer and 'steer' or 'prompt',
      session = id,
      text = type(content) == 'string' and content or nil,
      blocks = type(content) == 'table' and content or nil,
      tag = tag,
    })
  end
  if ok then
    return true
  end
  callbacks.forget(tag)
  if opts.on_done then
    client.defer(function()
      opts.on_done(err)
    end)
  end
  return nil, err
end

--- Asks the agent for something beside the conversation. `fn` is called exactly once.
---@param id integer
---@param ask acp.Ask
---@param fn acp.OnAsked
function M.ask(id, ask, fn)
  local callbacks = require('acp.callbacks')
  local tag = callbacks.next_tag()
  callbacks.on_asked(tag, id, fn)
  local action = vim.tbl_extend('error', { type = 'ask', session = id, tag = tag }, ask)
  local ok, err = client.send(action --[[@as acp.Action]])
  if not ok then
    callbacks.forget(tag)
    client.defer(function()
      fn(err)
    end)
  end
end

--- Sends an action that has no other field than the session.
---@param type 'cancel'|'close'|'kill'|'restart'|'wait'
---@param id? integer
---@return true?, acp.Err?
function M.act(type, id)
  local session, err = M.resolve(id)
  if not session then
    return nil, err
  end
  local ok
  ok, err = client.send({ type = type, session = session })
  return ok and true or nil, err
end

--- Ends a session and puts its windows away.
---@param id? integer
---@return true?, acp.Err?
function M.close(id)
  local session, err = M.resolve(id)
  if not session then
    return nil, err
  end
  if package.loaded['acp.ui.window'] then
    require('acp.ui.window').close_session(session)
  end
  return M.act('close', session)
end

--- The whole chat as Markdown.
---@param id? integer
---@return string?, acp.Err?
function M.transcript(id)
  local session, err = M.resolve(id)
  local native = client.running()
  if not session or not native then
    return nil, err
  end
  return native.transcript(session)
end

return M
