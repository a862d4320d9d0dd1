--- Lines that both the user and an agent have changed: the user says what becomes of them, place
--- by place or for all at once. Until then nothing of the change is made, and nothing of the user's
--- is lost.

local job = require('acp.files.job')
local questions = require('acp.questions')
local text = require('acp.text')

local M = {}

---@class (exact) acp.Conflict
---@field job acp.MergeJob
---@field plan acp.Merged
---@field key string
---@field title string
---@field picks acp.Pick[] what the user has said so far, place by place
---@field chosen fun(kept: acp.Clash[]) told before the job goes on: where the user's lines stay
---@field session integer
---@field editor? integer the buffer in which the user edits
---@field autocmd? integer

---@type table<acp.MergeJob, acp.Conflict>
local open = {}

local last = 0

---@type table<string, string> who has the other lines, for a write and for a rewind
local others = { write = "the agent's", rewind = 'from before' }

---@alias acp.Pick 'theirs'|'ours'|'both'

--- What the user said about lines that both changed. It holds for these lines and for no others.
---@class (exact) acp.SettledClash
---@field ours string[]
---@field theirs string[]
---@field pick acp.Pick

---@class (exact) acp.ConflictChoice
---@field label string
---@field before? string the label where the other lines are from before a turn
---@field pick acp.Pick|'edit'
---@field letter string
---@field all? boolean it is for all places that are left

---@type acp.ConflictChoice[]
local here = {
  {
    label = "Take the agent's lines",
    before = 'Take the lines from before',
    pick = 'theirs',
    letter = 't',
  },
  { label = 'Keep your lines', pick = 'ours', letter = 'o' },
  {
    label = "Keep both, yours first, the agent's after them",
    before = 'Keep both, yours first, those from before after them',
    pick = 'both',
    letter = 'b',
  },
}
---@type acp.ConflictChoice[]
local everywhere = {
  {
    label = "Take the agent's lines in all places",
    before = 'Take the lines from before in all places',
    pick = 'theirs',
    letter = 'T',
    all = true,
  },
  { label = 'Keep your lines in all places', pick = 'ours', letter = 'O', all = true },
  { label = 'Keep both in all places', pick = 'both', letter = 'B', all = true },
}
---@type acp.ConflictChoice
local by_hand = { label = 'Edit: put them together by hand', pick = 'edit', letter = 'e' }

--- It waits no longer.
---@param it acp.MergeJob
---@return acp.Conflict?
local function leave(it)
  local conflict = open[it]
  open[it] = nil
  if conflict and conflict.autocmd then
    -- It may have gone with its buffer.
    pcall(vim.api.nvim_del_autocmd, conflict.autocmd)
  end
  return conflict
end

--- How many places are not settled yet.
---@param conflict acp.Conflict
---@return integer
local function left(conflict)
  return #conflict.plan.clashes - #conflict.picks
end

---@param conflict acp.Conflict
---@return acp.ConflictChoice[]
local function choices_for(conflict)
  local all = vim.list_extend({}, here)
  if left(conflict) > 1 then
    vim.list_extend(all, everywhere)
  end
  table.insert(all, by_hand)
  return all
end

---@param conflict acp.Conflict
---@return string
local function title(conflict)
  local count = #conflict.plan.clashes
  return count == 1 and conflict.title
    or ('%s (%d of %d)'):format(conflict.title, #conflict.picks + 1, count)
end

--- Both sides of the place that is asked about, to be looked at.
---@param conflict acp.Conflict
---@return string[]
local function preview(conflict)
  local lines = {} ---@type string[]
  local clash = conflict.plan.clashes[#conflict.picks + 1]
  if clash then
    table.insert(lines, ('─── line %d, yours'):format(clash.line))
    vim.list_extend(lines, clash.ours)
    table.insert(lines, '─── ' .. others[conflict.job.rewind and 'rewind' or 'write'])
    vim.list_extend(lines, clash.theirs)
  end
  return lines
end

--- The user has said something about each of the places.
---@param it acp.MergeJob
---@param plan acp.Merged
---@param picks acp.Pick[]
---@param chosen fun(kept: acp.Clash[])
function M.settle(it, plan, picks, chosen)
  leave(it)
  local kept = {} ---@type acp.Clash[]
  it.settled = it.settled or {}
  for i, clash in ipairs(plan.clashes) do
    local pick = picks[i] or 'ours'
    table.insert(it.settled, { ours = clash.ours, theirs = clash.theirs, pick = pick })
    if pick == 'ours' then
      table.insert(kept, clash)
    end
  end
  chosen(kept)
  job.go_on(it)
end

local push ---@type fun(conflict: acp.Conflict)

---@param conflict acp.Conflict
---@param choice acp.ConflictChoice
local function take(conflict, choice)
  repeat
    table.insert(conflict.picks, choice.pick)
  until not choice.all or left(conflict) == 0
end

--- The end of a conflict with lines from before a turn.
local before = '^>>>>>>> from before$'

--- What the user made of the text with markers in it.
---@param conflict acp.Conflict
---@param buf integer
---@return boolean settled
local function take_edited(conflict, buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  for number, line in ipairs(lines) do
    if line:match('^<<<<<<< yours$') or line:match('^>>>>>>> the agent') or line:match(before) then
      require('acp.notify').show(('Line %d still has a conflict marker'):format(number), 'warn')
      return false
    end
  end
  leave(conflict.job)
  conflict.chosen({})
  conflict.job.edited = table.concat(lines, '\n') .. '\n'
  job.go_on(conflict.job)
  return true
end

--- Opens the whole text with markers; `:write` settles it, closing it asks again.
---@param conflict acp.Conflict
local function edit(conflict)
  local of = conflict.job.buf
  local now = require('acp.files.text').live(of, false)
  if now.tick ~= conflict.plan.tick then
    -- The user went on: the markers would be in another text.
    leave(conflict.job)
    return job.go_on(conflict.job)
  end
  conflict.job.edited_from = now.empty and '' or now.text .. '\n'
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, conflict.plan.marked)
  local name = text.name_part(vim.fn.fnamemodify(conflict.job.path, ':t'))
  vim.api.nvim_buf_set_name(buf, ('acp://conflict/%d/%s'):format(last, name))
  vim.bo[buf].buftype, vim.bo[buf].bufhidden = 'acwrite', 'wipe'
  vim.bo[buf].filetype = vim.bo[of].filetype
  vim.bo[buf].modified = false
  conflict.editor = buf
  local settled = false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    desc = 'acp: settle a conflict',
    callback = function()
      settled = settled or take_edited(conflict, buf)
      vim.bo[buf].modified = not settled
      if settled then
        vim.schedule(function()
          pcall(vim.api.nvim_buf_delete, buf, { force = true })
        end)
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    desc = 'acp: ask again about a conflict',
    callback = function()
      conflict.editor = nil
      if not settled and open[conflict.job] then
        require('acp.client').defer(function()
          push(conflict)
        end)
      end
    end,
  })
  vim.cmd.split()
  vim.api.nvim_win_set_buf(0, buf)
  vim.fn.search('^<<<<<<< yours$', 'cw')
end

--- What is on the screen: the choice for one place after the other.
---@class (exact) acp.ConflictScreen
---@field now? acp.Choosing

---@param conflict acp.Conflict
---@param done fun(answered: boolean)
---@param moment acp.Moment
---@param screen acp.ConflictScreen
local function choose(conflict, done, moment, screen)
  local choices, lines = choices_for(conflict), preview(conflict)
  local win = require('acp.ui.float').show({
    lines = lines,
    title = title(conflict),
    enter = false,
    keys = false,
    stay = true,
    place = function(room)
      local width = math.min(room.width, math.max(78, math.floor(room.width * 0.8)))
      local height = math.min(#lines, math.max(room.height - #choices - 6, 1))
      local col = room.col + math.floor((room.width - width) / 2)
      return { row = room.row, col = col, width = width, height = height }
    end,
  })
  local function close()
    if win and vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_close(win, true)
    end
  end
  local choosing = require('acp.ui.select').open(choices, {
    prompt = title(conflict),
    kind = 'acp_conflict',
    format_item = function(choice)
      return conflict.job.rewind and choice.before or choice.label
    end,
    question = true,
    letter_of = function(choice)
      return choice.letter
    end,
    moment = require('acp.ui.select').before_later(moment, close),
  }, function(choice)
    close()
    if not choice or not open[conflict.job] then
      return done(choice ~= nil)
    elseif choice.pick == 'edit' then
      done(true)
      return edit(conflict)
    end
    take(conflict, choice)
    if left(conflict) > 0 then
      return choose(conflict, done, { how = 'next' }, screen)
    end
    done(true)
    M.settle(conflict.job, conflict.plan, conflict.picks, conflict.chosen)
  end)
  screen.now = {
    focus = choosing.focus,
    close = function()
      choosing.close()
      close()
    end,
  }
end

function push(conflict)
  questions.push({
    key = conflict.key,
    what = conflict.title,
    command = ':Acp permissions',
    session = conflict.session,
    open = function(done, moment)
      local screen = {} ---@type acp.ConflictScreen
      choose(conflict, done, moment, screen)
      return {
        focus = function()
          return screen.now ~= nil and screen.now.focus()
        end,
        close = function()
          if screen.now then
            screen.now.close()
          end
        end,
      }
    end,
  })
end

--- Whoever discards the buffer has no lines that could be asked about, and nobody has to wait.
---@param conflict acp.Conflict
local function watch_buffer(conflict)
  local it = conflict.job
  conflict.autocmd = vim.api.nvim_create_autocmd('BufUnload', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = it.buf,
    desc = 'acp: a conflict goes with its buffer',
    callback = function()
      require('acp.client').defer(function()
        if open[it] == conflict then
          M.drop(it)
          job.refuse(it, 'the user has discarded the buffer of this file')
        end
      end)
    end,
  })
end

--- Asks the user; the job goes on when that is settled.
---@param it acp.MergeJob
---@param plan acp.Merged
---@param session integer
---@param chosen fun(kept: acp.Clash[])
function M.ask(it, plan, session, chosen)
  last = last + 1
  local agent = require('acp.session').agent_of(session)
  local name = vim.fn.fnamemodify(it.path, ':~:.')
  local conflict = {
    job = it,
    plan = plan,
    picks = {},
    chosen = chosen,
    session = session,
    key = ('conflict %d'):format(last),
    title = text.one_line(
      it.rewind and ('You changed what the rewind would undo in %s'):format(name)
        or ('You and %s changed the same lines of %s'):format(agent, name)
    ),
  }
  open[it] = conflict
  watch_buffer(conflict)
  push(conflict)
end

--- Nobody needs an answer any more.
---@param it acp.MergeJob
function M.drop(it)
  local conflict = leave(it)
  if conflict then
    questions.drop(conflict.key)
    if conflict.editor then
      pcall(vim.api.nvim_buf_delete, conflict.editor, { force = true })
    end
  end
end

--- The file has changed again: what is asked may not be in it any more. What the user edits by hand
--- is put together with what it was.
---@param it acp.MergeJob
---@param stamp? acp.Stamp what the disk says of it now
function M.look_again(it, stamp)
  local conflict = open[it]
  if conflict and not conflict.editor and not vim.deep_equal(conflict.plan.stamp, stamp) then
    M.drop(it)
    job.go_on(it)
  end
end

return M
