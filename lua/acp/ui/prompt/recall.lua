--- Going through past prompts in a prompt buffer. What was typed there is the newest of them, and
--- what was changed on the way is kept until something is sent.

local M = {}

---@class (exact) acp.Recall
---@field at integer 0: what was typed; else the number of the past prompt
---@field texts string[] past prompts, newest first, as they were when this began
---@field kept table<integer, string> what was left at each number
---@field cursor? { [1]: integer, [2]: integer } where the last move has put it

---@type table<integer, acp.Recall> by buffer
local recalls = {}

---@param buf integer
---@return string
local function cwd_of(buf)
  local session = require('acp.session')
  local info = session.info(session.of_buffer(buf) or -1)
  return info and info.cwd or vim.fn.getcwd()
end

--- What was sent is in the history now, and the next move begins there.
---@param buf integer
function M.reset(buf)
  recalls[buf] = nil
end

---@param step -1|1
---@param last integer
---@return { [1]: integer, [2]: integer }
local function edge(step, last)
  local row = step > 0 and 1 or last
  return { row, #vim.fn.getline(row) }
end

--- Moves in the history: 1 is back in time.
---@param step -1|1
---@return boolean whether there was something to show
local function move(step)
  local prompt = require('acp.ui.prompt')
  local buf = vim.api.nvim_get_current_buf()
  local recall = recalls[buf]
  if not recall then
    local texts = require('acp.history').list(cwd_of(buf))
    recall = { at = 0, texts = texts, kept = {} }
  end
  local target = recall.at + step
  if target < 0 or target > #recall.texts then
    return false
  end
  recalls[buf] = recall
  recall.kept[recall.at] = prompt.text(buf)
  recall.at = target
  prompt.set_text(buf, recall.kept[target] or recall.texts[target] or '')
  local cursor = edge(step, vim.api.nvim_buf_line_count(buf))
  vim.api.nvim_win_set_cursor(0, cursor)
  recall.cursor = vim.api.nvim_win_get_cursor(0)
  return true
end

--- Goes a row of the screen up or down in a line that takes several.
---@param keys 'gk'|'gj'
---@return boolean whether there was one
local function within_line(keys)
  local recall = recalls[vim.api.nvim_get_current_buf()]
  local before = vim.api.nvim_win_get_cursor(0)
  if recall and vim.deep_equal(recall.cursor, before) then
    -- Nothing was done since the last move: the user goes on looking.
    return false
  end
  -- Normal mode has no place behind the last character.
  local last = math.max(#vim.api.nvim_get_current_line() - 1, 0)
  vim.api.nvim_win_set_cursor(0, { before[1], math.min(before[2], last) })
  local from = vim.api.nvim_win_get_cursor(0)
  vim.cmd.normal({ keys, bang = true })
  if not vim.deep_equal(from, vim.api.nvim_win_get_cursor(0)) then
    return true
  end
  vim.api.nvim_win_set_cursor(0, before)
  return false
end

--- Shows the prompt before the one shown.
function M.prev()
  if not within_line('gk') then
    move(1)
  end
end

--- Shows the prompt after the one shown, and at last what was typed.
function M.next()
  if not within_line('gj') then
    move(-1)
  end
end

---@param name 'prev'|'next'
---@param row integer the one that has the history behind it
---@param lhs string
---@return string keys
local function key(name, row, lhs)
  if vim.fn.pumvisible() == 1 or vim.v.count > 0 or vim.fn.line('.') ~= row then
    return lhs
  end
  return ("<Cmd>lua require('acp.ui.prompt.recall').%s()<CR>"):format(name)
end

--- What a key for `prev` types: itself where it has something to do of its own.
---@param lhs string
---@return string
function M.key_prev(lhs)
  return key('prev', 1, lhs)
end

--- The same for `next`.
---@param lhs string
---@return string
function M.key_next(lhs)
  return key('next', vim.fn.line('$'), lhs)
end

--- Puts another text into a prompt; what was there is kept as a past prompt.
---@param session integer
---@param text string
function M.put(session, text)
  local prompt = require('acp.ui.prompt')
  local buf = prompt.buffer(session)
  if not buf then
    return
  end
  local draft = prompt.text(buf)
  if draft ~= text then
    require('acp.history').add(draft, cwd_of(buf))
    M.reset(buf)
    prompt.set_text(buf, text)
  end
  prompt.cursor_to_end(buf)
end

return M
