--- Messages to the user: which level a failure has, and what is said only once.

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

---@type table<string, true>
local said = {}

--- A failure as one text: what failed, then what to do.
---@param err acp.Err
---@return string
function M.format(err)
  if not err.hint then
    return err.message
  end
  return ('%s. %s'):format((err.message:gsub('[.%s]+$', '')), err.hint)
end

---@param message string
---@param level? 'error'|'warn'|'info'
function M.show(message, level)
  vim.notify(message, names[level or 'info'], { title = 'acp' })
end

--- One line that fits the screen: a longer message would wait for a key. The end is kept whole.
---@param message string
---@param ending? string
---@return string
function M.fitting(message, ending)
  ending = ending or ''
  local width = math.max(vim.o.columns - #ending - 14, 20)
  return require('acp.text').shorten(message, width) .. ending
end

--- Shows a message when a picker has just gone. What Neovim's own has left on the screen would,
--- together with the message, wait for a key and hold up the agents.
---@param message string
---@param level? 'error'|'warn'|'info'
function M.after_picker(message, level)
  vim.cmd.redraw()
  M.show(message, level)
end

--- Shows a failure at the level its code deserves.
---@param err acp.Err
function M.err(err)
  vim.notify(M.format(err), levels[err.code] or vim.log.levels.ERROR, { title = 'acp' })
end

--- Shows a message the first time its key is used.
---@param key string
---@param message string
---@param level? 'error'|'warn'|'info'
function M.once(key, message, level)
  if not said[key] then
    said[key] = true
    M.show(message, level)
  end
end

return M
