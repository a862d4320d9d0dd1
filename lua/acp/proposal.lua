--- A change that an agent asks permission for, shown in its file before it is made: part by part it
--- is accepted, refused or edited, and the agent is answered with what is left of it.

local answer = require('acp.permission.answer')
local notify = require('acp.notify')
local preview = require('acp.apply.preview')
local show = require('acp.proposal.show')
local view = require('acp.proposal.view')

local M = {}

--- The part under the cursor, or the only one.
---@param it acp.Proposal
---@return acp.ProposedHunk?
local function here(it)
  local file, hunks = show.current(it)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, hunk in ipairs(hunks) do
    local edit = view.edit_of(file and file.buf or 0, hunk)
    local start = preview.start(edit)
    if row >= start and row <= math.max(edit.last - 1, start) then
      return hunk
    end
  end
  if #hunks == 1 then
    return hunks[1]
  end
  local key = require('acp.config').get().permissions.keys.next
  notify.show(
    'There is no part of the proposal here' .. (key and (': %s goes on'):format(key) or '')
  )
end

---@param it acp.Proposal
---@param refuses fun(hunk: acp.ProposedHunk): boolean
local function decide(it, refuses)
  local hunk = here(it)
  if hunk then
    hunk.refused = refuses(hunk) or nil
    show.refresh(it)
  end
end

---@param it acp.Proposal
---@param direction 1|-1
local function go(it, direction)
  local file, hunks = show.current(it)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local first, last = direction > 0 and 1 or #hunks, direction > 0 and #hunks or 1
  for i = first, last, direction do
    local edit = view.edit_of(file and file.buf or 0, hunks[i] --[[@as acp.ProposedHunk]])
    if (preview.start(edit) - row) * direction > 0 then
      return preview.go_to(0, edit)
    end
  end
  if it.files[it.at + direction] then
    show.show_file(it, it.at + direction, direction)
  elseif hunks[first] and file then
    preview.go_to(0, view.edit_of(file.buf --[[@as integer]], hunks[first]))
  end
end

---@param it acp.Proposal
local function edit(it)
  local file, hunk = show.current(it), here(it)
  if not file or not hunk then
    return
  end
  it.editor = require('acp.proposal.edit').open(
    hunk.edited or hunk.new,
    file.buf or 0,
    function(lines)
      if it.over then
        notify.show('This was not asked any more: what you wrote is only here', 'warn')
        return false
      end
      hunk.refused = vim.deep_equal(lines, hunk.old) or nil
      hunk.edited = not hunk.refused and not vim.deep_equal(lines, hunk.new) and lines or nil
      show.refresh(it)
      return true
    end
  )
end

--- What is not wanted as it was proposed.
---@param it acp.Proposal
---@return acp.ProposedPart[] parts, boolean all whether nothing is left of it
local function unwanted(it)
  local parts, all = {}, true
  for _, file in ipairs(it.files) do
    all = all and file.hunks ~= nil and #file.missing == 0
    for _, hunk in ipairs(file.hunks or {}) do
      all = all and hunk.refused == true
      if hunk.refused or hunk.edited then
        local line = view.rows(file.buf --[[@as integer]], hunk) + 1
        table.insert(parts, {
          path = file.path,
          session = it.permission.session,
          line = line,
          old = hunk.old,
          new = hunk.new,
          edited = not hunk.refused and hunk.edited or nil,
        })
      end
    end
  end
  return parts, all
end

---@param it acp.Proposal
local function reject(it)
  local no = answer.option(it.permission, { 'reject_once', 'reject_always' })
  if not no then
    return answer.tell({ code = 'no_option', message = 'The agent offers no "no": use the list' })
  end
  answer.reject_with_reason(it.permission, no, function(answered)
    if answered then
      show.finish(it, true)
    end
  end)
end

---@param it acp.Proposal
local function allow(it)
  local parts, all = unwanted(it)
  if all then
    return reject(it)
  end
  local permission = it.permission
  local no = answer.option(permission, { 'reject_once', 'reject_always' })
  if #parts > 0 and no and require('acp.config').get().permissions.partial == 'reject' then
    answer.reject(permission, no, require('acp.proposal.words').rejected(parts))
    return show.finish(it, true)
  end
  local yes = answer.option(permission, { 'allow_once' })
  if not yes then
    return answer.tell({ code = 'no_option', message = "It can't be allowed once: use the list" })
  end
  if answer.respond(permission.id, yes) and #parts > 0 then
    require('acp.proposal.settle').watch(permission.session, parts)
  end
  show.finish(it, true, true)
end

---@param it acp.Proposal
---@return table<string, fun()>
local function actions(it)
  ---@param fn fun(it: acp.Proposal, ...: any)
  ---@param ... any
  local function with(fn, ...)
    local args = { ... }
    return function()
      if not it.over then
        fn(it, unpack(args))
      end
    end
  end
  return {
    next = with(go, 1),
    previous = with(go, -1),
    accept = with(decide, function()
      return false
    end),
    refuse = with(decide, function()
      return true
    end),
    toggle = with(decide, function(hunk)
      return not hunk.refused
    end),
    edit = with(edit),
    allow = with(allow),
    reject = with(reject),
    leave = with(show.leave),
    help = function()
      require('acp.ui.help').show()
    end,
  }
end

--- Shows what is proposed in its files. `done` is called when that is over, unless it is closed;
--- `list` instead where there is nothing to be shown.
---@param permission acp.Permission
---@param done fun(answered: boolean)
---@param list fun()
---@return acp.Choosing
function M.open(permission, done, list)
  ---@type acp.Proposal
  local it = { ---@diagnostic disable-line: missing-fields
    permission = permission,
    files = show.left[permission.id] or {},
    at = 0,
    shown = false,
    tries = 0,
    skipped = 0,
  }
  it.done, it.list, it.actions = done, list, actions(it)
  local what = { session = permission.session, tool_call = permission.tool_call, file = 1 }
  local _, err = require('acp.apply.ask').send(what, function(effect)
    if it.over then
      return
    elseif not effect.files or #effect.files == 0 then
      notify.show('There is no change to be shown any more', 'warn')
      show.close(it)
      return list()
    end
    local known = show.left[permission.id] ~= nil and #it.files == #effect.files
    it.files = known and it.files or {}
    for _, file in ipairs(known and {} or effect.files) do
      local path = require('acp.ui.jump').absolute(permission.session, file.path or '')
      path = vim.fs.normalize(path, { expand_env = false })
      table.insert(it.files, { path = path, kind = file.kind })
    end
    show.show_file(it, 1, 1)
  end)
  if err then
    notify.err(err)
  end
  return {
    focus = function()
      if not it.win or not vim.api.nvim_win_is_valid(it.win) then
        return false
      end
      vim.api.nvim_set_current_win(it.win)
      return true
    end,
    close = function()
      show.close(it)
    end,
  }
end

return M
