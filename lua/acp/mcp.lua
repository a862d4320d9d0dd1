--- Tool servers (MCP) for the agents: the forms they may be written in, and the one that is sent.

local M = {}

--- What users write: the protocol's form, or the one known from elsewhere.
---@class (exact) acp.McpOpts
---@field name? string needed in a list; else the key is the name
---@field type? 'stdio'|'local'|'http'|'remote'|'sse'
---@field command? string|string[] the program, or program and arguments
---@field args? string[]
---@field env? table<string, string>
---@field url? string
---@field headers? table<string, string>
---@field enabled? boolean false leaves it out

---@type table<string, 'program'|'address'>
local types = {
  stdio = 'program',
  ['local'] = 'program',
  http = 'address',
  remote = 'address',
  sse = 'address',
}

---@param value any
---@param is_key boolean whether the keys are names
---@return boolean whether it is a table of strings
local function strings(value, is_key)
  if type(value) ~= 'table' or (not is_key and not vim.islist(value)) then
    return false
  end
  for name, item in pairs(value) do
    if type(item) ~= 'string' or (is_key and type(name) ~= 'string') then
      return false
    end
  end
  return true
end

---@type table<string, fun(value: any): boolean>
local fields = {
  name = function(value)
    return type(value) == 'string' and value ~= ''
  end,
  type = function(value)
    return types[value] ~= nil
  end,
  command = function(value)
    return type(value) == 'string' and value ~= '' or strings(value, false) and #value > 0
  end,
  args = function(value)
    return strings(value, false)
  end,
  env = function(value)
    return strings(value, true)
  end,
  url = function(value)
    return type(value) == 'string' and value:match('^https?://.') ~= nil
  end,
  headers = function(value)
    return strings(value, true)
  end,
  enabled = function(value)
    return type(value) == 'boolean'
  end,
}

---@param server any
---@return string? problem
local function problem_of(server)
  if type(server) ~= 'table' then
    return 'not a table'
  end
  for name, value in pairs(server) do
    local fits = fields[name]
    if not fits then
      return ('unknown field "%s"'):format(tostring(name))
    elseif not fits(value) then
      return ('%s does not fit'):format(name)
    end
  end
  local kind = types[server.type] or (server.url and 'address' or 'program')
  if kind == 'address' and not server.url then
    return 'url is missing'
  elseif kind == 'program' and not server.command then
    return 'command or url is missing'
  end
end

--- The servers with their names, in a fixed order.
---@param servers table
---@return { at: any, name: any, server: any }[]
local function named(servers)
  local result = {}
  for at, server in pairs(servers) do
    local name = at
    if type(at) == 'number' then
      name = type(server) == 'table' and server.name or nil
    end
    table.insert(result, { at = at, name = name, server = server })
  end
  table.sort(result, function(a, b)
    if type(a.at) == type(b.at) then
      return a.at < b.at
    end
    return type(a.at) == 'number'
  end)
  return result
end

--- Says what was expected when the value does not fit.
---@param value any
---@return string?
function M.check(value)
  if type(value) ~= 'table' then
    return 'a table of tool servers by name'
  end
  for _, entry in ipairs(named(value)) do
    local problem = problem_of(entry.server)
    if not problem and type(entry.name) ~= 'string' then
      problem = 'name is missing'
    end
    if problem then
      return ('tool servers such as { files = { command = { "server" } } }; in %s: %s'):format(
        tostring(entry.name or entry.at),
        problem
      )
    end
  end
end

---@param name string
---@param server acp.McpOpts
---@return acp.McpServer
local function wire(name, server)
  if server.url then
    local kind = server.type == 'sse' and 'sse' or 'http'
    return { name = name, type = kind, url = server.url, headers = server.headers or {} }
  end
  local command = server.command
  local words = vim.list_extend({}, type(command) == 'table' and command or { command })
  vim.list_extend(words, server.args or {})
  local program = table.remove(words, 1)
  local path = vim.fn.exepath(program)
  -- The protocol wants an absolute path; one that is not found is for the agent to complain about.
  program = path ~= '' and path or program
  return { name = name, command = program, args = words, env = server.env or {} }
end

--- Several tables as one list in the form that is sent; of two with the same name the later wins.
---@param ... table?
---@return acp.McpServer[]
function M.list(...)
  local names = {} ---@type string[]
  local by_name = {} ---@type table<string, acp.McpOpts>
  for i = 1, select('#', ...) do
    local servers = select(i, ...) --[[@as table?]]
    for _, entry in ipairs(named(servers or {})) do
      if not by_name[entry.name] then
        table.insert(names, entry.name)
      end
      by_name[entry.name] = entry.server
    end
  end
  local result = {}
  for _, name in ipairs(names) do
    if by_name[name].enabled ~= false then
      table.insert(result, wire(name, by_name[name]))
    end
  end
  return result
end

return M
