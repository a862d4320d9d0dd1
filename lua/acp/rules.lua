--- Rules that answer for the user: those stored for a project, then those of the options. The core
--- applies them.

local check = require('acp.rules.check')
local client = require('acp.client')
local file = require('acp.rules.file')
local force = require('acp.rules.force')
local text = require('acp.text')

local M = {}

--- Whether a rule allows a tool whatever that is given.
---@param rule acp.Rule
---@return boolean
function M.allows_any_parameters(rule)
  local said = rule.path or rule.command or rule.url or rule.inside ~= nil
  return rule.action == 'allow' and rule.tool ~= nil and not said
end

--- A rule in words, such as "allow execute `cargo test` by opencode".
---@param rule acp.Rule
---@return string one line
function M.words(rule)
  local kinds = type(rule.kind) == 'table' and rule.kind or { rule.kind }
  local parts = { rule.action, #kinds > 0 and table.concat(kinds, ' or ') or 'anything' }
  if rule.command then
    table.insert(parts, ('`%s`'):format(rule.command))
  end
  for name, word in vim.spairs({ path = 'on', tool = 'with', url = 'at' }) do
    if rule[name] then
      table.insert(parts, ('%s %s'):format(word, rule[name]))
    end
  end
  if M.allows_any_parameters(rule) then
    table.insert(parts, 'with any parameters')
  end
  if rule.inside ~= nil then
    table.insert(parts, rule.inside and 'inside the project' or 'outside the project')
  end
  if rule.agent then
    table.insert(parts, 'by ' .. rule.agent)
  end
  return text.one_line(table.concat(parts, ' '))
end

--- The rules stored for a project.
---@param project string
---@return acp.StoredRule[]?, acp.Err?
function M.of_project(project)
  local loaded, err = file.load()
  if not loaded then
    return nil, err
  end
  return loaded.projects[project] or {}
end

--- The projects that have rules of their own.
---@return string[]
function M.projects()
  local loaded = file.load()
  local names = vim.tbl_keys(loaded and loaded.projects or {})
  table.sort(names)
  return names
end

--- Puts the rules in force as they are now, and says what is wrong with them.
function M.apply()
  local err = force.send()
  if err then
    local notify = require('acp.notify')
    notify.once(err.message, err.message, 'warn', '. Until :Acp rules mends it you are asked')
  end
end

--- Takes in what another Neovim has stored.
local function refresh()
  if force.is_outdated() then
    M.apply()
  end
end

--- Replaces the rules of a project, in the file and in force.
---@param project string
---@param change fun(rules: acp.StoredRule[]): acp.StoredRule[]
---@return true?, acp.Err?
function M.change(project, change)
  local ok, err = file.change(project, change)
  if not ok then
    return nil, err
  end
  err = force.send()
  if package.loaded['acp.rules.editor'] then
    require('acp.rules.editor').refresh(project)
  end
  return not err and true or nil, err
end

---@param rule acp.Rule
---@return acp.StoredRule without what is said by its place in the file
local function bare(rule)
  local result = { action = rule.action }
  for _, name in ipairs(check.conditions) do
    result[name] = rule[name]
  end
  return result --[[@as acp.StoredRule]]
end

---@param rules acp.StoredRule[]
---@param rule acp.Rule
---@return boolean
local function contains(rules, rule)
  for _, other in ipairs(rules) do
    if vim.deep_equal(bare(other), bare(rule)) then
      return true
    end
  end
  return false
end

--- Whether a rule can be stored for its project, and is not yet.
---@param rule acp.Rule
---@return boolean
function M.is_new(rule)
  local known = rule.project and M.of_project(rule.project)
  return known ~= nil and not contains(known, rule) and check.problem(bare(rule)) == nil
end

--- Stores a rule for its project, after those that are there: an exception stays one.
---@param rule acp.Rule
---@return true?, acp.Err?
function M.add(rule)
  local expected, where, got = check.problem(bare(rule))
  if expected or not rule.project then
    local message = ('not a rule%s: expected %s, got %s'):format(
      where or '',
      expected or 'a project',
      vim.inspect(got)
    )
    return nil, { code = 'bad_rule', message = text.one_line(message) }
  end
  return M.change(rule.project, function(rules)
    if not contains(rules, rule) then
      table.insert(rules, bare(rule))
    end
    return rules
  end)
end

---@param effect acp.Ruled
local function ruled(effect)
  if require('acp.config').get().permissions.notify_rules then
    local verdict = effect.verdict == 'allow' and 'Allowed' or 'Rejected'
    local message = ('%s by a rule: %s (%s)'):format(verdict, effect.title, effect.rule)
    require('acp.notify').show(message)
  end
end

--- Starts listening: the core has to know the rules before anything is asked.
function M.attach()
  M.apply()
  client.subscribe('ruled', ruled)
  client.subscribe('ready', refresh)
  vim.api.nvim_create_autocmd('FocusGained', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: take in the rules that another Neovim has stored',
    callback = refresh,
  })
end

return M
