--- The window of our own to choose from, where the user has no other picker. It knows nothing of
--- what is chosen, nor when it may take the keyboard.

local keyboard = require('acp.keyboard')
local text = require('acp.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.select')

---@param select acp.Select
---@return string[]
local function lines(select)
  local result = vim.list_extend({}, select.header)
  for i, item in ipairs(select.items) do
    local number = i <= 9 and tostring(i) or ' '
    table.insert(result, (' %s  %s '):format(number, select.label(item)))
  end
  return result
end

--- Rows that lines take when they are wrapped at this width.
---@param wrapped string[]
---@param width integer
---@return integer
local function count_rows(wrapped, width)
  local count = 0
  for _, line in ipairs(wrapped) do
    count = count + math.max(math.ceil(vim.fn.strdisplaywidth(line) / math.max(width, 1)), 1)
  end
  return count
end

---@param select acp.Select
---@param buf integer
local function map(select, buf)
  local function set(lhs, desc, fn)
    vim.keymap.set('n', lhs, function()
      if not select.deaf then
        fn()
      end
    end, { buffer = buf, nowait = true, desc = 'acp: ' .. desc })
  end
  local function choose()
    local index = vim.api.nvim_win_get_cursor(0)[1] - #select.header
    if index > 0 then
      select.finish(index)
    end
  end
  for lhs, fn in pairs(select.opts.keys or {}) do
    set(lhs, 'move in what is asked', fn)
  end
  for i = 1, math.min(#select.items, 9) do
    set(tostring(i), 'choose this one', function()
      select.finish(i)
    end)
  end
  set('<CR>', 'choose', choose)
  set('<2-LeftMouse>', 'choose', choose)
  for _, lhs in ipairs({ 'q', '<Esc>', '<C-c>' }) do
    set(lhs, 'choose nothing', function()
      select.finish()
    end)
  end
end

---@param select acp.Select
---@param win integer
---@return boolean
local function belongs(select, win)
  local partner = select.opts.partner
  return win == select.win or partner ~= nil and partner(win)
end

--- Who goes elsewhere, with a key or the mouse, chooses nothing; who closes what belongs to the
--- choices comes back to them.
---@param select acp.Select
local function left(select)
  local win = vim.api.nvim_get_current_win()
  local visited = select.visited
  if select.over or vim.fn.getcmdwintype() ~= '' or belongs(select, win) then
    return
  elseif visited and not vim.api.nvim_win_is_valid(visited) then
    select.visited = nil
    M.focus(select)
  else
    -- Where the user went, the cursor stays.
    select.origin = nil
    select.finish()
  end
end

---@param select acp.Select
local function watch_leaving(select)
  vim.api.nvim_create_autocmd('WinEnter', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: what is left is not chosen from',
    callback = function()
      local win = vim.api.nvim_get_current_win()
      if belongs(select, win) then
        select.visited = win ~= select.win and win or nil
      else
        -- What was closed is gone by then.
        require('acp.client').defer(function()
          left(select)
        end)
      end
      -- Nobody looks any more.
      return select.over
    end,
  })
end

--- What the window says at its foot while it takes keys.
---@param select acp.Select
---@return string
local function footer(select)
  local last = math.min(#select.items, 9)
  local numbers = last > 1 and ('1-%d'):format(last) or '1'
  return numbers .. ' or <CR> chooses, <Esc> does not'
end

---@param opts acp.SelectOpts
---@return boolean
local function fits_title(opts)
  return opts.place ~= nil or vim.fn.strdisplaywidth(opts.prompt) <= vim.o.columns - 6
end

---@param select acp.Select
---@return acp.FloatOpts
local function float_opts(select)
  local opts = select.opts
  local all = lines(select)
  local width = vim.fn.strdisplaywidth(footer(select)) + 4
  local title = fits_title(opts) and opts.prompt or nil
  for _, line in ipairs(vim.list_extend({ title or '' }, all)) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  return {
    lines = all,
    name = 'choice',
    width = width,
    title = title,
    place = opts.place and function(room)
      return opts.place(room, function(columns)
        return count_rows(all, columns)
      end)
    end,
    max_height = 0.8,
    wrap = true,
    keys = false,
    stay = true,
    enter = false,
    zindex = 60,
    on_close = function()
      select.finish()
    end,
  }
end

--- What there is to know, and a prompt that is too long for the title of the window, whole.
---@param opts acp.SelectOpts
---@return string[]
local function header(opts)
  local rows = {}
  local most = math.max(math.floor(vim.o.lines / 3) * (vim.o.columns - 6), 1)
  for _, line in ipairs(opts.about or {}) do
    table.insert(rows, ' ' .. text.shorten(line, most))
  end
  if not fits_title(opts) then
    table.insert(rows, 1, ' ' .. text.shorten(opts.prompt, most))
    table.insert(rows, '')
  end
  return rows
end

---@param select acp.Select
function M.show(select)
  local float = require('acp.ui.float')
  select.header = header(select.opts)
  local win, buf = float.show(float_opts(select))
  select.win = win
  vim.bo[buf].filetype = 'acp_select'
  local options = { cursorline = true, breakindent = true, breakindentopt = 'shift:4' }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  vim.api.nvim_win_set_cursor(win, { #select.header + 1, 0 })
  if #select.header > 0 then
    local last = { end_row = #select.header, hl_group = 'AcpMuted' }
    vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, last)
  end
  map(select, buf)
end

--- From now on keys choose, and the window says so.
---@param select acp.Select
local function listen(select)
  local win = select.win
  if win and vim.api.nvim_win_is_valid(win) then
    select.deaf = false
    require('acp.ui.float').update(win, { footer = footer(select) })
  end
end

---@param select acp.Select
function M.focus(select)
  local win = select.win
  if win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_get_current_win() ~= win then
    if not select.origin then
      select.origin = keyboard.take()
      watch_leaving(select)
    end
    vim.api.nvim_set_current_win(win)
    if select.deaf then
      vim.defer_fn(function()
        listen(select)
      end, keyboard.quiet)
    else
      listen(select)
    end
  end
end

---@param select acp.Select
function M.hide(select)
  local win = select.win
  select.win = nil
  if win and vim.api.nvim_win_is_valid(win) then
    local current = vim.api.nvim_get_current_win()
    if current == win or belongs(select, current) then
      keyboard.give_back(select.origin)
    end
    require('acp.ui.float').close(win)
  end
end

return M
