--- `:Acp apply`: a diff or code of the chat goes into a buffer, after it was shown where.

local notify = require('acp.notify')
local preview = require('acp.apply.preview')
local target = require('acp.apply.target')
local words = require('acp.apply.words')

local M = {}

--- How often a buffer may change while places are looked for.
local most = 20

--- One run of the command.
---@class (exact) acp.Applying
---@field source acp.ApplySource
---@field name? string the buffer or file that the user named
---@field buf? integer the buffer with `first` and `last`
---@field first? integer selected rows that make place
---@field last? integer
---@field files acp.PlacedFile[]
---@field file integer which is being applied, from 1
---@field tries integer
---@field asked? integer the last question to the core
---@field shown? integer the buffer with the preview
---@field choice? acp.ApplyChoice
---@field over? boolean

---@type acp.Applying?
local current

---@param it acp.Applying
local function tidy(it)
  local choice = it.choice
  it.choice = nil
  if choice and choice.choosing then
    choice.choosing.close()
  end
  if it.shown then
    preview.clear(it.shown)
    it.shown = nil
  end
end

---@param it acp.Applying
---@param err? acp.Err
local function finish(it, err)
  it.over = true
  tidy(it)
  if current == it then
    current = nil
  end
  if err then
    notify.err(err)
  end
end

local answered ---@type fun(it: acp.Applying, effect: acp.Placed)

--- Asks the core.
---@param it acp.Applying
---@param more table<string, any>
local function ask(it, more)
  local what = vim.tbl_extend('error', { file = math.max(it.file, 1) }, it.source, more)
  local err
  it.asked, err = require('acp.apply.ask').send(what, function(effect)
    answered(it, effect)
  end)
  if err then
    finish(it, err)
  end
end

local next_file ---@type fun(it: acp.Applying)

--- Looks for the places in the buffer as it is now.
---@param it acp.Applying
---@param buf integer
---@param win integer
local function look(it, buf, win)
  it.tries = it.tries + 1
  if it.tries > most then
    return finish(it, { code = 'restless', message = 'The buffer does not come to rest' })
  end
  local rows = it.buf == buf and it.first
  ask(it, {
    live = require('acp.files.text').live(buf, false),
    row = vim.api.nvim_win_get_cursor(win)[1] - 1,
    first = rows or nil,
    last = rows and it.last or nil,
  })
end

---@param it acp.Applying
---@param buf integer
---@param plan acp.Places
---@param hunks acp.PlacedHunk[]
local function carry_out(it, buf, plan, hunks)
  local changes = {}
  for i = #hunks, 1, -1 do
    vim.list_extend(changes, hunks[i].changes)
  end
  if not vim.api.nvim_buf_is_loaded(buf) then
    return finish(it, { code = 'no_buffer', message = 'The buffer was closed meanwhile' })
  end
  ---@type acp.Merged
  local merged = { ---@diagnostic disable-line: missing-fields
    tick = plan.tick,
    changes = changes,
    eol = plan.eol,
    bom = plan.bom,
  }
  local ok, result = pcall(require('acp.files.apply').apply, buf, merged, true, function() end)
  if not ok then
    local message = require('acp.files.find').words_of(result)
    return finish(it, { code = 'not_applied', message = target.name(buf) .. ': ' .. message })
  elseif result == 'changed' then
    notify.show(target.name(buf) .. ' was changed meanwhile: look again', 'warn')
    it.file = it.file - 1
  else
    local what = words.count(#hunks, 'change')
    notify.show(('Applied %s to %s'):format(what, target.name(buf)))
  end
  next_file(it)
end

--- Nothing fits.
---@param it acp.Applying
---@param buf integer
---@param missing acp.PlacedMissing[]
local function nothing(it, buf, missing)
  local first, rest = missing[1], missing[2] and (' (and %d more)'):format(#missing - 1) or ''
  local already = true
  for _, each in ipairs(missing) do
    already = already and each.why == 'already'
  end
  local name = target.name(buf)
  if not first then
    notify.show(('There is nothing to apply to %s'):format(name))
  else
    local message = ('%s: %s%s'):format(name, words.missing(first), rest)
    notify.show(message, already and 'info' or 'error')
  end
  next_file(it)
end

---@param it acp.Applying
---@param plan acp.Places
local function placed(it, plan)
  local choice = it.choice
  local win = choice and choice.win or -1
  local buf = it.shown or -1
  if not choice or not vim.api.nvim_win_is_valid(win) or not vim.api.nvim_buf_is_loaded(buf) then
    return finish(it, { code = 'no_buffer', message = 'The buffer was closed meanwhile' })
  elseif vim.api.nvim_buf_get_changedtick(buf) ~= plan.tick then
    return look(it, buf, win)
  end
  local first = plan.hunks[1]
  if not first then
    return nothing(it, buf, plan.missing)
  end
  choice.hunks, choice.missing = plan.hunks, plan.missing
  choice.done = function(hunks)
    choice.choosing = nil
    tidy(it)
    if #hunks == 0 then
      return finish(it)
    end
    carry_out(it, buf, plan, hunks)
  end
  preview.show(win, plan.hunks)
  preview.go_to(win, first.edits[1])
  require('acp.apply.choose').open(choice)
end

--- Goes on with the next file of the diff.
---@param it acp.Applying
function next_file(it)
  tidy(it)
  it.file, it.tries = it.file + 1, 0
  local file = it.files[it.file]
  if not file then
    return finish(it)
  elseif file.kind == 'deleted' then
    local message = ('The diff deletes %s: that is left to you'):format(file.path or 'a file')
    notify.show(message, 'warn')
    return next_file(it)
  end
  local buf, err = target.find(it.source.session, file, it.name)
  local win
  if buf and not err then
    win, err = target.show(buf)
  end
  err = err or (buf and target.protected(buf))
  if err or not buf or not win then
    return finish(it, err)
  end
  it.shown = buf
  it.choice =
    { win = win, name = target.name(buf), hunks = {}, missing = {}, done = function() end }
  look(it, buf, win)
end

---@param it acp.Applying
---@param effect acp.Placed
function answered(it, effect)
  if it.over or it.asked ~= effect.tag then
    return
  elseif not effect.files then
    return finish(it, { code = 'no_code', message = 'There is no code block in this chat' })
  elseif effect.places then
    return placed(it, effect.places)
  end
  it.files, it.source.code = effect.files, it.source.code or effect.code
  next_file(it)
end

--- Applies the code that is meant here, after it was shown where it goes.
---@param opts? { name?: string, range?: acp.LineRange } the buffer or file; the lines meant
---@return boolean? ok, acp.Err? err
function M.run(opts)
  opts = opts or {}
  local source, err = require('acp.apply.source').here(opts.range)
  if not source then
    return nil, err
  end
  if current then
    finish(current)
  end
  ---@type acp.Applying
  local it = { source = source, name = opts.name, files = {}, file = 0, tries = 0 }
  local buf = vim.api.nvim_get_current_buf()
  local range = opts.range
  if range and not vim.b[buf].acp_role then
    -- Selected lines of a buffer make place for the code.
    it.buf, it.first, it.last = buf, range.first - 1, range.last
    it.name = it.name or tostring(buf)
  end
  current = it
  ask(it, {})
  return true
end

return M
