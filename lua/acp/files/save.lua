--- Saving a buffer after somebody else has changed it.

local M = {}

--- How long the disk is let alone after a save, in milliseconds. Whoever makes it write at once has
--- the next save wait for that.
local pause = 500

---@type table<string, true>? files that were saved and may not be on the disk yet
local unsynced

---@param path string
local function sync(path)
  vim.uv.fs_open(path, 'r', 0, function(_, fd)
    if fd then
      vim.uv.fs_fsync(fd, function()
        vim.uv.fs_close(fd, function() end)
      end)
    end
  end)
end

--- Has the disk take what was saved, as 'fsync' wants it. The main loop does not wait for that.
---@param path string
local function sync_soon(path)
  if unsynced then
    unsynced[path] = true
    return
  end
  unsynced = { [path] = true }
  vim.defer_fn(function()
    local paths = unsynced or {}
    unsynced = nil
    for each in pairs(paths) do
      sync(each)
    end
  end, pause)
end

--- Why a buffer must not be saved: `:write!` would do it, and what is lost by that is lost.
---@param buf integer
---@return string? why, string? hint
local function refusal(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  local elsewhere = require('acp.files.watch').strayed(buf)
  if elsewhere then
    return ('its file has become a link, to %s'):format(elsewhere), ':w follows it'
  end
  if vim.uv.fs_stat(path) and not vim.uv.fs_access(path, 'W') then
    return 'permission denied', ':w! overrides that'
  end
  local why = require('acp.files.encodable').problem(buf)
  return why, why and ':set fenc=utf-8, then :w'
end

--- What came of a save that failed. What is left on the disk then is nothing to follow.
---@param buf integer
---@param err any
---@return string why, string hint
local function failure(buf, err)
  local watch = require('acp.files.watch')
  local why, path = require('acp.files.find').words_of(err), watch.path(buf)
  local stamp = path and watch.is_behind(buf) and watch.stamp(path)
  if not path or not stamp then
    return why, ':w tries again'
  end
  watch.in_step(buf, path, stamp)
  return 'its file is damaged, ' .. why, 'Make room, then :w'
end

--- After a rewind autocommands are not called: a formatter would make something else of what was
--- before.
---@class (exact) acp.SaveOpts
---@field mixed? boolean there is more in it than the agent knows
---@field rewound? boolean it is not for an agent

---@param buf integer
---@param autocmds boolean
---@return boolean ok, any err
local function write(buf, autocmds)
  local bo, fsync = vim.bo[buf], vim.go.fsync
  -- A line ending that was left out is not for us to add.
  local fix = bo.fixendofline
  bo.fixendofline = fix and bo.endofline
  vim.go.fsync = false
  local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd((autocmds and '' or 'noautocmd ') .. 'silent keepalt write! ++p')
  end)
  vim.go.fsync = fsync
  if vim.api.nvim_buf_is_valid(buf) then
    bo.fixendofline = fix
    if ok and fsync then
      sync_soon(vim.api.nvim_buf_get_name(buf))
    end
  end
  return ok, err
end

--- Saves like `:write`, with all its autocommands if the user wants them. `!` is for the questions
--- it would ask, such as whether to overwrite a file that has changed: that is settled already.
---@param buf integer
---@param opts? acp.SaveOpts
---@return string? err, string? hint what to type
function M.save(buf, opts)
  local why, hint = refusal(buf)
  if why then
    return why, hint
  end
  opts = opts or {}
  local watch = require('acp.files.watch')
  local autocmds = not opts.rewound and require('acp.config').get().files.save_autocmds
  watch.saving, watch.mixed = not opts.rewound and buf or nil, opts.mixed == true
  local ok, err = write(buf, autocmds)
  if ok and not autocmds then
    require('acp.files.mirror').tell(buf)
    require('acp.files.disk').saved(buf)
  end
  watch.saving = nil
  if not ok then
    return failure(buf, err)
  end
end

--- Tells the user that a buffer was changed and could not be saved.
---@param buf integer
---@param why string
---@param hint? string
function M.tell(buf, why, hint)
  local notify = require('acp.notify')
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':~:.')
  local words = require('acp.text').one_line(('%s: not saved, %s'):format(name, why))
  notify.show(words, 'warn', '. ' .. (hint or ':w tries again'))
end

return M
