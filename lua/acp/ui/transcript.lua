--- The transcript buffers: applies the core's patches, follows the tail. What is in
--- them, and where, is the core's business; a lost buffer is made anew from a full render.

local M = {}

---@type table<integer, integer> buffer by session
local buffers = {}
---@type table<integer, integer> session by buffer
local sessions = {}
---@type table<integer, true> sessions whose next patch must be a full render
local stale = {}
---@type table<integer, integer[]> windows to keep at the tail, by buffer, during one drain
local following = {}

---@param session integer
---@return integer? buf
function M.buffer(session)
  local buf = buffers[session]
  return buf and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

---@param buf integer
local function lost(buf)
  local session = sessions[buf]
  sessions[buf], following[buf] = nil, nil
  if session and buffers[session] == buf then
    buffers[session], stale[session] = nil, nil
    require('acp.client').send({ type = 'hide', surface = buf })
  end
end

--- Asks the core for a full render; patches made before it are of no use.
---@param session integer
local function refresh(session)
  stale[session] = true
  require('acp.client').send({ type = 'show', session = session, surface = buffers[session] })
end

--- `:edit` and the like empty the buffer but keep it.
---@param buf integer
local function unloaded(buf)
  local session = sessions[buf]
  lost(buf)
  require('acp.client').defer(function()
    if session and not buffers[session] and vim.api.nvim_buf_is_loaded(buf) then
      buffers[session], sessions[buf] = buf, session
      refresh(session)
    end
  end)
end

---@param info acp.SessionInfo
---@return integer buf
local function create(info)
  local buf = require('acp.ui.buffer').create(info, 'transcript')
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.api.nvim_create_autocmd('BufUnload', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    desc = 'acp: stop rendering into a lost buffer',
    callback = function()
      unloaded(buf)
    end,
  })
  return buf
end

--- The transcript buffer of a session, made and filled when there is none.
---@param info acp.SessionInfo
---@return integer buf
function M.ensure(info)
  local buf = M.buffer(info.id)
  if buf then
    return buf
  end
  buf = create(info)
  buffers[info.id], sessions[buf] = buf, info.id
  require('acp.ui.highlights').attach()
  require('acp.ui.paint').attach()
  refresh(info.id)
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

---@param win integer
---@return boolean whether its cursor is on the last row
local function at_tail(win)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  return vim.api.nvim_win_get_cursor(win)[1] >= last
end

---@param buf integer
---@param patch acp.Patch
local function change(buf, patch)
  if patch.col then
    vim.api.nvim_buf_set_text(buf, patch.first, patch.col, patch.first, patch.col, patch.lines)
  else
    vim.api.nvim_buf_set_lines(buf, patch.first, patch.last or -1, false, patch.lines)
  end
end

---@param patch acp.Patch
local function apply_one(patch)
  local buf = patch.surface
  local session = sessions[buf]
  local full = patch.first == 0 and patch.last == -1
  if not session or M.buffer(session) ~= buf or (stale[session] and not full) then
    return
  end
  following[buf] = following[buf] or vim.tbl_filter(at_tail, vim.fn.win_findbuf(buf))
  vim.bo[buf].modifiable = true
  local ok, err = pcall(change, buf, patch)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  if ok then
    stale[session] = nil
  elseif full then
    error(err, 0)
  else
    -- Buffer and core disagree. The core is right: start again from what it says.
    refresh(session)
    error(err, 0)
  end
end

--- Applies patches in order; one that fails costs nothing but itself.
---@param patches acp.Patch[]
function M.apply(patches)
  local guard = require('acp.client').guard
  for _, patch in ipairs(patches) do
    guard('a patch', apply_one, patch)
  end
end

--- Shows the end of the transcript in a window.
---@param win integer
function M.go_to_tail(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local last = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ''
  vim.api.nvim_win_set_cursor(win, { last, #line })
end

---@param win integer
---@return boolean
local function selecting(win)
  return win == vim.api.nvim_get_current_win() and vim.fn.mode():match('^[vV\22]') ~= nil
end

--- Ends a drain: the windows that were at the tail when it began are there again.
function M.settle()
  local windows = following
  following = {}
  for buf, wins in pairs(windows) do
    for _, win in ipairs(wins) do
      local shown = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf
      if shown and not selecting(win) then
        M.go_to_tail(win)
      end
    end
  end
end

--- Leaves no room under the last row: Neovim scrolls far enough, but sometimes further.
---@param win integer
local function align(win)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  local room = vim.api.nvim_win_get_height(win) - (vim.wo[win].winbar ~= '' and 1 or 0)
  local top = last
  while top > 1 do
    local height = vim.api.nvim_win_text_height(win, { start_row = top - 2, end_row = last - 1 })
    if height.all > room then
      break
    end
    top = top - 1
  end
  vim.api.nvim_win_call(win, function()
    if vim.fn.line('w0') > top then
      vim.fn.winrestview({ topline = top })
    end
  end)
end

--- Keeps the tail in view in a window that has another size now.
---@param win integer
function M.resized(win)
  local shown = vim.api.nvim_win_is_valid(win) and sessions[vim.api.nvim_win_get_buf(win)]
  if shown and at_tail(win) and not selecting(win) then
    M.go_to_tail(win)
    align(win)
  end
end

--- Moves to the tail where the user has just added to it.
---@param session integer
function M.follow(session)
  local buf = M.buffer(session)
  for _, win in ipairs(buf and vim.fn.win_findbuf(buf) or {}) do
    if vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage() then
      M.go_to_tail(win)
    end
  end
end

--- Whether the rows of a buffer are those the core knows.
---@param buf integer
---@return boolean
function M.is_painted(buf)
  local session = sessions[buf]
  return session ~= nil and not stale[session]
end

return M
