--- Paints the rows of transcripts that are on the screen, from what the core says about them.

local transcript = require('acp.ui.transcript')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.transcript')

---@class acp.PaintState
---@field surface integer
---@field upto integer rows before this one have been asked for
---@field rows table<integer, integer[]> flat col, end_col, group by row

---@type acp.PaintState?
local painting
---@type integer[]?
local group_ids

---@param state acp.PaintState
---@param first integer
---@param last integer exclusive
local function load_spans(state, first, last)
  local native = require('acp.client').running()
  if not native then
    return
  end
  ---@type table<integer, integer>
  local ids = group_ids or require('acp.ui.highlights').ids(native.groups)
  group_ids = ids
  local spans = native.paint(state.surface, first, last)
  for i = 1, #spans, 4 do
    local row = spans[i]
    local marks = state.rows[row] or {}
    local n = #marks
    marks[n + 1], marks[n + 2], marks[n + 3] = spans[i + 1], spans[i + 2], ids[spans[i + 3]] or 0
    state.rows[row] = marks
  end
  state.upto = last
end

---@param buf integer
---@param first integer
---@param last integer
---@return boolean whether rows of this window are to be painted
local function paint_window(_, _, buf, first, last)
  painting = nil
  if not transcript.is_painted(buf) then
    return false
  end
  painting = { surface = buf, upto = first, rows = {} }
  load_spans(painting, first, last + 1)
  return true
end

---@param buf integer
---@param row integer
local function paint_row(_, _, buf, row)
  local state = painting
  if not state then
    return
  end
  if row >= state.upto then
    -- The range Neovim announces is a guess and can be short.
    load_spans(state, row, row + 50)
  end
  local marks = state.rows[row] or {}
  for i = 1, #marks, 3 do
    vim.api.nvim_buf_set_extmark(buf, namespace, row, marks[i], {
      end_col = marks[i + 1],
      hl_group = marks[i + 2],
      ephemeral = true,
      strict = false,
    })
  end
end

local attached = false

--- Paints from now on.
function M.attach()
  if not attached then
    attached = true
    vim.api.nvim_set_decoration_provider(namespace, { on_win = paint_window, on_line = paint_row })
  end
end

return M
