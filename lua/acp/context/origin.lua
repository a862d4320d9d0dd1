--- The window the user was in before the chat: what "this buffer" and "the selection" mean there.

local M = {}

---@type integer? window
local last

---@param win integer
---@return boolean
local function ordinary(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  return vim.bo[buf].buftype == '' and not vim.b[buf].acp_role and not floating
end

local function note()
  local win = vim.api.nvim_get_current_win()
  if ordinary(win) then
    last = win
  end
end

local attached = false

--- Watches where the user comes from, beginning with where they are.
function M.attach()
  note()
  if attached then
    return
  end
  attached = true
  vim.api.nvim_create_autocmd('WinLeave', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: know which buffer is meant in the chat',
    callback = note,
  })
end

--- The buffer that is meant, nil when there is none.
---@return integer? buf
function M.buffer()
  if last and vim.api.nvim_win_is_valid(last) and ordinary(last) then
    return vim.api.nvim_win_get_buf(last)
  end
  local best
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    local fits = vim.bo[info.bufnr].buftype == '' and info.name ~= ''
    if fits and (not best or info.lastused > best.lastused) then
      best = info
    end
  end
  return best and best.bufnr
end

return M
