--- Messages to the user: the only way to the message line. Each is one line that fits, so that
--- Neovim never waits for a key because of it; `:Acp messages` shows them whole.

local M = {}

---@type table<string, integer> failures that are not errors; every other code is one
local levels = {
  no_session = vim.log.levels.WARN,
  no_code = vim.log.levels.WARN,
  no_change = vim.log.levels.INFO,
  not_running = vim.log.levels.INFO,
  session_closed = vim.log.levels.INFO,
  agent_killed = vim.log.levels.INFO,
}

---@type table<string, integer>
local names = {
  error = vim.log.levels.ERROR,
  warn = vim.log.levels.WARN,
  info = vim.log.levels.INFO,
}

---@class (exact) acp.Message
---@field text string
---@field level integer
---@field ending string what is kept whole where there is no room for all

--- Milliseconds between two messages, and how many may wait for their turn.
local interval, most = 50, 20
--- How many messages are kept whole, and how many bytes of each.
local kept_count, kept_bytes = 100, 20000

---@type acp.Message[]
local queue = {}
---@type string[]
local kept = {}
---@type integer?
local timer
---@type table<string, true>
local said = {}

--- Cells of the message line that can be filled without Neovim waiting for a key.
---@return integer
local function room()
  return math.max(math.min(vim.v.echospace, vim.o.columns - 12), 10)
end

--- One line that fits, with its ending whole.
---@param message acp.Message
---@return string
local function fitted(message)
  local text = require('acp.text')
  local line = text.one_line(message.text:sub(1, kept_bytes))
  if vim.fn.strdisplaywidth(line .. message.ending) > room() then
    local ending = message.ending ~= '' and message.ending or ' (:Acp messages)'
    line = text.shorten(line, math.max(room() - vim.fn.strdisplaywidth(ending), 10))
    return text.shorten(line .. ending, room())
  end
  return line .. message.ending
end

---@type table<integer, string>
local groups = { [vim.log.levels.ERROR] = 'ErrorMsg', [vim.log.levels.WARN] = 'WarningMsg' }

--- Shows one line. Neovim's own `vim.notify` makes an error of an error: where there is no line for
--- messages ('cmdheight' is 0) that waits for a key, and in a timer it stops the timer.
---@param line string
---@param level integer
local function show(line, level)
  -- What is built into Neovim has no file of its own.
  local source = assert(debug.getinfo(vim.notify, 'S')).source
  if source:match('^[@=]vim/') or source:match('^[@=]?%?$') then
    vim.api.nvim_echo({ { line, groups[level] } }, true, {})
  else
    vim.notify(line, level, { title = 'acp' })
  end
end

--- Shows the first message that waits.
local function show_next()
  local message = table.remove(queue, 1)
  local line = fitted(message)
  -- What is on the message line already would, together with this, wait for a key.
  pcall(vim.cmd.redraw)
  show(line, message.level)
end

local function stop()
  if timer then
    vim.fn.timer_stop(timer)
    timer = nil
  end
end

--- Shows what waits, one at a time, as soon as it disturbs nobody who types a command.
local function tick()
  if #queue == 0 then
    stop()
  elseif require('acp.keyboard').can_tell() then
    show_next()
  end
end

---@param message acp.Message
local function push(message)
  table.insert(kept, message.text:sub(1, kept_bytes) .. message.ending)
  if #kept > kept_count then
    table.remove(kept, 1)
  end
  -- What is shown for a moment only is not worth waiting for.
  if #queue >= most then
    table.remove(queue, 1)
  end
  table.insert(queue, message)
  if timer then
    return
  end
  timer = vim.fn.timer_start(interval, tick, { ['repeat'] = -1 })
  tick()
end

--- A failure as one text: what failed, then what to do.
---@param err acp.Err
---@return string
function M.format(err)
  if not err.hint then
    return err.message
  end
  return ('%s. %s'):format(require('acp.text').without_end(err.message), err.hint)
end

--- Shows a message. Where there is no room for all of it, its ending is kept whole.
---@param message string
---@param level? 'error'|'warn'|'info'
---@param ending? string
function M.show(message, level, ending)
  push({ text = message, level = names[level or 'info'], ending = ending or '' })
end

--- Shows a failure at the level its code deserves.
---@param err acp.Err
function M.err(err)
  local level = levels[err.code] or vim.log.levels.ERROR
  push({ text = M.format(err), level = level, ending = '' })
end

--- Shows a message the first time its key is used.
---@param key string
---@param message string
---@param level? 'error'|'warn'|'info'
---@param ending? string
function M.once(key, message, level, ending)
  if not said[key] then
    said[key] = true
    M.show(message, level, ending)
  end
end

--- The last messages, whole, line by line.
---@return string[]
function M.lines()
  local lines = {}
  for _, message in ipairs(kept) do
    for _, line in ipairs(vim.split(message, '\n', { trimempty = true })) do
      table.insert(lines, require('acp.text').one_line(line))
    end
  end
  return lines
end

--- Shows how far something is, until the next message; `:messages` does not keep it.
---@param line string
function M.progress(line)
  line = require('acp.text').shorten(line, room())
  vim.api.nvim_echo({ { line, 'Comment' } }, false, {})
  pcall(vim.cmd.redraw)
end

return M
