--- What the keys in our buffers do, their defaults, and the list of them.

local M = {}

---@class (exact) acp.KeyAction
---@field desc string
---@field roles? string[] buffers that get the default keys, none for <Plug> only
---@field run fun()

---@return integer? session
local function here()
  return (require('acp.session').resolve())
end

---@param command string
---@return fun()
local function ex(command)
  return function()
    vim.cmd(command)
  end
end

---@type table<string, acp.KeyAction>
M.actions = {
  send = {
    desc = 'send the prompt',
    roles = { 'prompt' },
    run = function()
      local session = here()
      if session then
        require('acp.ui.prompt').send(session)
      end
    end,
  },
  insert = {
    desc = 'go to the prompt and type',
    roles = { 'transcript' },
    run = function()
      require('acp.ui.window').focus_prompt()
    end,
  },
  cancel = { desc = 'stop the agent', roles = { 'prompt', 'transcript' }, run = ex('Acp cancel') },
  hide = {
    desc = 'hide the chat',
    roles = { 'prompt', 'transcript' },
    run = function()
      require('acp.ui.window').hide()
    end,
  },
  help = {
    desc = 'show these keys',
    roles = { 'prompt', 'transcript' },
    run = function()
      M.help()
    end,
  },
  steer = { desc = 'send the prompt into the running turn', run = ex('Acp steer') },
  permissions = { desc = 'answer what waits for you', run = ex('Acp permissions') },
  mode = { desc = 'change the mode', run = ex('Acp mode') },
  model = { desc = 'change the model', run = ex('Acp model') },
  chat = { desc = 'open the chat', run = ex('AcpChat') },
  new = { desc = 'start a new session', run = ex('AcpChat!') },
  sessions = { desc = 'switch to another session', run = ex('Acp sessions') },
  restart = { desc = 'start the agent again', run = ex('Acp restart') },
  close = { desc = 'end the session', run = ex('Acp close') },
}

--- Runs an action by name, as the <Plug> maps do.
---@param name string
function M.run(name)
  M.actions[name].run()
end

---@param keys string|string[]|false|nil
---@return string[]
local function list(keys)
  if not keys then
    return {}
  end
  return type(keys) == 'table' and keys or { keys }
end

--- The keys of an action in a mode.
---@param name string
---@param mode 'n'|'i'
---@return string[]
local function keys_of(name, mode)
  local by_mode = require('acp.config').get().keys[name]
  return by_mode and list(by_mode[mode]) or {}
end

--- In insert mode a key that stops the agent keeps its own meaning while there is nothing to stop.
---@param lhs string
---@return string
local function cancel_or(lhs)
  local session = require('acp.session')
  local info = session.info(here() or -1)
  if not info or not vim.list_contains({ 'running', 'waiting', 'starting' }, info.state) then
    return lhs
  end
  session.act('cancel', info.id)
  return ''
end

---@param buf integer
---@param name string
---@param mode 'n'|'i'
---@param lhs string
local function map(buf, name, mode, lhs)
  local opts = { buffer = buf, desc = 'acp: ' .. M.actions[name].desc, nowait = true }
  if name == 'cancel' and mode == 'i' then
    opts.expr = true
    vim.keymap.set(mode, lhs, function()
      return cancel_or(lhs)
    end, opts)
  else
    opts.remap = true
    vim.keymap.set(mode, lhs, ('<Plug>(acp-%s)'):format(name), opts)
  end
end

---@param role string
---@return string[] names of the actions with keys in such a buffer
local function actions_of(role)
  local names = {}
  for name, action in pairs(M.actions) do
    if action.roles and vim.list_contains(action.roles, role) then
      table.insert(names, name)
    end
  end
  table.sort(names)
  return names
end

--- Sets the default keys in one of our buffers.
---@param buf integer
---@param role 'transcript'|'prompt'
function M.attach(buf, role)
  for _, name in ipairs(actions_of(role)) do
    for _, mode in ipairs({ 'n', role == 'prompt' and 'i' or nil }) do
      for _, lhs in ipairs(keys_of(name, mode)) do
        map(buf, name, mode, lhs)
      end
    end
  end
end

--- Lists the keys of the current buffer in a float.
function M.help()
  local role = vim.b.acp_role or 'prompt'
  local rows = {}
  for _, name in ipairs(actions_of(role)) do
    local shown = {}
    for _, mode in ipairs({ 'n', role == 'prompt' and 'i' or nil }) do
      for _, lhs in ipairs(keys_of(name, mode)) do
        table.insert(shown, mode == 'i' and lhs .. ' (insert)' or lhs)
      end
    end
    if #shown > 0 then
      table.insert(rows, { table.concat(shown, '  '), M.actions[name].desc })
    end
  end
  vim.list_extend(rows, {
    { '', '' },
    { ':AcpChat', 'open the chat' },
    { ':AcpChat!', 'start a new session' },
    { ':Acp', 'everything else, with completion' },
    { ':help acp', 'the manual' },
  })
  require('acp.ui.float').table('Keys in the ' .. role, rows)
end

return M
