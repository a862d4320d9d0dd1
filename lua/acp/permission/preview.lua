--- The window that shows what is asked for: the detail of the tool call. It has no cursor, and is
--- where the choices leave room for it.

local M = {}

--- Rows that a border takes.
local border = 2

---@class (exact) acp.Preview
---@field owns fun(win: integer): boolean
---@field place fun(room: acp.Room, rows: fun(width: integer): integer): acp.Box of the choices
---@field keys table<string, acp.SelectKey> scroll it from where the choices are
---@field fit fun() the choices have their place
---@field close fun()

---@class (exact) acp.PreviewState
---@field choices integer rows of the choices
---@field handle? acp.DetailHandle

---@param state acp.PreviewState
---@return integer?
local function window(state)
  local win = state.handle and state.handle.win
  return win and vim.api.nvim_win_is_valid(win) and win or nil
end

--- The columns of both windows.
---@param room acp.Room
---@return integer width, integer col
local function columns(room)
  local width = math.min(room.width, math.max(78, math.floor(room.width * 0.8)))
  return width, room.col + math.floor((room.width - width) / 2)
end

--- Rows that there are to show, with the bar above them.
---@param state acp.PreviewState
---@param most integer
---@return integer
local function wanted(state, most)
  local win = window(state)
  if not win then
    return 2
  end
  local lines = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  local count = lines < most and 0 or most
  -- Long lines take their time to be measured: no more of them than there is room for.
  for row = 0, lines - 1 do
    if count >= most then
      break
    end
    count = count + vim.api.nvim_win_text_height(win, { start_row = row, end_row = row }).all
  end
  local bar = vim.wo[win].winbar ~= '' and 1 or 0
  return math.min(count + bar, most)
end

--- Right above the choices, which are at the foot of the screen: more text moves nothing but the
--- upper edge. A picker of others is somewhere in the middle, or below.
---@param state acp.PreviewState
---@param own boolean
---@return fun(room: acp.Room): acp.Box
local function placer(state, own)
  return function(room)
    local width, col = columns(room)
    if not own then
      local height = wanted(state, math.max(math.floor(room.height * 0.4), 3))
      return { row = room.row, col = col, width = width, height = height }
    end
    local most = math.max(room.height - state.choices - border, 1) --[[@as integer]]
    local height = wanted(state, most)
    local row = room.row + room.height - state.choices - border - height
    return { row = math.max(row, room.row), col = col, width = width, height = height }
  end
end

--- Fits all windows of the detail again, as what is in them has changed.
---@param state acp.PreviewState
local function refit(state)
  local win = window(state)
  for _, other in ipairs(win and vim.api.nvim_tabpage_list_wins(0) or {}) do
    if vim.w[other].acp_role == 'detail' then
      require('acp.ui.float').fit(other)
    end
  end
end

--- Calls `refit` soon after the text has changed, once for many changes.
---@param state acp.PreviewState
local function watch(state)
  local win = window(state)
  local soon = false
  vim.api.nvim_buf_attach(vim.api.nvim_win_get_buf(win or 0), false, {
    on_lines = function()
      if not state.handle then
        return true
      elseif not soon then
        soon = true
        require('acp.client').defer(function()
          soon = false
          refit(state)
        end)
      end
    end,
  })
end

--- Lets another window scroll this one.
---@param state acp.PreviewState
---@return table<string, acp.SelectKey>
local function scrolling(state)
  local keys = {}
  for _, lhs in ipairs({ '<C-d>', '<C-u>', '<C-f>', '<C-b>', '<C-e>', '<C-y>' }) do
    keys[lhs] = {
      desc = 'scroll what is asked',
      run = function()
        local win = window(state)
        if win then
          vim.api.nvim_win_call(win, function()
            vim.cmd.normal({ args = { vim.keycode(lhs) }, bang = true })
          end)
        end
      end,
    }
  end
  keys['<Tab>'] = {
    desc = 'go to what is asked',
    run = function()
      local win = window(state)
      if win then
        vim.api.nvim_set_current_win(win)
      end
    end,
  }
  return keys
end

--- Opens the window, without the cursor.
---@param permission acp.Permission
---@return acp.Preview
function M.open(permission)
  local state = { choices = #permission.options + 3 } ---@type acp.PreviewState
  local own = require('acp.ui.select').asks_in_window()
  state.handle = require('acp.ui.detail').open({
    session = permission.session,
    tool_call = permission.tool_call,
    enter = false,
    place = placer(state, own),
  })
  watch(state)
  return {
    owns = function(win)
      return window(state) ~= nil and vim.w[win].acp_role == 'detail'
    end,
    keys = scrolling(state),
    fit = function()
      refit(state)
    end,
    place = function(room, rows)
      local width, col = columns(room)
      local most = math.max(room.height - border - 3, 1) --[[@as integer]]
      local height = math.min(rows(width), most)
      state.choices = height
      return { row = room.row + room.height - height, col = col, width = width, height = height }
    end,
    close = function()
      local handle = state.handle
      state.handle = nil
      if handle then
        handle.close()
      end
    end,
  }
end

return M
