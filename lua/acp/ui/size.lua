--- How big the chat windows shall be: what the options say, until the user decides otherwise. What
--- the user has decided is kept for each layout, as a share of the screen. Touches no window.

local M = {}

--- Shares of the screen, but for `rows`.
---@class acp.KeptSize
---@field width? number
---@field height? number
---@field prompt? number width of a prompt beside the transcript
---@field rows? integer of the prompt while there is little in it

---@type table<acp.Layout, acp.KeptSize>
M.kept = { right = {}, left = {}, bottom = {}, float = {}, tab = {} }

--- From this width on there is room for the prompt beside the transcript.
local wide = 120

---@param wish number what the options say: a share of the whole when below 1
---@param whole integer
---@return integer
local function cells(wish, whole)
  return math.floor(wish < 1 and whole * wish or wish)
end

---@param share number what the user has given it
---@param whole integer
---@return integer
local function part(share, whole)
  return math.floor(share * whole + 0.5)
end

---@param value integer
---@param low integer
---@param high integer
---@return integer
local function within(value, low, high)
  return math.max(math.min(value, high), low)
end

---@return acp.ChatConfig
local function config()
  return require('acp.config').get().chat
end

--- Whether a layout has the prompt beside the transcript, on this screen.
---@param layout acp.Layout
---@return boolean
function M.beside(layout)
  return layout == 'bottom' and vim.o.columns >= wide
end

--- Columns of a chat at the side.
---@param layout acp.Layout
---@return integer
function M.width(layout)
  local columns = vim.o.columns
  local share, wish = M.kept[layout].width, config().width
  if share then
    return within(part(share, columns), 1, columns)
  elseif wish >= 1 then
    return math.max(math.min(math.floor(wish), columns - 10), 1)
  end
  return math.max(cells(wish, columns), math.min(40, math.floor(columns / 2)))
end

--- Rows of a chat at the bottom, both windows together.
---@return integer
function M.height()
  local lines = vim.o.lines
  local share = M.kept.bottom.height
  if share then
    return within(part(share, lines), 2, lines)
  end
  return within(cells(config().height, lines), math.min(6, math.floor(lines / 2)), lines)
end

--- Columns of a prompt beside the transcript.
---@return integer
function M.prompt_width()
  return within(part(M.kept.bottom.prompt or 0.35, vim.o.columns), 1, vim.o.columns)
end

--- Rows that the prompt should have, of those that both windows have together.
---@param layout acp.Layout
---@param prompt integer? its window
---@param room integer
---@return integer
function M.prompt_rows(layout, prompt, room)
  local given = M.kept[layout].rows
  -- What is told above the text has a row of its own.
  local bar = prompt and vim.wo[prompt].winbar ~= '' and 1 or 0
  local text = (prompt and vim.api.nvim_win_text_height(prompt, {}).all or 1) + bar
  local least = given or config().prompt_height + bar
  local limit = config().prompt_max_height + bar
  local most = math.max(math.min(limit, math.floor(room / 2)), given or 1)
  return within(math.max(text, least), 1, math.max(math.min(most, room - 2), 1))
end

--- Where a window of the floating layout goes: both together are in the middle of the room.
---@param role acp.Role
---@param room acp.Room
---@param prompt integer? its window
---@return acp.Box
function M.box(role, room, prompt)
  local wish, share = config().float, M.kept.float
  local width = share.width and part(share.width, room.width) or cells(wish.width, room.width)
  local height = share.height and part(share.height, room.height) or cells(wish.height, room.height)
  width, height = within(width, 1, room.width), within(height, 4, math.max(room.height, 4))
  local rows = M.prompt_rows('float', prompt, height - 2)
  local top = room.row + math.max(math.floor((room.height - height) / 2), 0)
  local box = {
    row = top,
    col = room.col + math.floor((room.width - width) / 2),
    width = width,
    height = math.max(height - rows - 2, 1),
  }
  if role == 'prompt' then
    box.row, box.height = top + box.height + 2, rows
  end
  return box
end

return M
