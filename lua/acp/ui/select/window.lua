--- The window of our own to choose from. It knows nothing of what is chosen, nor when it may take
--- the keyboard.

local content = require('acp.ui.select.content')
local keyboard = require('acp.keyboard')

local M = {}

--- A choice that lasts waits for its second key.
---@class (exact) acp.Armed
---@field item any
---@field confirmations acp.Confirmation[]
---@field ready boolean whether the key would count by now
---@field spent? boolean another key was pressed
---@field stop fun()

--- How long keys of a choice before are ignored, in milliseconds.
local settle = 300

local namespace = vim.api.nvim_create_namespace('acp.select')

---@param select acp.Select
---@return integer?
local function window(select)
  local win = select.win
  return win and vim.api.nvim_win_is_valid(win) and win or nil
end

---@param select acp.Select
---@return acp.FloatOpts
local function float_opts(select)
  local opts, all = select.opts, content.of(select)
  local width = vim.fn.strdisplaywidth(all.footer) + 4
  local title = content.title(opts)
  for _, line in ipairs(vim.list_extend({ title or '' }, all.lines)) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  return {
    width = width,
    title = title,
    footer = select.deaf and '' or all.footer,
    place = opts.place and function(room)
      return opts.place(room, function(columns)
        return content.rows(all.lines, columns)
      end)
    end,
  }
end

--- A line that is no item does not look chosen.
---@param select acp.Select
---@param header integer
local function mark_cursor(select, header)
  local win = window(select)
  if win then
    local chosen = vim.api.nvim_win_get_cursor(win)[1] > header
    vim.api.nvim_set_option_value('cursorline', chosen, { win = win, scope = 'local' })
  end
end

--- Writes what stands in the window now.
---@param select acp.Select
local function draw(select)
  local win = window(select)
  if not win then
    return
  end
  local buf, all = vim.api.nvim_win_get_buf(win), content.of(select)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, all.lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  if all.header > 0 then
    local muted = { end_row = all.header, hl_group = 'AcpMuted' }
    vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, muted)
  end
  for i in ipairs(all.lines) do
    if all.keys[i] then
      local key = { end_col = 2, hl_group = 'AcpKey' }
      vim.api.nvim_buf_set_extmark(buf, namespace, all.header + i - 1, 1, key)
    end
  end
  require('acp.ui.float').update(win, float_opts(select))
  local asks = select.opts.question or select.armed
  pcall(vim.api.nvim_win_set_cursor, win, { asks and math.max(all.header, 1) or all.header + 1, 0 })
  mark_cursor(select, all.header)
  if select.opts.on_draw then
    select.opts.on_draw()
  end
end

---@param select acp.Select
local function disarm(select)
  local armed = select.armed
  if armed then
    select.armed = nil
    armed.stop()
    draw(select)
  end
end

--- The letters of what is armed confirm, and every other key takes it back.
---@param select acp.Select
---@param armed acp.Armed
local function watch_armed(select, armed)
  armed.stop = keyboard.listen(function(typed)
    local confirms = false
    for _, it in ipairs(armed.confirmations) do
      confirms = confirms or it.letter == typed
    end
    if not (confirms and armed.ready) then
      armed.ready, armed.spent = false, true
      -- Not before its own meaning, which is none as long as this is armed.
      require('acp.client').defer(function()
        if select.armed == armed then
          disarm(select)
        end
      end)
    end
  end)
  vim.defer_fn(function()
    if select.armed == armed and not select.over and not armed.spent then
      armed.ready = true
      local win = window(select)
      if win then
        require('acp.ui.float').update(win, float_opts(select))
      end
    end
  end, keyboard.quiet)
end

---@param select acp.Select
---@param armed acp.Armed
---@param letter string
local function confirm(select, armed, letter)
  for _, it in ipairs(armed.confirmations) do
    if it.letter == letter and armed.ready then
      return select.finish(it.item)
    end
  end
end

---@param select acp.Select
---@param buf integer
---@param all acp.SelectContent
local function map_choices(select, buf, all)
  local function set(lhs, desc, fn)
    vim.keymap.set('n', lhs, function()
      if select.armed then
        confirm(select, select.armed, lhs)
      elseif not select.deaf and not select.over then
        fn()
      end
    end, { buffer = buf, nowait = true, desc = 'acp: ' .. desc })
  end
  local function choose()
    local index = vim.api.nvim_win_get_cursor(0)[1] - all.header
    if index > 0 and select.items[index] ~= nil then
      select.choose(select.items[index])
    end
  end
  local moment = select.opts.moment
  for _, keys in ipairs({ moment and moment.keys or {}, select.opts.keys or {} }) do
    for lhs, key in pairs(keys) do
      set(lhs, key.desc, key.run)
    end
  end
  for i, item in ipairs(select.items) do
    if all.keys[i] then
      set(all.keys[i], 'choose this one', function()
        select.choose(item)
      end)
    end
  end
  set('<CR>', 'choose the line of the cursor', choose)
  set('<2-LeftMouse>', 'choose the line of the cursor', choose)
  for _, lhs in ipairs({ 'q', '<Esc>', '<C-c>' }) do
    set(lhs, 'choose nothing', function()
      select.finish()
    end)
  end
  return set
end

---@param select acp.Select
---@param buf integer
local function map(select, buf)
  local all = content.of(select)
  local set = map_choices(select, buf, all)
  -- What confirms is no item's key.
  for _, lhs in ipairs(select.opts.confirm and { 'Y', 'S' } or {}) do
    set(lhs, 'confirm a choice that lasts', function() end)
  end
  set('g?', 'show these keys', function()
    require('acp.ui.help').show()
  end)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = buf,
    desc = 'acp: show what <CR> would choose',
    callback = function()
      mark_cursor(select, content.of(select).header)
    end,
  })
end

---@param select acp.Select
---@param win integer
---@return boolean
local function belongs(select, win)
  local partner = select.opts.partner
  return win == select.win or vim.w[win].acp_role == 'help' or partner ~= nil and partner(win)
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
      if select.over then
        -- Nobody looks any more.
        return true
      end
      local win = vim.api.nvim_get_current_win()
      if belongs(select, win) then
        select.visited = win ~= select.win and win or nil
      else
        -- What was closed is gone by then.
        require('acp.client').defer(function()
          left(select)
        end)
      end
    end,
  })
end

--- Opens the window, without the cursor.
---@param select acp.Select
function M.show(select)
  local opts = vim.tbl_extend('force', float_opts(select), {
    lines = content.of(select).lines,
    name = 'choice',
    max_height = 0.8,
    wrap = true,
    keys = false,
    stay = true,
    enter = false,
    zindex = 60,
    on_close = function()
      select.finish()
    end,
  })
  local win, buf = require('acp.ui.float').show(opts)
  select.win = win
  vim.bo[buf].filetype = 'acp_select'
  local options = { breakindent = true, breakindentopt = 'shift:4' }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  draw(select)
end

--- From now on keys choose, and the window says so.
---@param select acp.Select
local function listen(select)
  local win = window(select)
  if win and not select.over then
    select.deaf = false
    if select.uncatch then
      select.uncatch()
    end
    if not select.mapped then
      select.mapped = true
      map(select, vim.api.nvim_win_get_buf(win))
    end
    require('acp.ui.float').update(win, float_opts(select))
  end
end

--- For a moment keys do nothing here: those of what came by itself go to where the cursor was.
---@param select acp.Select
---@param buf integer
local function be_deaf(select, buf)
  local unasked = select.opts.moment and select.opts.moment.how == 'unasked'
  if unasked then
    select.uncatch = keyboard.catch(buf, function(keys)
      select.give_up()
      -- Insert mode begins before the first of them.
      keyboard.retype(keys)
    end)
  end
  vim.defer_fn(function()
    listen(select)
  end, unasked and keyboard.quiet or settle)
end

--- Gives the window the keyboard.
---@param select acp.Select
---@return boolean
function M.focus(select)
  local win = window(select)
  if not win then
    return false
  elseif vim.api.nvim_get_current_win() == win then
    return true
  end
  if not select.origin then
    select.origin = keyboard.take()
    watch_leaving(select)
  end
  vim.api.nvim_set_current_win(win)
  if select.deaf then
    be_deaf(select, vim.api.nvim_win_get_buf(win))
  else
    listen(select)
  end
  return true
end

--- Asks for the second key of a choice that lasts.
---@param select acp.Select
---@param item any
---@param confirmations acp.Confirmation[]
function M.arm(select, item, confirmations)
  ---@type acp.Armed
  local armed = { item = item, confirmations = confirmations, ready = false, stop = function() end }
  select.armed = armed
  if not window(select) then
    -- It was chosen in a picker of others.
    select.own, select.origin, select.deaf = true, nil, false
    M.show(select)
    M.focus(select)
  end
  draw(select)
  watch_armed(select, armed)
end

--- Takes the window off the screen, and gives the keyboard back.
---@param select acp.Select
function M.hide(select)
  local win = window(select)
  select.win = nil
  if select.uncatch then
    select.uncatch()
  end
  if select.armed then
    select.armed.stop()
  end
  if win then
    local current = vim.api.nvim_get_current_win()
    if current == win or belongs(select, current) then
      keyboard.give_back(select.origin)
    end
    require('acp.ui.float').close(win)
  end
end

return M
