--- Writes of agents into loaded buffers: put together with what the user has there.

local client = require('acp.client')
local find = require('acp.files.find')
local job = require('acp.files.job')

local M = {}

---@type table<integer, acp.MergeJob> by the number of the question
local open = {}

---@param ask integer
---@param kind 'done'|'failed'|'not_loaded'|'conflict'
---@param value? string
local function answer(ask, kind, value)
  client.send({ type = 'answer', ask = ask, kind = kind, value = value })
end

---@param effect acp.AskedWrite
---@param buf integer
---@param plan acp.Merged
---@param kept? string what the user kept of their own
local function finish(effect, buf, plan, kept)
  local save = require('acp.files.save')
  local err, hint
  if require('acp.config').get().files.after_write == 'save' then
    err, hint = save.save(buf, { mixed = not plan.is_theirs })
  end
  require('acp.events').emit('AcpFileChanged', {
    session = effect.session,
    path = effect.path,
    buf = buf,
    kind = 'write',
  })
  if err then
    save.tell(buf, err, hint)
    answer(effect.ask, 'failed', 'changed in the buffer, but not saved: ' .. err)
  elseif kept then
    answer(effect.ask, 'failed', kept)
  else
    answer(effect.ask, 'done')
  end
end

--- Which lines are not what the agent wrote, in words for the agent.
---@param kept acp.Clash[]
---@return string?
local function kept_words(kept)
  if #kept == 0 then
    return nil
  end
  local places = {}
  for _, clash in ipairs(kept) do
    local last = clash.line + math.max(#clash.ours, 1) - 1
    table.insert(
      places,
      last > clash.line and ('%d-%d'):format(clash.line, last) or tostring(clash.line)
    )
  end
  local words = 'the user has changed the same lines and kept their own text'
    .. ' (lines %s of the buffer); everything else was written.'
    .. ' Read the file before changing it again'
  return words:format(table.concat(places, ', '))
end

---@param effect acp.AskedWrite
---@param buf integer
---@return acp.MergeJob
local function job_for(effect, buf)
  local kept = {} ---@type acp.Clash[]
  ---@type acp.MergeJob
  return {
    buf = buf,
    path = effect.path,
    ask = effect.ask,
    author = effect.session,
    clash = function(it, plan)
      answer(effect.ask, 'conflict')
      require('acp.files.conflict').ask(it, plan, effect.session, function(more)
        vim.list_extend(kept, more)
      end)
    end,
    done = function(plan, refused)
      open[effect.ask] = nil
      if plan then
        finish(effect, buf, plan, kept_words(kept))
      else
        answer(effect.ask, 'failed', refused)
      end
    end,
  }
end

---@param effect acp.AskedWrite
function M.write(effect)
  local buf = find.find_resolved(effect.path)
  if not buf then
    return answer(effect.ask, 'not_loaded')
  end
  if require('acp.files.watch').is_behind(buf) then
    -- What the disk has comes first, or saving would undo it.
    require('acp.files.disk').sync(buf, effect.session)
  end
  local it = job_for(effect, buf)
  open[effect.ask] = it
  job.start(it)
end

--- Nobody waits for this write any more: what is not done yet is not done at all.
---@param ask integer
function M.drop(ask)
  local it = open[ask]
  open[ask] = nil
  if it then
    require('acp.files.conflict').drop(it)
    job.drop(it)
  end
end

return M
