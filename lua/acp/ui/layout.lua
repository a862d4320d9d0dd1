--- The ways to arrange the chat: how each opens its windows, and what is set in them.

local size = require('acp.ui.size')

local M = {}

---@type acp.Layout[]
M.names = { 'right', 'left', 'bottom', 'float', 'tab' }

---@type acp.Layout? what the user has switched to since
local chosen

--- The layout of chats that are opened now.
---@return acp.Layout
function M.current()
  return chosen or require('acp.config').get().chat.layout
end

--- Takes another layout from now on.
---@param name acp.Layout
function M.choose(name)
  chosen = name
end

---@param buf integer
---@return integer win
local function open_tab(buf)
  -- A copy of the current window: it needs no buffer of its own, nor is it affected by 'switchbuf'.
  vim.cmd.split({ mods = { tab = vim.fn.tabpagenr() } })
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_set_option_value('winfixbuf', false, { win = win, scope = 'local' })
  vim.api.nvim_win_set_buf(win, buf)
  return win
end

---@return integer? win
local function prompt_window()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.w[win].acp_role == 'prompt' then
      return win
    end
  end
end

---@param buf integer
---@param role acp.Role
---@param title? string
---@return integer win
local function open_float(buf, role, title)
  local win = require('acp.ui.float').show({
    buf = buf,
    title = title,
    enter = false,
    stay = true,
    keys = false,
    zindex = 30,
    place = function(room)
      return size.box(role, room, prompt_window())
    end,
  })
  return win
end

---@type table<acp.Layout, fun(buf: integer, title: string): integer>
local open_main = {
  right = function(buf)
    return vim.api.nvim_open_win(buf, false, { split = 'right', win = -1 })
  end,
  left = function(buf)
    return vim.api.nvim_open_win(buf, false, { split = 'left', win = -1 })
  end,
  bottom = function(buf)
    return vim.api.nvim_open_win(buf, false, { split = 'below', win = -1 })
  end,
  float = function(buf, title)
    return open_float(buf, 'transcript', title)
  end,
  tab = open_tab,
}

--- Opens the window of the transcript: where the layout has it, or next to a prompt that is there.
---@param layout acp.Layout
---@param buf integer
---@param title string
---@param prompt integer?
---@return integer win
function M.open_transcript(layout, buf, title, prompt)
  if prompt and layout ~= 'float' then
    local side = vim.w[prompt].acp_beside and 'left' or 'above'
    return vim.api.nvim_open_win(buf, false, { split = side, win = prompt })
  end
  return open_main[layout](buf, title)
end

--- Opens the window of the prompt next to the transcript.
---@param layout acp.Layout
---@param buf integer
---@param transcript integer
---@return integer win
function M.open_prompt(layout, buf, transcript)
  if layout == 'float' then
    return open_float(buf, 'prompt')
  end
  local beside = size.beside(layout)
  local side = beside and 'right' or 'below'
  local win = vim.api.nvim_open_win(buf, false, { split = side, win = transcript })
  vim.w[win].acp_beside = beside
  return win
end

---@type table<string, any>
local common = {
  wrap = true,
  linebreak = true,
  breakindent = true,
  breakindentopt = 'list:-1',
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  statuscolumn = '',
  cursorline = false,
  cursorcolumn = false,
  colorcolumn = '',
  list = false,
  foldenable = false,
  smoothscroll = true,
  winfixbuf = true,
}

---@type table<acp.Role, table<string, any>>
local by_role = {
  transcript = { spell = false },
  prompt = { winbar = '' },
}

---@param layout acp.Layout
---@param role acp.Role
---@return string
local function highlights(layout, role)
  local groups = role == 'transcript' and { 'WinBar:AcpWinbar', 'WinBarNC:AcpWinbar' } or {}
  if layout == 'float' then
    -- A chat is a place to stay in: it looks like other windows, and not like a menu.
    vim.list_extend(groups, {
      'NormalFloat:Normal',
      'FloatBorder:WinSeparator',
      'FloatTitle:AcpWinbarAgent',
    })
  end
  return table.concat(groups, ',')
end

--- Local to window and buffer, so that another buffer in this window has the user's own again.
---@param win integer
---@param layout acp.Layout
---@param role acp.Role
function M.set_options(win, layout, role)
  local options = vim.tbl_extend('force', common, by_role[role])
  local beside = size.beside(layout)
  options.winfixwidth = layout == 'right' or layout == 'left' or (role == 'prompt' and beside)
  options.winfixheight = layout == 'bottom' or (role == 'prompt' and layout ~= 'float')
  options.winhighlight = highlights(layout, role)
  options.fillchars = vim.o.fillchars .. (vim.o.fillchars == '' and '' or ',') .. 'eob: '
  if role == 'transcript' and require('acp.config').get().chat.conceal then
    options.conceallevel, options.concealcursor = 2, 'nc'
  end
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

--- Gives the transcript its winbar if there is room for one: else Neovim would complain.
---@param win integer
function M.set_winbar(win)
  local room = vim.api.nvim_win_get_height(win) > 1
  vim.w[win].acp_no_winbar = not room
  if room then
    local value = require('acp.ui.winbar').option
    vim.api.nvim_set_option_value('winbar', value, { win = win, scope = 'local' })
  end
end

--- Whether the screen has grown or shrunk so much that the prompt belongs elsewhere.
---@param pair acp.Pair
---@return boolean
function M.outgrown(pair)
  local prompt = pair.prompt
  if not prompt or not pair.transcript or vim.w[prompt].acp_layout ~= 'bottom' then
    return false
  end
  return size.beside('bottom') ~= vim.w[prompt].acp_beside
end

return M
