--- A proposal on the screen: the file it is for, the places of its parts there, and the end of it.

local keys = require('acp.proposal.keys')
local notify = require('acp.notify')
local preview = require('acp.apply.preview')
local target = require('acp.apply.target')
local view = require('acp.proposal.view')

local M = {}

--- How often a buffer may change while places are looked for.
local most = 20

---@class (exact) acp.ProposedHunk
---@field first integer rows when it was placed
---@field last integer
---@field old string[]
---@field new string[]
---@field how string how its place was found
---@field score integer
---@field mark? integer
---@field refused? boolean
---@field edited? string[] what the user wants instead

---@class (exact) acp.ProposedFile
---@field path string
---@field kind 'changed'|'made'|'deleted'
---@field buf? integer
---@field hunks? acp.ProposedHunk[] nil: not looked at yet
---@field missing? acp.PlacedMissing[]

---@class (exact) acp.Proposal
---@field permission acp.Permission
---@field files acp.ProposedFile[]
---@field at integer which file is shown
---@field shown boolean whether one was
---@field tries integer
---@field done fun(answered: boolean)
---@field list fun() asks with the list instead
---@field actions table<string, fun()> what keys do
---@field win? integer
---@field bar? integer
---@field group? integer
---@field editor? integer the buffer in which a part is edited
---@field over? boolean
---@field skipped integer files in a row in which nothing could be shown
---@field moving? boolean the window goes from one file to another

---@type table<integer, acp.ProposedFile[]> what was decided and left open, by permission
M.left = {}

--- Nobody asks this any more.
---@param id integer
function M.forget(id)
  M.left[id] = nil
end

--- The file that is shown, and its parts.
---@param it acp.Proposal
---@return acp.ProposedFile?, acp.ProposedHunk[]
function M.current(it)
  local file = it.files[it.at]
  return file, file and file.hunks or {}
end

--- Leaves the file that is shown.
---@param it acp.Proposal
local function tidy(it)
  if it.group then
    pcall(vim.api.nvim_del_augroup_by_id, it.group)
    it.group = nil
  end
  view.close_bar(it)
  local file = M.current(it)
  if file and file.buf then
    view.clear(file.buf)
    keys.remove(file.buf)
  end
end

--- A buffer for a file that was not made is of no use.
---@param file acp.ProposedFile
local function drop_empty(file)
  local buf = file.buf
  if not buf or file.kind ~= 'made' or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local empty = vim.api.nvim_buf_line_count(buf) == 1 and vim.api.nvim_buf_get_offset(buf, 1) <= 1
  if empty and not vim.bo[buf].modified and not vim.uv.fs_stat(file.path) then
    pcall(vim.api.nvim_buf_delete, buf, {})
  end
end

--- Takes it off the screen; what was decided is kept.
---@param it acp.Proposal
---@param allowed? boolean
function M.close(it, allowed)
  if it.over then
    return
  end
  it.over = true
  M.left[it.permission.id] = it.files
  tidy(it)
  require('acp.proposal.edit').close(it.editor)
  if not allowed then
    vim.tbl_map(drop_empty, it.files)
  end
end

--- The question stays open, with what was decided so far.
---@param it acp.Proposal
function M.leave(it)
  if not it.over then
    M.close(it)
    it.done(false)
  end
end

--- It is over.
---@param it acp.Proposal
---@param answered boolean
---@param allowed? boolean
function M.finish(it, answered, allowed)
  if not it.over then
    M.close(it, allowed)
    M.forget(it.permission.id)
    it.done(answered)
  end
end

--- Shows what is decided.
---@param it acp.Proposal
function M.refresh(it)
  local file = M.current(it)
  if it.over or not file or not file.buf or not vim.api.nvim_buf_is_loaded(file.buf) then
    return
  elseif it.win and vim.api.nvim_win_is_valid(it.win) then
    view.show(file, it.win)
    view.bar(it)
  end
end

local show_file ---@type fun(it: acp.Proposal, index: integer, direction: 1|-1)
--- The parts, with what was decided about them before.
---@param file acp.ProposedFile
---@param plan acp.Places
local function take(file, plan)
  local before, now = file.hunks or {}, {} ---@type acp.ProposedHunk[], acp.ProposedHunk[]
  local buf = file.buf --[[@as integer]]
  for _, place in ipairs(plan.hunks) do
    for _, each in ipairs(place.edits) do
      local old = vim.api.nvim_buf_get_lines(buf, each.first, each.last, false)
      ---@type acp.ProposedHunk
      local hunk = { ---@diagnostic disable-line: missing-fields
        first = each.first,
        last = each.last,
        old = old,
        new = each.lines,
      }
      hunk.how, hunk.score = place.how, place.score
      table.insert(now, hunk)
    end
  end
  local decided = {} ---@type table<string, acp.ProposedHunk>
  for _, hunk in ipairs(before) do
    decided[table.concat(hunk.new, '\n')] = hunk
  end
  for i, hunk in ipairs(now) do
    local same = #before == #now and before[i] or decided[table.concat(hunk.new, '\n')]
    if same then
      hunk.refused, hunk.edited = same.refused, same.edited
    end
  end
  file.hunks, file.missing = now, plan.missing
end

local look ---@type fun(it: acp.Proposal, direction: 1|-1|nil)

--- What happens to the buffer and its window while it is shown.
---@param it acp.Proposal
---@param buf integer
local function watch(it, buf)
  it.group = vim.api.nvim_create_augroup('acp.proposal', { clear = true })
  ---@param events vim.api.keyset.events[]
  ---@param opts vim.api.keyset.create_autocmd
  ---@param fn fun()
  local function on(events, opts, fn)
    opts.group, opts.desc, opts.callback = it.group, 'acp: a proposal in its file', fn
    vim.api.nvim_create_autocmd(events, opts)
  end
  local function gone()
    require('acp.client').defer(function()
      M.leave(it)
    end)
  end
  on({ 'TextChanged', 'InsertLeave' }, { buffer = buf }, function()
    it.tries = 0
    look(it)
  end)
  on({ 'BufWinLeave', 'BufUnload' }, { buffer = buf }, function()
    if not it.moving and #vim.fn.win_findbuf(buf) <= 1 then
      gone()
    end
  end)
  on({ 'WinClosed' }, { pattern = tostring(it.win) }, gone)
  on({ 'WinResized' }, {}, function()
    M.refresh(it)
  end)
end

--- There is nothing to be shown in this file.
---@param it acp.Proposal
---@param file acp.ProposedFile
---@param why string
---@param direction 1|-1
local function skip(it, file, why, direction)
  local name = vim.fn.fnamemodify(file.path, ':~:.')
  notify.show(('%s: %s'):format(name, why), 'warn')
  it.skipped = it.skipped + 1
  if it.skipped > #it.files then
    M.close(it)
    return it.list()
  elseif it.files[it.at + direction] then
    return show_file(it, it.at + direction, direction)
  elseif it.shown then
    return show_file(it, it.at - direction, direction > 0 and -1 or 1)
  end
  M.close(it)
  it.list()
end

---@param it acp.Proposal
---@param file acp.ProposedFile
---@param plan? acp.Places
---@param direction 1|-1|nil nil: it was shown before
local function placed(it, file, plan, direction)
  local buf = file.buf --[[@as integer]]
  if it.over or it.files[it.at] ~= file or not vim.api.nvim_buf_is_loaded(buf) then
    return
  elseif plan and vim.api.nvim_buf_get_changedtick(buf) ~= plan.tick then
    return look(it, direction)
  end
  view.clear(buf)
  take(file, plan or { tick = 0, eol = true, bom = false, hunks = {}, missing = {} })
  if not direction then
    return M.refresh(it)
  end
  local hunks = file.hunks or {}
  if #hunks == 0 then
    local missing = plan and plan.missing[1]
    local why = missing and require('acp.apply.words').missing(missing) or 'nothing would change'
    return skip(it, file, why, direction)
  end
  it.shown, it.skipped = true, 0
  vim.api.nvim_set_current_win(it.win --[[@as integer]])
  watch(it, buf)
  keys.add(buf, it.actions)
  M.refresh(it)
  local hunk = hunks[direction > 0 and 1 or #hunks]
  preview.go_to(it.win --[[@as integer]], view.edit_of(buf, hunk --[[@as acp.ProposedHunk]]))
end

--- Looks for the places in the buffer as it is now.
function look(it, direction)
  local file = M.current(it)
  if it.over or not file or not file.buf or not vim.api.nvim_buf_is_loaded(file.buf) then
    return
  end
  it.tries = it.tries + 1
  if it.tries > most then
    return direction and skip(it, file, 'the buffer does not come to rest', direction)
  end
  local _, err = require('acp.apply.ask').send({
    session = it.permission.session,
    tool_call = it.permission.tool_call,
    file = it.at,
    live = require('acp.files.text').live(file.buf, false),
    row = 0,
  }, function(effect)
    placed(it, file, effect.places, direction)
  end)
  if err then
    notify.err(err)
    M.leave(it)
  end
end

function show_file(it, index, direction)
  it.moving = true
  tidy(it)
  it.at, it.tries = index, 0
  local file = it.files[index] --[[@as acp.ProposedFile]]
  local stat = vim.uv.fs_stat(file.path)
  if stat and stat.type ~= 'file' then
    it.moving = nil
    return skip(it, file, 'is no ordinary file', direction)
  end
  file.buf = require('acp.files.find').find(file.path) or vim.fn.bufadd(file.path)
  local win, err = target.show(file.buf)
  it.moving = nil
  if not win then
    return skip(it, file, err and err.message or 'it can not be shown', direction)
  end
  it.win = win
  look(it, direction)
end

--- Shows one of the files, with the cursor on its first part, or its last.
---@param it acp.Proposal
---@param index integer
---@param direction 1|-1
function M.show_file(it, index, direction)
  show_file(it, index, direction)
end

return M
