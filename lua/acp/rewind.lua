--- Going back to before a turn. The core knows what each turn changed and looks after the disk;
--- what is loaded is changed here, in its buffer, so that it can be undone and nothing is lost.

local client = require('acp.client')
local find = require('acp.files.find')
local notify = require('acp.notify')
local recording = require('acp.rewind.recording')
local text = require('acp.text')

local M = {}

---@class (exact) acp.RewindOpts
---@field session? integer
---@field turn integer|string the number of a turn, or the name of a rewind such as "r1"
---@field on_done? fun(err?: acp.Err, result?: acp.RewindResult) called exactly once

---@class (exact) acp.RewindResult
---@field session integer
---@field turn string
---@field files string[] what was changed, absolute
---@field kept { path: string, why: string }[] what was left alone

---@class (exact) acp.Rewinding
---@field session integer
---@field turn string
---@field on_done? fun(err?: acp.Err, result?: acp.RewindResult)
---@field result acp.RewindResult
---@field left integer how many files are still to be done

---@type table<integer, acp.RewindTurn[]> newest first, by session; as the core told last
local lists = {}
---@type table<integer, acp.Rewinding> by tag
local going = {}
---@type table<integer, integer> by session, the turn that is over and still being written down
local unrecorded = {}
---@type table<integer, acp.RewindOpts> by session, the rewind that waits for that
local waiting = {}

--- How long a rewind waits for the record of the last turn, in milliseconds.
local record_ms = 10000

---@param tag integer
local function finish(tag)
  local it = going[tag]
  if not it or it.left > 0 then
    return
  end
  going[tag] = nil
  local has = recording.having(it.session)
  local action = { type = 'rewind_done', tag = tag, open = has.open, modified = has.modified }
  client.send(action --[[@as acp.Action]])
  require('acp.events').emit('AcpRewound', it.result)
  if it.on_done then
    client.guard('the callback of a rewind', it.on_done, nil, it.result)
  end
end

--- The buffer of a file, loaded out of sight if need be.
---@param path string
---@return integer? buf, boolean hidden
local function load(path)
  local buf = find.find(path)
  if buf then
    return buf, false
  end
  buf = vim.fn.bufadd(path)
  local short = vim.o.shortmess
  -- A swap file would be asked about, and everything would wait for the answer.
  vim.o.shortmess = short .. 'A'
  local ok = pcall(vim.fn.bufload, buf)
  vim.o.shortmess = short
  return ok and vim.api.nvim_buf_is_loaded(buf) and buf or nil, true
end

--- Changes a file in its buffer.
---@param tag integer
---@param path string
local function merge(tag, path)
  local it = going[tag]
  local buf, hidden = load(path)
  local function settled(why)
    if why then
      table.insert(it.result.kept, { path = path, why = why })
    else
      table.insert(it.result.files, path)
    end
    it.left = it.left - 1
    if hidden and buf and vim.api.nvim_buf_is_valid(buf) and not vim.bo[buf].modified then
      pcall(vim.api.nvim_buf_delete, buf, {})
    end
    finish(tag)
  end
  if not buf then
    return settled('its buffer can not be loaded')
  end
  local was_modified = vim.bo[buf].modified
  require('acp.files.job').start({
    buf = buf,
    path = path,
    author = -1,
    rewind = tag,
    clash = function(job, plan)
      require('acp.files.conflict').ask(job, plan, it.session, function() end)
    end,
    done = function(plan, refused)
      if not plan then
        return settled(refused or 'its buffer can not be changed')
      end
      local why = not was_modified and require('acp.files.save').save(buf, { rewound = true })
      settled(why and 'it is so in the buffer, but could not be saved: ' .. why or nil)
    end,
  })
end

--- What the core did on the disk, as far as buffers are about it.
---@param session integer
---@param path string
---@param what 'deleted'|'restored'|'changed'
local function follow(session, path, what)
  local buf = find.find(path)
  if not buf or find.protected(buf) then
    return
  elseif what ~= 'deleted' then
    return require('acp.files.disk').sync(buf, session)
  elseif vim.bo[buf].modified then
    return
  elseif vim.fn.bufwinid(buf) == -1 then
    pcall(vim.api.nvim_buf_delete, buf, {})
  else
    -- The user looks at it.
    require('acp.files.disk').outlives(buf)
  end
end

---@param effect acp.Rewound
local function rewound(effect)
  local it = going[effect.tag]
  if not it then
    return
  elseif effect.err then
    going[effect.tag] = nil
    if it.on_done then
      it.on_done(effect.err)
    end
    return
  end
  it.left = #effect.merge
  it.result.kept = effect.kept
  for _, each in ipairs(effect.done) do
    table.insert(it.result.files, each.path)
    client.guard('a file after a rewind', follow, it.session, each.path, each.what)
  end
  for _, path in ipairs(effect.merge) do
    merge(effect.tag, path)
  end
  finish(effect.tag)
end

--- What the user is told when it is done.
---@param result acp.RewindResult
---@return string
function M.words(result)
  local count = #result.files
  local words = ('Rewound to before %s: %d file%s'):format(
    result.turn:match('^r') and 'rewind ' .. result.turn or 'turn ' .. result.turn,
    count,
    count == 1 and '' or 's'
  )
  local first = result.kept[1]
  if first then
    local name = vim.fn.fnamemodify(first.path, ':~:.')
    local more = #result.kept > 1 and (' and %d more'):format(#result.kept - 1) or ''
    words = ('%s; left alone: %s (%s)%s'):format(words, name, first.why, more)
  end
  return text.one_line(words)
end

---@param code string
---@param message string
---@param hint string
---@return nil, acp.Err
local function refuse(code, message, hint)
  return nil, { code = code, message = message, hint = hint }
end

--- The turns of a session that can be undone, newest first.
---@param session integer
---@return acp.RewindTurn[]
function M.turns(session)
  return lists[session] or {}
end

---@param session integer
---@param turn string
---@return acp.RewindTurn?
function M.turn(session, turn)
  for _, each in ipairs(M.turns(session)) do
    if each.id == turn then
      return each
    end
  end
end

--- Why a session can't go back to before a turn, if it can't.
---@param session integer
---@return true?, acp.Err?
local function check_session(session)
  local info = require('acp.session').info(session)
  local busy = info and vim.list_contains({ 'running', 'waiting', 'cancelling' }, info.state)
  if not require('acp.config').get().rewind.enabled then
    return refuse('not_recorded', 'turns are not recorded', 'Set rewind.enabled to true')
  elseif busy then
    return refuse('busy', 'the agent is working', 'Cancel first: :Acp cancel')
  end
  local other = waiting[session] ~= nil
  for _, it in pairs(going) do
    other = other or it.session == session
  end
  if other then
    return refuse('busy', 'another rewind is not done yet', 'See :Acp permissions')
  end
  return true
end

--- Whether there is such a turn.
---@param session integer
---@param turn any
---@return true?, acp.Err?
local function check_turn(session, turn)
  local is_name = type(turn) == 'number' or type(turn) == 'string'
  if is_name and M.turn(session, tostring(turn)) then
    return true
  end
  local words = ('there is no turn %s to go back to'):format(text.one_line(tostring(turn)))
  return refuse('no_turn', words, ':Acp rewind lists them')
end

---@param session integer
---@param opts acp.RewindOpts
---@return true?, acp.Err?
local function start(session, opts)
  local ok, err = check_session(session)
  if ok then
    ok, err = check_turn(session, opts.turn)
  end
  if not ok then
    return nil, err
  end
  local turn, tag = tostring(opts.turn), require('acp.callbacks').next_tag()
  local result = { session = session, turn = turn, files = {}, kept = {} }
  going[tag] = { session = session, turn = turn, on_done = opts.on_done, result = result, left = 0 }
  local action = { type = 'rewind', session = session, tag = tag, turn = turn }
  action = vim.tbl_extend('error', action, recording.having(session))
  local sent
  sent, err = client.send(action --[[@as acp.Action]])
  if not sent then
    going[tag] = nil
    return nil, err
  end
  return true
end

--- Goes on with the rewind that waits for the record of the last turn.
---@param session integer
---@param err? acp.Err why it will not be
local function resume(session, err)
  local opts, ok = waiting[session], nil
  waiting[session] = nil
  if not opts then
    return
  elseif not err then
    ok, err = start(session, opts)
  end
  if not ok and opts.on_done then
    client.guard('the callback of a rewind', opts.on_done, err)
  end
end

--- Puts a rewind off until the last turn is written down, for a while.
---@param session integer
---@param opts acp.RewindOpts
---@return true?, acp.Err?
local function wait_for_record(session, opts)
  local ok, err = check_session(session)
  if not ok then
    return nil, err
  end
  waiting[session] = opts
  vim.defer_fn(function()
    if waiting[session] == opts then
      local words = 'the last turn is still being recorded'
      resume(session, { code = 'busy', message = words, hint = 'Try again in a moment' })
    end
  end, record_ms)
  return true
end

--- Takes the files back to what they were before a turn.
---@param opts acp.RewindOpts
---@return true?, acp.Err?
function M.rewind(opts)
  local session, err = require('acp.session').resolve(opts.session)
  local ok
  if session and unrecorded[session] then
    ok, err = wait_for_record(session, opts)
  elseif session then
    ok, err = start(session, opts)
  end
  if not ok and opts.on_done then
    client.defer(function()
      opts.on_done(err)
    end)
  end
  return ok, err
end

--- Where the snapshots are.
---@return string
function M.folder()
  return require('acp.options').snapshots()
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Recording
  client.subscribe('recording', function(effect)
    recording.answer(effect)
  end)
  ---@param effect acp.Turns
  client.subscribe('turns', function(effect)
    local session = effect.session
    lists[session] = effect.turns
    if effect.ended and effect.ended == unrecorded[session] then
      unrecorded[session] = nil
      resume(session)
    end
  end)
  ---@param effect acp.TurnFinished
  client.subscribe('turn_finished', function(effect)
    if effect.turn and require('acp.config').get().rewind.enabled then
      unrecorded[effect.session] = effect.turn
    end
  end)
  client.subscribe('rewound', rewound)
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    lists[effect.session], unrecorded[effect.session] = nil, nil
    resume(effect.session, { code = 'session_closed', message = 'the session was closed' })
  end)
end

--- Says what came of it to a user who asked for it.
---@param err? acp.Err
---@param result? acp.RewindResult
function M.report(err, result)
  if err then
    notify.err(err)
  elseif result then
    notify.show(M.words(result), #result.kept > 0 and 'warn' or 'info')
  end
end

return M
