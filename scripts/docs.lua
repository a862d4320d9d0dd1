-- Looks after the help. Run by scripts/docs.sh, which says what the actions do:
--     nvim -l docs.lua {write|check} {root of the project} {folder of the help}

local action, root, folder = arg[1], arg[2], arg[3]
local help = folder .. '/acp.txt'
local width = 78

vim.opt.runtimepath:prepend(root)
vim.cmd.source(root .. '/plugin/acp.lua')
---@type table<string, fun(): string[]>
local tables = dofile(root .. '/scripts/docs_tables.lua')

--- Makes the tables anew: each is the paragraph below its tag, which begins with "acp-table-".
---@param lines string[]
---@return string[]
local function with_tables(lines)
  local result, skipping = {}, false
  for _, line in ipairs(lines) do
    skipping = skipping and line ~= ''
    if not skipping then
      table.insert(result, line)
    end
    local name = line:match('%*acp%-table%-(%w+)%*$')
    if name then
      vim.list_extend(result, tables[name]())
      skipping = true
    end
  end
  return result
end

---@param path string
---@return table<string, true>
local function read_tags(path)
  local tags = {}
  for line in io.lines(path) do
    tags[line:match('^[^\t]+')] = true
  end
  return tags
end

-- Examples between `>` and `<` show keys and code, where a bar is just a bar.
---@param lines string[]
---@param visit fun(link: string, row: integer)
local function each_link(lines, visit)
  local in_example = false
  for row, line in ipairs(lines) do
    if in_example and line:find('^%S') then
      in_example = false
    end
    if not in_example then
      for link in line:gsub('`[^`]*`', ''):gmatch('|([^%s|]+)|') do
        visit(link, row)
      end
      in_example = line:find('^>%l*$') ~= nil or line:find('%s>%l*$') ~= nil
    end
  end
end

--- What must be in the help although no table names it: functions, events and the tables.
---@return string[] tags
local function wanted()
  local tags = { ':Acp', ':AcpChat' }
  for name in pairs(tables) do
    table.insert(tags, 'acp-table-' .. name)
  end
  for name in pairs(require('acp')) do
    table.insert(tags, ('acp.%s()'):format(name))
  end
  for _, path in ipairs(vim.fn.globpath(root .. '/lua/acp', '**/*.lua', false, true)) do
    for name in table.concat(vim.fn.readfile(path), '\n'):gmatch("emit%('(%w+)'") do
      table.insert(tags, name)
    end
  end
  table.sort(tags)
  return tags
end

---@param lines string[]
---@return string[] problems
local function check(lines)
  local problems = {}
  local function report(row, problem)
    table.insert(problems, ('doc/acp.txt:%d: %s'):format(row, problem))
  end
  local own, neovim = read_tags(folder .. '/tags'), read_tags(vim.env.VIMRUNTIME .. '/doc/tags')
  each_link(lines, function(link, row)
    if not own[link] and not neovim[link] then
      report(row, ('no help for |%s|'):format(link))
    end
  end)
  for _, tag in ipairs(wanted()) do
    if not own[tag] then
      report(#lines, ('the tag *%s* is missing'):format(tag))
    end
  end
  for row, line in ipairs(lines) do
    if vim.fn.strdisplaywidth(line) > width then
      report(row, ('longer than %d columns'):format(width))
    end
  end
  for row, line in ipairs(with_tables(lines)) do
    if line ~= lines[row] then
      report(row, 'a table is out of date: run `make doc`')
      break
    end
  end
  return problems
end

local lines = vim.fn.readfile(help)
if action == 'write' then
  lines = with_tables(lines)
  vim.fn.writefile(lines, help)
end
local ok, err = pcall(vim.cmd.helptags, folder)
local problems = ok and check(lines) or { tostring(err) }
if #problems > 0 then
  io.stderr:write(table.concat(problems, '\n'), '\n')
  os.exit(1)
end
