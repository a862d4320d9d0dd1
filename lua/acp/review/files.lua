--- `:Acp changes`: the files with pending changes, to accept or reject each as a whole.

local diff = require('acp.review.diff')
local look = require('acp.ui.look')
local text = require('acp.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.review.files')

---@type { win: integer, buf: integer, session?: integer, files: acp.ChangedFile[] }?
local shown

local footer = '<CR> open  a accept  r reject  A R all  q close  g? keys'

---@type table<string, { unicode: string, ascii: string, group: string }>
local kinds = {
  changed = { unicode = '±', ascii = '~', group = 'AcpReviewSignChange' },
  made = { unicode = '✚', ascii = '+', group = 'AcpReviewSignAdd' },
  deleted = { unicode = '✖', ascii = 'x', group = 'AcpReviewSignDelete' },
}

---@class (exact) acp.ChangesCell
---@field text string
---@field group? string

---@param file acp.ChangedFile
---@return acp.ChangesCell[]
local function cells(file)
  local kind = kinds[file.kind] or kinds.changed
  local sessions, agents = {}, {} ---@type table<integer, true>, string[]
  for _, hunk in ipairs(file.hunks) do
    if not sessions[hunk.session] then
      sessions[hunk.session] = true
      local name = require('acp.session').agent_of(hunk.session)
      table.insert(agents, text.brief(name, 20))
    end
  end
  local count = #file.hunks
  return {
    { text = look.ascii() and kind.ascii or kind.unicode, group = kind.group },
    { text = text.one_line(vim.fn.fnamemodify(file.path, ':~:.')), group = 'AcpFile' },
    { text = ('+%d'):format(file.added), group = 'AcpPlus' },
    { text = diff.minus() .. file.removed, group = 'AcpMinus' },
    { text = count == 1 and '1 change' or ('%d changes'):format(count) },
    { text = table.concat(agents, ', '), group = 'AcpMuted' },
  }
end

---@param rows acp.ChangesCell[][]
---@return string[] lines, { row: integer, from: integer, to: integer, group: string }[] marks
local function aligned(rows)
  local widths = {} ---@type table<integer, integer>
  for _, row in ipairs(rows) do
    for column, cell in ipairs(row) do
      widths[column] = math.max(widths[column] or 0, vim.fn.strdisplaywidth(cell.text))
    end
  end
  local lines, marks = {}, {}
  for i, row in ipairs(rows) do
    local line = ' '
    for column, cell in ipairs(row) do
      if cell.group then
        local mark = { row = i - 1, from = #line, to = #line + #cell.text, group = cell.group }
        table.insert(marks, mark)
      end
      local pad = (widths[column] or 0) - vim.fn.strdisplaywidth(cell.text) + 2
      line = line .. cell.text .. (' '):rep(pad)
    end
    table.insert(lines, line)
  end
  return lines, marks
end

---@param buf integer
---@param files acp.ChangedFile[]
local function fill(buf, files)
  local lines, marks = aligned(vim.tbl_map(cells, files))
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for _, mark in ipairs(marks) do
    local opts = { end_col = mark.to, hl_group = mark.group }
    vim.api.nvim_buf_set_extmark(buf, namespace, mark.row, mark.from, opts)
  end
end

---@return acp.ChangedFile?
local function under_cursor()
  return shown and shown.files[vim.api.nvim_win_get_cursor(shown.win)[1]]
end

---@param _ any
---@param err acp.Err?
local function report(_, err)
  if err then
    require('acp.notify').err(err)
  end
end

---@param file acp.ChangedFile
---@return acp.ReviewTarget
local function target(file)
  local of = shown and shown.session
  local ids = of and vim.tbl_map(function(hunk)
    return hunk.id
  end, file.hunks)
  return { path = file.path, ids = ids or nil, session = of }
end

---@param verb 'accept'|'reject'
---@return fun()
local function one(verb)
  return function()
    local file = under_cursor()
    if file then
      report(require('acp.review')[verb](target(file)))
    end
  end
end

local function accept_all()
  report(require('acp.review').accept({ session = shown and shown.session }))
end

--- What an agent has made is deleted by this, so that one slip of a finger must not be enough.
local function reject_all()
  local of = shown and shown.session
  require('acp.ui.select').open({ 'Reject all changes', 'Keep them' }, {
    prompt = 'All changes in all of these files?',
    kind = 'acp_reject_all',
    question = true,
  }, function(choice)
    if choice == 'Reject all changes' then
      report(require('acp.review').reject_all(of))
    end
  end)
end

local function open()
  local file = under_cursor()
  if not file or not shown then
    return
  elseif file.kind == 'deleted' and not vim.uv.fs_stat(file.path) then
    return require('acp.notify').show('The agent has deleted this file; r brings it back')
  end
  require('acp.ui.float').close(shown.win)
  local known = require('acp.review.store').file(file.path)
  local first = known and require('acp.review.store').places(known)[1]
  if known and first then
    return require('acp.review.go').to(known, first)
  end
  require('acp.ui.jump').to(file.path, file.hunks[1] and file.hunks[1].start)
end

---@param buf integer
local function map(buf)
  local function key(lhs, fn, desc)
    vim.keymap.set('n', lhs, fn, { buffer = buf, nowait = true, desc = 'acp: ' .. desc })
  end
  key('<CR>', open, 'go to the first change of the file')
  for _, lhs in ipairs({ 'a', 'ga' }) do
    key(lhs, one('accept'), 'accept the file')
  end
  for _, lhs in ipairs({ 'r', 'gr' }) do
    key(lhs, one('reject'), 'reject the file')
  end
  key('A', accept_all, 'accept all files')
  key('R', reject_all, 'reject all files')
  key('Q', function()
    local of = shown and shown.session
    require('acp.ui.float').close(vim.api.nvim_get_current_win())
    require('acp.review.quickfix').open(of)
  end, 'list all changes')
end

---@param files acp.ChangedFile[]
---@return string
local function title(files)
  local added, removed = 0, 0
  for _, file in ipairs(files) do
    added, removed = added + file.added, removed + file.removed
  end
  local count = #files == 1 and '1 file' or ('%d files'):format(#files)
  return ('Changes: %s, +%d %s%d'):format(count, added, diff.minus(), removed)
end

--- Shows the files with pending changes.
---@param session? integer only what this session has done
function M.open(session)
  local files = diff.changes(session)
  if #files == 0 then
    return require('acp.notify').show('There is nothing to review')
  end
  require('acp.ui.highlights').attach()
  if shown then
    require('acp.ui.float').close(shown.win)
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  fill(buf, files)
  local win ---@type integer
  win = require('acp.ui.float').show({
    buf = buf,
    name = 'changes',
    title = title(files),
    footer = footer,
    width = math.max(#footer + 2, 60),
    max_height = 0.8,
    place = nil,
    on_close = function()
      shown = shown and shown.win ~= win and shown or nil
    end,
  })
  vim.wo[win][0].cursorline = true
  shown = { win = win, buf = buf, session = session, files = files }
  map(buf)
end

--- Brings the list up to date. The cursor stays with its file: keys must not mean another.
function M.refresh()
  if not shown or not vim.api.nvim_win_is_valid(shown.win) then
    return
  end
  local before, place = under_cursor(), vim.api.nvim_win_get_cursor(shown.win)[1]
  local files = diff.changes(shown.session)
  if #files == 0 then
    require('acp.ui.float').close(shown.win)
    return require('acp.notify').show('All changes are reviewed')
  end
  shown.files = files
  fill(shown.buf, files)
  for i, file in ipairs(files) do
    if before and file.path == before.path then
      place = i
    end
  end
  vim.api.nvim_win_set_cursor(shown.win, { math.min(place, #files), 0 })
  require('acp.ui.float').update(shown.win, { title = title(files) })
end

return M
