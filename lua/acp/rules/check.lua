--- What a rule may say, whoever has written it, and its one form for the core.

local M = {}

--- What users write: conditions, and `allow`, `reject` or `ask` or the same as `action`.
---@class (exact) acp.RuleOpts
---@field allow? true
---@field reject? true
---@field ask? true
---@field action? 'allow'|'reject'|'ask'
---@field kind? string|string[] "read", "edit", "execute" …
---@field tool? string a glob for the name of the tool
---@field path? string a glob for files, seen from the project
---@field inside? boolean files in the project, or all others
---@field command? string words of a command; `*` at the end stands for any more
---@field url? string a glob for addresses
---@field agent? string
---@field note? string for people

--- What is stored: as the core takes it, with what people have noted.
---@class (exact) acp.StoredRule: acp.Rule
---@field note? string

---@type string[]
M.verdicts = { 'allow', 'reject', 'ask' }

---@type string[]
M.kinds = {
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
}

--- Conditions, in the order in which they are written.
---@type string[]
M.conditions = { 'kind', 'tool', 'path', 'inside', 'command', 'url', 'agent' }

---@param value any
---@return string?
local function words(value)
  local fits = type(value) == 'string' and value ~= ''
  return not fits and 'a text that is not empty' or nil
end

---@param value any
---@return string?
local function kinds(value)
  local list = type(value) == 'table' and value or { value }
  local fits = vim.islist(list) and #list > 0
  for _, kind in ipairs(fits and list or {}) do
    fits = fits and vim.list_contains(M.kinds, kind)
  end
  local expected = ('one of "%s", or a list of them'):format(table.concat(M.kinds, '", "'))
  return not fits and expected or nil
end

---@type table<string, fun(value: any): string?>
local fields = {
  kind = kinds,
  tool = words,
  path = words,
  command = words,
  url = words,
  agent = words,
  note = words,
  inside = function(value)
    return type(value) ~= 'boolean' and 'true (inside the project) or false (outside)' or nil
  end,
  action = function(value)
    local fits = vim.list_contains(M.verdicts, value)
    return not fits and 'one of "allow", "reject", "ask"' or nil
  end,
}
for _, verdict in ipairs(M.verdicts) do
  fields[verdict] = function(value)
    return value ~= true and 'true' or nil
  end
end

---@param rule acp.RuleOpts
---@return string[]
local function verdicts_of(rule)
  local found = {}
  for _, verdict in ipairs(M.verdicts) do
    if rule[verdict] then
      table.insert(found, verdict)
    end
  end
  if rule.action then
    table.insert(found, rule.action)
  end
  return found
end

--- The first thing that is wrong with a rule: what was expected, where in it, and what is there.
---@param rule any
---@return string? expected, string? where, any got
function M.problem(rule)
  if type(rule) ~= 'table' or (vim.islist(rule) and #rule > 0) then
    return 'a rule such as { kind = "read", allow = true }', '', rule
  end
  local names = vim.tbl_keys(rule)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local check = fields[name]
    local expected = check and check(rule[name])
    if not check then
      local known = vim.tbl_keys(fields)
      table.sort(known)
      expected = ('one of the fields %s'):format(table.concat(known, ', '))
    end
    if expected then
      return expected, '.' .. tostring(name), rule[name]
    end
  end
  if #verdicts_of(rule) ~= 1 then
    return 'one of allow = true, reject = true and ask = true', '', rule
  end
end

--- The first thing that is wrong with a list of rules.
---@param rules any
---@return string? expected, string? where, any got
function M.problem_of_list(rules)
  if type(rules) ~= 'table' or not vim.islist(rules) then
    return 'a list of rules', '', rules
  end
  for i, rule in ipairs(rules) do
    local expected, where, got = M.problem(rule)
    if expected then
      return expected, ('[%d]%s'):format(i, where), got
    end
  end
end

--- A rule that has no problem, in the form the core takes.
---@param rule acp.RuleOpts
---@return acp.StoredRule
function M.canonical(rule)
  local result = { action = verdicts_of(rule)[1], note = rule.note }
  for _, name in ipairs(M.conditions) do
    result[name] = vim.deepcopy(rule[name])
  end
  return result --[[@as acp.StoredRule]]
end

return M
