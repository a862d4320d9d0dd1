--- One change of a file from start to end: the buffer's text goes to the core, what to do comes
--- back, and is done if the buffer is still the same; else once more. One at a time for a buffer.

local apply = require('acp.files.apply')
local client = require('acp.client')
local mirror = require('acp.files.mirror')
local text = require('acp.files.text')

local M = {}

--- How often a buffer may change under a merge. Each costs the time of a merge, and nobody types
--- as fast as that for long.
local most = 40

--- `done` is called exactly once, unless the job is dropped: with the plan that was carried out,
--- or with why not. `clash` is asked when both changed the same.
---@class (exact) acp.MergeJob
---@field buf integer
---@field path string
---@field ask? integer for a write of an agent
---@field rewind? integer for a rewind: its tag
---@field settled? acp.SettledClash[]
---@field edited? string
---@field edited_from? string
---@field reject? fun(): acp.Rejection what of pending changes is taken back, as the rows are now
---@field modified? boolean whether the buffer was, just before it was changed
---@field clash fun(job: acp.MergeJob, plan: acp.Merged)
---@field done fun(plan?: acp.Merged, refused?: string)
---@field tag? integer
---@field tries? integer
---@field author integer who makes the change: see `acp.files.mirror`
---@field waited? boolean
---@field plain? boolean the core has no copy of the buffer
---@field over? boolean

---@type table<integer, acp.MergeJob> under way in the core, by tag
local waiting = {}
---@type table<integer, acp.MergeJob[]> by buffer; the first one is being done
local queues = {}
---@type acp.Ahead? what the core has begun by itself, for the question that comes next
local ahead
local last_tag = 0

local step ---@type fun(job: acp.MergeJob)

---@param job acp.MergeJob
local function leave(job)
  job.over = true
  if job.tag then
    waiting[job.tag] = nil
  end
  local queue = queues[job.buf] or {}
  local first = queue[1] == job
  for i, each in ipairs(queue) do
    if each == job then
      table.remove(queue, i)
      break
    end
  end
  if not queue[1] then
    queues[job.buf] = nil
  elseif first then
    client.defer(function()
      if queue[1] and not queue[1].over then
        step(queue[1])
      end
    end)
  end
end

---@param job acp.MergeJob
---@param plan? acp.Merged
---@param refused? string
local function finish(job, plan, refused)
  if not job.over then
    leave(job)
    client.guard('the end of a change', job.done, plan, refused)
    mirror.tell(job.buf)
    mirror.level(job.buf)
  end
end

--- Whether the core is at it already, for just this state of the buffer.
---@param job acp.MergeJob
---@return boolean
local function is_begun(job)
  local it = ahead
  ahead = nil
  if not it or it.ask ~= job.ask or it.buf ~= job.buf or job.tries > 1 then
    return false
  end
  local live = text.state(job.buf)
  for key, value in pairs(live) do
    if it[key] ~= value then
      return false
    end
  end
  job.tag = it.tag
  waiting[it.tag] = job
  return true
end

--- Asks the core what to do with the buffer as it is now.
function step(job)
  if not vim.api.nvim_buf_is_loaded(job.buf) then
    return finish(job, nil, 'the user has closed the file')
  end
  local reason = require('acp.files.find').protected(job.buf)
  if reason then
    return finish(job, nil, reason)
  end
  job.tries = (job.tries or 0) + 1
  if job.tries > most then
    return finish(job, nil, 'the buffer of this file does not come to rest')
  end
  if is_begun(job) then
    return
  end
  last_tag = last_tag + 1
  job.tag = last_tag
  waiting[last_tag] = job
  local copied = not job.plain and mirror.has(job.buf)
  mirror.level(job.buf)
  local action = vim.tbl_extend('error', text.live(job.buf, copied), {
    type = 'merge',
    tag = job.tag,
    ask = job.ask,
    rewind = job.rewind,
    path = job.rewind and job.path or vim.api.nvim_buf_get_name(job.buf),
    settled = job.settled,
    edited = job.edited,
    edited_from = job.edited_from,
    reject = job.reject and job.reject(),
  })
  local ok, err = client.send(action --[[@as acp.Action]])
  if not ok then
    finish(job, nil, err and err.message or 'the core is gone')
  end
end

--- Starts a job, or lets it wait for those before it.
---@param job acp.MergeJob
function M.start(job)
  local queue = queues[job.buf] or {}
  queues[job.buf] = queue
  table.insert(queue, job)
  if #queue == 1 then
    step(job)
  else
    -- What was found for it would be there before it is wanted.
    ahead = nil
  end
end

--- Goes on, after somebody has settled what was open.
---@param job acp.MergeJob
function M.go_on(job)
  if not job.over then
    job.tries = 0
    step(job)
  end
end

--- Forgets a job: nobody wants it any more. `done` is not called.
---@param job acp.MergeJob
function M.drop(job)
  if not job.over then
    leave(job)
  end
end

--- Gives up, with these words.
---@param job acp.MergeJob
---@param why string
function M.refuse(job, why)
  finish(job, nil, why)
end

--- Whether something is under way for a buffer, or for any.
---@param buf? integer
---@return boolean
function M.busy(buf)
  if buf then
    return queues[buf] ~= nil
  end
  return next(queues) ~= nil
end

---@param job acp.MergeJob
local function wait_a_moment(job)
  vim.defer_fn(function()
    if not job.over then
      step(job)
    end
  end, 50)
end

---@param job acp.MergeJob
---@param plan acp.Merged
local function carry_out(job, plan)
  if plan.refused == 'no_copy' then
    mirror.lost(job.buf)
    job.plain = not job.reject
    return wait_a_moment(job)
  elseif plan.refused then
    return finish(job, nil, plan.refused)
  elseif not vim.api.nvim_buf_is_loaded(job.buf) then
    return finish(job, nil, 'the user has closed the file')
  elseif plan.clashes[1] then
    return job.clash(job, plan)
  end
  job.modified = vim.bo[job.buf].modified
  if job.reject and job.modified then
    mirror.taking_back(job.buf)
  end
  local ok, result = pcall(
    mirror.as,
    job.author,
    apply.apply,
    job.buf,
    plan,
    job.waited == true,
    function()
      job.waited = true
      if not job.over then
        step(job)
      end
    end
  )
  if not ok and tostring(result):match('E565') then
    -- Text must not change at this moment, such as in the middle of a completion.
    wait_a_moment(job)
  elseif not ok then
    finish(job, nil, require('acp.files.find').words_of(result))
  elseif result == 'changed' then
    step(job)
  elseif result == 'done' then
    finish(job, plan)
  end
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Ahead
  client.subscribe('ahead', function(effect)
    ahead = effect
  end)
  ---@param plan acp.Merged
  client.subscribe('merged', function(plan)
    local job = waiting[plan.tag]
    waiting[plan.tag] = nil
    if job and not job.over then
      carry_out(job, plan)
    end
  end)
end

return M
