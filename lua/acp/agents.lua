--- Agents by name: what is known of them, with the user's settings laid over it.

local known = require('acp.agents.known')

local M = {}

---@class (exact) acp.Agent
---@field name string
---@field command? string[]
---@field embedded? string
---@field url? string
---@field env table<string, string>
---@field install? string
---@field home? string web page
---@field pace? number
---@field mcp_servers? acp.McpServers|false
---@field directories? string[]

--- What is known of an agent, by the way in which it is installed, or could be.
---@param base acp.KnownAgent
---@return acp.KnownAgent
local function as_installed(base)
  local other = base.other_way
  if not other or not base.command then
    return base
  end
  local function there(program)
    return vim.fn.executable(program) == 1
  end
  local result = vim.tbl_extend('force', {}, base) ---@type acp.KnownAgent
  result.other_way = nil
  if not there(base.command[1]) and there(other.command[1]) then
    result.command = other.command
  end
  local uname = vim.uv.os_uname()
  local manager = vim.split(base.install or '', ' ')[1]
  if ('%s %s'):format(uname.sysname, uname.machine) == other.platform and not there(manager) then
    result.install = other.install
  end
  return result
end

--- An agent by name, the user's settings laid over what is known; nil when there is none.
---@param name string
---@return acp.Agent?
function M.get(name)
  local user = require('acp.config').get().agents[name]
  local base = known.agents[name] and as_installed(known.agents[name])
  if user == false or (not user and not base) then
    return nil
  end
  user, base = user or {}, base or {}
  ---@type acp.Agent
  local agent = vim.tbl_extend('force', {}, base, user)
  if user.command or user.url then
    agent.embedded = nil
  end
  if user.url then
    agent.command = nil
  end
  agent.name = name
  agent.env = vim.tbl_extend('force', base.env or {}, user.env or {})
  return agent
end

--- Names of all agents, the user's first, each group sorted.
---@return string[]
function M.names()
  local configured = require('acp.config').get().agents
  local names, rest = {}, {}
  for name, agent in pairs(configured) do
    if agent then
      table.insert(names, name)
    end
  end
  for name in pairs(known.agents) do
    if configured[name] == nil then
      table.insert(rest, name)
    end
  end
  table.sort(names)
  table.sort(rest)
  return vim.list_extend(names, rest)
end

--- Where the agent is: its program, or the address it listens on. Nil when it is not installed;
--- the embedded one always is.
---@param agent acp.Agent
---@return string?
function M.find(agent)
  if agent.embedded then
    return 'embedded'
  elseif agent.url then
    return agent.url
  end
  local program = agent.command and agent.command[1]
  local path = program and vim.fn.exepath(program) or ''
  return path ~= '' and path or nil
end

--- The host that is talked to in the open: nobody proves who they are, and whoever is in between
--- can read and change what is said. Nil for what is encrypted or stays on this machine.
---@param url string
---@return string?
function M.exposed_host(url)
  local authority = url:match('^[tT][cC][pP]://([^/?#]*)') or url:match('^[wW][sS]://([^/?#]*)')
  if not authority then
    return nil
  end
  local host = authority:gsub('^.*@', '')
  host = (host:match('^%[(.*)%]') or host:gsub(':%d*$', '')):lower()
  local is_local = host == 'localhost'
    or host == '::1'
    or host:match('%.localhost$')
    or host:match('^127%.%d+%.%d+%.%d+$')
  return not is_local and host or nil
end

--- The agent to use when none was named.
---@return string
function M.default()
  local config = require('acp.config').get()
  if config.default_agent then
    return config.default_agent --[[@as string]]
  end
  for _, name in ipairs(known.preference) do
    local agent = M.get(name)
    if agent and M.find(agent) then
      return name
    end
  end
  return 'tutor'
end

--- The agent to start, with its program as an absolute path where it was found. A missing
--- program is left as it is: the session fails with the install command in its transcript.
---@param name? string
---@return acp.Agent?, acp.Err?
function M.resolve(name)
  name = name or M.default()
  local agent = M.get(name)
  if not agent then
    return nil,
      {
        code = 'unknown_agent',
        message = ('there is no agent named "%s"'):format(name),
        hint = 'Known are ' .. table.concat(M.names(), ', '),
      }
  end
  if agent.embedded or agent.url then
    return agent
  end
  if not agent.command then
    return nil,
      {
        code = 'config',
        message = ('agent "%s" has no command and no url'):format(name),
        hint = ('Set agents.%s.command in setup'):format(name),
      }
  end
  agent.command = vim.deepcopy(agent.command)
  agent.command[1] = M.find(agent) or agent.command[1]
  return agent
end

return M
