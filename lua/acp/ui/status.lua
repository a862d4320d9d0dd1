--- What there is to say of a session in a few words: for winbars and statuslines.

local look = require('acp.ui.look')
local text = require('acp.text')

local M = {}

---@class (exact) acp.StateWords
---@field label string
---@field group string
---@field busy? boolean
---@field since? string states that share a word are one stretch of time

---@type table<string, acp.StateWords>
local states = {
  starting = { label = 'starting', group = 'AcpWinbarBusy', busy = true },
  ready = { label = 'ready', group = 'AcpMuted' },
  running = { label = 'working', group = 'AcpWinbarBusy', busy = true, since = 'turn' },
  waiting = { label = 'waiting for you', group = 'AcpWinbarWaiting', since = 'turn' },
  cancelling = { label = 'stopping', group = 'AcpWinbarBusy', busy = true },
  failed = { label = 'failed', group = 'AcpError' },
  closed = { label = 'closed', group = 'AcpMuted' },
}

---@type table<integer, { what: string, at: integer }> what each session is at, and since when
local since = {}
---@type table<integer, { names: string, plan: string }> while they are known to be right
local told = {}

--- How many questions wait for the user, of a session or of all.
---@param session? integer
---@return integer
local function asked(session)
  local questions = package.loaded['acp.questions']
  return questions and questions.count(session) or 0
end

--- How many questions of a session wait for the user.
---@param info acp.SessionInfo
---@return integer
local function waiting(info)
  return math.max(info.pending_permissions, asked(info.id))
end

--- The words for a state.
---@param info acp.SessionInfo
---@return acp.StateWords
function M.state(info)
  if waiting(info) > 0 then
    return states.waiting
  end
  return states[info.state] or { label = text.one_line(info.state), group = 'AcpMuted' }
end

--- Notes what a session is at now.
---@param info acp.SessionInfo
function M.note(info)
  local state = states[info.state]
  local what = state and state.since or info.state
  if not since[info.id] or since[info.id].what ~= what then
    since[info.id] = { what = what, at = vim.uv.now() }
  end
end

---@param seconds integer
---@return string
local function duration(seconds)
  if seconds < 60 then
    return ('%ds'):format(seconds)
  elseif seconds < 3600 then
    return ('%dm%02ds'):format(math.floor(seconds / 60), seconds % 60)
  end
  return ('%dh%02dm'):format(math.floor(seconds / 3600), math.floor(seconds / 60) % 60)
end

--- Such as "working 12s" or "waiting for you (2)".
---@param info acp.SessionInfo
---@return string
function M.state_text(info)
  local state = M.state(info)
  if not state.busy then
    local count = waiting(info)
    return count > 1 and ('%s (%d)'):format(state.label, count) or state.label
  end
  M.note(info)
  local elapsed = math.floor((vim.uv.now() - since[info.id].at) / 1000)
  return ('%s %s'):format(state.label, duration(elapsed))
end

---@param id integer
---@return { names: string, plan: string }
local function of_settings(id)
  if told[id] then
    return told[id]
  end
  local settings = require('acp.settings')
  local known, names = settings.get(id), {}
  for _, category in ipairs({ 'mode', 'model' }) do
    local setting = known and settings.find(known, category)
    if setting then
      table.insert(names, text.shorten(settings.current_name(setting), 24))
    end
  end
  told[id] = {
    names = table.concat(names, (' %s '):format(look.glyphs().dot)),
    plan = known and require('acp.plan').progress(known) or '',
  }
  return told[id]
end

--- Such as "Plan · Opus", empty when unknown.
---@param id integer
---@return string
function M.names(id)
  return of_settings(id).names
end

--- Such as "3/7", empty when there is no plan or nothing left of it.
---@param id integer
---@return string
function M.plan(id)
  return of_settings(id).plan
end

--- Such as "45% context", empty when unknown.
---@param info acp.SessionInfo
---@return string
function M.context(info)
  local usage = info.usage
  if not usage or not usage.used or not usage.size or usage.size <= 0 then
    return ''
  end
  return ('%d%% context'):format(math.floor(100 * usage.used / usage.size + 0.5))
end

--- Such as "3 to review", empty when nothing is.
---@param id integer
---@return string
function M.pending(id)
  local store = package.loaded['acp.review.store']
  local count = store and store.count(id) or 0
  return count > 0 and ('%d to review'):format(count) or ''
end

--- Such as "$0.13", empty when unknown.
---@param info acp.SessionInfo
---@return string
function M.cost(info)
  local cost = info.usage and info.usage.cost
  if not cost then
    return ''
  end
  local amount = (cost.amount >= 0.01 and '%.2f' or '%.2g'):format(cost.amount)
  return cost.currency == 'USD' and '$' .. amount
    or text.one_line(('%s %s'):format(amount, cost.currency))
end

--- What was said of a session may be wrong by now.
---@param id? integer nil for all
function M.forget(id)
  if id then
    told[id] = nil
  else
    told = {}
  end
end

--- The session is over.
---@param id integer
function M.drop(id)
  told[id], since[id] = nil, nil
end

---@class (exact) acp.StatusText
---@field text string
---@field at integer
---@field buf integer

--- How long a text may be shown unchanged: statuslines are drawn far more often than it changes.
local fresh = 200

---@type acp.StatusText?
local last

--- The text must be made anew.
function M.expire()
  last = nil
end

---@return string
local function line()
  local session = require('acp.session')
  local id = session.resolve()
  local info = id and session.info(id)
  if not info then
    return ''
  end
  local queued = info.queued > 0 and (' +%d'):format(info.queued) or ''
  local pending = M.pending(info.id)
  pending = pending ~= '' and ', ' .. pending or ''
  local elsewhere = asked() - asked(info.id)
  local others = elsewhere > 0 and (', %d waiting elsewhere'):format(elsewhere) or ''
  local agent = text.no_percent(info.agent)
  return ('%s: %s%s%s%s'):format(agent, M.state_text(info), queued, pending, others)
end

--- A short text for a statusline: the session that is meant now and what it does. It is literal
--- however the statusline treats `%`.
---@return string
function M.line()
  local client = package.loaded['acp.client']
  if not client or not client.running() then
    return ''
  end
  local now, buf = vim.uv.now(), vim.api.nvim_get_current_buf()
  if not last or last.buf ~= buf or now - last.at > fresh then
    last = { text = line(), at = now, buf = buf }
  end
  return last.text
end

return M
