--- What the user may set: defaults, types, and the check of what was written.

local M = {}

---@class (exact) acp.AgentOpts
---@field command? string[] program and arguments, speaking ACP on its standard input and output
---@field url? string instead of command: tcp://host:port, unix:///path, ws://… or wss://…
---@field env? table<string, string>
---@field install? string the command that installs it, shown when it is missing
---@field mcp_servers? acp.McpServers|false beside the common ones; false: none at all
---@field directories? string[] beside the common ones
---@field pace? number only for the tutor: how long its pauses are, 1 is normal, 0 is none

--- Tool servers by name, or a list of servers that have one.
---@alias acp.McpServers table<string, acp.McpOpts>|acp.McpOpts[]

---@class (exact) acp.ChatOpts
---@field layout? 'right'|'left'
---@field width? number columns, or a fraction of the screen when below 1
---@field prompt_height? integer rows of the prompt while there is little in it
---@field prompt_max_height? integer rows it may grow to

---@alias acp.KeyOpts false|table<'n'|'i', string|string[]|false>

---@class (exact) acp.Opts
---@field default_agent? string
---@field agents? table<string, acp.AgentOpts|false>
---@field mcp_servers? acp.McpServers tool servers for all agents
---@field directories? string[] further folders all agents may work in
---@field start_timeout? number seconds an agent may take to start before you are asked
---@field chat? acp.ChatOpts
---@field keys? false|table<string, acp.KeyOpts>
---@field log? { level?: 'error'|'warn'|'info'|'debug'|'trace' }
---@field permissions? { rules?: table[] }
---@field files? { after_write?: 'save'|'keep' }

---@class (exact) acp.ChatConfig
---@field layout 'right'|'left'
---@field width number
---@field prompt_height integer
---@field prompt_max_height integer

---@class (exact) acp.Config
---@field default_agent string|false false: the first known agent on PATH
---@field agents table<string, acp.AgentOpts|false>
---@field mcp_servers acp.McpServers
---@field directories string[]
---@field start_timeout number
---@field chat acp.ChatConfig
---@field keys table<string, acp.KeyOpts>
---@field log { level: string }
---@field permissions { rules: table[] }
---@field files { after_write: string }

---@type acp.Config
M.defaults = {
  default_agent = false,
  agents = {},
  mcp_servers = {},
  directories = {},
  start_timeout = 30,
  chat = { layout = 'right', width = 0.4, prompt_height = 3, prompt_max_height = 12 },
  keys = {
    send = { n = { '<CR>', '<C-s>' }, i = '<C-s>' },
    cancel = { n = '<C-c>', i = '<C-c>' },
    insert = { n = { 'i', 'a', 'o', 'I', 'A', 'O' } },
    hide = { n = 'q' },
    help = { n = 'g?' },
  },
  log = { level = 'info' },
  permissions = { rules = {} },
  files = { after_write = 'save' },
}

---@type acp.Opts?
local given
---@type acp.Config?
local current
---@type string[]
local found = {}

local function compute()
  found = {}
  current = M.defaults
  if vim.g.acp ~= nil then
    current = require('acp.config.check').apply(current, vim.g.acp, 'vim.g.acp', found)
  end
  if given ~= nil then
    current = require('acp.config.check').apply(current, given, 'setup', found)
  end
  table.sort(found)
  if #found > 0 then
    local message = 'acp.nvim options:\n  ' .. table.concat(found, '\n  ')
    require('acp.notify').once(message, message, 'warn')
  end
end

--- Stores the options; everything else happens at first use.
---@param opts? acp.Opts
function M.set(opts)
  given = opts
  compute()
end

--- The options in force: defaults, `vim.g.acp`, then `setup`.
---@return acp.Config
function M.get()
  if not current then
    compute()
  end
  return current --[[@as acp.Config]]
end

--- What is wrong with the options, one sentence each.
---@return string[]
function M.problems()
  M.get()
  return found
end

return M
