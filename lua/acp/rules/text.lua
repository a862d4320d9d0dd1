--- Rules as text to edit, in the words of the options: written, and read back with the place of
--- each mistake.

local check = require('acp.rules.check')

local M = {}

---@class (exact) acp.RuleMistake
---@field row integer from 0
---@field message string

local help = {
  '-- A rule has one of allow = true, reject = true, ask = true, and any of these:',
  '--   kind = "execute"            or a list: { "read", "search" }',
  '--   command = "npm run lint"    word by word; * at the end stands for any more words,',
  '--                               also for options that write files or run programs',
  '--   path = "src/**"             files, seen from the project, links followed',
  '--   inside = true               files in the project; false: elsewhere',
  '--   url = "https://docs.rs/*"   tool = "mcp__*"   agent = "opencode"   note = "why"',
  '-- To allow something, a rule must fit all of it; to reject it or to ask, a part is enough.',
}

--- A rule as it may be written in the options.
---@param rule acp.StoredRule
---@return string
local function write(rule)
  local parts = { rule.action .. ' = true' }
  for _, name in ipairs(vim.list_extend(vim.list_extend({}, check.conditions), { 'note' })) do
    local value = rule[name]
    if value ~= nil then
      local shown = vim.inspect(value, { newline = ' ', indent = '' })
      table.insert(parts, ('%s = %s'):format(name, shown))
    end
  end
  return ('{ %s }'):format(table.concat(parts, ', '))
end

--- The text for a project.
---@param project string
---@param rules acp.StoredRule[]
---@param options acp.StoredRule[] those that come after them
---@return string[] lines
function M.format(project, rules, options)
  local where = require('acp.text').one_line(vim.fn.fnamemodify(project, ':~'))
  local lines = {
    ('-- What agents may do in %s without asking you.'):format(where),
    '-- The first rule that fits decides; where none fits, you are asked. :w puts them in force.',
  }
  table.insert(lines, '{')
  for _, rule in ipairs(rules) do
    table.insert(lines, ('  %s,'):format(write(rule)))
  end
  table.insert(lines, '}')
  if #options > 0 then
    table.insert(lines, '-- After these come the rules of your options, not changed here:')
    for _, rule in ipairs(options) do
      table.insert(lines, ('--   %s,'):format(write(rule)))
    end
  end
  table.insert(lines, '')
  return vim.list_extend(lines, help)
end

--- Where a text or a comment that begins here ends; nil where none does.
---@param source string
---@param at integer
---@return integer?
local function skip(source, at)
  local long = source:match('^%-%-%[(=*)%[', at) or source:match('^%[(=*)%[', at)
  if long then
    local _, last = source:find((']%s]'):format(long), at, true)
    return last or #source
  elseif source:find('^%-%-', at) then
    return (source:find('\n', at, true) or #source + 1) - 1
  end
  local quote = source:match('^["\']', at)
  while quote do
    at = source:find('[\\' .. quote .. ']', at + 1) or #source
    if source:sub(at, at) ~= '\\' then
      return at
    end
    at = at + 1
  end
end

--- The rows in which the rules of a list begin.
---@param source string
---@return integer[]
local function rows_of(source)
  local rows, depth, row, at = {}, 0, 0, 1
  while at <= #source do
    local last = skip(source, at) or at
    local part = source:sub(at, last)
    if part == '{' then
      depth = depth + 1
      if depth == 2 then
        table.insert(rows, row)
      end
    elseif part == '}' then
      depth = depth - 1
    end
    row = row + select(2, part:gsub('\n', ''))
    at = last + 1
  end
  return rows
end

---@param source string
---@return any value, acp.RuleMistake?
local function evaluate(source)
  local chunk, err = loadstring('return ' .. source, '=rules')
  local ok, value = false, err ---@type boolean, any
  if chunk then
    -- It is data: there is nothing to call.
    setfenv(chunk, {})
    ok, value = pcall(chunk)
  end
  if ok then
    return value
  end
  local line, message = tostring(value):match('^rules:(%d+): (.*)$')
  local row = math.max(math.floor(tonumber(line) or 1) - 1, 0)
  return nil, { row = row, message = message or tostring(value) }
end

---@param lines string[]
---@return integer row of the first line that is no comment
local function first_row(lines)
  for i, line in ipairs(lines) do
    if line:match('%S') and not line:match('^%s*%-%-') then
      return i - 1
    end
  end
  return 0
end

--- Reads the text back.
---@param lines string[]
---@return acp.StoredRule[]?, acp.RuleMistake[], integer[] rows in which the rules begin
function M.parse(lines)
  local source = table.concat(lines, '\n')
  local value, mistake = evaluate(source)
  if mistake then
    return nil, { mistake }, {}
  end
  value = value == nil and {} or value
  if type(value) ~= 'table' or not vim.islist(value) then
    return nil, { { row = first_row(lines), message = 'expected one list of rules' } }, {}
  end
  local rules, mistakes, rows = {}, {}, rows_of(source)
  for i, rule in ipairs(value) do
    local expected, where, got = check.problem(rule)
    if expected then
      local message = ('%s: expected %s, got %s'):format(
        where ~= '' and (where or ''):sub(2) or 'the rule',
        expected,
        vim.inspect(got, { newline = ' ', indent = '' })
      )
      table.insert(mistakes, { row = rows[i] or rows[#rows] or 0, message = message })
    else
      table.insert(rules, check.canonical(rule))
    end
  end
  return #mistakes == 0 and rules or nil, mistakes, rows
end

return M
