--- Changes to a buffer that somebody else made: small ones, as one step to undo, at a moment when
--- they take nothing from under the user's hands.

local M = {}

--- How long a change waits for the user to leave the line, in milliseconds.
local patience = 5000

--- What is typed before and after is another step to undo.
---@param buf integer
local function close_undo_block(buf)
  local levels = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = levels
end

---@param change acp.Change
---@param row integer
---@return boolean
local function touches(change, row)
  if change.text then
    return change.first == row
  end
  return change.first <= row and row < (change.last or change.first)
end

--- Whether the user is typing in one of the lines that would change, or chooses from a menu.
---@param buf integer
---@param changes acp.Change[]
---@return boolean
local function in_the_way(buf, changes)
  local mode = vim.api.nvim_get_mode().mode
  if vim.api.nvim_get_current_buf() ~= buf or not mode:match('^[iRs]') then
    return false
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, change in ipairs(changes) do
    if touches(change, row) then
      return true
    end
  end
  return #changes > 0 and vim.fn.pumvisible() == 1
end

--- Calls `fn` when the user has stopped typing, at the latest after a while.
---@param buf integer
---@param fn fun()
local function later(buf, fn)
  local called = false
  local autocmd ---@type integer
  local function once()
    if not called then
      called = true
      pcall(vim.api.nvim_del_autocmd, autocmd)
      require('acp.client').defer(fn)
    end
  end
  autocmd = vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave' }, {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    desc = 'acp: a change waits for the line to be free',
    callback = once,
  })
  vim.defer_fn(once, patience)
end

---@param buf integer
---@param change acp.Change
local function make(buf, change)
  local first = change.first
  if change.text then
    local from, to = change.from or 0, change.to or 0
    vim.api.nvim_buf_set_text(buf, first, from, first, to, { change.text })
  else
    vim.api.nvim_buf_set_lines(buf, first, change.last or first, false, change.lines or {})
  end
end

--- Makes the changes if the buffer is still what they were found for.
---@param buf integer
---@param plan acp.Merged
---@param waited boolean whether the user had the time to leave the line
---@param again fun() called later when this is no moment for it
---@return 'done'|'changed'|'later'
function M.apply(buf, plan, waited, again)
  if vim.api.nvim_buf_get_changedtick(buf) ~= plan.tick then
    return 'changed'
  elseif not waited and in_the_way(buf, plan.changes) then
    later(buf, again)
    return 'later'
  end
  if #plan.changes > 0 then
    close_undo_block(buf)
    if plan.stamp then
      -- What the buffer is now is not what the disk has: nor is it after an undo.
      vim.bo[buf].modified = true
    end
    require('acp.files.marks').keep(buf, plan.changes, make)
    close_undo_block(buf)
  end
  local bo = vim.bo[buf]
  if bo.endofline ~= plan.eol then
    bo.endofline = plan.eol
  end
  local plain = bo.fileencoding == '' or bo.fileencoding == 'utf-8'
  if plain and bo.bomb ~= plan.bom then
    bo.bomb = plan.bom
  end
  return 'done'
end

return M
