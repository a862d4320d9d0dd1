--- Turns what the user points at into what is sent: text for the prompt, and content blocks.

local M = {}

---@param lines string[]
---@return string a fence longer than any run of backticks in the lines
local function fence_for(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch('`+') do
      longest = math.max(longest, #run)
    end
  end
  return ('`'):rep(longest + 1)
end

--- Lines as a fenced block under a label.
---@param label string
---@param lang string
---@param lines string[]
---@return string[]
function M.fenced(label, lang, lines)
  local fence = fence_for(lines)
  local block = { label, fence .. lang }
  vim.list_extend(block, lines)
  table.insert(block, fence)
  return block
end

--- Lines of a buffer as a fenced block under its name and line numbers.
---@param buf integer
---@param first integer 1-based
---@param last integer inclusive
---@return string[]
function M.lines(buf, first, last)
  local sources = require('acp.context.sources')
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  local label = ('%s:%s'):format(sources.name_of(buf), sources.range(first, last))
  return M.fenced(label, vim.bo[buf].filetype, lines)
end

--- What to send for a text: itself, or blocks where it mentions something. The text stays whole,
--- and what it mentions follows it. `fn` is called at once unless something has to be waited for.
---@param info acp.SessionInfo
---@param text string
---@param fn fun(content: string|table[])
function M.content(info, text, fn)
  local mentions = require('acp.context.mentions').parse(text, info.cwd)
  if #mentions == 0 then
    return fn(text)
  end
  local settings = require('acp.settings').get(info.id)
  local session = { cwd = info.cwd, can = settings and settings.can }
  local blocks, waiting = {}, #mentions ---@type table<integer, table>, integer
  for i, mention in ipairs(mentions) do
    require('acp.context.blocks').make(mention, session, function(block)
      blocks[i] = block
      waiting = waiting - 1
      if waiting > 0 then
        return
      end
      local content = { { type = 'text', text = text } }
      for place = 1, #mentions do
        table.insert(content, blocks[place])
      end
      fn(#content > 1 and content or text)
    end)
  end
end

---@param mention acp.FileMention
---@return string
local function file_label(mention)
  local range = mention.range
  local lines = range and ':' .. require('acp.context.sources').range(range.first, range.last) or ''
  return vim.fs.basename(mention.path) .. lines .. (mention.folder and '/' or '')
end

--- How a mention is shown, by its kind; nil when there is nothing behind it.
---@type table<string, fun(mention: any): string?>
local labels = {
  file = file_label,
  diff = function()
    return 'git diff'
  end,
  buffer = function()
    local buf = require('acp.context.origin').buffer()
    return buf and vim.fs.basename(require('acp.context.sources').name_of(buf))
  end,
  selection = function()
    local sources = require('acp.context.sources')
    local buf, first, last = sources.selected()
    local name = buf and vim.fs.basename(sources.name_of(buf))
    return name and ('selection %s:%s'):format(name, sources.range(first, last))
  end,
  diagnostics = function()
    local buf = require('acp.context.origin').buffer()
    local count = buf and #vim.diagnostic.get(buf) or 0
    return count > 0 and ('%d diagnostic%s'):format(count, count == 1 and '' or 's') or nil
  end,
}

--- Names of what a text would send along.
---@param info acp.SessionInfo
---@param text string
---@return string[] each one line
function M.labels(info, text)
  local list = {}
  for _, mention in ipairs(require('acp.context.mentions').parse(text, info.cwd)) do
    local words = labels[mention.kind](mention)
    if words then
      table.insert(list, require('acp.text').one_line(words))
    end
  end
  return list
end

return M
