--- Which rules are in force: those stored for projects, then those of the options, as the core has
--- been told. Where something is wrong with one of them, none allows anything.

local check = require('acp.rules.check')
local client = require('acp.client')
local file = require('acp.rules.file')

local M = {}

---@type acp.Rule[] what the core has
local sent = {}
---@type string? what the file looked like when it was read
local mark

--- The rules of the options, in the core's form.
---@return acp.StoredRule[]
function M.of_options()
  local rules = {}
  for i, rule in ipairs(require('acp.config').get().permissions.rules) do
    rules[i] = check.canonical(rule)
    rules[i].source = ('permissions.rules[%d]'):format(i)
  end
  return rules
end

---@param rule acp.StoredRule
---@param project? string
---@return acp.Rule what the core is told
local function for_core(rule, project)
  local copy = vim.deepcopy(rule)
  copy.note = nil
  copy.project = project
  return copy
end

---@param project string
---@param rules acp.StoredRule[]
---@return acp.Rule[]
local function of_folder(project, rules)
  local result = {}
  for i, rule in ipairs(rules) do
    result[i] = for_core(rule, project)
    result[i].source = ('rule %d of the project'):format(i)
  end
  return result
end

--- Nobody knows which exceptions there are to what these allow.
---@param rules acp.Rule[]
local function allow_nothing(rules)
  for _, rule in ipairs(rules) do
    rule.action = rule.action == 'allow' and 'ask' or rule.action
  end
end

--- All rules, in the order in which they are tried.
---@return acp.Rule[], acp.Err?
local function all()
  local rules = {}
  local loaded, err = file.load()
  for project, list in vim.spairs(loaded and loaded.projects or {}) do
    vim.list_extend(rules, of_folder(project, list))
  end
  for _, rule in ipairs(M.of_options()) do
    table.insert(rules, for_core(rule))
  end
  if err then
    allow_nothing(rules)
  end
  return rules, err
end

--- Which rule the core can't read, and why.
---@param err acp.Err
---@return integer?, string
local function refused(err)
  local number, words = err.message:match('rule (%d+): (.*)$')
  local index = tonumber(number) --[[@as integer?]]
  return index, words or err.message
end

--- Where one rule can't be read, the others are in force as far as they forbid something.
---@param rules acp.Rule[]
---@param err acp.Err
---@return acp.Err
local function fall_back(rules, err)
  local number, words = refused(err)
  local bad = number and rules[number]
  allow_nothing(rules)
  local problem ---@type acp.Err?
  repeat
    table.remove(rules, number or #rules)
    local ok, again = client.send({ type = 'rules', rules = rules })
    number = again and refused(again)
    problem = again
  until ok or #rules == 0
  sent = problem and sent or rules
  return {
    code = 'bad_rule',
    message = ('%s%s: %s'):format(
      bad and bad.source or 'the rules',
      bad and bad.project and (' ' .. bad.project) or '',
      words
    ),
    hint = 'Nothing is allowed by rules until it is mended',
  }
end

--- Tells the core all rules, where it has others.
---@return acp.Err? err what is wrong with them, whatever else went well
function M.send()
  if not client.running() then
    return nil
  end
  mark = file.mark()
  local rules, err = all()
  if vim.deep_equal(rules, sent) then
    return err
  end
  local ok, why = client.send({ type = 'rules', rules = rules })
  if not ok then
    return fall_back(rules, why --[[@as acp.Err]])
  end
  sent = rules
  return err
end

--- Whether the core can read these rules, before they are stored.
---@param project string
---@param rules acp.StoredRule[]
---@return integer? number of the first that it can't read
---@return string? why
function M.unreadable(project, rules)
  local trial = of_folder(project, rules)
  local ok, err = client.send({ type = 'rules', rules = trial })
  if ok then
    sent = trial
    M.send()
    return nil
  end
  return refused(err --[[@as acp.Err]])
end

--- Whether somebody else has changed the file.
---@return boolean
function M.is_outdated()
  return file.mark() ~= mark
end

return M
