--- Floating windows: in the middle of something, kept there when the screen changes, gone with `q`.

local place = require('acp.ui.place')
local text = require('acp.text')

local M = {}

--- Width and height are columns and rows, or fractions of the room when below 1; without them the
--- content decides, up to `max_width` and `max_height`, by default all there is.
---@class (exact) acp.FloatOpts
---@field buf? integer the caller's own; else `lines`, in a buffer that goes with the window
---@field lines? string[]
---@field name? string what it is, for the status line, unless the buffer has a name already
---@field title? string
---@field footer? string
---@field width? number
---@field height? number
---@field max_width? number
---@field max_height? number
---@field relative? 'editor'|'win'|'cursor' the middle of the screen or of `win`; below the cursor
---@field win? integer for "win", default the current one
---@field place? fun(room: acp.Room): acp.Box instead of all that; asked again after each resize
---@field enter? boolean false: the cursor stays where it is
---@field stay? boolean true: it stays when the user goes to an ordinary window
---@field keys? boolean false: `q`, `<Esc>` and `g?` are not mapped
---@field group? string floats with the same word close together
---@field wrap? boolean
---@field focusable? boolean
---@field zindex? integer
---@field on_close? fun() called once, soon after the window has gone for whatever reason
---@field on_resize? fun(win: integer) called when it was fitted to another screen

---@class (exact) acp.Float
---@field opts acp.FloatOpts
---@field from integer the window that had the cursor

---@type table<integer, acp.Float> by window
local floats = {}

---@param words string?
---@param width integer
---@return string
local function caption(words, width)
  local short = text.shorten(words or '', width - 2)
  return short ~= '' and (' %s '):format(short) or ''
end

---@param opts acp.FloatOpts
---@param box acp.Box
---@return vim.api.keyset.win_config
local function config_for(opts, box)
  return {
    relative = 'editor',
    row = box.row,
    col = box.col,
    width = box.width,
    height = box.height,
    border = require('acp.ui.look').border(),
    title = caption(opts.title, box.width),
    title_pos = 'center',
    footer = caption(opts.footer, box.width),
    footer_pos = 'right',
    focusable = opts.focusable ~= false,
    zindex = opts.zindex,
  }
end

--- Brings a float to the place and size that fit its content and the screen now.
---@param win integer
function M.fit(win)
  local float = floats[win]
  if float and vim.api.nvim_win_is_valid(win) then
    local box = place.box(float.opts, vim.api.nvim_win_get_buf(win), float.from)
    vim.api.nvim_win_set_config(win, config_for(float.opts, box))
  end
end

--- Changes some of the options, such as the title, and fits the float again.
---@param win integer
---@param opts acp.FloatOpts
function M.update(win, opts)
  if floats[win] then
    floats[win].opts = vim.tbl_extend('force', floats[win].opts, opts)
    M.fit(win)
  end
end

--- The floats that close with this one, itself among them.
---@param win integer
---@return integer[]
local function together(win)
  local group = floats[win] and floats[win].opts.group
  if not group then
    return { win }
  end
  return vim.tbl_filter(function(other)
    return floats[other].opts.group == group
  end, vim.tbl_keys(floats))
end

--- Closes a float and what belongs to it. The cursor, when inside, goes back to where it was.
---@param win integer
function M.close(win)
  local wins = together(win)
  if vim.list_contains(wins, vim.api.nvim_get_current_win()) then
    local from = floats[win] and floats[win].from ---@type integer?
    while from and floats[from] and vim.list_contains(wins, from) do
      from = floats[from].from
    end
    if from and vim.api.nvim_win_is_valid(from) then
      vim.api.nvim_set_current_win(from)
    end
  end
  for _, each in ipairs(wins) do
    pcall(vim.api.nvim_win_close, each, true)
  end
end

---@param win integer
local function closed(win)
  local float = floats[win]
  if not float then
    return
  end
  local wins = together(win)
  floats[win] = nil
  require('acp.client').defer(function()
    for _, other in ipairs(wins) do
      if floats[other] then
        M.close(other)
      end
    end
    if float.opts.on_close then
      float.opts.on_close()
    end
  end)
end

--- The user has gone to an ordinary window: what was there to be looked at is in the way.
local function left()
  local win = vim.api.nvim_get_current_win()
  if vim.fn.getcmdwintype() ~= '' or vim.api.nvim_win_get_config(win).relative ~= '' then
    return
  end
  for other, float in pairs(floats) do
    if float.opts.enter ~= false and not float.opts.stay then
      M.close(other)
    end
  end
end

local function refit()
  for win, float in pairs(floats) do
    M.fit(win)
    if float.opts.on_resize and vim.api.nvim_win_is_valid(win) then
      float.opts.on_resize(win)
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
  on('WinClosed', 'acp: forget a float', function(event)
    closed(tonumber(event.match) --[[@as integer]])
  end)
  on('WinEnter', 'acp: close floats that were left', function()
    if next(floats) then
      require('acp.client').defer(left)
    end
  end)
  on({ 'VimResized', 'TabEnter' }, 'acp: keep floats on the screen', refit)
end

---@param buf integer
---@param plain boolean whether there is nothing to do but to read
local function map_keys(buf, plain)
  for _, lhs in ipairs({ 'q', '<Esc>', plain and 'g?' or nil }) do
    vim.keymap.set('n', lhs, function()
      M.close(vim.api.nvim_get_current_win())
    end, { buffer = buf, nowait = true, desc = 'acp: close' })
  end
  if not plain then
    vim.keymap.set('n', 'g?', function()
      require('acp.ui.help').show()
    end, { buffer = buf, nowait = true, desc = 'acp: show these keys' })
  end
end

---@param lines string[]
---@return integer buf
local function scratch(lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = 'wipe'
  return buf
end

--- A status line for all windows tells the name of the buffer, which would be "[Scratch]".
---@param buf integer
---@param name? string
local function set_name(buf, name)
  if not name or vim.api.nvim_buf_get_name(buf) ~= '' then
    return
  end
  local full = 'acp://' .. text.name_part(name)
  if not pcall(vim.api.nvim_buf_set_name, buf, full) then
    -- There is another one.
    pcall(vim.api.nvim_buf_set_name, buf, ('%s#%d'):format(full, buf))
  end
end

---@param win integer
---@param opts acp.FloatOpts
local function set_options(win, opts)
  local options = { wrap = opts.wrap == true, linebreak = true, winfixbuf = true }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

--- Opens a float. Unless `enter` is false it takes the cursor, and insert mode ends.
---@param opts acp.FloatOpts
---@return integer win, integer buf
function M.show(opts)
  attach()
  local from = vim.api.nvim_get_current_win()
  opts = vim.tbl_extend('force', { win = from }, opts)
  local buf = opts.buf or scratch(opts.lines or {})
  set_name(buf, opts.name)
  if opts.keys ~= false then
    map_keys(buf, not opts.buf)
  end
  local enter = opts.enter ~= false
  if enter and vim.fn.mode():match('^[iR]') then
    vim.cmd.stopinsert()
  end
  local config = config_for(opts, place.box(opts, buf, from))
  config.style = 'minimal'
  local win = vim.api.nvim_open_win(buf, enter, config)
  floats[win] = { opts = opts, from = from }
  set_options(win, opts)
  return win, buf
end

---@param rows string[][]
---@return string[] lines with the columns aligned
local function align(rows)
  local widths = {} ---@type table<integer, integer>
  for _, row in ipairs(rows) do
    for column, cell in ipairs(row) do
      widths[column] = math.max(widths[column] or 0, vim.fn.strdisplaywidth(cell))
    end
  end
  return vim.tbl_map(function(row)
    local line = ''
    for column, cell in ipairs(row) do
      local pad = (widths[column] or 0) - vim.fn.strdisplaywidth(cell) + 2
      line = line .. cell .. (' '):rep(pad)
    end
    return (' ' .. (line:match('.*%S') or '') .. ' ')
  end, rows)
end

--- Shows lines to read and dismiss.
---@param title string its first word is the name
---@param lines string[]
---@return integer buf
function M.open(title, lines)
  local name = title:match('%w+') or title
  local _, buf = M.show({ title = title, name = name:lower(), lines = lines, wrap = true })
  return buf
end

--- Shows rows of cells as aligned columns.
---@param title string
---@param rows string[][]
---@return integer buf
function M.table(title, rows)
  return M.open(title, align(rows))
end

return M
