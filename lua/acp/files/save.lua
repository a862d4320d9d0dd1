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

--- Saves like `:write`, with all its autocommands if the user wants them. `!` is for the questions
--- it would ask, such as whether to overwrite a file that has changed: that is settled already.
---@param buf integer
---@param mixed? boolean whether there is more in it than the agent knows
---@return string? err
function M.save(buf, mixed)
  local bo = vim.bo[buf]
  -- A line ending that was left out is not for us to add.
  local fix = bo.fixendofline
  bo.fixendofline = fix and bo.endofline
  local watch = require('acp.files.watch')
  local autocmds = require('acp.config').get().files.save_autocmds
  watch.saving, watch.mixed = buf, mixed == true
  local fsync = vim.go.fsync
  vim.go.fsync = false
  local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd((autocmds and '' or 'noautocmd ') .. 'silent keepalt write! ++p')
  end)
  if ok and not autocmds then
    require('acp.files.mirror').tell(buf)
    require('acp.files.disk').saved(buf)
  end
  watch.saving = nil
  vim.go.fsync = fsync
  if vim.api.nvim_buf_is_valid(buf) then
    bo.fixendofline = fix
    if ok and fsync then
      sync_soon(vim.api.nvim_buf_get_name(buf))
    end
  end
  return not ok and require('acp.files.find').words_of(err) or nil
end

return M
