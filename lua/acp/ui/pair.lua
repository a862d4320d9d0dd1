--- Which windows are the chat's: it is written on the windows themselves, so that whatever the user
--- does to them stays true. Finds and closes windows, and opens none but where none would be left.

local M = {}

---@alias acp.Role 'transcript'|'prompt'
---@alias acp.Pair table<acp.Role, integer?>

--- The chat windows of a tabpage.
---@param tab? integer
---@return acp.Pair
function M.find(tab)
  local pair = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab or 0)) do
    local role = vim.w[win].acp_role
    if role and vim.b[vim.api.nvim_win_get_buf(win)].acp_role == role then
      pair[role] = win
    end
  end
  return pair
end

--- Whether a window floats.
---@param win integer
---@return boolean
function M.is_float(win)
  return vim.api.nvim_win_get_config(win).relative ~= ''
end

--- A window of this tabpage for files, which no chat window is: the last used one.
---@return integer?
function M.outside()
  local function fits(win)
    return vim.api.nvim_win_is_valid(win)
      and not M.is_float(win)
      and not vim.w[win].acp_role
      and not vim.wo[win].winfixbuf
      and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
  end
  local pair = M.find()
  local origin = pair.transcript and vim.w[pair.transcript].acp_origin
  local wins = vim.list_extend(
    { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr('#')) },
    vim.api.nvim_tabpage_list_wins(0)
  )
  local here = vim.api.nvim_get_current_tabpage()
  if origin and fits(origin) and vim.api.nvim_win_get_tabpage(origin) == here then
    table.insert(wins, 3, origin)
  end
  for _, win in ipairs(wins) do
    if fits(win) then
      return win
    end
  end
end

--- Goes to a window, if there is such a window still.
---@param win integer?
---@return boolean
function M.enter(win)
  return win ~= nil and (pcall(vim.api.nvim_set_current_win, win))
end

--- Closes a window; the last one of all stays.
---@param win integer
function M.close(win)
  if not vim.api.nvim_win_is_valid(win) then
    return
  end
  local tab = vim.api.nvim_win_get_tabpage(win)
  local rest = vim.tbl_filter(function(other)
    return other ~= win and not M.is_float(other)
  end, vim.api.nvim_tabpage_list_wins(tab))
  if #rest == 0 and tab ~= vim.api.nvim_get_current_tabpage() then
    -- Neovim 0.10 crashes when this leaves nothing but floats in a tabpage that is not the current.
    pcall(vim.cmd.tabclose, vim.api.nvim_tabpage_get_number(tab))
  else
    pcall(vim.api.nvim_win_close, win, false)
  end
end

--- Keeps a window for the user where the chat would leave none.
---@param pair acp.Pair
function M.leave_room(pair)
  if #vim.api.nvim_list_tabpages() > 1 then
    local win = pair.transcript or pair.prompt
    if win and vim.w[win].acp_layout == 'tab' then
      return
    end
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if win ~= pair.transcript and win ~= pair.prompt and not M.is_float(win) then
      return
    end
  end
  local listed = vim.tbl_filter(function(info)
    return info.name ~= ''
  end, vim.fn.getbufinfo({ buflisted = 1 }))
  table.sort(listed, function(a, b)
    return a.lastused > b.lastused
  end)
  local buf = listed[1] and listed[1].bufnr or vim.api.nvim_create_buf(true, false)
  vim.api.nvim_open_win(buf, true, { split = 'left', win = -1 })
end

--- Removes what `:mksession` has brought back of a chat: windows whose sessions are gone.
function M.sweep()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local named = vim.startswith(vim.api.nvim_buf_get_name(buf), 'acp://')
    if named and not vim.b[buf].acp_role then
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
    end
  end
end

return M
