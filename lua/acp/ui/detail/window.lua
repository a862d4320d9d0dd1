--- The windows of a detail: one, or two side by side for the old and the new text of a diff, that
--- scroll, resize and close together.

local bar = require('acp.ui.detail.bar')
local float = require('acp.ui.float')

local M = {}

--- Columns that two texts side by side need.
local wide = 120
--- Rows that a detail has at least, where there is room for them.
local least = 10

---@param detail acp.Detail
---@param room acp.Room
---@return acp.Box
local function box(detail, room)
  if detail.opts.place then
    return detail.opts.place(room)
  end
  local config = require('acp.config').get().detail
  --- What is small already is not made much smaller.
  local function cells(wish, most, enough)
    local size = wish < 1 and math.max(most * wish, math.min(most, enough)) or wish
    return math.max(math.min(math.floor(size), most), 1)
  end
  local width, height = cells(config.width, room.width, 90), cells(config.height, room.height, 26)
  return {
    row = room.row + math.floor((room.height - height) / 2),
    col = room.col + math.floor((room.width - width) / 2),
    width = width,
    -- The upper edge stays where it is.
    height = math.min(height, math.max(detail.rows + 1, least)),
  }
end

--- The part of the box that a side has. Between the two are their borders.
---@param detail acp.Detail
---@param right boolean
---@return fun(room: acp.Room): acp.Box
local function place(detail, right)
  return function(room)
    local all = box(detail, room)
    if not (detail.right and detail.right.win) and not right then
      return all
    end
    local width = math.max(math.floor((all.width - 2) / 2), 1)
    if not right then
      return { row = all.row, col = all.col, width = width, height = all.height }
    end
    local rest = math.max(all.width - 2 - width, 1)
    return { row = all.row, col = all.col + width + 2, width = rest, height = all.height }
  end
end

--- Whether the diff is to be shown in two columns.
---@param detail acp.Detail
---@return boolean
function M.wants_split(detail)
  if detail.tab and detail.tab ~= 'diff' then
    return false
  end
  local wish = detail.wish or require('acp.config').get().detail.diff
  if wish == 'auto' then
    local room = require('acp.ui.place').room({})
    return box(detail, room).width >= wide
  end
  return wish == 'split'
end

---@param win integer
---@param options table<string, any>
local function set(win, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

---@param win integer
---@param tab string?
---@param which 'both'|'old'|'new'
local function set_options(win, tab, which)
  local diff = tab == 'diff'
  set(win, {
    wrap = not diff,
    breakindent = true,
    cursorline = diff,
    conceallevel = 2,
    concealcursor = 'nc',
    winbar = bar.option,
    winhighlight = 'WinBar:NormalFloat,WinBarNC:NormalFloat',
    statuscolumn = diff and require('acp.ui.detail.column').option or '',
  })
  vim.w[win].acp_column = which
end

---@param detail acp.Detail
---@param right boolean
---@param on_close fun()
---@return integer win
local function show(detail, right, on_close)
  local which = right and detail.right or detail.left
  local win = float.show({
    buf = which.buf,
    name = 'detail',
    place = place(detail, right),
    enter = not right and detail.opts.enter ~= false,
    stay = detail.opts.enter == false,
    group = ('detail %d'):format(detail.number),
    on_close = on_close,
    on_resize = function()
      require('acp.ui.detail').resized(detail)
    end,
  })
  vim.w[win].acp_role = 'detail'
  if vim.bo[which.buf].filetype == '' then
    vim.bo[which.buf].filetype = 'acp_detail'
  end
  return win
end

--- Opens the window of the left side.
---@param detail acp.Detail
---@param on_close fun()
---@return integer win
function M.open(detail, on_close)
  return show(detail, false, on_close)
end

--- Closes the window of one side, and leaves the other.
---@param side acp.DetailSide
function M.close_side(side)
  if side.win and vim.api.nvim_win_is_valid(side.win) then
    float.update(side.win, { group = ('alone %d'):format(side.win) })
    pcall(vim.api.nvim_win_close, side.win, true)
  end
  side.win = nil
end

--- The windows there are, left first.
---@param detail acp.Detail
---@return integer[]
function M.windows(detail)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_is_valid(win)
  end, { detail.left.win or -1, detail.right and detail.right.win or -1 })
end

--- Shows the right side while there is something on it.
---@param detail acp.Detail
---@return boolean
local function arrange_right(detail)
  local right = detail.right
  if not right then
    return false
  end
  local split = detail.head ~= nil and detail.tab == 'diff'
  if split and not right.win then
    right.win = show(detail, true, function() end)
    require('acp.ui.detail.pair').bind(detail)
  elseif not split then
    M.close_side(right)
  end
  return split
end

--- Gives the windows as many rows as there were at most, up to what they may have.
---@param detail acp.Detail
function M.grow(detail)
  local rows = vim.api.nvim_buf_line_count(detail.left.buf)
  if rows > detail.rows then
    detail.rows = rows
    for _, win in ipairs(M.windows(detail)) do
      if vim.api.nvim_win_get_height(win) < rows + 1 then
        float.fit(win)
      end
    end
  end
end

--- Puts windows, options and captions in order for what is shown.
---@param detail acp.Detail
function M.arrange(detail)
  local left, right = detail.left, detail.right
  if not left.win or not vim.api.nvim_win_is_valid(left.win) then
    return
  end
  local split = arrange_right(detail)
  left.surface.follow = detail.tab == 'terminal'
  set_options(left.win, detail.tab, split and 'old' or 'both')
  float.update(
    left.win,
    { title = bar.title(detail), footer = not split and bar.footer(detail) or '' }
  )
  if right and right.win then
    set_options(right.win, detail.tab, 'new')
    float.update(right.win, { title = '', footer = bar.footer(detail) })
  end
  bar.refresh()
end

return M
