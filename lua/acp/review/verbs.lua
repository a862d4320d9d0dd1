--- Accepting and rejecting: in the buffer where there is one, else on the disk by the core.

local client = require('acp.client')
local expected = require('acp.files.expected')
local find = require('acp.files.find')
local notify = require('acp.notify')
local store = require('acp.review.store')
local text = require('acp.text')

local M = {}

--- What is meant. With `rows`, which are of a loaded buffer, there are no ids.
---@class (exact) acp.ReviewTarget
---@field path? string nil: all files
---@field ids? integer[] nil: all hunks
---@field rows? [integer, integer] first and last, the last one excluded
---@field session? integer only hunks of this session

--- With why the file still has it although the buffer has not, and what to type then.
---@alias acp.RejectionDone fun(err?: acp.Err, on_disk?: string, hint?: string)

---@class (exact) acp.OpenRejection
---@field path string
---@field buf? integer the buffer of a file that is to be gone, with the state it is in
---@field tick? integer
---@field over? fun() the write is no longer expected
---@field done fun(err?: acp.Err)

--- How long a rejection may take without a word, in milliseconds.
local patience = 2000

---@type table<integer, acp.OpenRejection> by tag
local waiting = {}
local last_tag = 0

local rows_namespace = vim.api.nvim_create_namespace('acp.review.rows')

---@param path string
---@param why string
---@return acp.Err
local function failure(path, why)
  local name = text.one_line(vim.fn.fnamemodify(path, ':~:.'))
  return { code = 'not_rejected', message = ('%s: not rejected, %s'):format(name, why) }
end

---@param path string
---@return acp.Err
local function nothing(path)
  local name = text.one_line(vim.fn.fnamemodify(path, ':~:.'))
  return { code = 'no_change', message = ('%s: there is nothing to reject any more'):format(name) }
end

--- Takes changes over: they are the user's from now on.
---@param target acp.ReviewTarget
---@return true?, acp.Err?
function M.accept(target)
  local ok, err = client.send({
    type = 'accept',
    path = target.path,
    hunks = target.ids,
    rows = target.rows,
    session = target.session,
  } --[[@as acp.Action]])
  return ok and true or nil, err
end

--- Rows go with the text while the core works out what to do.
---@param buf integer
---@param rows [integer, integer]
---@return fun(): acp.Rejection
---@return fun() drop
local function moving(buf, rows)
  local count = vim.api.nvim_buf_line_count(buf)
  local mark = vim.api.nvim_buf_set_extmark(buf, rows_namespace, math.min(rows[1], count), 0, {
    end_row = math.min(rows[2], count),
    end_col = 0,
    end_right_gravity = false,
  })
  return function()
    local opts = { details = true }
    local at = vim.api.nvim_buf_get_extmark_by_id(buf, rows_namespace, mark, opts)
    local last = at[3] and at[3].end_row
    return { rows = at[1] and { at[1], last or at[1] } or rows }
  end, function()
    pcall(vim.api.nvim_buf_del_extmark, buf, rows_namespace, mark)
  end
end

---@param target acp.ReviewTarget
---@param buf integer
---@return fun(): acp.Rejection
---@return fun() drop
local function rejection(target, buf)
  if target.rows then
    return moving(buf, target.rows)
  end
  local what = target.ids and { hunks = target.ids } or { all = true }
  return function()
    return what
  end, function() end
end

--- Nobody waits for this any more.
---@param tag integer
---@return acp.OpenRejection?
local function take(tag)
  local it = waiting[tag]
  waiting[tag] = nil
  if it and it.over then
    it.over()
  end
  return it
end

--- Has the core write a file. Whatever the agent is at: this is what the user wants.
---@param it acp.OpenRejection
---@param action table<string, any> but for the tag
---@return integer tag, acp.Err?
local function have_written(it, action)
  last_tag = last_tag + 1
  action.tag, waiting[last_tag] = last_tag, it
  it.over = expected.write(it.path, 0)
  local _, err = client.send(action --[[@as acp.Action]])
  if err then
    take(last_tag)
  end
  return last_tag, err
end

--- What was taken back in a buffer with changes that are not saved is taken out of its file, which
--- does not get these changes. `mirror.taking_back` comes before it.
---@param buf integer
---@param path string
---@param done fun(why?: string) with why the file still has it
function M.from_disk(buf, path, done)
  local disk, mirror = require('acp.files.disk'), require('acp.files.mirror')
  mirror.tell(buf)
  mirror.level(buf)
  local hear = require('acp.files.reload').ignore(buf)
  local function answered(err)
    hear()
    disk.rewritten(buf)
    done(err and err.message)
  end
  local _, err = have_written({ path = path, done = answered }, {
    type = 'taken_back',
    buf = buf,
    tick = vim.api.nvim_buf_get_changedtick(buf),
    stamp = require('acp.files.watch').known_stamp(buf),
  })
  if err then
    answered(err)
  end
end

--- Tells the user that the file of a buffer still has what was rejected.
---@param path string
---@param why string
---@param hint? string what to type
function M.tell_on_disk(path, why, hint)
  local name = text.one_line(vim.fn.fnamemodify(path, ':~:.'))
  -- What was never saved may not be there at all.
  local keep = require('acp.config').get().files.after_write == 'keep'
  local words = ('%s: what you rejected %s on the disk (%s)'):format(
    name,
    keep and 'may still be' or 'is still',
    text.one_line(why)
  )
  notify.show(words, 'warn', '. ' .. (hint or ':w takes it out'))
end

--- Rejects in a loaded buffer, as one step to undo. The disk had the agent's text too: a buffer
--- that was in step with it is saved again, and out of the file of any other it is taken alone.
---@param target acp.ReviewTarget
---@param buf integer
---@param done acp.RejectionDone
local function in_buffer(target, buf, done)
  local path = target.path --[[@as string]]
  local reject, drop = rejection(target, buf)
  local eol, bom = vim.bo[buf].endofline, require('acp.files.text').has_mark(buf)
  local behind = require('acp.files.watch').is_behind(buf)
  if behind then
    require('acp.files.disk').sync(buf, target.session or 0)
  end
  local it ---@type acp.MergeJob
  it = {
    buf = buf,
    path = path,
    reject = reject,
    author = -1,
    clash = function(job)
      require('acp.files.job').refuse(job, 'it conflicts with what you have changed')
    end,
    done = function(plan, refused)
      drop()
      if plan and #plan.changes == 0 and plan.eol == eol and plan.bom == bom then
        return done(nothing(path))
      elseif plan and not it.modified and vim.api.nvim_buf_is_loaded(buf) then
        return done(nil, require('acp.files.save').save(buf))
      elseif plan and vim.api.nvim_buf_is_loaded(buf) then
        return M.from_disk(buf, path, function(on_disk)
          done(nil, on_disk)
        end)
      end
      done(refused and failure(path, refused) or nil)
    end,
  }
  require('acp.files.job').start(it)
end

--- A busy disk may take seconds; whoever waits knows what for.
---@param tag integer
local function expect(tag)
  vim.defer_fn(function()
    local it = waiting[tag]
    if it then
      local name = vim.fn.fnamemodify(it.path, ':~:.')
      notify.show(name, 'info', ': the disk is slow, still rejecting')
    end
  end, patience)
end

--- Rejects in a file that no buffer has, or that is to be gone with its buffer.
---@param target acp.ReviewTarget
---@param buf? integer
---@param done fun(err?: acp.Err)
local function on_disk(target, buf, done)
  if buf then
    require('acp.files.disk').goes(buf)
  end
  local path = target.path --[[@as string]]
  local tick = buf and vim.api.nvim_buf_get_changedtick(buf)
  local it = { path = path, buf = buf, tick = tick, done = done }
  local tag, err = have_written(it, { type = 'reject_file', path = path, hunks = target.ids })
  if err then
    return done(err)
  end
  expect(tag)
end

--- Whether nothing of a file that the agent has made would stay, nor anything of the user's.
---@param file acp.ReviewFile
---@param target acp.ReviewTarget
---@return boolean
local function is_unmade(file, target)
  if file.kind ~= 'made' or target.rows or target.ids and #target.ids < file.count then
    return false
  end
  for _, hunk in pairs(file.hunks) do
    if hunk.state == 'edited' then
      return false
    end
  end
  return not file.buf or not vim.bo[file.buf].modified
end

--- Takes changes of one file back. `done` is called exactly once.
---@param target acp.ReviewTarget with a path
---@param done acp.RejectionDone
function M.reject(target, done)
  local path = target.path --[[@as string]]
  local file = store.file(path)
  local buf = file and file.buf or find.find(path)
  if file and is_unmade(file, target) then
    return on_disk({ path = path }, file.buf, done)
  elseif not buf or file and file.kind == 'deleted' then
    -- What is left of a deleted file in its buffer is no file.
    if buf then
      require('acp.files.disk').own(buf)
    end
    return on_disk(target, nil, done)
  end
  in_buffer(target, buf, done)
end

---@param effect acp.Rejected
local function rejected(effect)
  local it = take(effect.tag)
  if not it then
    return
  end
  local buf = it.buf
  if buf and vim.api.nvim_buf_is_loaded(buf) then
    local same = vim.api.nvim_buf_get_changedtick(buf) == it.tick
    if effect.err then
      require('acp.files.disk').sync(buf, 0)
    elseif same and not vim.uv.fs_stat(it.path) then
      -- It may count as modified by now, as its file is gone.
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
    end
  elseif not effect.err then
    -- A file that was deleted under its buffer is there again.
    local left = find.find(it.path)
    if left and require('acp.files.watch').is_behind(left) then
      require('acp.files.disk').sync(left, 0)
    end
  end
  client.guard('the end of a rejection', it.done, effect.err)
end

--- Starts listening to the core.
function M.attach()
  client.subscribe('rejected', rejected)
end

return M
