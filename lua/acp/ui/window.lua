--- The chat windows: a transcript over a prompt, one pair for each tabpage. Which window is which
--- is written on the windows themselves, so that whatever the user does to them stays true.

local size = require('acp.ui.size')

local M = {}

---@type table<acp.Role, acp.Role>
local other_role = { transcript = 'prompt', prompt = 'transcript' }

---@alias acp.Role 'transcript'|'prompt'
---@alias acp.Pair table<acp.Role, integer?>

--- The chat windows of a tabpage.
---@param tab? integer
---@return acp.Pair
local function find(tab)
  local pair = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab or 0)) do
    local role = vim.w[win].acp_role
    if role and vim.b[vim.api.nvim_win_get_buf(win)].acp_role == role then
      pair[role] = win
    end
  end
  return pair
end

--- All windows that show the transcript of a session, in every tabpage.
---@param session integer
---@return integer[]
function M.windows_of(session)
  local buf = require('acp.ui.transcript').buffer(session)
  return buf and vim.fn.win_findbuf(buf) or {}
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
  winfixwidth = true,
  winfixbuf = true,
}

---@type table<string, table<string, any>>
local special = {
  transcript = {
    spell = false,
    winbar = "%{%v:lua.require'acp.ui.winbar'.render()%}",
    winhighlight = 'WinBar:AcpWinbar,WinBarNC:AcpWinbar',
  },
  prompt = { winfixheight = true, winbar = '' },
}

--- Local to window and buffer, so that another buffer in this window has the user's own again.
---@param win integer
---@param role string
local function set_options(win, role)
  local options = vim.tbl_extend('force', common, special[role])
  options.fillchars = vim.o.fillchars .. (vim.o.fillchars == '' and '' or ',') .. 'eob: '
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

--- Fits the height of the prompt windows in this tabpage to the text.
---@param buf integer
function M.fit_prompt(buf)
  local pair = find()
  if pair.prompt and vim.api.nvim_win_get_buf(pair.prompt) == buf then
    size.fit_height(pair)
  end
end

--- A closed chat window takes the other one with it, but only where it was closed from within:
--- `:only` leaves the one it was typed in.
---@param win integer
local function closed(win)
  local role = vim.api.nvim_win_is_valid(win) and vim.w[win].acp_role
  if not role or win ~= vim.api.nvim_get_current_win() then
    return
  end
  local other = find()[other_role[role]]
  require('acp.client').defer(function()
    if not other or not vim.api.nvim_win_is_valid(other) then
      return
    end
    -- The pair may be complete again by now. The last window of all stays: closing it is leaving.
    if not find(vim.api.nvim_win_get_tabpage(other))[role] then
      pcall(vim.api.nvim_win_close, other, false)
    end
  end)
end

local attached = false

local function attach()
  if attached then
    return
  end
  attached = true
  local group = vim.api.nvim_create_augroup('acp', { clear = false })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    desc = 'acp: close the chat windows together',
    callback = function(event)
      closed(tonumber(event.match) --[[@as integer]])
    end,
  })
  vim.api.nvim_create_autocmd({ 'VimResized', 'TabEnter' }, {
    group = group,
    desc = 'acp: fit the chat to the screen',
    callback = function()
      size.refit(find())
    end,
  })
  vim.api.nvim_create_autocmd('WinResized', {
    group = group,
    desc = 'acp: keep the size the user gave the chat, and the tail in view',
    callback = function()
      size.remember(find())
      for _, win in ipairs(vim.v.event.windows or {}) do
        require('acp.ui.transcript').resized(win)
      end
    end,
  })
end

---@param win integer
---@param role string
local function adopt(win, role)
  vim.w[win].acp_role = role
  set_options(win, role)
  local buf = vim.api.nvim_win_get_buf(win)
  if vim.bo[buf].filetype == '' then
    -- As late as this, so that the user's own settings for the filetype win over ours.
    vim.bo[buf].filetype = role == 'transcript' and 'acp' or 'acp_prompt'
  end
end

---@param win integer
---@param buf integer
local function put(win, buf)
  if vim.api.nvim_win_get_buf(win) ~= buf then
    vim.wo[win].winfixbuf = false
    vim.api.nvim_win_set_buf(win, buf)
  end
end

---@param buf integer
---@param pair acp.Pair
---@return integer win
local function open_transcript(buf, pair)
  if pair.prompt then
    return vim.api.nvim_open_win(buf, false, { split = 'above', win = pair.prompt })
  end
  local side = require('acp.config').get().chat.layout
  return vim.api.nvim_open_win(buf, false, { split = side, win = -1, width = size.width() })
end

---@param buf integer
---@param above integer
---@return integer win
local function open_prompt(buf, above)
  local room = math.floor(vim.api.nvim_win_get_height(above) / 2)
  local height = math.max(math.min(require('acp.config').get().chat.prompt_height, room), 1)
  return vim.api.nvim_open_win(buf, false, { split = 'below', win = above, height = height })
end

---@param info acp.SessionInfo
local function arrange(info)
  local transcript, prompt = require('acp.ui.transcript'), require('acp.ui.prompt')
  local pair, from = find(), vim.api.nvim_get_current_win()
  local text, typed = transcript.ensure(info), prompt.ensure(info)
  for role, buf in pairs({ transcript = text, prompt = typed }) do
    if pair[role] then
      put(pair[role], buf)
    end
  end
  if not pair.transcript then
    pair.transcript = open_transcript(text, pair)
    transcript.go_to_tail(pair.transcript)
  end
  pair.prompt = pair.prompt or open_prompt(typed, pair.transcript)
  if not vim.w[from].acp_role then
    vim.w[pair.transcript].acp_origin = from
  end
  adopt(pair.transcript, 'transcript')
  adopt(pair.prompt, 'prompt')
  size.fit(pair)
  vim.t.acp_session = info.id
  vim.api.nvim_set_current_win(pair.prompt)
end

--- Shows a session in this tabpage, with the cursor in the prompt.
---@param session integer
---@return true?, acp.Err?
function M.show(session)
  local info = require('acp.session').info(session)
  if not info then
    return nil, { code = 'no_session', message = ('there is no session %d'):format(session) }
  end
  attach()
  local ok, err = pcall(arrange, info)
  if not ok then
    return nil, { code = 'window', message = 'the chat cannot be shown: ' .. tostring(err) }
  end
  require('acp.ui.winbar').refresh()
  return true
end

--- Puts the cursor in the prompt and starts insert mode at its end.
function M.focus_prompt()
  local session = require('acp.session').resolve()
  if session and M.show(session) then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Keeps a window for the user where the chat would leave none.
---@param pair acp.Pair
local function leave_room(pair)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local floating = vim.api.nvim_win_get_config(win).relative ~= ''
    if win ~= pair.transcript and win ~= pair.prompt and not floating then
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

---@param pair acp.Pair
local function close(pair)
  for _, win in pairs(pair) do
    -- The last window of all stays.
    pcall(vim.api.nvim_win_close, win, false)
  end
end

--- Hides the chat of this tabpage; the session goes on, and what was typed stays.
function M.hide()
  local pair = find()
  local main = pair.transcript or pair.prompt
  if not main then
    return
  end
  local origin = vim.w[main].acp_origin
  leave_room(pair)
  if origin and vim.api.nvim_win_is_valid(origin) then
    vim.api.nvim_set_current_win(origin)
  end
  close(pair)
end

--- Closes the windows of a session in every tabpage.
---@param session integer
function M.close_session(session)
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    local pair = find(tab)
    local win = pair.transcript or pair.prompt
    if win and vim.b[vim.api.nvim_win_get_buf(win)].acp_session == session then
      if tab == vim.api.nvim_get_current_tabpage() then
        M.hide()
      else
        close(pair)
      end
    end
  end
end

return M
