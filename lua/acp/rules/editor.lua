--- `:Acp rules`: the rules of one project in a buffer, in force with `:w`.

local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.rules')

---@class (exact) acp.RulesBuffer
---@field project string
---@field seen acp.StoredRule[] what was stored when the text was made

---@type table<integer, acp.RulesBuffer>
local buffers = {}

---@param project string
---@return integer?
local function find(project)
  for buf, entry in pairs(buffers) do
    if entry.project == project and vim.api.nvim_buf_is_loaded(buf) then
      return buf
    end
  end
end

---@param buf integer
---@return boolean
local function fill(buf)
  local entry = buffers[buf]
  local rules, err = require('acp.rules').of_project(entry.project)
  if not rules then
    notify.err(err --[[@as acp.Err]])
    return false
  end
  entry.seen = rules
  local options = require('acp.rules.force').of_options()
  local lines = require('acp.rules.text').format(entry.project, rules, options)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modified = false
  vim.diagnostic.reset(namespace, buf)
  return true
end

--- Says something after `:w`, whose own words would make two lines of it that wait for a key.
---@param message string
---@param level? 'error'
---@param ending? string
local function tell(message, level, ending)
  require('acp.client').defer(function()
    notify.show(message, level, ending)
  end)
end

---@param buf integer
---@param mistakes acp.RuleMistake[]
---@param before? string
local function complain(buf, mistakes, before)
  local diagnostics = vim.tbl_map(function(mistake)
    return {
      lnum = mistake.row,
      col = 0,
      message = mistake.message,
      severity = vim.diagnostic.severity.ERROR,
      source = 'acp',
    }
  end, mistakes)
  vim.diagnostic.set(namespace, buf, diagnostics)
  local first = assert(mistakes[1])
  local message = ('%sline %d: %s'):format(before or '', first.row + 1, first.message)
  tell(message, 'error')
end

--- The rules in the buffer; nil, and each mistake is shown, where there is one.
---@param buf integer
---@return acp.StoredRule[]?
local function read(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local rules, mistakes, rows = require('acp.rules.text').parse(lines)
  if rules then
    local bad, why = require('acp.rules.force').unreadable(buffers[buf].project, rules)
    if bad then
      rules, mistakes = nil, { { row = rows[bad] or 0, message = why or '' } }
    end
  end
  if rules then
    vim.diagnostic.reset(namespace, buf)
  else
    complain(buf, mistakes, 'Not written, ')
  end
  return rules
end

---@param buf integer
---@param force boolean
local function write(buf, force)
  local entry, rules = buffers[buf], require('acp.rules')
  local wanted = read(buf)
  if not wanted then
    return
  end
  local now = rules.of_project(entry.project)
  if now and not force and not vim.deep_equal(now, entry.seen) then
    return tell('Not written, the rules have changed meanwhile', 'error', ': :e! or :w!')
  end
  -- Before it is told to all: this buffer has the new text already.
  vim.bo[buf].modified, entry.seen = false, wanted
  local ok, err = rules.change(entry.project, function()
    return wanted
  end)
  if not ok then
    vim.bo[buf].modified = true
    return tell(err and err.message or 'Not written', 'error')
  end
  local where = vim.fn.fnamemodify(entry.project, ':~')
  local count = #wanted == 1 and '1 rule' or ('%d rules'):format(#wanted)
  tell(('%s in force for %s'):format(count, where))
end

---@param buf integer
local function attach(buf)
  local on = require('acp.autocmd').on
  on('BufWriteCmd', 'acp: put the rules in force', function()
    write(buf, vim.v.cmdbang == 1)
  end, buf)
  on('BufReadCmd', 'acp: show the rules in force', function()
    fill(buf)
  end, buf)
  on('BufWipeout', 'acp: forget the rules buffer', function()
    buffers[buf] = nil
  end, buf)
end

---@param project string
---@return integer buf
local function create(project)
  local buf = vim.api.nvim_create_buf(false, false)
  buffers[buf] = { project = project, seen = {} }
  local name = 'acp://rules/' .. text.name_part(vim.fn.fnamemodify(project, ':~'))
  if not pcall(vim.api.nvim_buf_set_name, buf, name) then
    -- Two folders with almost the same name.
    vim.api.nvim_buf_set_name(buf, ('%s#%d'):format(name, buf))
  end
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = 'acp_rules'
  vim.bo[buf].syntax = 'lua'
  vim.bo[buf].commentstring = '-- %s'
  attach(buf)
  return buf
end

---@param err acp.Err
local function blame_file(err)
  complain(vim.api.nvim_get_current_buf(), { { row = 0, message = err.message } })
end

--- The file itself, where it is broken: what is wrong can be mended nowhere else.
---@param err acp.Err
local function open_file(err)
  local path = require('acp.rules.file').path()
  vim.cmd.split({ args = { vim.fn.fnameescape(path) }, mods = { keepalt = true } })
  vim.api.nvim_create_autocmd('BufWritePost', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = vim.api.nvim_get_current_buf(),
    desc = 'acp: try the mended rules',
    callback = function()
      local problem = require('acp.rules.force').send()
      if problem then
        blame_file(problem)
      else
        vim.diagnostic.reset(namespace, 0)
        tell('The rules are in force again')
      end
    end,
  })
  blame_file(err)
end

--- Shows the rules of a project.
---@param project string
function M.open(project)
  local _, err = require('acp.rules').of_project(project)
  if err then
    return open_file(err)
  end
  local shown = find(project)
  local win = shown and vim.fn.win_findbuf(shown)[1]
  if win then
    return vim.api.nvim_set_current_win(win)
  end
  local buf = create(project)
  vim.cmd('keepalt botright split')
  vim.api.nvim_win_set_buf(0, buf)
  if fill(buf) then
    local first = vim.fn.search('^{', 'cnw')
    local rules = #buffers[buf].seen
    pcall(vim.api.nvim_win_set_cursor, 0, { first + math.min(rules, 1), 0 })
  end
end

--- Brings the text up to date with what was stored; what the user is changing is left alone.
---@param project string
function M.refresh(project)
  local buf = find(project)
  if buf and not vim.bo[buf].modified then
    local stored = require('acp.rules').of_project(project)
    if stored and not vim.deep_equal(stored, buffers[buf].seen) then
      fill(buf)
    end
  end
end

return M
