--- Where floating windows go, and how big they are: in the middle of something, as big as what is
--- in them, never bigger than the screen. It looks at buffers and screens, and changes nothing.

local M = {}

--- What there is to put a window in, the rows and columns of a border taken off.
---@class (exact) acp.Room
---@field row integer
---@field col integer
---@field width integer
---@field height integer

--- Where the corner of the border is, and the size of what it is around.
---@class (exact) acp.Box
---@field row integer
---@field col integer
---@field width integer
---@field height integer

---@param wish number a fraction of the room when below 1
---@param room integer
---@return integer
local function cells(wish, room)
  return math.floor(wish < 1 and room * wish or wish)
end

---@param value integer
---@param low integer
---@param high integer
---@return integer
local function within(value, low, high)
  return math.max(math.min(value, high), low)
end

---@return acp.Room
local function screen()
  local several = #vim.api.nvim_list_tabpages() > 1
  local tabline = vim.o.showtabline == 2 or (vim.o.showtabline == 1 and several)
  local above, below = tabline and 1 or 0, vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  return {
    row = above,
    col = 0,
    width = math.max(vim.o.columns - 2, 1),
    height = math.max(vim.o.lines - above - below - 2, 1),
  }
end

---@param win integer
---@return acp.Room
local function inside(win)
  local at = vim.api.nvim_win_get_position(win)
  return {
    row = at[1],
    col = at[2],
    width = math.max(vim.api.nvim_win_get_width(win) - 2, 1),
    height = math.max(vim.api.nvim_win_get_height(win) - 2, 1),
  }
end

--- The screen, or the window that a float belongs to.
---@param opts acp.FloatOpts
---@return acp.Room
function M.room(opts)
  if opts.relative == 'win' and opts.win and vim.api.nvim_win_is_valid(opts.win) then
    return inside(opts.win)
  end
  return screen()
end

--- Rows that the width is taken from: what is longer is as wide as allowed anyway.
local measured = 1000

--- Cells that a line takes. A very long one is not measured to its end.
---@param line string
---@param enough integer
---@return integer
local function line_width(line, enough)
  return vim.fn.strdisplaywidth(#line > 8 * enough and line:sub(1, 8 * enough) or line)
end

---@param buf integer
---@param most integer
---@return integer
local function text_width(buf, most)
  local widest = 1
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, measured, false)) do
    widest = math.max(widest, line_width(line, most))
    if widest >= most then
      return most
    end
  end
  return widest
end

---@param buf integer
---@param width integer
---@param wrap boolean?
---@param most integer
---@return integer
local function text_height(buf, width, wrap, most)
  local count = vim.api.nvim_buf_line_count(buf)
  if not wrap or count >= most then
    return count
  end
  local rows = 0
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    rows = rows + math.max(math.ceil(line_width(line, width * most) / width), 1)
  end
  return rows
end

---@param opts acp.FloatOpts
---@param buf integer
---@param room acp.Room
---@return integer width, integer height
local function size(opts, buf, room)
  local most = within(cells(opts.max_width or room.width, room.width), 1, room.width)
  local caption = vim.fn.strdisplaywidth(opts.title or '') + 4
  local wish = opts.width and cells(opts.width, room.width)
    or math.max(text_width(buf, most), caption)
  local width = within(wish, 1, most)
  most = within(cells(opts.max_height or room.height, room.height), 1, room.height)
  wish = opts.height and cells(opts.height, room.height) or text_height(buf, width, opts.wrap, most)
  return width, within(wish, 1, most)
end

--- The place and size of a float, for the screen as it is now.
---@param opts acp.FloatOpts
---@param buf integer what is in it
---@param from integer the window that "cursor" is about
---@return acp.Box
function M.box(opts, buf, from)
  local room = M.room(opts)
  if opts.place then
    local box = opts.place(room)
    box.width, box.height = math.max(box.width, 1), math.max(box.height, 1)
    return box
  end
  local width, height = size(opts, buf, room)
  local row = room.row + math.floor((room.height - height) / 2)
  local col = room.col + math.floor((room.width - width) / 2)
  if opts.relative == 'cursor' and vim.api.nvim_win_is_valid(from) then
    local at = vim.fn.screenpos(from, vim.fn.line('.', from), vim.fn.col('.', from))
    row = within(at.row, room.row, room.row + room.height - height)
    col = within(at.col - 1, 0, room.width - width)
  end
  return { row = row, col = col, width = width, height = height }
end

return M
