--- Which buffers are in step with their files: the core knows the text of each, to tell the user's
--- changes from those of an agent that writes the disk by itself.

local client = require('acp.client')
local find = require('acp.files.find')
local mirror = require('acp.files.mirror')

local M = {}

---@type table<integer, string> the file that a buffer was last in step with, by buffer
local tracked = {}
---@type table<integer, string> and where that led when the buffer was read or written
local reals = {}
---@type table<integer, acp.Stamp> and what the disk said of it; nothing if it is gone
local stamps = {}

--- The buffer that is being saved for an agent.
---@type integer?
M.saving = nil
--- Whether it has something that the agent does not know.
M.mixed = false

---@param path string
---@return acp.Stamp?
function M.stamp(path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type == 'file' then
    local mtime, ctime = stat.mtime, stat.ctime
    return {
      sec = mtime.sec,
      nsec = mtime.nsec,
      size = stat.size,
      csec = ctime.sec,
      cnsec = ctime.nsec,
      ino = stat.ino,
    }
  end
end

---@param path string
---@return boolean whether a session works in a folder with this file
local function in_a_project(path)
  for _, info in ipairs(require('acp.session').list()) do
    local root = find.resolved(info.cwd)
    if
      vim.startswith(path, info.cwd .. '/') or vim.startswith(find.resolved(path), root .. '/')
    then
      return true
    end
  end
  return false
end

--- The file of a buffer that is watched.
---@param buf integer
---@return string?
function M.path(buf)
  local path = tracked[buf]
  return path and find.file_of(buf) == path and path or nil
end

--- Where the file of a buffer is by now, if that is not where it was when the buffer was read or
--- written: somebody has put a link in its place, or in that of a folder.
---@param buf integer
---@return string?
function M.strayed(buf)
  local path, real = M.path(buf), reals[buf]
  local now = path and real and find.resolved(path)
  return now ~= real and now or nil
end

--- All buffers that are watched, by their files.
---@return table<string, integer>
function M.buffers()
  local all = {}
  for buf in pairs(tracked) do
    local path = M.path(buf)
    if path then
      all[path] = buf
    end
  end
  return all
end

--- Whether the disk has something else than when the buffer was last in step with it.
---@param buf integer
---@return boolean
function M.is_behind(buf)
  local path = M.path(buf)
  return path ~= nil and not vim.deep_equal(M.stamp(path), stamps[buf])
end

--- Notes that the file of a buffer is no more, or is about to go.
---@param buf integer
function M.gone(buf)
  stamps[buf] = nil
end

--- Whether the file of a buffer was no more when it was last looked at.
---@param buf integer
---@return boolean
function M.is_gone(buf)
  return M.path(buf) ~= nil and not stamps[buf]
end

--- What the disk said of the file when the buffer was last in step with it.
---@param buf integer
---@return acp.Stamp?
function M.known_stamp(buf)
  return stamps[buf]
end

--- Whether the file has not been written since.
---@param buf integer
---@param stamp? acp.Stamp
---@return boolean
function M.has_time(buf, stamp)
  local known = stamps[buf]
  return stamp == nil
    or known ~= nil
      and known.sec == stamp.sec
      and known.nsec == stamp.nsec
      and known.size == stamp.size
end

--- Notes that a buffer is in step with its file, which had this stamp.
---@param buf integer
---@param path string
---@param stamp acp.Stamp
---@param written? boolean whether the file was made from the buffer just now
function M.in_step(buf, path, stamp, written)
  tracked[buf], stamps[buf] = path, stamp
  -- An agent may write the file before anybody has read what the user wrote. And agents know what
  -- they had saved, and not what the user saves.
  local file = {
    path = path,
    buf = buf,
    real = reals[buf],
    written = written and buf or nil,
    saved = written and M.saving ~= buf,
    mixed = written and M.saving == buf and M.mixed,
  }
  file = vim.tbl_extend('error', file, stamp)
  client.send({ type = 'track', files = { file } })
end

--- Whether something waits for review in a file, although its session may be over.
---@param path string
---@return boolean
local function is_reviewed(path)
  local store = require('acp.review.store')
  return (store.file(path) or store.file(find.resolved(path))) ~= nil
end

--- Begins to watch a buffer that has just been read or written.
---@param buf integer
---@param written? boolean
function M.track(buf, written)
  local path = find.file_of(buf)
  local stamp = path and (in_a_project(path) or is_reviewed(path)) and M.stamp(path)
  if path and stamp then
    mirror.copy(buf)
    -- What was saved for an agent was saved to where it was (see `acp.files.save`).
    if M.saving ~= buf or tracked[buf] ~= path then
      reals[buf] = find.resolved(path)
    end
    M.in_step(buf, path, stamp, written)
  end
end

--- Begins to watch all loaded buffers that are not watched yet.
function M.track_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if not M.path(buf) then
      M.track(buf)
    end
  end
end

---@param buf integer
local function forget(buf)
  local path = tracked[buf]
  tracked[buf], stamps[buf], reals[buf] = nil, nil, nil
  if path and not vim.tbl_contains(vim.tbl_values(tracked), path) then
    client.send({ type = 'forget', path = path })
  end
end

--- Starts listening to Neovim.
function M.attach()
  local group = vim.api.nvim_create_augroup('acp.files', { clear = true })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
    group = group,
    desc = 'acp: a buffer is in step with its file',
    callback = function(event)
      M.track(event.buf, event.event == 'BufWritePost')
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufFilePost' }, {
    group = group,
    desc = 'acp: a buffer has another file, or none',
    callback = function(event)
      forget(event.buf)
    end,
  })
end

return M
