--- The file with the rules of all projects. One that can't be read is never written to, and nothing
--- is allowed by what may be in it.

local check = require('acp.rules.check')
local state_file = require('acp.state_file')

local M = {}

local version = 1

---@class (exact) acp.RulesFile
---@field projects table<string, acp.StoredRule[]> by folder
---@field rest table<string, any> what a later version may have added

---@return string
function M.path()
  return state_file.path('rules.json')
end

--- Changes whenever the file does; nil when there is none.
---@return string?
function M.mark()
  local stat = vim.uv.fs_stat(M.path())
  return stat and ('%d %d %d.%d'):format(stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

---@param why string
---@return nil, acp.Err
local function broken(why)
  return nil,
    {
      code = 'rules_file',
      message = ('rules.json can not be used: %s'):format(why),
      hint = 'Nothing is allowed by rules until it is mended: :Acp rules opens it',
    }
end

---@param data any
---@return string? problem
local function problem_of(data)
  if type(data) ~= 'table' or vim.islist(data) and #data > 0 then
    return 'expected an object'
  elseif data.version ~= version then
    return ('version: expected %d, got %s'):format(version, vim.inspect(data.version))
  elseif type(data.projects) ~= 'table' then
    return 'projects: expected an object'
  end
  for project, rules in pairs(data.projects) do
    local name = ('projects[%s]'):format(vim.inspect(project))
    if type(project) ~= 'string' then
      return 'projects: expected an object'
    end
    local expected, where, got = check.problem_of_list(rules)
    if expected then
      return ('%s%s: expected %s, got %s'):format(name, where, expected, vim.inspect(got))
    end
  end
end

---@param text string?
---@return acp.RulesFile?, acp.Err?
local function parse(text)
  if not text then
    return { projects = {}, rest = {} }
  end
  local null = { object = true, array = true }
  local ok, data = pcall(vim.json.decode, text, { luanil = null })
  if not ok then
    return broken(('it is not JSON: %s'):format(data))
  end
  local problem = problem_of(data)
  if problem then
    return broken((problem:gsub('%s+', ' ')))
  end
  ---@cast data table<string, any>
  local file = { projects = {}, rest = {} } ---@type acp.RulesFile
  for project, rules in pairs(data.projects) do
    file.projects[project] = vim.tbl_map(check.canonical, rules)
  end
  for name, value in pairs(data) do
    if name ~= 'version' and name ~= 'projects' then
      file.rest[name] = value
    end
  end
  return file
end

--- What is in the file; nothing when there is none.
---@return acp.RulesFile?, acp.Err?
function M.load()
  local text = state_file.read(M.path())
  if not text and vim.uv.fs_lstat(M.path()) then
    return broken('it can not be read')
  end
  return parse(text)
end

--- Slashes have a backslash from old encoders, which nobody wants to read in paths.
local escapes_slashes = vim.json.encode('/') == '"\\/"'

---@param value any
---@return string
local function json(value)
  local encoded = vim.json.encode(value)
  return escapes_slashes and (encoded:gsub('\\/', '/')) or encoded
end

---@param rule acp.StoredRule
---@return string
local function encode(rule)
  local parts = {}
  local names = vim.list_extend({ 'action' }, check.conditions)
  for _, name in ipairs(vim.list_extend(names, { 'note' })) do
    if rule[name] ~= nil then
      table.insert(parts, ('"%s": %s'):format(name, json(rule[name])))
    end
  end
  return ('{ %s }'):format(table.concat(parts, ', '))
end

---@param items string[]
---@param indent string
---@param pair string such as "{}"
---@return string
local function block(items, indent, pair)
  local separator = (',\n%s  '):format(indent)
  return ('%s\n%s  %s\n%s%s'):format(
    pair:sub(1, 1),
    indent,
    table.concat(items, separator),
    indent,
    pair:sub(2, 2)
  )
end

--- One rule a line: people read it too.
---@param file acp.RulesFile
---@return string
local function format(file)
  local projects = {}
  local names = vim.tbl_keys(file.projects)
  table.sort(names)
  for _, project in ipairs(names) do
    local rules = vim.tbl_map(encode, file.projects[project])
    if #rules > 0 then
      local name = json(project)
      table.insert(projects, ('%s: %s'):format(name, block(rules, '    ', '[]')))
    end
  end
  local items = { ('"version": %d'):format(version) }
  for name, value in vim.spairs(file.rest) do
    table.insert(items, ('%s: %s'):format(json(name), json(value)))
  end
  local all = #projects > 0 and block(projects, '  ', '{}') or '{}'
  table.insert(items, '"projects": ' .. all)
  return block(items, '', '{}') .. '\n'
end

--- Replaces the rules of one project by what `change` makes of those in the file now.
---@param project string
---@param change fun(rules: acp.StoredRule[]): acp.StoredRule[]
---@return true?, acp.Err?
function M.change(project, change)
  local failure ---@type acp.Err?
  ---@param text string?
  ---@return string?
  local function rewritten(text)
    local file, err = parse(text)
    if not file then
      failure = err
      return nil
    end
    file.projects[project] = change(file.projects[project] or {})
    return format(file)
  end
  local _, err = M.load()
  if err then
    return nil, err
  end
  local ok = state_file.rewrite(M.path(), rewritten)
  if failure then
    return nil, failure
  elseif not ok then
    return nil, { code = 'rules_file', message = M.path() .. ' can not be written' }
  end
  return true
end

return M
