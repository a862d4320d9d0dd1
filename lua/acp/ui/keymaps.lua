--- What the keys in our buffers do, and setting them.

local M = {}

---@class (exact) acp.KeyAction
---@field desc string
---@field roles? string[] buffers that get the default keys, none for <Plug> only
---@field run fun()
---@field key? fun(lhs: string): string what its keys type where they have a meaning of their own

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
    key = function()
      return require('acp.ui.prompt.complete').key_send()
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
    roles = { 'prompt', 'transcript', 'detail' },
    run = function()
      require('acp.ui.help').show()
    end,
  },
  history_prev = {
    desc = 'show the prompt before, on the first row',
    roles = { 'prompt' },
    run = function()
      require('acp.ui.prompt.recall').prev()
    end,
    key = function(lhs)
      return require('acp.ui.prompt.recall').key_prev(lhs)
    end,
  },
  history_next = {
    desc = 'show the prompt after, on the last row',
    roles = { 'prompt' },
    run = function()
      require('acp.ui.prompt.recall').next()
    end,
    key = function(lhs)
      return require('acp.ui.prompt.recall').key_next(lhs)
    end,
  },
  history_search = {
    desc = 'complete with past prompts',
    roles = { 'prompt' },
    run = function()
      require('acp.ui.prompt.complete').search()
    end,
  },
  queue = {
    desc = 'show the prompts that wait',
    roles = { 'prompt', 'transcript' },
    run = ex('Acp queue'),
  },
  history = { desc = 'choose a past prompt', run = ex('Acp history') },
  context = { desc = 'mention something in the prompt', run = ex('Acp context') },
  steer = { desc = 'send the prompt into the running turn', run = ex('Acp steer') },
  permission = { desc = 'answer what waits for you', run = ex('Acp permissions') },
  permissions = { desc = 'answer what waits for you', run = ex('Acp permissions') },
  rules = { desc = 'edit the rules of this project', run = ex('Acp rules') },
  mode = { desc = 'change the mode', run = ex('Acp mode') },
  model = { desc = 'change the model', run = ex('Acp model') },
  plan = { desc = 'show the whole plan', run = ex('Acp plan') },
  usage = { desc = 'show what was used', run = ex('Acp usage') },
  follow = { desc = 'show the files the agent works on, or no longer', run = ex('Acp follow') },
  agents = { desc = 'list the agents', run = ex('Acp agents') },
  chat = { desc = 'open the chat', run = ex('AcpChat') },
  new = { desc = 'start a new session', run = ex('AcpChat!') },
  sessions = { desc = 'switch to another session', run = ex('Acp sessions') },
  restart = { desc = 'start the agent again', run = ex('Acp restart') },
  close = { desc = 'end the session', run = ex('Acp close') },
}

for _, group in ipairs({ 'review', 'view' }) do
  for name, action in pairs(require('acp.ui.keymaps.' .. group)) do
    M.actions[name] = action
  end
end

--- The <Plug> map of an action.
---@param name string
---@return string
function M.plug(name)
  return ('<Plug>(acp-%s)'):format((name:gsub('_', '-')))
end

--- Runs an action by name, as the <Plug> maps do.
---@param name string
function M.run(name)
  M.actions[(name:gsub('-', '_'))].run()
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
  elseif M.actions[name].key then
    opts.expr = true
    vim.keymap.set(mode, lhs, function()
      return M.actions[name].key(lhs)
    end, opts)
  else
    opts.remap = true
    vim.keymap.set(mode, lhs, M.plug(name), opts)
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
---@param role string
function M.attach(buf, role)
  for _, name in ipairs(actions_of(role)) do
    for _, mode in ipairs({ 'n', role == 'prompt' and 'i' or nil }) do
      for _, lhs in ipairs(keys_of(name, mode)) do
        map(buf, name, mode, lhs)
      end
    end
  end
end

return M
