--- Permissions: which ones wait, and how they are answered. Nothing but a choice is ever a yes.

local client = require('acp.client')
local text = require('acp.text')

local M = {}

---@type table<integer, acp.AskedPermission> asked and not settled, by id
local open = {}
---@type table<integer, true> answered, and the core has yet to say so
local answered = {}

---@param id integer
---@return string
local function key(id)
  return ('permission %d'):format(id)
end

--- Those that wait for an answer.
---@return acp.Permission[]
function M.list()
  local native = client.running()
  return vim.tbl_filter(function(permission)
    return not answered[permission.id]
  end, native and native.permissions() or {})
end

--- One that waits for an answer.
---@param id any
---@return acp.Permission?
function M.find(id)
  for _, permission in ipairs(M.list()) do
    if permission.id == id then
      return permission
    end
  end
end

---@param permission acp.Permission
---@param option string
---@return boolean
local function offers(permission, option)
  for _, offered in ipairs(permission.options) do
    if offered.id == option then
      return true
    end
  end
  return false
end

--- Answers with one of the options, or with nil: cancelled.
---@param id integer
---@param option? string
---@param by? 'user'|'api' for the audit log
---@return true?, acp.Err?
function M.respond(id, option, by)
  local permission = M.find(id)
  if not permission then
    local message = ('no permission %s waits for an answer'):format(tostring(id))
    return nil, { code = 'no_permission', message = message }
  end
  if option ~= nil and not offers(permission, option) then
    local message = ('the agent does not offer the option "%s"'):format(tostring(option))
    return nil, { code = 'no_option', message = message }
  end
  local kind = option and 'option' or 'dismiss'
  local action = { type = 'answer', ask = id, kind = kind, value = option, by = by or 'api' }
  local ok, err = client.send(action)
  if not ok then
    return nil, err
  end
  answered[id] = true
  if by ~= 'user' then
    -- The user's own answer comes from the picker, which goes by itself.
    require('acp.questions').drop(key(id))
  end
  return true
end

--- One line that says who asks for what, such as "opencode asks (edit): main.lua".
---@param permission { session: integer, kind: string, title: string }
---@return string
function M.title(permission)
  local agent = require('acp.session').agent_of(permission.session)
  local known = permission.kind ~= '' and permission.kind ~= 'other'
  local kind = known and (' (%s)'):format(permission.kind) or ''
  return text.one_line(('%s asks%s: %s'):format(agent, kind, text.brief(permission.title, 300)))
end

--- Opens what waits at an entry of the chat. The key may have been meant for what stood there
--- before: what follows it at once goes back to the chat.
---@param here { session: integer, entry: integer }
---@return boolean whether something waits there
function M.open_at(here)
  for _, permission in ipairs(M.list()) do
    if permission.session == here.session and permission.entry == here.entry then
      return require('acp.questions').ask(key(permission.id), 'unasked')
    end
  end
  return false
end

---@param effect acp.AskedPermission
local function asked(effect)
  local id = effect.ask
  open[id] = effect
  require('acp.events').emit('AcpPermissionRequested', {
    session = effect.session,
    permission = id,
    title = effect.title,
    kind = effect.tool_kind,
    options = effect.options,
  })
  -- Whoever listens may have answered.
  if answered[id] or not open[id] then
    return
  end
  local asks = { session = effect.session, kind = effect.tool_kind, title = effect.title }
  local about = require('acp.permission.choices').about(effect)
  require('acp.questions').push({
    key = key(id),
    what = table.concat({ M.title(asks), about[1] }, ': '),
    command = ':Acp permissions',
    session = effect.session,
    open = function(done, moment)
      return require('acp.permission.picker').open(id, done, moment)
    end,
  })
end

---@param effect acp.Settled
local function settled(effect)
  local permission = open[effect.ask]
  open[effect.ask], answered[effect.ask] = nil, nil
  if not permission then
    return
  end
  require('acp.questions').drop(key(effect.ask))
  require('acp.proposal.show').forget(effect.ask)
  require('acp.events').emit('AcpPermissionResolved', {
    session = effect.session,
    permission = effect.ask,
    title = permission.title,
    kind = permission.tool_kind,
    option = effect.option,
  })
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Asked
  client.subscribe('asked', function(effect)
    if effect.kind == 'permission' then
      asked(effect --[[@as acp.AskedPermission]])
    end
  end)
  client.subscribe('settled', settled)
end

return M
