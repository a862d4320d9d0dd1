--- What the core knows of buffers: the name and the options of all that are loaded, and a copy of
--- the text of those it is asked for, kept level with every change.

local client = require('acp.client')
local find = require('acp.files.find')
local text = require('acp.files.text')

local M = {}

--- How many lines cross at once. More would be felt while typing.
local piece = 2000
--- How many bytes a buffer may have to be copied.
local most = 64 * 1024 * 1024

--- `attached`: its changes are told; `copied`: all of its lines have been; `copying`: how often it
--- was begun.
---@class (exact) acp.Mirrored
---@field name string
---@field path string the same with links resolved
---@field attached? boolean
---@field copied? boolean
---@field copying integer

---@type table<integer, acp.Mirrored>
local known = {}

--- Who changes buffers right now: a session, 0 for the user, -1 where we take something back.
local author = 0

--- Makes changes in the name of somebody.
---@param who integer
---@param fn fun(...): ...
---@param ... any
---@return any ... what `fn` returns
function M.as(who, fn, ...)
  local before = author
  author = who
  local result = { pcall(fn, ...) }
  author = before
  if not result[1] then
    error(result[2], 0)
  end
  return unpack(result, 2)
end

---@param buf integer
local function forget(buf)
  if known[buf] then
    known[buf] = nil
    client.send({ type = 'unloaded', buf = buf })
  end
end

--- Tells what there is to know of a buffer besides its text, or that it is no file any more.
---@param buf integer
function M.tell(buf)
  local name = find.file_of(buf)
  if not name then
    return forget(buf)
  end
  local path = find.resolved(name)
  known[buf] = known[buf] or { name = name, path = path, copying = 0 }
  known[buf].name, known[buf].path = name, path
  client.send({
    type = 'buffer',
    buf = buf,
    name = name,
    path = path,
    ending = vim.bo[buf].fileformat,
    eol = vim.bo[buf].endofline,
    bom = text.has_mark(buf),
    plain = text.is_plain(buf),
    modified = vim.bo[buf].modified,
  })
end

local copy_on ---@type fun(buf: integer, attempt: integer, tick: integer, number: integer)

--- Begins to copy a buffer, once more if need be.
---@param buf integer
local function begin(buf)
  local it = known[buf]
  if it then
    it.copied = false
    it.copying = it.copying + 1
    copy_on(buf, it.copying, vim.api.nvim_buf_get_changedtick(buf), 0)
  end
end

---@param buf integer
---@param attempt integer
local function begin_later(buf, attempt)
  vim.defer_fn(function()
    local it = known[buf]
    if it and it.attached and it.copying == attempt and not it.copied then
      begin(buf)
    end
  end, 100)
end

---@param buf integer
---@param attempt integer
---@param tick integer
---@param number integer
function copy_on(buf, attempt, tick, number)
  local it = known[buf]
  if not it or it.copying ~= attempt or not it.attached then
    return
  elseif vim.api.nvim_buf_get_changedtick(buf) ~= tick then
    return begin_later(buf, attempt)
  end
  local first = number * piece
  local lines = vim.api.nvim_buf_get_lines(buf, first, first + piece, false)
  local last = first + piece >= vim.api.nvim_buf_line_count(buf)
  if first == 0 and last and text.is_empty(buf) then
    lines = {}
  end
  client.send({
    type = 'seed',
    buf = buf,
    tick = tick,
    piece = number,
    lines = lines,
    last = last,
  })
  it.copied = last
  if not last then
    vim.defer_fn(function()
      copy_on(buf, attempt, tick, number + 1)
    end, 1)
  end
end

---@param buf integer
---@param tick integer
---@param first integer
---@param last integer
---@param last_new integer
---@return boolean? detach
local function changed(buf, tick, first, last, last_new)
  local it, native = known[buf], client.running()
  if not it or not it.attached or not native then
    return true
  end
  if not it.copied or author == 0 and last_new - first > piece then
    -- What has not crossed yet would not fit what has.
    it.copied = false
    native.lines(buf, tick, first, last, author)
    return begin_later(buf, it.copying)
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first, last_new, false)
  native.lines(buf, tick, first, last, author, lines)
  if last_new <= 1 and vim.api.nvim_buf_line_count(buf) == 1 then
    client.defer(function()
      if known[buf] == it and it.copied then
        client.send({ type = 'empty', buf = buf, empty = text.is_empty(buf) })
      end
    end)
  end
end

--- Has the core keep a copy of a buffer from now on.
---@param buf integer
function M.copy(buf)
  if not known[buf] then
    M.tell(buf)
  end
  local it = known[buf]
  local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  if not it or it.attached or size > most then
    return
  end
  it.attached = vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, of, tick, first, last, last_new)
      return changed(of, tick, first, last, last_new)
    end,
    on_changedtick = function(_, of, tick)
      local native = client.running()
      if native and tick then
        native.tick(of, tick)
      end
    end,
    on_reload = function(_, of)
      begin(of)
    end,
    on_detach = function(_, of)
      if known[of] == it then
        it.attached, it.copied = false, false
      end
    end,
  })
  if it.attached then
    -- What comes back about this state of the buffer may find it in a later one.
    require('acp.review.drift').watch(buf)
    begin(buf)
  end
end

--- Tells the number of a buffer: saving it gives it another one without a word.
---@param buf integer
function M.level(buf)
  local native = client.running()
  if native and M.has(buf) then
    native.tick(buf, vim.api.nvim_buf_get_changedtick(buf))
  end
end

--- Something is about to be taken back in a buffer, and may have to be taken out of its file too.
---@param buf integer
function M.taking_back(buf)
  M.tell(buf)
  M.level(buf)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  client.send({ type = 'taking_back', buf = buf, tick = tick } --[[@as acp.Action]])
end

--- The file that a loaded buffer stands for, with links resolved.
---@param buf integer
---@return string?
function M.path(buf)
  local name, it = find.file_of(buf), known[buf]
  return name and (it and it.name == name and it.path or find.resolved(name))
end

--- Whether the core has a copy of a buffer.
---@param buf integer
---@return boolean
function M.has(buf)
  return known[buf] ~= nil and known[buf].copied == true
end

--- The core says that it has no copy: it gets another.
---@param buf integer
function M.lost(buf)
  if M.has(buf) then
    begin(buf)
  end
end

--- Starts listening to Neovim.
function M.attach()
  local group = vim.api.nvim_create_augroup('acp.files.mirror', { clear = true })
  local function on(event, desc, callback, pattern)
    vim.api.nvim_create_autocmd(event, {
      group = group,
      pattern = pattern,
      desc = 'acp: ' .. desc,
      callback = callback,
    })
  end
  on(
    { 'BufReadPost', 'BufNewFile', 'BufWritePost', 'BufFilePost' },
    'a file is loaded',
    function(event)
      M.tell(event.buf)
      if event.event == 'BufWritePost' then
        M.level(event.buf)
      end
    end
  )
  on('BufModifiedSet', 'a buffer was changed or saved', function(event)
    if known[event.buf] then
      M.tell(event.buf)
    end
  end)
  on('BufUnload', 'a file is not loaded any more', function(event)
    forget(event.buf)
  end)
  on('OptionSet', 'a file is written otherwise', function()
    local buf = vim.api.nvim_get_current_buf()
    if known[buf] or find.file_of(buf) then
      M.tell(buf)
    end
  end, { 'fileformat', 'fileencoding', 'endofline', 'bomb', 'binary', 'buftype' })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M.tell(buf)
  end
  client.send({ type = 'buffers_known' })
end

return M
