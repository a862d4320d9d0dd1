-- Builds the help tags of a folder and, for `check`, follows every link in its texts.
-- Run by scripts/docs.sh: nvim -l docs.lua {tags|check} {folder}

local action, folder = arg[1], arg[2]

---@param message string
local function fail(message)
  io.stderr:write('docs: ', message, '\n')
  os.exit(1)
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
---@param path string
---@param visit fun(link: string, row: integer)
local function each_link(path, visit)
  local row, in_example = 0, false
  for line in io.lines(path) do
    row = row + 1
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

local ok, err = pcall(vim.cmd.helptags, folder)
if not ok then
  fail(tostring(err))
end

if action == 'check' then
  local own = read_tags(folder .. '/tags')
  local neovim = read_tags(vim.env.VIMRUNTIME .. '/doc/tags')
  local broken = {}
  for _, path in ipairs(vim.fn.glob(folder .. '/*.txt', true, true)) do
    each_link(path, function(link, row)
      if not own[link] and not neovim[link] then
        local where = ('doc/%s:%d'):format(vim.fs.basename(path), row)
        table.insert(broken, ('%s: no help for |%s|'):format(where, link))
      end
    end)
  end
  if #broken > 0 then
    fail(table.concat(broken, '\ndocs: '))
  end
end
