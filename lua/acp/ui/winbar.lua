--- The winbar of the transcript, the spinner in it, and the text for statuslines.

local text = require('acp.text')

local M = {}

local frames = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }
local interval = 120

---@class acp.Since
---@field state string
---@field at integer milliseconds

---@type table<integer, acp.Since> when each session entered its state
local since = {}
---@type table<integer, string> mode and model of each session, while they are known to be right
local labels = {}
---@type integer?
local timer

---@type table<string, { label: string, group: string, busy?: boolean }>
local states = {
  starting = { label = 'starting', group = 'AcpWinbarBusy', busy = true },
  ready = { label = 'ready', group = 'AcpMuted' },
  running = { label = 'working', group = 'AcpWinbarBusy', busy = true },
  waiting = { label = 'waits for you', group = 'AcpWinbarWaiting' },
  cancelling = { label = 'stopping', group = 'AcpWinbarBusy', busy = true },
  failed = { label = 'failed', group = 'AcpError' },
  closed = { label = 'closed', group = 'AcpMuted' },
}

---@param info acp.SessionInfo
---@return { label: string, group: string, busy?: boolean }
local function state_of(info)
  if info.pending_permissions > 0 then
    return states.waiting
  end
  return states[info.state] or { label = info.state, group = 'AcpMuted' }
end

---@param info acp.SessionInfo
local function note(info)
  local entry = since[info.id]
  if not entry or entry.state ~= info.state then
    since[info.id] = { state = info.state, at = vim.uv.now() }
  end
end

---@param seconds integer
---@return string
local function duration(seconds)
  if seconds < 60 then
    return ('%ds'):format(seconds)
  end
  return ('%dm%02ds'):format(math.floor(seconds / 60), seconds % 60)
end

---@param info acp.SessionInfo
---@return string such as "working 12s"
local function state_text(info)
  local state = state_of(info)
  if not state.busy then
    return state.label
  end
  note(info)
  local elapsed = math.floor((vim.uv.now() - since[info.id].at) / 1000)
  return ('%s %s'):format(state.label, duration(elapsed))
end

---@return string
local function spinner()
  return frames[math.floor(vim.uv.now() / interval) % #frames + 1] or ''
end

---@param info acp.SessionInfo
---@return string such as "45% context  ", empty when unknown
local function meter(info)
  local usage = info.usage
  if not usage or not usage.used or not usage.size or usage.size <= 0 then
    return ''
  end
  return ('%d%% context  '):format(math.floor(100 * usage.used / usage.size + 0.5))
end

---@param id integer
---@return string such as "Plan · Opus  ", empty when unknown
local function label(id)
  if labels[id] then
    return labels[id]
  end
  local settings = require('acp.settings')
  local known, names = settings.get(id), {}
  for _, category in ipairs({ 'mode', 'model' }) do
    local setting = known and settings.find(known, category)
    if setting then
      table.insert(names, text.shorten(settings.current_name(setting), 24))
    end
  end
  labels[id] = #names > 0 and table.concat(names, ' · ') .. '  ' or ''
  return labels[id]
end

--- What of the settings and the context there is room for: the agent and its state go first.
---@param info acp.SessionInfo
---@param room integer
---@return string
local function details(info, room)
  local all = label(info.id) .. meter(info)
  if vim.fn.strdisplaywidth(all) <= room then
    return all
  end
  return vim.fn.strdisplaywidth(meter(info)) <= room and meter(info) or ''
end

---@param info acp.SessionInfo
---@param width integer
---@return string line in the syntax of the option
local function line(info, width)
  local state = state_of(info)
  local agent = text.one_line(info.agent)
  local right = (state.busy and spinner() .. ' ' or '')
    .. state_text(info)
    .. (info.queued > 0 and ('  +%d queued'):format(info.queued) or '')
    .. ' '
  local room = width - vim.fn.strdisplaywidth(agent .. right) - 4
  local middle = details(info, room)
  return table.concat({
    '%#AcpWinbarAgent#',
    text.statusline(agent),
    '%#AcpWinbar#  ',
    -- 'winbar' itself would cut the beginning.
    text.statusline(text.shorten(info.title, room - vim.fn.strdisplaywidth(middle))),
    '%=%#AcpMuted#',
    text.statusline(middle),
    ('%%#%s#'):format(state.group),
    text.statusline(right),
  })
end

--- What the 'winbar' of a chat window evaluates.
---@return string
function M.render()
  local win = vim.g.statusline_winid or vim.api.nvim_get_current_win()
  if not vim.api.nvim_win_is_valid(win) then
    return ''
  end
  local session = require('acp.session')
  local id = session.of_buffer(vim.api.nvim_win_get_buf(win))
  local info = id and session.info(id)
  return info and line(info, vim.api.nvim_win_get_width(win)) or ''
end

--- Windows in this tabpage whose session is busy.
---@return integer[]
local function busy_windows()
  local session = require('acp.session')
  return vim.tbl_filter(function(win)
    local buf = vim.api.nvim_win_get_buf(win)
    local id = vim.b[buf].acp_role == 'transcript' and session.of_buffer(buf)
    local info = id and session.info(id)
    return info ~= nil and info ~= false and state_of(info).busy == true
  end, vim.api.nvim_tabpage_list_wins(0))
end

---@param wins integer[]
local function redraw(wins)
  for _, win in ipairs(wins) do
    if not pcall(vim.api.nvim__redraw, { win = win, winbar = true }) then
      vim.cmd.redrawstatus({ bang = true })
      return
    end
  end
end

local function stop()
  if timer then
    vim.fn.timer_stop(timer)
    timer = nil
  end
end

local function tick()
  local wins = busy_windows()
  if #wins == 0 then
    stop()
  end
  redraw(wins)
end

--- Starts the spinner where one is due; it stops by itself.
function M.refresh()
  if not timer and #busy_windows() > 0 then
    timer = vim.fn.timer_start(interval, tick, { ['repeat'] = -1 })
  end
end

---@param effect acp.SessionChanged
local function session_changed(effect)
  note(effect.info)
  redraw(require('acp.ui.window').windows_of(effect.info.id))
  -- The user's own statusline may show `status()`.
  vim.cmd.redrawstatus({ bang = true })
  M.refresh()
end

--- Starts listening to the core.
function M.attach()
  local client = require('acp.client')
  client.subscribe('session', session_changed)
  for _, changed in ipairs({ 'settings', 'ready' }) do
    ---@param effect acp.SessionEffect
    client.subscribe(changed, function(effect)
      labels[effect.session] = nil
      redraw(require('acp.ui.window').windows_of(effect.session))
    end)
  end
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    since[effect.session], labels[effect.session] = nil, nil
  end)
  vim.api.nvim_create_autocmd({ 'TabEnter', 'BufWinEnter' }, {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: a chat may have come into view',
    callback = function()
      M.refresh()
    end,
  })
end

--- A short text for a statusline: the session that is meant now and what it does. It is literal
--- however the statusline treats `%`.
---@return string
function M.status()
  local client = package.loaded['acp.client']
  if not client or not client.running() then
    return ''
  end
  local session = require('acp.session')
  local id = session.resolve()
  local info = id and session.info(id)
  if not info then
    return ''
  end
  local queued = info.queued > 0 and (' +%d'):format(info.queued) or ''
  return ('%s: %s%s'):format(text.no_percent(info.agent), state_text(info), queued)
end

return M
