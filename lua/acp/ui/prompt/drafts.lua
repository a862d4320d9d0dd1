--- What was typed and not sent, kept for the next chat of the same project: after a session was
--- closed, and after Neovim has ended, however it did.

local state_file = require('acp.state_file')

local M = {}

--- Milliseconds between a change and its being written.
local delay = 1000

---@type table<string, string[]> texts without a buffer, by project
local orphans = {}
---@type table<string, integer> timers by project
local timers = {}
---@type table<string, true> projects of which a file of ours exists
local written = {}

---@type table<string, string> names of projects in names of files
local ids = {}

--- The first hash takes Neovim milliseconds, as it tries itself out: only where there is a file.
---@param cwd string
---@return string
local function id_of(cwd)
  ids[cwd] = ids[cwd] or vim.fn.sha256(cwd):sub(1, 16)
  return ids[cwd]
end

--- A file belongs to one project and one Neovim: nobody else writes it.
---@param cwd string
---@return string
local function own_path(cwd)
  return state_file.path('drafts', ('%s-%d.json'):format(id_of(cwd), vim.uv.os_getpid()))
end

--- All that is typed in this Neovim for a project.
---@param cwd string
---@return string[]
local function texts_of(cwd)
  local texts, seen = {}, {}
  for _, text in ipairs(vim.list_extend(require('acp.ui.prompt').texts(cwd), orphans[cwd] or {})) do
    if vim.trim(text) ~= '' and not seen[text] then
      seen[text] = true
      table.insert(texts, text)
    end
  end
  return texts
end

--- Writes what is typed for a project.
---@param cwd string
local function write(cwd)
  if timers[cwd] then
    vim.fn.timer_stop(timers[cwd])
    timers[cwd] = nil
  end
  local texts = texts_of(cwd)
  if #texts > 0 then
    local text = vim.json.encode({ cwd = cwd, texts = texts, server = vim.v.servername })
    written[cwd] = state_file.write(own_path(cwd), text) or nil
  elseif written[cwd] then
    vim.uv.fs_unlink(own_path(cwd))
    written[cwd] = nil
  end
end

--- The text of a prompt for this project has changed.
---@param cwd string
function M.changed(cwd)
  timers[cwd] = timers[cwd]
    or vim.fn.timer_start(delay, function()
      timers[cwd] = nil
      write(cwd)
    end)
end

--- Writes at once what has changed.
function M.flush()
  for cwd in pairs(timers) do
    write(cwd)
  end
end

--- Keeps a text whose buffer goes away.
---@param cwd string
---@param text string
function M.keep(cwd, text)
  if vim.trim(text) == '' then
    return
  end
  orphans[cwd] = orphans[cwd] or {}
  table.insert(orphans[cwd], text)
  M.changed(cwd)
end

--- Whether the Neovim that has written a file still runs. Numbers of processes are used again, most
--- of all after a restart of the machine; then its socket is gone.
---@param pid integer
---@param server any
---@return boolean
local function alive(pid, server)
  local _, _, why = vim.uv.kill(pid, 0)
  local gone = type(server) == 'string' and server ~= '' and not vim.uv.fs_stat(server)
  return pid ~= vim.uv.os_getpid() and why ~= 'ESRCH' and not gone
end

--- Takes what a Neovim that has ended left in a file.
---@param path string
---@param pid integer
---@return string[]
local function take_file(path, pid)
  local ok, left = pcall(vim.json.decode, state_file.read(path) or '')
  left = ok and type(left) == 'table' and left or {}
  local mine = ('%s.%d.taken'):format(path, vim.uv.os_getpid())
  -- Of several that want it, one can rename it.
  if alive(pid, left.server) or not vim.uv.fs_rename(path, mine) then
    return {}
  end
  vim.uv.fs_unlink(mine)
  return vim.tbl_filter(function(text)
    return type(text) == 'string'
  end, type(left.texts) == 'table' and left.texts or {})
end

---@param cwd string
---@return string[]
local function inherited(cwd)
  local folder, texts = state_file.path('drafts'), {}
  local own = vim.uv.os_getpid()
  for name in vim.fs.dir(folder) do
    local id, number = name:match('^(%x+)%-(%d+)%.json$')
    local pid = id and id == id_of(cwd) and tonumber(number) or 0
    -- In a container every Neovim may have the same number.
    if pid > 0 and (pid ~= own or not written[cwd]) then
      local path = vim.fs.joinpath(folder, name)
      vim.list_extend(texts, take_file(path, pid --[[@as integer]]))
    end
  end
  return texts
end

--- Hands out, once, a text that was left for a project.
---@param cwd string
---@return string?
function M.take(cwd)
  local left = vim.list_extend(inherited(cwd), orphans[cwd] or {})
  local text = table.remove(left)
  orphans[cwd] = vim.tbl_filter(function(other)
    return other ~= text
  end, left)
  if text then
    M.changed(cwd)
  end
  return text
end

local attached = false

--- Writes in time, from now on.
function M.attach()
  if attached then
    return
  end
  attached = true
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: keep what was not sent',
    callback = M.flush,
  })
end

return M
