--- What can be attached to a prompt beside files: the buffer before the chat, what is selected in
--- it, its diagnostics, and what git says has changed.

local origin = require('acp.context.origin')

local M = {}

---@class (exact) acp.Attachment
---@field uri string
---@field label string
---@field text string
---@field lang? string for a fence around it

---@param buf integer
---@return string
function M.name_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return name == '' and '[No Name]' or vim.fn.fnamemodify(name, ':.')
end

---@param buf integer
---@return string
function M.uri_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' then
    return ('nvim:///buffer/%d'):format(buf)
  end
  return name:match('^%a[%w+.-]+://') and name or vim.uri_from_fname(name)
end

---@param first integer
---@param last integer
---@return string
function M.range(first, last)
  return first == last and tostring(first) or ('%d-%d'):format(first, last)
end

--- The lines of the last selection in the buffer before the chat.
---@return integer? buf, integer first, integer last
function M.selected()
  local buf = origin.buffer()
  if not buf then
    return nil, 0, 0
  end
  local first = vim.api.nvim_buf_get_mark(buf, '<')[1]
  local last = vim.api.nvim_buf_get_mark(buf, '>')[1]
  return first > 0 and last >= first and buf or nil, first, last
end

--- The selected text.
---@return acp.Attachment?
function M.selection()
  local buf, first, last = M.selected()
  if not buf then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  pcall(vim.api.nvim_buf_call, buf, function()
    local mode = vim.fn.visualmode()
    local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
    lines = vim.fn.getregion(from, to, { type = mode ~= '' and mode or 'v' })
  end)
  return {
    uri = ('%s#L%d-L%d'):format(M.uri_of(buf), first, last),
    label = ('%s:%s'):format(M.name_of(buf), M.range(first, last)),
    text = table.concat(lines, '\n'),
    lang = vim.bo[buf].filetype,
  }
end

local levels = { 'error', 'warning', 'information', 'hint' }

---@param item vim.Diagnostic
---@return string such as "warning: unused variable [rustc]"
local function words(item)
  local level = levels[
    item.severity --[[@as integer]]
  ] or 'error'
  local source = item.source and (' [%s]'):format(item.source) or ''
  return ('%s: %s%s'):format(level, item.message:gsub('%s*\n%s*', ' '), source)
end

--- What is wrong in the buffer before the chat.
---@return acp.Attachment?
function M.diagnostics()
  local buf = origin.buffer()
  local items = buf and vim.diagnostic.get(buf) or {}
  if not buf or #items == 0 then
    return nil
  end
  table.sort(items, function(a, b)
    return a.lnum < b.lnum or (a.lnum == b.lnum and a.col < b.col)
  end)
  local name = M.name_of(buf)
  local lines = vim.tbl_map(function(item)
    return ('%s:%d:%d: %s'):format(name, item.lnum + 1, item.col + 1, words(item))
  end, items)
  return {
    uri = 'nvim:///diagnostics',
    label = 'Diagnostics of ' .. name,
    text = table.concat(lines, '\n'),
  }
end

--- What differs from the last commit. `fn` gets nil when nothing does, or git cannot say.
---@param cwd string
---@param fn fun(attachment: acp.Attachment?)
function M.diff(cwd, fn)
  require('acp.git').diff(cwd, function(text, cut)
    if not text or text == '' then
      return fn(nil)
    end
    if cut then
      text = text .. '… the rest is left out\n'
    end
    fn({ uri = 'nvim:///diff', label = 'git diff', text = text, lang = 'diff' })
  end)
end

return M
