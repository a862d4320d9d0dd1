--- Prompts that wait for their turn: a list of them to look at, change and reorder.

local client = require('acp.client')
local text = require('acp.text')

local M = {}

---@type table<integer, acp.Queued[]> what waits by session, as it was last told
local known = {}
---@type table<integer, string> what was typed, by tag: the core has only what it became
local typed = {}
---@type { session: integer, win: integer, buf: integer }?
local shown

--- Remembers what was typed for a prompt with attachments, until it is over.
---@param tag integer
---@param words string
function M.note(tag, words)
  typed[tag] = words
end

--- What waits, in the order in which it will be sent.
---@param session integer
---@return acp.Queued[]
function M.list(session)
  if not known[session] then
    local native = client.running()
    known[session] = native and native.queue(session) or {}
    for _, prompt in ipairs(known[session]) do
      prompt.text = typed[prompt.tag] or prompt.text
    end
  end
  return known[session]
end

---@param prompt acp.Queued
---@param width integer
---@return string
local function line(prompt, width)
  local others = prompt.blocks > 1 and ('  (+%d)'):format(prompt.blocks - 1) or ''
  return text.shorten(vim.trim(prompt.text), width - #others) .. others
end

local footer = '<CR> edit  x remove  J K move  q close'

--- What the list says. All that the keys do fits below it.
---@param session integer
---@return string[]
local function lines_of(session)
  local lines = {}
  for i, prompt in ipairs(M.list(session)) do
    table.insert(lines, (' %d  %s '):format(i, line(prompt, 70)))
  end
  lines[1] = lines[1] or ' Nothing waits. '
  lines[1] = lines[1] .. (' '):rep(#footer + 2 - vim.fn.strdisplaywidth(lines[1]))
  return lines
end

--- Where the prompt at this place is now; the place itself where it is gone.
---@param before acp.Queued[]
---@param place integer
---@param session integer
---@return integer
local function place_of(before, place, session)
  local old = before[place]
  for i, prompt in ipairs(M.list(session)) do
    if old and prompt.tag == old.tag then
      return i
    end
  end
  return place
end

--- Shows the list as it is now. The cursor stays with its prompt: keys must not mean another.
---@param before acp.Queued[]
local function render(before)
  if not shown or not vim.api.nvim_win_is_valid(shown.win) then
    return
  end
  local place = vim.api.nvim_win_get_cursor(shown.win)[1]
  vim.bo[shown.buf].modifiable = true
  vim.api.nvim_buf_set_lines(shown.buf, 0, -1, false, lines_of(shown.session))
  vim.bo[shown.buf].modifiable = false
  local last = vim.api.nvim_buf_line_count(shown.buf)
  local now = place_of(before, place, shown.session)
  vim.api.nvim_win_set_cursor(shown.win, { math.min(now, last), 0 })
  require('acp.ui.float').fit(shown.win)
end

---@return acp.Queued? prompt, integer place
local function under_cursor()
  local place = vim.api.nvim_win_get_cursor(0)[1]
  return shown and M.list(shown.session)[place], place
end

---@param action string
---@param prompt acp.Queued
---@param more? table<string, any>
local function act(action, prompt, more)
  local fields = { type = action, session = shown and shown.session, tag = prompt.tag }
  client.send(vim.tbl_extend('error', fields, more or {}) --[[@as acp.Action]])
end

local function remove()
  local prompt = under_cursor()
  if prompt then
    act('queue_remove', prompt)
  end
end

---@param step -1|1
local function move(step)
  local prompt, place = under_cursor()
  local to = place + step
  if prompt and shown and M.list(shown.session)[to] then
    act('queue_move', prompt, { to = to })
  end
end

--- Takes a prompt back into the prompt buffer.
local function edit()
  local prompt = under_cursor()
  if not prompt or not shown then
    return
  end
  local session = shown.session
  if prompt.blocks > 1 and not typed[prompt.tag] then
    require('acp.notify').show('what was attached to it by a program is left out', 'warn')
  end
  act('queue_remove', prompt)
  require('acp.ui.float').close(shown.win)
  if require('acp.ui.window').show(session) then
    require('acp.ui.prompt.recall').put(session, prompt.text)
    vim.cmd.startinsert({ bang = true })
  end
end

---@param buf integer
local function map(buf)
  local function key(lhs, fn, desc)
    vim.keymap.set('n', lhs, fn, { buffer = buf, nowait = true, desc = 'acp: ' .. desc })
  end
  local function step(by)
    return function()
      move(by)
    end
  end
  for lhs, fn in pairs({ ['<CR>'] = edit, e = edit }) do
    key(lhs, fn, 'take it back into the prompt')
  end
  for _, lhs in ipairs({ 'dd', 'x' }) do
    key(lhs, remove, 'remove it')
  end
  for lhs, by in pairs({ J = 1, [']e'] = 1, K = -1, ['[e'] = -1 }) do
    key(lhs, step(by), by == 1 and 'send it later' or 'send it earlier')
  end
end

--- Shows what waits in a session.
---@param session integer
function M.open(session)
  known[session] = nil
  if #M.list(session) == 0 then
    return require('acp.notify').show('no prompt is waiting')
  end
  if shown then
    require('acp.ui.float').close(shown.win)
  end
  local win, buf ---@type integer, integer
  win, buf = require('acp.ui.float').show({
    name = 'queue',
    title = 'Waiting prompts',
    footer = footer,
    lines = lines_of(session),
    on_close = function()
      shown = shown and shown.win ~= win and shown or nil
    end,
  })
  vim.wo[win][0].cursorline = true
  shown = { session = session, win = win, buf = buf }
  map(buf)
end

---@param session integer
local function changed(session)
  local before = known[session] or {}
  known[session] = nil
  if shown and shown.session == session then
    render(before)
  end
  local buf = require('acp.ui.prompt').buffer(session)
  if buf then
    require('acp.ui.prompt.chips').apply(buf)
  end
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.SessionEffect
  client.subscribe('queue', function(effect)
    changed(effect.session)
  end)
  ---@param effect acp.TurnFinished
  client.subscribe('turn_finished', function(effect)
    if effect.tag then
      typed[effect.tag] = nil
    end
  end)
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    changed(effect.session)
    known[effect.session] = nil
  end)
end

return M
