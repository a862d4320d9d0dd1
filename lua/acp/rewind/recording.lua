--- What the editor has of a project, for the record of a turn: files that are open, and what is not
--- saved.

local client = require('acp.client')
local find = require('acp.files.find')

local M = {}

--- What the editor has of a session's project.
---@param session integer
---@return { open: string[], modified: table[], loaded: string[] }
function M.having(session)
  local info = require('acp.session').info(session)
  local root = info and find.resolved(info.cwd) .. '/'
  local has = { open = {}, modified = {}, loaded = {} }
  for _, buf in ipairs(root and vim.api.nvim_list_bufs() or {}) do
    local path = require('acp.files.mirror').path(buf)
    if path and root and vim.startswith(path, root) then
      table.insert(has.open, path)
      if not find.protected(buf) then
        table.insert(has.loaded, path)
      end
      -- What is left of a deleted file is no file.
      if vim.bo[buf].modified and not require('acp.files.watch').is_gone(buf) then
        local copied = require('acp.files.mirror').has(buf)
        local live = require('acp.files.text').live(buf, copied)
        table.insert(has.modified, vim.tbl_extend('error', live, { path = path }))
      end
    end
  end
  return has
end

--- Whether a buffer is yet to follow what an agent has written.
---@param behind string[] files that may be ahead of their buffers
---@return boolean
local function is_late(behind)
  if require('acp.files.job').busy() then
    return true
  elseif #behind == 0 then
    return false
  end
  local watch = require('acp.files.watch')
  local buffers = watch.buffers()
  for _, path in ipairs(behind) do
    if buffers[path] and watch.is_behind(buffers[path]) then
      return true
    end
  end
  return false
end

--- How long what there is may be waited for, in milliseconds. The core hears nobody who is later
--- than half of what a prompt may wait.
---@return number
local function patience()
  local wait = require('acp.config').get().rewind.wait_ms
  return math.min(math.max(500, wait / 2), 4000) * 0.9
end

--- Tells what there is, once the buffers have what the agent has written; for a while.
---@param effect acp.Recording
---@param tries integer
---@param since integer
local function record(effect, tries, since)
  local soon = tries > 0 and vim.uv.now() - since < patience()
  if soon and is_late(effect.behind) then
    vim.defer_fn(function()
      record(effect, tries - 1, since)
    end, 20)
    return
  end
  local has = M.having(effect.session)
  client.send({
    type = 'recording',
    session = effect.session,
    turn = effect.turn,
    open = has.open,
    modified = has.modified,
  } --[[@as acp.Action]])
end

--- Answers the core, which records what the files are before and after a turn.
---@param effect acp.Recording
function M.answer(effect)
  record(effect, 20, vim.uv.now())
end

return M
