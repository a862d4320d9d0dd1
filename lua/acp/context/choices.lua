--- What can be mentioned in a prompt, for completion: words for what is at hand, open buffers, and
--- the files of the project.

local mentions = require('acp.context.mentions')
local sources = require('acp.context.sources')
local text = require('acp.text')

local M = {}

--- Choices that are offered at once.
local most = 100

---@class (exact) acp.Choosable
---@field word string as it is written in the prompt
---@field about string what it is, in a few words

--- The words that are no paths, where there is something behind them.
---@return acp.Choosable[]
local function words()
  local list = {}
  local buf = require('acp.context.origin').buffer()
  local name = buf and text.one_line(sources.name_of(buf))
  local function offer(word, about)
    table.insert(list, { word = '@' .. word, about = about })
  end
  if buf then
    offer('buffer', ('the text of %s'):format(name))
  end
  local selected, first, last = sources.selected()
  if selected then
    offer('selection', ('selected: %s:%s'):format(name, sources.range(first, last)))
  end
  local count = buf and #vim.diagnostic.get(buf) or 0
  if count > 0 then
    offer('diagnostics', ('what is wrong in %s: %d'):format(name, count))
  end
  offer('diff', 'what git diff shows')
  return list
end

---@param path string absolute
---@param cwd string
---@return string relative to the project where it is in it
local function relative(path, cwd)
  local prefix = cwd:gsub('/$', '') .. '/'
  return vim.startswith(path, prefix) and path:sub(#prefix + 1) or vim.fn.fnamemodify(path, ':~')
end

---@param cwd string
---@return string[] paths of the open buffers, the last used first
local function open_files(cwd)
  local infos = vim.tbl_filter(function(info)
    return info.name ~= '' and vim.bo[info.bufnr].buftype == ''
  end, vim.fn.getbufinfo({ buflisted = 1 }))
  table.sort(infos, function(a, b)
    if a.lastused ~= b.lastused then
      return a.lastused > b.lastused
    end
    return a.bufnr < b.bufnr
  end)
  return vim.tbl_map(function(info)
    return relative(info.name, cwd)
  end, infos)
end

---@param cwd string
---@param query string
---@param files string[]
---@return acp.Choosable[]
local function gather(cwd, query, files)
  local list = vim.tbl_filter(function(choice)
    return vim.startswith(choice.word, '@' .. query)
  end, words())
  local seen = {} ---@type table<string, true>
  local function offer(paths, about)
    for _, path in ipairs(paths) do
      local word = not seen[path] and #list < most and mentions.write(path)
      if word then
        seen[path] = true
        table.insert(list, { word = word, about = about })
      end
    end
  end
  local buffers = open_files(cwd)
  offer(query == '' and buffers or vim.fn.matchfuzzy(buffers, query), 'open')
  offer(files, '')
  return list
end

--- What fits a query. `fn` may be called later, or not at all when something else was asked for;
--- `again` is called when there is more to choose from.
---@param cwd string
---@param query string
---@param fn fun(choices: acp.Choosable[])
---@param again? fun()
function M.find(cwd, query, fn, again)
  require('acp.context.project').match(cwd, query, function(files)
    fn(gather(cwd, query, files))
  end, again)
end

--- The same without waiting.
---@param cwd string
---@param query string
---@return acp.Choosable[]
function M.find_now(cwd, query)
  return gather(cwd, query, require('acp.context.project').match_now(cwd, query))
end

return M
