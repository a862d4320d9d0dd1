--- The chat windows: a transcript and a prompt, one pair for each tabpage. Which window is which
--- is written on the windows themselves, so that whatever the user does to them stays true.

local fit = require('acp.ui.fit')
local layout = require('acp.ui.layout')
local windows = require('acp.ui.pair')

local M = {}

M.outside = windows.outside

---@type table<acp.Role, acp.Role>
local other_role = { transcript = 'prompt', prompt = 'transcript' }

--- All windows that show the transcript of a session, in every tabpage.
---@param session integer
---@return integer[]
function M.windows_of(session)
  local buf = require('acp.ui.transcript').buffer(session)
  return buf and vim.fn.win_findbuf(buf) or {}
end

--- Fits the height of the prompt windows in this tabpage to the text.
---@param buf integer
function M.fit_prompt(buf)
  local pair = windows.find()
  if pair.prompt and vim.api.nvim_win_get_buf(pair.prompt) == buf then
    fit.prompt(pair)
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
  local pair = windows.find()
  local other = pair[other_role[role]]
  local origin = pair.transcript and vim.w[pair.transcript].acp_origin
  require('acp.client').defer(function()
    if not other or not vim.api.nvim_win_is_valid(other) then
      return
    end
    -- The pair may be complete again by now. The last window of all stays: closing it is leaving.
    if not windows.find(vim.api.nvim_win_get_tabpage(other))[role] then
      if vim.api.nvim_get_current_win() == other then
        windows.enter(origin)
      end
      windows.close(other)
    end
  end)
end

--- A floating chat is in the way of the window the user has gone to.
local function left()
  local pair = windows.find()
  local win = pair.transcript or pair.prompt
  if win and windows.is_float(win) and not windows.is_float(vim.api.nvim_get_current_win()) then
    M.hide()
  end
end

local function resized()
  local pair = windows.find()
  if layout.outgrown(pair) then
    require('acp.client').defer(function()
      M.rearrange('bottom')
    end)
  else
    fit.to_screen(pair)
    if pair.transcript and vim.w[pair.transcript].acp_no_winbar then
      layout.set_winbar(pair.transcript)
    end
  end
end

local attached = false

local function attach()
  if attached then
    return
  end
  attached = true
  local on = require('acp.autocmd').on
  on('WinClosed', 'acp: close the chat windows together', function(event)
    closed(tonumber(event.match) --[[@as integer]])
  end)
  on({ 'VimResized', 'TabEnter' }, 'acp: fit the chat to the screen', resized)
  on('WinEnter', 'acp: hide a floating chat that was left', function()
    require('acp.client').defer(left)
  end)
  on('WinResized', 'acp: keep the size the user gave the chat, and the tail in view', function()
    fit.learn(windows.find())
    for _, win in ipairs(vim.v.event.windows or {}) do
      require('acp.ui.transcript').resized(win)
    end
  end)
end

---@param win integer
---@param role acp.Role
---@param name acp.Layout
local function adopt(win, role, name)
  vim.w[win].acp_role, vim.w[win].acp_layout = role, name
  layout.set_options(win, name, role)
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

--- Goes to the tabpage that is there for the chat alone, if there is one.
local function go_to_tab()
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    local win = windows.find(tab).transcript
    if win and vim.w[win].acp_layout == 'tab' then
      return vim.api.nvim_set_current_tabpage(tab)
    end
  end
end

---@param info acp.SessionInfo
---@param name acp.Layout
local function arrange(info, name)
  local transcript, prompt = require('acp.ui.transcript'), require('acp.ui.prompt')
  local from, pair = vim.api.nvim_get_current_win(), windows.find()
  if name == 'tab' and not next(pair) then
    go_to_tab()
    pair = windows.find()
  end
  local shown = pair.transcript or pair.prompt
  name = shown and vim.w[shown].acp_layout or name
  local text, typed = transcript.ensure(info), prompt.ensure(info)
  for role, buf in pairs({ transcript = text, prompt = typed }) do
    if pair[role] then
      put(pair[role], buf)
    end
  end
  local title = require('acp.text').one_line(vim.fs.basename(info.cwd))
  if not pair.transcript then
    pair.transcript = layout.open_transcript(name, text, title, pair.prompt)
    transcript.go_to_tail(pair.transcript)
  end
  pair.prompt = pair.prompt or layout.open_prompt(name, typed, pair.transcript)
  if name == 'float' then
    -- Of another session it may be about another project.
    require('acp.ui.float').update(pair.transcript, { title = title })
  end
  if not vim.w[from].acp_role then
    vim.w[pair.transcript].acp_origin = from
  end
  adopt(pair.transcript, 'transcript', name)
  adopt(pair.prompt, 'prompt', name)
  fit.both(pair)
  layout.set_winbar(pair.transcript)
  vim.t.acp_session = info.id
  vim.api.nvim_set_current_win(pair.prompt)
end

---@param pair acp.Pair
local function close(pair)
  for _, win in pairs(pair) do
    windows.close(win)
  end
end

--- Shows a session in this tabpage, with the cursor in the prompt.
---@param session integer
---@param name? acp.Layout
---@return true?, acp.Err?
function M.show(session, name)
  local info = require('acp.session').info(session)
  if not info then
    return nil, { code = 'no_session', message = ('there is no session %d'):format(session) }
  end
  attach()
  local ok, err = pcall(arrange, info, name or layout.current())
  if not ok then
    -- There is no room for more windows, but floats need none.
    close(windows.find())
    ok = pcall(arrange, info, 'float')
  end
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

--- Hides the chat of this tabpage; the session goes on, and what was typed stays.
function M.hide()
  local pair = windows.find()
  local main = pair.transcript or pair.prompt
  if not main then
    return
  end
  local origin = vim.w[main].acp_origin
  windows.leave_room(pair)
  if vim.w.acp_role then
    windows.enter(origin)
  end
  close(pair)
end

--- Where the user is reading, nil at the tail.
---@param win integer
---@return vim.fn.winsaveview.ret?
local function reading(win)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  if vim.api.nvim_win_get_cursor(win)[1] >= last then
    return nil
  end
  return vim.api.nvim_win_call(win, vim.fn.winsaveview)
end

--- Arranges the chat of this tabpage otherwise, if there is one.
---@param name acp.Layout
---@return boolean whether there is
function M.rearrange(name)
  local pair, role = windows.find(), vim.w.acp_role
  local win = pair.transcript or pair.prompt
  local session = win and require('acp.session').of_buffer(vim.api.nvim_win_get_buf(win))
  if not session then
    return false
  end
  local from = vim.api.nvim_get_current_win()
  local view = pair.transcript and reading(pair.transcript)
  M.hide()
  M.show(session, name)
  pair = windows.find()
  if pair.transcript and view then
    vim.api.nvim_win_call(pair.transcript, function()
      vim.fn.winrestview(view)
    end)
  end
  windows.enter(role and pair[role] or from)
  return true
end

--- Brings what is on the screen in line with the options.
function M.restyle()
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    for role, win in pairs(windows.find(tab)) do
      layout.set_options(win, vim.w[win].acp_layout, role)
    end
  end
  require('acp.ui.status').forget()
  require('acp.ui.winbar').refresh()
  require('acp.ui.plan').refresh()
end

--- Closes the windows of a session in every tabpage.
---@param session integer
function M.close_session(session)
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    local pair = windows.find(tab)
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
