--- Which values fit which option, and what is said of those that do not.

local M = {}

--- Says what was expected when the value does not fit, and where inside it what else was found.
---@alias acp.Check fun(value: any): string?, string?, any

---@param kind type
---@return acp.Check
local function is(kind)
  return function(value)
    return type(value) ~= kind and ('a %s'):format(kind) or nil
  end
end

---@param ... string
---@return acp.Check
local function one_of(...)
  local choices = { ... }
  return function(value)
    return not vim.list_contains(choices, value)
        and ('one of "%s"'):format(table.concat(choices, '", "'))
      or nil
  end
end

---@param low number
---@param high number
---@return acp.Check
local function number_in(low, high)
  return function(value)
    local fits = type(value) == 'number' and value >= low and value <= high
    return not fits and ('a number from %s to %s'):format(low, high) or nil
  end
end

---@param value any
---@return string?
local function strings(value)
  local fits = type(value) == 'table' and vim.islist(value) and #value > 0
  for _, item in ipairs(fits and value or {}) do
    fits = fits and type(item) == 'string'
  end
  return not fits and 'a list of strings, such as { "opencode", "acp" }' or nil
end

---@param value any
---@return string?
local function folders(value)
  local fits = type(value) == 'table' and (#value == 0 or strings(value) == nil)
  return not fits and 'a list of folders' or nil
end

---@param value any
---@return string?
local function patterns(value)
  local fits = type(value) == 'table' and (#value == 0 or strings(value) == nil)
  return not fits and 'a list of patterns, such as { ".env*" }' or nil
end

---@param value any
---@return string?
local function address(value)
  local fits = type(value) == 'string'
    and (value:match('^tcp://.+:%d+$') or value:match('^unix://.') or value:match('^wss?://.'))
  return not fits and 'an address such as tcp://host:port, unix:///path or ws://host/path' or nil
end

---@param value any
---@return string?
local function mcp_servers(value)
  return require('acp.mcp').check(value)
end

---@param value any
---@return string?
local function environment(value)
  local fits = type(value) == 'table'
  for name, item in pairs(fits and value or {}) do
    fits = fits and type(name) == 'string' and type(item) == 'string'
  end
  return not fits and 'a table of strings by name' or nil
end

---@param value any
---@return string?
local function keys_by_mode(value)
  if value == false then
    return nil
  end
  local fits = type(value) == 'table'
  for mode, lhs in pairs(fits and value or {}) do
    local key = lhs == false or type(lhs) == 'string' or strings(lhs) == nil
    fits = fits and (mode == 'n' or mode == 'i') and key
  end
  return not fits and 'false, or keys by mode, such as { n = "<CR>", i = "<C-s>" }' or nil
end

---@param value any
---@return string?
local function one_key(value)
  local fits = value == false or type(value) == 'string' and value ~= ''
  return not fits and 'a key such as "]g", or false' or nil
end

---@type table<string, acp.Check>
local agent_fields = {
  command = strings,
  url = address,
  env = environment,
  mcp_servers = function(value)
    return value ~= false and mcp_servers(value) or nil
  end,
  directories = folders,
  install = is('string'),
  pace = number_in(0, 100),
}

---@type table<string, acp.Check|table<string, acp.Check|table<string, acp.Check>>>
local schema = {
  default_agent = function(value)
    return value ~= false and type(value) ~= 'string' and 'the name of an agent' or nil
  end,
  agents = is('table'),
  mcp_servers = mcp_servers,
  directories = folders,
  start_timeout = number_in(0.1, 3600),
  chat = {
    layout = one_of('right', 'left', 'bottom', 'float', 'tab'),
    width = number_in(0.1, 1000),
    height = number_in(0.1, 1000),
    float = { width = number_in(0.1, 1000), height = number_in(0.1, 1000) },
    plan = one_of('float', 'off'),
    conceal = is('boolean'),
    prompt_height = number_in(1, 100),
    prompt_max_height = number_in(1, 1000),
  },
  detail = {
    diff = one_of('auto', 'unified', 'split'),
    width = number_in(0.1, 1000),
    height = number_in(0.1, 1000),
  },
  icons = one_of('auto', 'unicode', 'ascii'),
  keys = {
    send = keys_by_mode,
    cancel = keys_by_mode,
    insert = keys_by_mode,
    hide = keys_by_mode,
    help = keys_by_mode,
    open = keys_by_mode,
    save = keys_by_mode,
    visit = keys_by_mode,
    apply = keys_by_mode,
    toggle = keys_by_mode,
    expand = keys_by_mode,
    collapse = keys_by_mode,
    expand_all = keys_by_mode,
    collapse_all = keys_by_mode,
    message_next = keys_by_mode,
    message_prev = keys_by_mode,
    tab_next = keys_by_mode,
    tab_prev = keys_by_mode,
    hunk_next = keys_by_mode,
    hunk_prev = keys_by_mode,
    jump = keys_by_mode,
    jump_split = keys_by_mode,
    split = keys_by_mode,
    history_prev = keys_by_mode,
    history_next = keys_by_mode,
    history_search = keys_by_mode,
    queue = keys_by_mode,
    review_accept = keys_by_mode,
    review_reject = keys_by_mode,
  },
  log = { level = one_of('error', 'warn', 'info', 'debug', 'trace') },
  permissions = {
    focus = one_of('chat', 'never'),
    picker = one_of('builtin', 'vim.ui.select'),
    store = one_of('ask', 'never', 'always'),
    notify_rules = is('boolean'),
    partial = one_of('revert', 'reject'),
    keys = {
      next = one_key,
      previous = one_key,
      accept = one_key,
      refuse = one_key,
      toggle = one_key,
      edit = one_key,
      allow = one_key,
      reject = one_key,
      leave = one_key,
      help = one_key,
    },
    rules = function(value)
      return require('acp.rules.check').problem_of_list(value)
    end,
  },
  files = {
    after_write = one_of('save', 'keep'),
    save_autocmds = is('boolean'),
    max_read = number_in(0.01, 1024),
    private = patterns,
  },
  review = {
    unopened = is('boolean'),
    inline = is('boolean'),
    signs = is('boolean'),
    sign_priority = number_in(0, 65535),
    hint = is('boolean'),
    keys = {
      next = one_key,
      previous = one_key,
      accept = one_key,
      reject = one_key,
      edit = one_key,
      reason = one_key,
      accept_file = one_key,
      reject_file = one_key,
      toggle = one_key,
      list = one_key,
    },
    keep = number_in(1, 10000),
    days = number_in(1, 3650),
  },
  rewind = {
    enabled = is('boolean'),
    keep = number_in(1, 10000),
    days = number_in(1, 3650),
    max_mb = number_in(1, 100000),
    wait_ms = number_in(0, 60000),
  },
  history = { size = number_in(0, 100000), persist = is('boolean') },
  prompt = { complete = one_of('auto', 'manual') },
}

---@param path string
---@param expected string
---@param value any
---@return string
local function mismatch(path, expected, value)
  local shown = type(value) == 'table' and 'a table' or vim.inspect(value)
  return ('%s: expected %s, got %s'):format(path, expected, shown)
end

---@param path string
---@param fields table<string, any>
---@return string
local function unknown(path, fields)
  local known = vim.tbl_keys(fields)
  table.sort(known)
  return ('%s: unknown option, known here are %s'):format(path, table.concat(known, ', '))
end

--- Lays `user` over `base`; what does not fit is left out and told in `problems`.
---@param base table
---@param user table
---@param fields table<string, any>
---@param path string
---@param problems string[]
---@return table
local function merge(base, user, fields, path, problems)
  local result = vim.deepcopy(base)
  for name, value in pairs(user) do
    local field = fields[name]
    local at = ('%s.%s'):format(path, tostring(name))
    if not field then
      table.insert(problems, unknown(at, fields))
    elseif type(field) == 'function' then
      local expected, where, got = field(value)
      if expected then
        local found = where and got or value
        table.insert(problems, mismatch(at .. (where or ''), expected, found))
      else
        result[name] = vim.deepcopy(value)
      end
    elseif type(value) ~= 'table' then
      table.insert(problems, mismatch(at, 'a table', value))
    else
      result[name] = merge(base[name] or {}, value, field, at, problems)
    end
  end
  return result
end

---@param base table<string, acp.AgentOpts|false>
---@param user table
---@param path string
---@param problems string[]
---@return table<string, acp.AgentOpts|false>
local function merge_agents(base, user, path, problems)
  local result = vim.deepcopy(base)
  for name, agent in pairs(user) do
    local at = ('%s.%s'):format(path, tostring(name))
    if agent == false then
      result[name] = false
    elseif type(agent) ~= 'table' then
      table.insert(problems, mismatch(at, 'a table or false', agent))
    else
      result[name] = merge(result[name] or {}, agent, agent_fields, at, problems)
    end
  end
  return result
end

--- Options that have another name now keep working.
---@param user table
---@param path string
---@param problems string[]
local function rename(user, path, problems)
  local permissions = user.permissions
  local open = type(permissions) == 'table' and permissions.open
  if open == 'auto' or open == 'manual' then
    local focus = open == 'manual' and 'never' or 'chat'
    user.permissions = vim.tbl_extend('force', { focus = focus }, permissions)
    user.permissions.open = nil
    local words = '%s.permissions.open is called permissions.focus: write focus = "%s"'
    table.insert(problems, words:format(path, focus))
  end
end

--- Lays what the user wrote over `base`, and adds a sentence to `problems` for all that is wrong.
---@param base acp.Config
---@param user any
---@param path string where the options were written, for messages
---@param problems string[]
---@return acp.Config
function M.apply(base, user, path, problems)
  if type(user) ~= 'table' then
    table.insert(problems, mismatch(path, 'a table', user))
    return base
  end
  user = vim.tbl_extend('force', {}, user)
  rename(user, path, problems)
  local agents, keys = user.agents, user.keys
  user.agents = nil
  if keys == false then
    user.keys = nil
  end
  local review = user.review ---@type any
  local no_review_keys = type(review) == 'table' and review.keys == false
  if no_review_keys then
    user.review = vim.tbl_extend('force', {}, review)
    user.review.keys = nil
  end
  local result = merge(base, user, schema, path, problems)
  if keys == false then
    result.keys = {}
  end
  if no_review_keys then
    result.review.keys = {}
  end
  if type(agents) == 'table' then
    result.agents = merge_agents(base.agents, agents, path .. '.agents', problems)
  elseif agents ~= nil then
    table.insert(problems, mismatch(path .. '.agents', 'a table', agents))
  end
  return result --[[@as acp.Config]]
end

return M
