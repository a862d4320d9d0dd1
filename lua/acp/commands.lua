--- `:AcpChat` and the subcommands of `:Acp`.

local notify = require('acp.notify')

local M = {}

---@class (exact) acp.Subcommand
---@field desc string
---@field impl fun(argument: string?)
---@field complete? fun(): string[]

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

---@return string[]
local function session_ids()
  return vim.tbl_map(function(info)
    return tostring(info.id)
  end, require('acp.session').list())
end

--- A subcommand that sends one action for a session.
---@param action string
---@param desc string
---@return acp.Subcommand
local function for_session(action, desc)
  return {
    desc = desc,
    complete = session_ids,
    impl = function(argument)
      M.act(action, argument)
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
    impl = function(argument)
      chat({ agent = argument, new = true })
    end,
  },
  tutor = {
    desc = 'start the guided tour',
    impl = function()
      chat({ agent = 'tutor' })
    end,
  },
  close = for_session('close', 'end a session and its agent'),
  cancel = for_session('cancel', 'stop what the agent is doing'),
  restart = for_session('restart', 'start the agent again'),
  wait = for_session('wait', 'give a silent agent more time'),
  kill = for_session('kill', 'kill the agent; the next prompt starts it again'),
  log = {
    desc = 'open the log',
    impl = function()
      local path = M.log_path()
      if path then
        vim.cmd.split({ args = { vim.fn.fnameescape(path) }, mods = { keepalt = true } })
        vim.cmd.normal({ args = { 'G' }, bang = true })
      else
        notify.show('there is no log yet in ' .. require('acp.client').log_dir(), 'warn')
      end
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
  local id = tonumber(argument) --[[@as integer?]]
  if argument and not id then
    return notify.show(('"%s" is not the number of a session'):format(argument), 'error')
  end
  local session = require('acp.session')
  local target, err = session.resolve(id)
  if not target then
    return report(err)
  end
  local ok
  if action == 'close' then
    ok, err = session.close(target)
  else
    ok, err = session.act(action --[[@as 'cancel'|'kill'|'restart'|'wait']], target)
  end
  if not ok then
    report(err)
  end
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
---@param args { fargs: string[] }
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
  subcommand.impl(args.fargs[2])
end

--- Completion of `:Acp`.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match('^.-Acp!?%s+(%S+)%s')
  if not name then
    return starting_with(names(), lead)
  end
  local subcommand = M.subcommands[name]
  return subcommand and subcommand.complete and starting_with(subcommand.complete(), lead) or {}
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
