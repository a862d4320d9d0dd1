--- `:checkhealth acp`: what is installed, what is set, and whether the agents really start.

local health = vim.health

local M = {}

local probe_seconds = 20

local function check_neovim()
  health.start('acp: Neovim')
  ---@type { major: integer, minor: integer, patch: integer }
  local numbers = vim.fn.api_info().version
  local version = ('%d.%d.%d'):format(numbers.major, numbers.minor, numbers.patch)
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim ' .. version .. ' is too old', 'acp.nvim needs 0.10 or later')
  end
end

---@param name string
---@param purpose string
local function check_program(name, purpose)
  local path = vim.fs.joinpath(require('acp.native').programs(), name)
  if vim.fn.executable(path) == 1 then
    health.ok(('%s: %s'):format(name, path))
  else
    health.error(('%s is missing: %s'):format(name, purpose), 'Run :Acp build')
  end
end

--- Whether what is noted for good can be written.
local function check_audit()
  local path = require('acp.rules.audit').path()
  local why = require('acp.rules.audit').unwritable()
  if why then
    health.error(
      ('The audit log cannot be written: %s: %s'):format(path, why),
      'What agents ask for and run is not recorded. Make the file writable, or remove it'
    )
  else
    health.ok('audit log: ' .. path)
  end
end

---@return boolean usable
local function check_library()
  health.start('acp: native library')
  local native = require('acp.native')
  local lib, err = native.load()
  if lib then
    health.ok(('%s (interface %d): %s'):format(lib.version, lib.abi, native.path()))
  else
    ---@cast err acp.Err
    health.error(err.message, err.hint or '')
  end
  check_program('acp-guard', 'agents would outlive a killed Neovim')
  check_program('acp-tutor', 'the tutor as a program is only used for checks')
  if vim.fn.executable('cargo') == 1 then
    health.ok('cargo: ' .. vim.fn.exepath('cargo'))
  else
    health.warn('cargo was not found, :Acp build needs it', 'Install Rust: https://rustup.rs')
  end
  health.info('log: ' .. (require('acp.commands').log_path() or 'none yet'))
  check_audit()
  return lib ~= nil
end

local function check_config()
  health.start('acp: options')
  local problems = require('acp.config').problems()
  for _, problem in ipairs(problems) do
    health.error(problem)
  end
  if #problems == 0 then
    health.ok('no problems in setup or vim.g.acp')
  end
  health.info('default agent: ' .. require('acp.agents').default())
end

---@param server acp.McpServer
---@param whose string
local function check_server(server, whose)
  local what = ('tool server "%s" (%s): '):format(server.name, whose)
  local program = server.command or ''
  if server.url then
    health.ok(what .. server.url)
  elseif vim.fn.executable(program) == 1 then
    health.ok(what .. program)
  else
    health.error(what .. program .. ' is not executable')
  end
end

---@param path string
---@param whose string
local function check_folder(path, whose)
  local what = ('folder %s (%s)'):format(path, whose)
  if vim.fn.isdirectory(path) == 1 then
    health.ok(what)
  else
    health.error(what .. ' does not exist')
  end
end

--- The tool servers and folders that sessions get beside their project.
local function check_extras()
  local config = require('acp.config').get()
  ---@type table<string, acp.Config|acp.AgentOpts|false>
  local owners = vim.tbl_extend('keep', { ['all agents'] = config }, config.agents)
  for _, whose in ipairs(vim.fn.sort(vim.tbl_keys(owners))) do
    local owner = owners[whose] or {}
    for _, server in ipairs(require('acp.mcp').list(owner.mcp_servers or nil)) do
      check_server(server, whose)
    end
    for _, path in ipairs(require('acp.launch').folders(vim.fn.getcwd(), owner.directories)) do
      check_folder(path, whose)
    end
  end
end

--- What turns can be undone with, and how much is kept for it.
local function check_rewind()
  health.start('acp: rewind')
  if not require('acp.config').get().rewind.enabled then
    return health.info('rewind.enabled is false: turns are not recorded')
  elseif vim.fn.executable('git') == 1 then
    health.ok('git: ' .. vim.fn.exepath('git'))
  else
    health.warn('git was not found: snapshots copy the files of a project', 'Install git')
  end
  local folder, bytes = require('acp.rewind').folder(), 0
  if vim.uv.fs_stat(folder) then
    for name, kind in vim.fs.dir(folder, { depth = 10 }) do
      local stat = kind == 'file' and vim.uv.fs_stat(vim.fs.joinpath(folder, name))
      bytes = bytes + (stat and stat.size or 0)
    end
  end
  health.info(('snapshots: %.1f MB in %s'):format(bytes / 1024 / 1024, folder))
end

---@class (exact) acp.Probe
---@field agent acp.Agent
---@field err? acp.Err
---@field result? acp.Probed

--- The agents to start: those the user configured, and the known ones that are installed.
---@return acp.Agent[]
local function candidates()
  local agents = require('acp.agents')
  local configured = require('acp.config').get().agents
  local result = {}
  for _, name in ipairs(agents.names()) do
    local agent = agents.get(name) --[[@as acp.Agent]]
    if configured[name] or agents.find(agent) then
      table.insert(result, agent)
    end
  end
  return result
end

---@param agent acp.Agent
---@return acp.Probe
local function probe(agent)
  ---@type acp.Probe
  local entry = { agent = agent }
  local command
  if agent.embedded then
    command = { vim.fs.joinpath(require('acp.native').programs(), 'acp-tutor') }
  else
    local resolved, err = require('acp.agents').resolve(agent.name)
    entry.err = err
    command = resolved and resolved.command
  end
  if entry.err then
    return entry
  end
  local callbacks = require('acp.callbacks')
  local tag = callbacks.next_tag()
  callbacks.on_probed(tag, function(effect)
    entry.result = effect
  end)
  local ok, err = require('acp.client').send({
    type = 'probe',
    tag = tag,
    agent = agent.name,
    install = agent.install,
    command = command,
    url = agent.url,
    env = agent.env,
    cwd = vim.fn.getcwd(),
    patience = probe_seconds,
  })
  entry.err = not ok and err or nil
  return entry
end

---@param entry acp.Probe
local function report(entry)
  local name, result = entry.agent.name, entry.result
  local host = entry.agent.url and require('acp.agents').exposed_host(entry.agent.url)
  if host then
    health.warn(
      ('%s: the connection to %s is not encrypted'):format(name, host),
      'Whoever is in between can read and change what is said: use wss://, or an SSH tunnel'
    )
  end
  if result and result.ok then
    local program = ('%s %s'):format(result.name or '', result.version or '')
    local detail = vim.trim(require('acp.text').one_line(program))
    health.ok(('%s: %s, protocol %s'):format(name, detail, tostring(result.protocol)))
    return
  end
  local err = entry.err or (result and result.err)
  if not err then
    health.error(('%s did not answer within %d s'):format(name, probe_seconds))
  elseif err.code == 'agent_not_found' and entry.agent.install then
    health.error(err.message, ('Install it with `%s`'):format(entry.agent.install))
  else
    local advice = { err.code == 'config' and err.hint or '`:Acp log` has the details' }
    if err.last_words then
      table.insert(advice, 1, 'Its last words: ' .. table.concat(err.last_words, '\n'))
    end
    health.error(err.message, advice)
  end
end

local function check_agents()
  health.start('acp: agents')
  local probes = vim.tbl_map(probe, candidates())
  -- A little longer than the core waits, as its answer says more.
  vim.wait(probe_seconds * 1000 + 1000, function()
    for _, entry in ipairs(probes) do
      if not entry.err and not entry.result then
        return false
      end
    end
    return true
  end, 50)
  for _, entry in ipairs(probes) do
    report(entry)
  end
  health.info('all agents known by name: :Acp agents')
end

--- Called by `:checkhealth acp`.
function M.check()
  check_neovim()
  local usable = check_library()
  check_config()
  check_extras()
  check_rewind()
  if usable then
    check_agents()
  end
end

return M
