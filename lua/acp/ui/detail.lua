--- One tool call in a floating window: its diff, output, terminal and input, each behind a tab,
--- live while it runs. The core renders it; here is what belongs together.

local client = require('acp.client')
local float = require('acp.ui.float')
local spot = require('acp.ui.detail.spot')
local surface = require('acp.ui.surface')
local window = require('acp.ui.detail.window')

local M = {}

--- Of `tool_call` and `entry`, one is given.
---@class (exact) acp.DetailOpts
---@field session integer
---@field tool_call? string
---@field entry? integer its place in the transcript, from 1
---@field enter? boolean false: the cursor stays where it is
---@field tab? string
---@field place? fun(room: acp.Room): acp.Box
---@field on_close? fun()

---@class (exact) acp.DetailHandle
---@field win integer
---@field close fun()

---@class (exact) acp.DetailSide
---@field buf integer
---@field win? integer
---@field surface acp.SurfaceOpts

--- A detail on the screen. `right` has the new text of a diff while both are side by side.
---@class (exact) acp.Detail
---@field opts acp.DetailOpts
---@field number integer
---@field left acp.DetailSide
---@field right? acp.DetailSide
---@field head? acp.DetailHead
---@field since integer when it began, in milliseconds
---@field tab? string what is shown, or has been asked for
---@field switched? boolean the user has asked for another tab, which is still to come
---@field wish? 'unified'|'split' what the user wants of this one
---@field rows integer how many there were at most
---@field views table<string, vim.fn.winsaveview.ret> where the user was in each tab
---@field going? vim.fn.winsaveview.ret where to go when there are enough rows
---@field seek? acp.Seek a line to go to when it is there
---@field over? boolean nothing will change any more

---@type table<integer, acp.Detail> by buffer
local details = {}
local last_number = 0

--- The detail that a buffer belongs to.
---@param buf? integer by default the current one
---@return acp.Detail?
function M.of(buf)
  return details[buf or vim.api.nvim_get_current_buf()]
end

--- All that are on the screen.
---@return acp.Detail[]
function M.list()
  local found = {}
  for buf, detail in pairs(details) do
    if buf == detail.left.buf then
      table.insert(found, detail)
    end
  end
  return found
end

---@param detail acp.Detail
local function render(detail)
  local opts = detail.opts
  local _, err = client.send({
    type = 'detail',
    session = opts.session,
    surface = detail.left.buf,
    right = detail.right and detail.right.buf,
    tool_call = opts.tool_call,
    entry = opts.entry,
    tab = detail.tab,
  })
  if err then
    require('acp.notify').err(err)
  end
end

--- A buffer to render into. Only the left one asks for it: the core knows the two as one.
---@param detail acp.Detail
---@param on_render fun()
---@return acp.DetailSide
local function side(detail, on_render)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.b[buf].acp_session, vim.b[buf].acp_role = detail.opts.session, 'detail'
  vim.bo[buf].bufhidden = 'hide'
  details[buf] = detail
  require('acp.ui.keymaps').attach(buf, 'detail')
  return {
    buf = buf,
    surface = {
      render = on_render,
      settled = function()
        window.grow(detail)
        spot.settle(detail)
      end,
    },
  }
end

---@param it acp.DetailSide
local function drop(it)
  details[it.buf] = nil
  surface.remove(it.buf)
  if vim.api.nvim_buf_is_valid(it.buf) then
    vim.api.nvim_buf_delete(it.buf, { force = true })
  end
end

--- Gives the new side of a diff a buffer, or takes it away.
---@param detail acp.Detail
---@param wanted boolean
local function set_right(detail, wanted)
  if wanted and not detail.right then
    detail.right = side(detail, function() end)
    surface.add(detail.right.buf, detail.right.surface)
  elseif not wanted and detail.right then
    local right = detail.right --[[@as acp.DetailSide]]
    detail.right = nil
    window.close_side(right)
    drop(right)
  end
end

---@param detail acp.Detail
local function closed(detail)
  set_right(detail, false)
  if details[detail.left.buf] then
    drop(detail.left)
    if detail.opts.on_close then
      detail.opts.on_close()
    end
  end
end

--- Renders as tab and width demand.
---@param detail acp.Detail
local function refresh(detail)
  set_right(detail, window.wants_split(detail))
  if detail.right then
    surface.refresh(detail.right.buf)
  end
  surface.refresh(detail.left.buf)
  window.arrange(detail)
end

--- Shows another tab.
---@param detail acp.Detail
---@param tab string
function M.show_tab(detail, tab)
  if tab == detail.tab then
    return
  end
  spot.leave(detail)
  detail.tab, detail.switched = tab, true
  refresh(detail)
end

--- Shows a diff in one column or in two.
---@param detail acp.Detail
---@param wish 'unified'|'split'
function M.set_split(detail, wish)
  spot.mark(detail)
  detail.wish = wish
  refresh(detail)
end

---@param effect acp.DetailHead
local function told(effect)
  local detail = details[effect.surface]
  if not detail then
    return
  end
  local other_tab = not detail.head or detail.head.tab ~= effect.tab
  detail.head, detail.tab = effect, effect.tab
  detail.over = detail.over or effect.gone
  detail.since = vim.uv.now() - math.floor((effect.elapsed or 0) * 1000)
  if detail.tab ~= 'diff' then
    set_right(detail, false)
  elseif (detail.right ~= nil) ~= window.wants_split(detail) then
    refresh(detail)
  end
  window.arrange(detail)
  if other_tab then
    spot.arrive(detail)
  end
end

--- Shows a tool call. It closes by `q` and `<Esc>`, or by what is returned.
---@param opts acp.DetailOpts
---@return acp.DetailHandle
function M.open(opts)
  last_number = last_number + 1
  ---@type acp.Detail
  local detail = { ---@diagnostic disable-line: missing-fields
    opts = opts,
    number = last_number,
    since = vim.uv.now(),
    tab = opts.tab,
    rows = 0,
    views = {},
  }
  detail.left = side(detail, function()
    render(detail)
  end)
  detail.left.win = window.open(detail, function()
    closed(detail)
  end)
  set_right(detail, window.wants_split(detail))
  surface.add(detail.left.buf, detail.left.surface)
  window.arrange(detail)
  return {
    win = detail.left.win,
    close = function()
      if detail.left.win then
        float.close(detail.left.win)
      end
    end,
  }
end

--- The screen has another size: two columns may have room now, or no longer.
---@param detail acp.Detail
function M.resized(detail)
  if details[detail.left.buf] and (detail.right ~= nil) ~= window.wants_split(detail) then
    spot.mark(detail)
    refresh(detail)
  end
end

--- Starts listening to the core.
function M.attach()
  client.subscribe('detail', told)
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    for _, detail in ipairs(M.list()) do
      if detail.opts.session == effect.session then
        detail.over = true
        window.arrange(detail)
      end
    end
  end)
end

return M
