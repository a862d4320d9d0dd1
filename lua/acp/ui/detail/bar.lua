--- What stands above and below a detail: what it is, its tabs, how it goes.

local look = require('acp.ui.look')
local text = require('acp.text')

local M = {}

--- What 'winbar' evaluates.
M.option = "%{%v:lua.require'acp.ui.detail.bar'.render()%}"

local interval = 120

---@type integer?
local timer

---@type table<string, { label: string, group: string }>
local states = {
  pending = { label = 'waits', group = 'AcpMuted' },
  in_progress = { label = 'runs', group = 'AcpBusy' },
  completed = { label = 'done', group = 'AcpDone' },
  failed = { label = 'failed', group = 'AcpError' },
  cancelled = { label = 'cancelled', group = 'AcpMuted' },
  rejected = { label = 'rejected', group = 'AcpMuted' },
  unfinished = { label = 'outcome unknown', group = 'AcpMuted' },
}

---@param seconds number
---@return string
local function duration(seconds)
  if seconds < 10 then
    return ('%.1fs'):format(seconds)
  elseif seconds < 60 then
    return ('%ds'):format(seconds)
  end
  return ('%dm%02ds'):format(math.floor(seconds / 60), seconds % 60)
end

---@param detail acp.Detail
---@return string # in the syntax of the option
local function state(detail)
  local head = detail.head
  if not head then
    return '%#AcpMuted# '
  elseif detail.over then
    return '%#AcpMuted#gone: this is the last that was known '
  end
  local known = states[head.status] or { label = head.status, group = 'AcpMuted' }
  local words = known.label
  local elapsed = head.live and (vim.uv.now() - detail.since) / 1000 or head.elapsed
  if head.live then
    local frames = look.glyphs().spinner
    words = ('%s %s'):format(frames[math.floor(vim.uv.now() / interval) % #frames + 1], words)
  end
  -- Less is not worth a word.
  if elapsed and elapsed >= 1 and head.status ~= 'pending' then
    words = ('%s %s'):format(words, duration(elapsed))
  end
  return ('%%#%s#%s '):format(known.group, text.statusline(words))
end

---@param head acp.DetailHead
---@return string # in the syntax of the option
local function lines_changed(head)
  local added, removed = 0, 0
  for _, file in ipairs(head.files) do
    added, removed = added + file.added, removed + file.removed
  end
  if added + removed == 0 then
    return ''
  end
  local minus = look.ascii() and '-' or '−'
  return ('%%#AcpPlus#+%d %%#AcpMinus#%s%d  '):format(added, minus, removed)
end

--- The tabs; where there is no room for all names, only that of the current one.
---@param detail acp.Detail
---@param room integer
---@return string # in the syntax of the option
local function tabs(detail, room)
  local parts, all = {}, detail.head and detail.head.tabs or {}
  local width = 0
  for _, tab in ipairs(all) do
    width = width + vim.fn.strdisplaywidth(tab.label) + 4
  end
  for number, tab in ipairs(all) do
    local current = tab.id == detail.tab
    local label = (current or width <= room) and ' ' .. text.statusline(tab.label) or ''
    local group = current and 'AcpTabCurrent' or 'AcpTab'
    table.insert(parts, ('%%#%s# %d%s '):format(group, number, label))
  end
  return table.concat(parts) .. '%#NormalFloat#'
end

--- The file that a row belongs to, for the side that has the new text.
---@param head acp.DetailHead
---@return string
local function files(head)
  local first = head.files[1]
  if not first then
    return ''
  end
  return #head.files > 1 and ('%d files'):format(#head.files) or vim.fs.basename(first.path)
end

--- The winbar of the window that is being drawn.
---@return string
function M.render()
  local win = vim.g.statusline_winid or vim.api.nvim_get_current_win()
  if not vim.api.nvim_win_is_valid(win) then
    return ''
  end
  local detail = require('acp.ui.detail').of(vim.api.nvim_win_get_buf(win))
  if not detail then
    return ''
  end
  local head, right = detail.head, detail.right and detail.right.win
  local changed = head and lines_changed(head) or ''
  if head and win == right then
    local words = text.statusline(files(head))
    return ('%%#AcpFile# %s%%=%s%s'):format(words, changed, state(detail))
  end
  local width = vim.api.nvim_win_get_width(win)
  if right then
    return tabs(detail, width)
  end
  local rest = changed .. state(detail)
  local cells = vim.api.nvim_eval_statusline(rest, { maxwidth = width }).width
  return ('%s%%=%s'):format(tabs(detail, width - cells), rest)
end

--- The caption of the window.
---@param detail acp.Detail
---@return string
function M.title(detail)
  local head = detail.head
  if not head then
    return ''
  end
  local kind = head.kind ~= '' and head.kind ~= 'other' and head.kind .. ': ' or ''
  return text.one_line(kind .. head.title)
end

--- The keys worth knowing.
---@param detail acp.Detail
---@return string
function M.footer(detail)
  local words = { 'q closes' }
  if detail.head and #detail.head.tabs > 1 then
    table.insert(words, 1, '<Tab> next')
  end
  if detail.tab == 'diff' then
    table.insert(words, 1, detail.right and 's one column' or 's side by side')
    local store = package.loaded['acp.review.store']
    if store and store.count(detail.opts.session) > 0 then
      table.insert(words, 1, 'ga accept  gr reject')
    end
  end
  table.insert(words, 'g? keys')
  return detail.opts.enter == false and '' or table.concat(words, '  ')
end

---@return boolean any
local function redraw_live()
  local any = false
  for _, detail in ipairs(require('acp.ui.detail').list()) do
    local live = detail.head and detail.head.live and not detail.over
    for _, win in ipairs(live and require('acp.ui.detail.window').windows(detail) or {}) do
      any = true
      if not pcall(vim.api.nvim__redraw, { win = win, winbar = true }) then
        vim.cmd.redrawstatus({ bang = true })
      end
    end
  end
  return any
end

local function tick()
  if not redraw_live() and timer then
    vim.fn.timer_stop(timer)
    timer = nil
  end
end

--- Draws the bars anew, and again while something runs.
function M.refresh()
  for _, detail in ipairs(require('acp.ui.detail').list()) do
    for _, win in ipairs(require('acp.ui.detail.window').windows(detail)) do
      pcall(vim.api.nvim__redraw, { win = win, winbar = true })
    end
  end
  if redraw_live() and not timer then
    timer = vim.fn.timer_start(interval, tick, { ['repeat'] = -1 })
  end
end

return M
