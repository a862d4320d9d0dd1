--- `:AcpChat` and the subcommands of `:Acp`.

local here = require('acp.commands.here')
local notify = require('acp.notify')

local M = {}

--- Lines that a command is for, from 1.
---@class (exact) acp.LineRange
---@field first integer
---@field last integer

---@class (exact) acp.Subcommand
---@field desc string
---@field impl fun(args: string[], range?: acp.LineRange)
---@field range? boolean whether it takes one
---@field complete? fun(args: string[]): string[] of what comes after these

---@param candidates string[]
---@param lead string
---@return string[]
local function starting_with(candidates, lead)
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

---@param err acp.Err?
local function report(err)
  if err then
    notify.err(err)
  end
end

---@return string[]
local function agent_names()
  return require('acp.agents').names()
end

--- A subcommand that sends one action for a session.
---@param action string
---@param desc string
---@return acp.Subcommand
local function for_session(action, desc)
  return {
    desc = desc,
    complete = here.ids,
    impl = function(args)
      M.act(action, args[1])
    end,
  }
end

--- Opens a session and puts the user into its prompt.
---@param opts acp.OpenOpts
---@return integer? id
local function chat(opts)
  local id, err = require('acp.session').open(opts)
  report(err)
  if id and vim.b.acp_role == 'prompt' and require('acp.ui.prompt').is_empty(id) then
    vim.cmd.startinsert()
  end
  return id
end

---@type table<string, acp.Subcommand>
M.subcommands = {
  agents = {
    desc = 'list the agents, found and missing',
    impl = function()
      require('acp.ui.lists').agents()
    end,
  },
  sessions = {
    desc = 'switch to another session',
    impl = function()
      require('acp.ui.lists').sessions()
    end,
  },
  new = {
    desc = 'start a new session',
    complete = agent_names,
    impl = function(args)
      chat({ agent = args[1], new = true })
    end,
  },
  tutor = {
    desc = 'start the guided tour',
    impl = function()
      chat({ agent = 'tutor' })
    end,
  },
  steer = {
    desc = 'say something into the running turn; without words, what is in the prompt',
    impl = function(args)
      M.steer(table.concat(args, ' '))
    end,
  },
  close = for_session('close', 'end a session and its agent'),
  cancel = for_session('cancel', 'stop what the agent is doing'),
  restart = for_session('restart', 'start the agent again'),
  wait = for_session('wait', 'give a silent agent more time'),
  kill = for_session('kill', 'kill the agent; the next prompt starts it again'),
  log = {
    desc = 'open the log, or with "audit" the record of permissions',
    complete = function(args)
      return args[1] and {} or { 'audit' }
    end,
    impl = function(args)
      if args[1] == 'audit' then
        return require('acp.rules.audit').open()
      end
      local path = M.log_path()
      if path then
        vim.cmd.split({ args = { vim.fn.fnameescape(path) }, mods = { keepalt = true } })
        vim.cmd.normal({ args = { 'G' }, bang = true })
      else
        notify.show('there is no log yet in ' .. require('acp.client').log_dir(), 'warn')
      end
    end,
  },
  messages = {
    desc = 'show the last messages whole',
    impl = function()
      local lines = notify.lines()
      require('acp.ui.float').open('Messages', #lines > 0 and lines or { 'No message yet' })
    end,
  },
  build = {
    desc = 'build the native library',
    impl = function()
      require('acp.install').start()
    end,
  },
  health = {
    desc = 'check the installation and start the agents once',
    impl = function()
      vim.cmd.checkhealth('acp')
    end,
  },
}

local groups =
  { 'access', 'apply', 'kept', 'prompt', 'review', 'rewind', 'rules', 'settings', 'view' }
for _, group in ipairs(groups) do
  for name, subcommand in pairs(require('acp.commands.' .. group)) do
    M.subcommands[name] = subcommand
  end
end

---@return string[]
local function names()
  local sorted = vim.tbl_keys(M.subcommands)
  table.sort(sorted)
  return sorted
end

--- Does something to a session: the one numbered, or the one meant now.
---@param action string
---@param argument? string|integer
function M.act(action, argument)
  local target = here.session(argument and tostring(argument))
  if not target then
    return
  end
  local session = require('acp.session')
  local ok, err
  if action == 'close' then
    ok, err = session.close(target.id)
  else
    ok, err = session.act(action --[[@as 'cancel'|'kill'|'restart'|'wait']], target.id)
  end
  if not ok then
    report(err)
  end
end

--- Says something into the running turn, or sends what was typed in the prompt that way.
---@param words string
function M.steer(words)
  local target = here.session()
  if not target then
    return
  elseif words == '' then
    return require('acp.ui.prompt').send(target.id, true)
  end
  local _, err = require('acp.session').prompt(words, { session = target.id, steer = true })
  report(err)
end

--- The newest log file.
---@return string?
function M.log_path()
  local pattern = vim.fs.joinpath(require('acp.client').log_dir(), 'acp*.log*')
  local newest, at
  for _, path in ipairs(vim.fn.glob(pattern, true, true)) do
    local time = vim.fn.getftime(path)
    if not at or time > at then
      newest, at = path, time
    end
  end
  return newest
end

--- `:Acp {subcommand} [argument]`
---@param args { fargs: string[], range: integer, line1: integer, line2: integer }
function M.run(args)
  local name = args.fargs[1]
  local subcommand = M.subcommands[name]
  if not subcommand then
    local what = name and ('no subcommand "%s"'):format(name) or 'a subcommand is needed'
    return notify.show(
      (':Acp: %s, there are %s'):format(what, table.concat(names(), ', ')),
      'error'
    )
  end
  local range = args.range > 0 and { first = args.line1, last = args.line2 } or nil
  if range and not subcommand.range then
    return notify.show((':Acp %s takes no range'):format(name), 'error')
  end
  subcommand.impl(vim.list_slice(args.fargs, 2), range)
end

--- Completion of `:Acp`.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local given = line:match('^.-Acp!?%s+(.*)$') or ''
  local words = vim.split(given:sub(1, #given - #lead), '%s+', { trimempty = true })
  local name = table.remove(words, 1)
  if not name then
    return starting_with(names(), lead)
  end
  local subcommand = M.subcommands[name]
  if not subcommand or not subcommand.complete then
    return {}
  end
  -- A space within a word has a backslash, here and in what is typed.
  local candidates = vim.tbl_map(function(candidate)
    return (candidate:gsub('[\\%s]', '\\%0'))
  end, subcommand.complete(words))
  return starting_with(candidates, lead)
end

--- Completion of `:AcpChat`.
---@param lead string
---@return string[]
function M.complete_agents(lead)
  return starting_with(agent_names(), lead)
end

--- `:[range]AcpChat[!] [agent]`
---@param args { fargs: string[], bang: boolean, range: integer, line1: integer, line2: integer }
function M.chat(args)
  local quoted = args.range > 0
    and require('acp.context').lines(vim.api.nvim_get_current_buf(), args.line1, args.line2)
  local id = chat({ agent = args.fargs[1], new = args.bang })
  if id and quoted then
    require('acp.ui.prompt').append(id, quoted)
    vim.cmd.startinsert()
  end
end

return M
