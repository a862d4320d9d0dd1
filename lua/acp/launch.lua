--- What the core needs to know to open a session: the agent, the project, and what is added to it.

local M = {}

---@param path string
---@param base string
---@return string absolute
local function absolute(path, base)
  path = vim.fs.normalize(path)
  if not path:match('^/') and not path:match('^%a:') then
    path = vim.fs.joinpath(base, path)
  end
  return vim.fs.normalize(path)
end

--- Lists of folders as one, absolute, each folder once.
---@param cwd string what they are relative to
---@param ... string[]?
---@return string[]
function M.folders(cwd, ...)
  local result = {}
  for i = 1, select('#', ...) do
    for _, path in ipairs(select(i, ...) or {}) do
      local folder = absolute(path, cwd)
      if not vim.list_contains(result, folder) then
        table.insert(result, folder)
      end
    end
  end
  return result
end

--- What the agent gets beside its project: tool servers and further folders.
---@param agent acp.Agent
---@param opts acp.OpenOpts
---@param cwd string
---@return { mcp_servers: acp.McpServer[], directories: string[] }
local function extras(agent, opts, cwd)
  local config = require('acp.config').get()
  local own = agent.mcp_servers
  local common = own ~= false and config.mcp_servers or nil
  return {
    mcp_servers = require('acp.mcp').list(common, own or nil, opts.mcp_servers),
    directories = M.folders(cwd, config.directories, agent.directories, opts.directories),
  }
end

---@param opts acp.OpenOpts
---@return acp.Err?
local function mistake(opts)
  local expected = opts.mcp_servers ~= nil and require('acp.mcp').check(opts.mcp_servers)
  if expected then
    return { code = 'bad_option', message = 'mcp_servers: expected ' .. expected }
  elseif opts.load and opts.fork then
    return { code = 'bad_option', message = 'a session is either loaded or forked' }
  end
end

--- Says once that an agent is talked to in the open.
---@param agent acp.Agent
local function warn_of_exposure(agent)
  local host = agent.url and require('acp.agents').exposed_host(agent.url)
  if host then
    local message = ('%s: the connection to %s is not encrypted'):format(agent.name, host)
    require('acp.notify').once('exposed ' .. agent.url, message, 'warn', '. :help acp-elsewhere')
  end
end

--- The action that opens a session.
---@param opts acp.OpenOpts
---@return acp.Action?, acp.Err?
function M.action(opts)
  local session = require('acp.session')
  local err = mistake(opts)
  if err then
    return nil, err
  end
  local parent
  if opts.fork then
    local id
    id, err = session.resolve(opts.fork)
    if not id then
      return nil, err
    end
    parent = session.info(id)
  end
  local agent
  agent, err = require('acp.agents').resolve(opts.agent or (parent and parent.agent))
  if not agent then
    return nil, err
  end
  warn_of_exposure(agent)
  local cwd = opts.cwd or (parent and parent.cwd)
  -- The same folder must be the same text: sessions with equal launches share an agent.
  cwd = vim.fs.normalize(vim.fn.fnamemodify(cwd or vim.fn.getcwd(), ':p'), { expand_env = false })
  local action = {
    type = 'open',
    agent = agent.name,
    command = agent.command,
    embedded = agent.embedded,
    url = agent.url,
    env = agent.env,
    cwd = cwd,
    install = agent.install,
    pace = agent.pace,
    patience = require('acp.config').get().start_timeout,
    load = opts.load,
    fork = opts.fork,
  }
  return vim.tbl_extend('error', action, extras(agent, opts, cwd)) --[[@as acp.Action]]
end

return M
