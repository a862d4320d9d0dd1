--- The transcript buffers: which session is in which. What is in them, and where, is the core's
--- business; a lost buffer is made anew from a full render.

local surface = require('acp.ui.surface')
local tail = require('acp.ui.tail')

local M = {}

---@type table<integer, integer> buffer by session
local buffers = {}
---@type table<integer, integer> session by buffer
local sessions = {}

---@param session integer
---@return integer? buf
function M.buffer(session)
  local buf = buffers[session]
  return buf and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

---@param buf integer
local function lost(buf)
  local session = sessions[buf]
  sessions[buf] = nil
  if session and buffers[session] == buf then
    buffers[session] = nil
  end
end

--- The transcript buffer of a session, made and filled when there is none.
---@param info acp.SessionInfo
---@return integer buf
function M.ensure(info)
  local buf = M.buffer(info.id)
  if buf then
    return buf
  end
  buf = require('acp.ui.buffer').create(info, 'transcript')
  buffers[info.id], sessions[buf] = buf, info.id
  surface.add(buf, {
    follow = true,
    keep = true,
    render = function()
      require('acp.client').send({ type = 'show', session = info.id, surface = buf })
    end,
    lost = function()
      lost(buf)
    end,
  })
  return buf
end

--- Deletes the buffer of a session that is over.
---@param session integer
function M.delete(session)
  local buf = buffers[session]
  if buf and vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_delete(buf, { force = true })
  end
end

--- Shows the end of the transcript in a window.
---@param win integer
function M.go_to_tail(win)
  tail.go_to(win)
end

--- Keeps the tail in view in a window that has another size now.
---@param win integer
function M.resized(win)
  local shown = vim.api.nvim_win_is_valid(win) and sessions[vim.api.nvim_win_get_buf(win)]
  if shown and tail.is_at(win) and not tail.is_selecting(win) then
    tail.go_to(win)
    tail.align(win)
  end
end

--- Moves to the tail where the user has just added to it.
---@param session integer
function M.follow(session)
  local buf = M.buffer(session)
  for _, win in ipairs(buf and vim.fn.win_findbuf(buf) or {}) do
    if vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage() then
      tail.go_to(win)
    end
  end
end

return M
