--- The winbar of the transcript and the spinner in it. A winbar is drawn far more often than it
--- changes: its text is a variable of the window, made anew when something has happened.

local look = require('acp.ui.look')
local status = require('acp.ui.status')
local text = require('acp.text')

local M = {}

local interval = 120

---@type integer?
local timer

---@return string
local function spinner()
  local frames = look.glyphs().spinner
  return frames[math.floor(vim.uv.now() / interval) % #frames + 1] or ''
end

---@class (exact) acp.WinbarPart
---@field text string
---@field rank integer the first to be kept where room is scarce is 1

--- The parts between title and state, as they stand there.
---@param info acp.SessionInfo
---@param win integer
---@return acp.WinbarPart[]
local function parts(info, win)
  local follow = package.loaded['acp.follow']
  local following = follow and follow.shown(win) and look.glyphs().eye .. ' follows' or ''
  local plan = status.plan(info.id)
  return {
    { text = following, rank = 4 },
    { text = status.pending(info.id), rank = 2 },
    { text = plan ~= '' and 'plan ' .. plan or '', rank = 1 },
    { text = status.names(info.id), rank = 5 },
    { text = status.context(info), rank = 3 },
    { text = status.cost(info), rank = 6 },
  }
end

--- What of the parts there is room for.
---@param all acp.WinbarPart[]
---@param room integer
---@return string
local function fitting(all, room)
  local sorted, kept = vim.list_extend({}, all), {} ---@type acp.WinbarPart[], table
  table.sort(sorted, function(a, b)
    return a.rank < b.rank
  end)
  for _, part in ipairs(sorted) do
    local width = part.text ~= '' and vim.fn.strdisplaywidth(part.text) + 2 or 0
    if width <= room then
      kept[part], room = true, room - width
    end
  end
  local shown = ''
  for _, part in ipairs(all) do
    shown = shown .. (kept[part] and part.text ~= '' and part.text .. '  ' or '')
  end
  return shown
end

--- A title is worth this many cells before the last of the parts, and none below a few.
local title_room, title_least = 16, 8

---@param title string
---@param room integer
---@return string
local function title_in(title, room)
  local short = text.shorten(title, room)
  return (room >= title_least or short == text.one_line(title)) and short or ''
end

---@param info acp.SessionInfo
---@param win integer
---@return string line in the syntax of the option
local function make(info, win)
  local width = vim.api.nvim_win_get_width(win)
  local state = status.state(info)
  local right = (state.busy and spinner() .. ' ' or '')
    .. status.state_text(info)
    .. (info.queued > 0 and ('  +%d queued'):format(info.queued) or '')
    .. ' '
  right = text.shorten(right, width)
  local agent = text.shorten(info.agent, width - vim.fn.strdisplaywidth(right) - 2)
  -- As if hours had passed already: parts shall not come and go with the clock.
  local clock = state.busy and math.max(#state.label + 7 - #status.state_text(info), 0) or 0
  local room = math.max(width - vim.fn.strdisplaywidth(agent .. right) - clock - 4, 0)
  local wanted = math.min(vim.fn.strdisplaywidth(text.one_line(info.title)), title_room)
  local middle = fitting(parts(info, win), room - (room > 2 * title_room and wanted or 0))
  return table.concat({
    '%#AcpWinbarAgent#',
    text.statusline(agent),
    agent ~= '' and '%#AcpWinbar#  ' or '',
    -- 'winbar' itself would cut the beginning.
    text.statusline(title_in(info.title, room - vim.fn.strdisplaywidth(middle))),
    '%=%#AcpMuted#',
    text.statusline(middle),
    ('%%#%s#'):format(state.group),
    text.statusline(right),
  })
end

---@param win integer
---@return string
local function fresh(win)
  if not vim.api.nvim_win_is_valid(win) then
    return ''
  end
  local session = require('acp.session')
  local id = session.of_buffer(vim.api.nvim_win_get_buf(win))
  local info = id and session.info(id)
  return info and make(info, win) or ''
end

--- For the option: only a variable of the window is looked up when it is drawn.
M.option = "%{%get(w:,'acp_winbar','')%}"

---@param win integer
local function redraw(win)
  if not pcall(vim.api.nvim__redraw, { win = win, winbar = true }) then
    vim.cmd.redrawstatus({ bang = true })
  end
end

--- Makes the text of windows anew and draws those that have changed.
---@param wins integer[]
function M.update(wins)
  for _, win in ipairs(wins) do
    local line = fresh(win)
    if vim.api.nvim_win_is_valid(win) and line ~= vim.w[win].acp_winbar then
      vim.w[win].acp_winbar = line
      if vim.wo[win].winbar ~= '' then
        redraw(win)
      end
    end
  end
end

---@param busy? boolean only those whose session is busy
---@return integer[] windows of transcripts in this tabpage
local function transcripts(busy)
  local session = require('acp.session')
  return vim.tbl_filter(function(win)
    local buf = vim.api.nvim_win_get_buf(win)
    local id = vim.b[buf].acp_role == 'transcript' and session.of_buffer(buf)
    local info = id and session.info(id)
    return info ~= nil and info ~= false and (not busy or status.state(info).busy == true)
  end, vim.api.nvim_tabpage_list_wins(0))
end

local function tick()
  local wins = transcripts(true)
  if #wins == 0 and timer then
    vim.fn.timer_stop(timer)
    timer = nil
  end
  M.update(wins)
end

--- Makes all texts anew, and starts the spinner where one is due; it stops by itself.
function M.refresh()
  M.update(transcripts())
  if not timer and #transcripts(true) > 0 then
    timer = vim.fn.timer_start(interval, tick, { ['repeat'] = -1 })
  end
end

---@param session integer
local function changed(session)
  M.update(require('acp.ui.window').windows_of(session))
end

---@type string?
local said

---@param effect acp.SessionChanged
local function session_changed(effect)
  status.note(effect.info)
  status.expire()
  changed(effect.info.id)
  -- The user's own statusline may show `status()`.
  local line = status.line()
  if line ~= said then
    said = line
    vim.cmd.redrawstatus({ bang = true })
  end
  if not timer and status.state(effect.info).busy then
    M.refresh()
  end
end

--- Starts listening to the core.
function M.attach()
  local client = require('acp.client')
  client.subscribe('session', session_changed)
  for _, type in ipairs({ 'settings', 'ready' }) do
    ---@param effect acp.SessionEffect
    client.subscribe(type, function(effect)
      status.forget(effect.session)
      changed(effect.session)
    end)
  end
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    status.drop(effect.session)
    status.expire()
  end)
  local group = vim.api.nvim_create_augroup('acp', { clear = false })
  vim.api.nvim_create_autocmd({ 'TabEnter', 'BufWinEnter', 'VimResized', 'WinResized' }, {
    group = group,
    desc = 'acp: a chat may have come into view, or have another width',
    callback = function()
      M.refresh()
    end,
  })
end

return M
