--- The agent's plan: a small window over the corner of the transcript while there is something left
--- to do, and the whole of it on demand.

local look = require('acp.ui.look')
local plans = require('acp.plan')
local text = require('acp.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.plan')

--- The corner is worth covering only in a window of this size.
local least_width, least_height = 60, 12
local most_rows, most_columns = 8, 48

---@type table<string, string>
local groups =
  { completed = 'AcpPlanDone', in_progress = 'AcpPlanCurrent', pending = 'AcpPlanPending' }

---@param status string
---@return string
local function mark(status)
  local glyphs = look.glyphs()
  local marks = { completed = glyphs.done, in_progress = glyphs.current, pending = glyphs.pending }
  return marks[status] or glyphs.pending
end

---@param steps acp.PlanEntry[]
---@return acp.PlanEntry[] those around the current one
local function around(steps)
  local first = math.min(plans.current(steps) - math.floor(most_rows / 2), #steps - most_rows + 1)
  first = math.max(first, 1)
  return vim.list_slice(steps, first, math.min(first + most_rows - 1, #steps))
end

---@class (exact) acp.PlanView
---@field win integer
---@field buf integer

---@type table<integer, acp.PlanView> by tabpage
local views = {}

---@param tab integer
local function close(tab)
  local view = views[tab]
  views[tab] = nil
  if view and vim.api.nvim_win_is_valid(view.win) then
    pcall(vim.api.nvim_win_close, view.win, true)
  end
end

---@param buf integer
---@param steps acp.PlanEntry[]
---@param width integer
local function fill(buf, steps, width)
  local lines = vim.tbl_map(function(step)
    return ('%s %s'):format(mark(step.status), text.shorten(step.content, width - 2))
  end, steps)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for i, step in ipairs(steps) do
    vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, 0, {
      end_row = i,
      hl_group = groups[step.status],
    })
  end
end

---@param transcript integer
---@param steps acp.PlanEntry[]
---@param progress string
---@return vim.api.keyset.win_config
local function config_for(transcript, steps, progress)
  local room = math.min(math.floor(vim.api.nvim_win_get_width(transcript) * 0.4), most_columns)
  local width = 10
  for _, step in ipairs(steps) do
    width = math.max(width, vim.fn.strdisplaywidth(text.shorten(step.content, room)) + 2)
  end
  return {
    relative = 'win',
    win = transcript,
    anchor = 'NE',
    row = 0,
    col = vim.api.nvim_win_get_width(transcript),
    width = math.min(width, room),
    height = #steps,
    border = look.border(),
    title = (' Plan %s '):format(progress),
    title_pos = 'right',
    focusable = false,
    zindex = 35,
  }
end

---@param transcript integer
---@return acp.Settings?
local function settings_at(transcript)
  local session = require('acp.session')
  local id = session.of_buffer(vim.api.nvim_win_get_buf(transcript))
  local info = id and session.info(id)
  if not info or info.state == 'closed' or info.state == 'failed' then
    return nil
  end
  return require('acp.settings').get(info.id)
end

---@type boolean? what the user has said since
local wanted

---@param transcript integer?
---@return boolean
local function has_room(transcript)
  local keep = wanted
  if keep == nil then
    keep = require('acp.config').get().chat.plan == 'float'
  end
  return transcript ~= nil
    and keep
    and vim.api.nvim_win_get_width(transcript) >= least_width
    and vim.api.nvim_win_get_height(transcript) >= least_height
end

---@param tab integer
---@param config vim.api.keyset.win_config
---@return acp.PlanView
local function open(tab, config)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  config.style = 'minimal'
  config.noautocmd = true
  local win = vim.api.nvim_open_win(buf, false, config)
  for name, value in pairs({ wrap = false, winfixbuf = true }) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  views[tab] = { win = win, buf = buf }
  return views[tab]
end

--- Brings the small window of this tabpage up to date: there, elsewhere, or gone.
function M.refresh()
  local tab = vim.api.nvim_get_current_tabpage()
  local transcript = require('acp.ui.pair').find().transcript
  local settings = has_room(transcript) and settings_at(transcript --[[@as integer]])
  local steps = settings and plans.at_work(settings)
  if not transcript or not settings or not steps then
    return close(tab)
  end
  local shown = around(steps)
  local config = config_for(transcript, shown, plans.progress(settings))
  local view = views[tab]
  if view and vim.api.nvim_win_is_valid(view.win) then
    vim.api.nvim_win_set_config(view.win, config)
  else
    view = open(tab, config)
  end
  fill(view.buf, shown, config.width --[[@as integer]])
end

--- The whole plan while it is open.
---@type { win: integer, buf: integer, session: integer }?
local whole

---@class (exact) acp.PlanLine
---@field text string
---@field group? string

---@param markdown string
---@return acp.PlanLine[]
local function prose(markdown)
  return vim.tbl_map(function(line)
    return { text = ' ' .. text.one_line(line) }
  end, vim.split(markdown, '\r?\n', { trimempty = true }))
end

---@param plan acp.Plan
---@return acp.PlanLine[]
local function page(plan)
  if plan.entries then
    return vim.tbl_map(function(step)
      local content = ('%s %s'):format(mark(step.status), text.one_line(step.content))
      return { text = (' %s '):format(content), group = groups[step.status] }
    end, plan.entries)
  end
  local words = plan.markdown or plans.read(plan.file or '')
  if words then
    return prose(words)
  end
  return { { text = ' ' .. text.one_line(plan.file or 'nothing yet') } }
end

---@param settings acp.Settings?
---@return acp.PlanLine[]
local function pages(settings)
  local lines = {}
  for i, plan in ipairs(settings and settings.plans or {}) do
    if i > 1 then
      table.insert(lines, { text = '' })
    end
    if plan.file then
      table.insert(lines, { text = ' ' .. text.one_line(plan.file), group = 'AcpMuted' })
    end
    vim.list_extend(lines, page(plan))
  end
  return lines
end

---@param buf integer
---@param lines acp.PlanLine[]
local function write(buf, lines)
  vim.bo[buf].modifiable = true
  local texts = vim.tbl_map(function(line)
    return line.text
  end, lines)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, texts)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for i, line in ipairs(lines) do
    vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, 0, {
      end_row = line.group and i or nil,
      hl_group = line.group,
    })
  end
end

---@param session integer
---@return acp.PlanLine[] lines, string title
local function contents(session)
  local settings = require('acp.settings').get(session)
  local progress = settings and plans.progress(settings) or ''
  return pages(settings), progress ~= '' and 'Plan ' .. progress or 'Plan'
end

--- Shows the whole plan of a session, to read and to watch.
---@param info acp.SessionInfo
function M.open(info)
  local lines, title = contents(info.id)
  if #lines == 0 then
    return require('acp.notify').show(('%s has no plan'):format(text.one_line(info.agent)))
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  write(buf, lines)
  local win = require('acp.ui.float').show({
    buf = buf,
    name = 'plan',
    title = title,
    max_width = 100,
    max_height = 0.8,
    wrap = true,
    on_close = function()
      whole = nil
    end,
  })
  vim.api.nvim_set_option_value('breakindent', true, { win = win, scope = 'local' })
  vim.api.nvim_set_option_value('breakindentopt', 'shift:2', { win = win, scope = 'local' })
  whole = { win = win, buf = buf, session = info.id }
end

---@param effect acp.SessionEffect
local function rewrite(effect)
  if whole and whole.session == effect.session and vim.api.nvim_buf_is_valid(whole.buf) then
    local lines, title = contents(effect.session)
    write(whole.buf, lines)
    require('acp.ui.float').update(whole.win, { title = title })
  end
end

--- Keeps the plan in view from now on, or does not.
---@param keep boolean
function M.keep(keep)
  wanted = keep
  M.refresh()
end

local due = false

--- Windows are still being arranged when their events come.
local function soon()
  if not due then
    due = true
    require('acp.client').defer(function()
      due = false
      M.refresh()
    end)
  end
end

--- Starts listening to the core.
function M.attach()
  local client = require('acp.client')
  for _, type in ipairs({ 'settings', 'ready', 'closed', 'failed' }) do
    client.subscribe(type, soon)
  end
  client.subscribe('settings', rewrite)
  local events = { 'TabEnter', 'VimResized', 'WinResized', 'WinClosed', 'BufWinEnter' }
  vim.api.nvim_create_autocmd(events, {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: keep the plan at its place',
    callback = soon,
  })
end

return M
