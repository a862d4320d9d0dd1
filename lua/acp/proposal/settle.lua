--- After a change was allowed in part: when it comes, in whatever way the agent writes, the refused
--- parts are reverted, the edited ones replaced, and the agent is told. What has not come when the
--- turn is over is told to the user.

local client = require('acp.client')
local find = require('acp.files.find')
local mirror = require('acp.files.mirror')
local notify = require('acp.notify')
local store = require('acp.review.store')

local M = {}

--- How long after the end of a turn changes are still found, in milliseconds.
local patience = 3000
--- How far from where they were lines may be to be taken for the same without further evidence.
local nearby = 3

--- A part of a proposal that the user does not want as it is.
---@class (exact) acp.ProposedPart
---@field path string
---@field session integer
---@field line integer where it was, from 1
---@field old string[]
---@field new string[]
---@field edited? string[] what the user wants instead; nil: what was there before
---@field state? 'busy'|'done'|'lost'
---@field on_disk? string it is so in the buffer, and not on the disk: why

---@class (exact) acp.SettlingParts
---@field session integer
---@field parts acp.ProposedPart[]
---@field before table<string, true> what waited when it was allowed: it is not what comes
---@field ending? boolean the turn is over

---@type acp.SettlingParts[]
local watched = {}
local attached = false

--- Where a part is.
---@class (exact) acp.ArrivedPart
---@field id? integer the hunk that is exactly it
---@field first integer
---@field last integer

---@param path string
---@return acp.ReviewFile?
local function file_of(path)
  local real = find.resolved(path)
  for _, file in ipairs(store.files()) do
    if file.path == path or find.resolved(file.path) == real then
      return file
    end
  end
end

--- Whether lines are the same, or would be if what is around them were counted otherwise.
---@param one string[]
---@param other string[]
---@param alone boolean whether the other side has no lines
---@return boolean
local function same(one, other, alone)
  if #one ~= #other then
    return false
  elseif vim.deep_equal(one, other) then
    return true
  elseif not alone then
    return false
  end
  local twice = '\n' .. table.concat(one, '\n') .. '\n' .. table.concat(one, '\n') .. '\n'
  return twice:find('\n' .. table.concat(other, '\n') .. '\n', 1, true) ~= nil
end

--- Where lines are within others.
---@param lines string[]
---@param all string[]
---@return integer? after how many
local function within(lines, all)
  for skipped = 0, #lines > 0 and #all - #lines or -1 do
    if vim.deep_equal(vim.list_slice(all, skipped + 1, skipped + #lines), lines) then
      return skipped
    end
  end
end

---@param part acp.ProposedPart
---@param hunk acp.HunkText
---@return acp.ArrivedPart?
local function compared(part, hunk)
  local first = hunk.line - 1
  local alone = #part.old == 0 or #part.new == 0
  if same(hunk.old, part.old, alone) and same(hunk.new, part.new, alone) then
    return { id = hunk.id, first = first, last = first + #hunk.new }
  end
  -- It may have become one with a change that waited there before.
  local skipped = within(part.new, hunk.new)
  local near = math.abs(hunk.line + (skipped or 0) - part.line) <= nearby
  if skipped and (near or within(part.old, hunk.old)) then
    return { first = first + skipped, last = first + skipped + #part.new }
  end
end

--- A hunk as it is now.
---@param hunk acp.HunkText
---@return string
local function name_of(hunk)
  return table.concat({ hunk.path, hunk.id or 0, table.concat(hunk.new, '\n') }, '\0')
end

--- The nearest place where a part has arrived; what is exactly it comes first.
---@param part acp.ProposedPart
---@param file acp.ReviewFile
---@param before table<string, true> what waited before the change was allowed
---@return acp.ArrivedPart?
local function arrived(part, file, before)
  local best, far ---@type acp.ArrivedPart?, number?
  for _, hunk in ipairs(require('acp.review.diff').of(file)) do
    local new = hunk.session == part.session and not before[name_of(hunk)]
    local at = new and compared(part, hunk)
    if at then
      local distance = math.abs(at.first + 1 - part.line) + (at.id and 0 or 1e6)
      if not far or distance < far then
        best, far = at, distance
      end
    end
  end
  return best
end

---@param it acp.SettlingParts
---@param state? string
---@return acp.ProposedPart[]
local function parts_in(it, state)
  return vim.tbl_filter(function(part)
    return part.state == state
  end, it.parts)
end

--- Tells the user which files still have something that the buffer has not.
---@param parts acp.ProposedPart[]
local function tell_unsaved(parts)
  local told = {} ---@type table<string, true>
  for _, part in ipairs(parts) do
    if part.on_disk and not told[part.path] then
      told[part.path] = true
      require('acp.review.verbs').tell_on_disk(part.path, part.on_disk)
    end
  end
end

--- Tells the agent what was done.
---@param it acp.SettlingParts
local function report(it)
  local done, lost = parts_in(it, 'done'), parts_in(it, 'lost')
  if #lost > 0 then
    local name = vim.fn.fnamemodify(lost[1].path, ':~:.')
    local count = #lost == 1 and 'A part' or ('%d parts'):format(#lost)
    local words = '%s that you did not want in %s did not come like that: nothing was reverted'
    notify.show(words:format(count, name), 'warn', '. See :Acp review')
  end
  if #done == 0 then
    return
  end
  tell_unsaved(done)
  local words = require('acp.proposal.words').reverted(done)
  local _, err = require('acp.session').prompt(words, { session = it.session })
  if err then
    notify.err(err)
  end
end

---@param it acp.SettlingParts
local function finish_if_done(it)
  if #parts_in(it, nil) > 0 or #parts_in(it, 'busy') > 0 then
    return
  end
  for i, each in ipairs(watched) do
    if each == it then
      table.remove(watched, i)
      report(it)
      break
    end
  end
end

--- Puts other lines in the place of a part.
---@param buf integer
---@param at acp.ArrivedPart
---@param part acp.ProposedPart
---@return string? why not
local function replace(buf, at, part)
  local why = find.protected(buf)
  if why then
    return why
  end
  local modified = vim.bo[buf].modified
  -- What the user has written is the user's.
  local author = part.edited and 0 or -1
  local ok, err = pcall(mirror.as, author, function()
    vim.bo[buf].undolevels = vim.bo[buf].undolevels
    vim.api.nvim_buf_set_lines(buf, at.first, at.last, false, part.edited or part.old)
  end)
  if not ok then
    return find.words_of(err)
  end
  mirror.tell(buf)
  return not modified and require('acp.files.save').save(buf) or nil
end

---@param part acp.ProposedPart
---@param why string
local function failed(part, why)
  local name = require('acp.text').one_line(vim.fn.fnamemodify(part.path, ':~:.'))
  local message = ('%s: not as you wanted it, %s'):format(name, why)
  notify.err({ code = 'not_settled', message = message })
end

---@param file acp.ReviewFile
---@return integer buf
local function loaded(file)
  local buf = file.buf or find.find(file.path)
  if not buf then
    buf = vim.fn.bufadd(file.path)
    vim.fn.bufload(buf)
  end
  return buf
end

--- Replaces parts that are no hunk of their own, or that the user has edited; the last one first.
---@param it acp.SettlingParts
---@param parts acp.ProposedPart[]
local function replace_all(it, parts)
  table.sort(parts, function(a, b)
    return a.line > b.line
  end)
  local buf = parts[1] and find.find(parts[1].path)
  local modified = buf and vim.bo[buf].modified and buf
  if modified then
    mirror.taking_back(modified)
  end
  local done = {} ---@type acp.ProposedPart[]
  for _, part in ipairs(parts) do
    local file = file_of(part.path)
    local at = file and arrived(part, file, it.before)
    local why ---@type string?
    if not file or not at then
      why = 'it has changed meanwhile'
    else
      why = replace(loaded(file), at, part)
    end
    if why then
      part.state = 'lost'
      failed(part, why)
    else
      table.insert(done, part)
    end
  end
  ---@param on_disk? string
  local function finish(on_disk)
    for _, part in ipairs(done) do
      part.state, part.on_disk = 'done', on_disk
    end
    finish_if_done(it)
  end
  if modified and done[1] then
    return require('acp.review.verbs').from_disk(modified, done[1].path, finish)
  end
  finish()
end

--- Deals with what has arrived in a file.
---@param it acp.SettlingParts
---@param file acp.ReviewFile
---@param parts acp.ProposedPart[]
local function settle(it, file, parts)
  local ids, rejected, others = {}, {}, {}
  for _, part in ipairs(parts) do
    local at = arrived(part, file, it.before)
    if at then
      part.state = 'busy'
      local exact = at.id and not part.edited
      table.insert(exact and rejected or others, part)
      table.insert(ids, exact and at.id or nil)
    end
  end
  if #ids == 0 then
    return #others > 0 and replace_all(it, others)
  end
  local target = { path = file.path, ids = ids, session = it.session }
  require('acp.review.verbs').reject(target, function(err, on_disk)
    for _, part in ipairs(rejected) do
      part.state, part.on_disk = err and 'lost' or 'done', on_disk
    end
    if err then
      notify.err(err)
    end
    replace_all(it, others)
  end)
end

--- Looks at what waits for review by now.
---@param it acp.SettlingParts
local function look(it)
  local by_path = {} ---@type table<string, acp.ProposedPart[]>
  for _, part in ipairs(parts_in(it, nil)) do
    by_path[part.path] = by_path[part.path] or {}
    table.insert(by_path[part.path], part)
  end
  for path, parts in pairs(by_path) do
    local file = file_of(path)
    if file then
      settle(it, file, parts)
    end
  end
end

--- No more is to come.
---@param it acp.SettlingParts
local function give_up(it)
  if vim.list_contains(watched, it) then
    for _, part in ipairs(parts_in(it, nil)) do
      part.state = 'lost'
    end
    finish_if_done(it)
  end
end

---@param effect { session: integer }
local function turn_over(effect)
  for _, it in ipairs(vim.list_slice(watched)) do
    if it.session == effect.session and not it.ending then
      it.ending = true
      vim.defer_fn(function()
        client.guard('the end of a change in part', give_up, it)
      end, patience)
    end
  end
end

local due = false

local function attach()
  if attached then
    return
  end
  attached = true
  client.subscribe('hunks', function()
    if #watched > 0 and not due then
      due = true
      client.defer(function()
        due = false
        for _, it in ipairs(vim.list_slice(watched)) do
          look(it)
        end
      end)
    end
  end)
  client.subscribe('turn_finished', turn_over)
  client.subscribe('agent_exited', turn_over)
end

--- Waits for a change that was allowed without these parts.
---@param session integer
---@param parts acp.ProposedPart[]
function M.watch(session, parts)
  attach()
  local before = {} ---@type table<string, true>
  for _, file in ipairs(store.files()) do
    for _, hunk in ipairs(require('acp.review.diff').of(file)) do
      before[name_of(hunk)] = true
    end
  end
  table.insert(watched, { session = session, parts = parts, before = before })
end

return M
