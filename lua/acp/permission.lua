--- Permissions: asks the user with the agent's own options. Nothing but a choice is ever a yes.

local client = require('acp.client')
local text = require('acp.text')

local M = {}

---@type table<integer, acp.Permission> asked and not settled, by id
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

---@param id any
---@return acp.Permission?
local function find(id)
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
---@return true?, acp.Err?
function M.respond(id, option)
  local permission = find(id)
  if not permission then
    local message = ('no permission %s waits for an answer'):format(tostring(id))
    return nil, { code = 'no_permission', message = message }
  end
  if option ~= nil and not offers(permission, option) then
    local message = ('the agent does not offer the option "%s"'):format(tostring(option))
    return nil, { code = 'no_option', message = message }
  end
  local kind = option and 'option' or 'dismiss'
  local ok, err = client.send({ type = 'answer', ask = id, kind = kind, value = option })
  if not ok then
    return nil, err
  end
  answered[id] = true
  require('acp.questions').drop(key(id))
  return true
end

---@param permission acp.Permission
---@return string such as "opencode asks to edit: main.lua"
local function title(permission)
  local agent = require('acp.session').agent_of(permission.session)
  local known = permission.kind ~= '' and permission.kind ~= 'other'
  local kind = known and (' (%s)'):format(permission.kind) or ''
  return text.one_line(('%s asks%s: %s'):format(agent, kind, permission.title))
end

--- The agent's options in its order. Where none of them is a no, there is one all the same.
---@param permission acp.Permission
---@return { id?: string, label: string }[]
local function choices(permission)
  local list, can_reject = {}, false
  for _, option in ipairs(permission.options) do
    table.insert(list, { id = option.id, label = text.label(option.name, option.id) })
    can_reject = can_reject or option.kind:match('^reject') ~= nil
  end
  if not can_reject then
    table.insert(list, { label = 'No (cancels the request)' })
  end
  return list
end

---@param id integer
---@param done fun(answered: boolean)
local function pick(id, done)
  local permission = find(id)
  if not permission then
    return done(true)
  end
  vim.ui.select(choices(permission), {
    prompt = title(permission),
    kind = 'acp_permission',
    format_item = function(choice)
      return choice.label
    end,
  }, function(choice)
    local ok, err
    if choice then
      ok, err = M.respond(id, choice.id)
    end
    if err then
      require('acp.notify').after_picker('This was not asked any more: ' .. err.message, 'warn')
    end
    done(ok == true)
  end)
end

---@param effect acp.AskedPermission
local function asked(effect)
  local id = effect.ask
  local permission = {
    id = id,
    session = effect.session,
    title = effect.title,
    kind = effect.tool_kind,
    tool_call = effect.tool_call,
    options = effect.options,
  }
  open[id] = permission
  require('acp.events').emit('AcpPermissionRequested', {
    session = effect.session,
    permission = id,
    title = effect.title,
    kind = effect.tool_kind,
    options = effect.options,
  })
  -- Whoever listens may have answered.
  if not answered[id] and open[id] then
    require('acp.questions').push({
      key = key(id),
      what = title(permission),
      command = ':Acp permissions',
      open = function(done)
        pick(id, done)
      end,
    })
  end
end

---@param effect acp.Settled
local function settled(effect)
  local permission = open[effect.ask]
  open[effect.ask], answered[effect.ask] = nil, nil
  if not permission then
    return
  end
  require('acp.questions').drop(key(effect.ask))
  require('acp.events').emit('AcpPermissionResolved', {
    session = effect.session,
    permission = effect.ask,
    title = permission.title,
    kind = permission.kind,
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
