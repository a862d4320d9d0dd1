--- Paints the rows of surfaces that are on the screen, from what the core says about them. Called
--- for every row that Neovim draws: what is done for each row or span has to be cheap.

local code = require('acp.ui.code')
local surface = require('acp.ui.surface')
local syntax = require('acp.ui.syntax')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.surface')

--- What highlights of whole rows and blocks have to stay under, so that code in them has its
--- colours. Those of tree-sitter are at 100.
local under_code = 90

--- Rows asked for at once, at first: mostly the last one is drawn alone.
local few, many = 4, 64

---@type table<string, 'row'|'block'|'conceal'>
local special = {
  AcpUserText = 'row',
  AcpAdded = 'row',
  AcpRemoved = 'row',
  AcpFiller = 'row',
  AcpHunk = 'row',
  AcpCodeBlock = 'block',
  AcpConceal = 'conceal',
}

--- Options of marks. They are read at once, so that one table serves all marks of a kind.
local mark = { ephemeral = true, strict = false, end_col = 0, hl_group = 0 }
local block = { ephemeral = true, strict = false, end_col = 0, hl_group = 0, priority = under_code }
local hidden = { ephemeral = true, strict = false, end_col = 0, conceal = '' }
local colour = { ephemeral = true, strict = false, end_col = 0, hl_group = 0, priority = 0 }
local whole = {
  ephemeral = true,
  strict = false,
  end_row = 0,
  end_col = 0,
  hl_eol = true,
  hl_group = 0,
  priority = under_code,
}

local set_extmark = vim.api.nvim_buf_set_extmark

---@type fun(surface: integer, first: integer, last: integer): integer[]
local ask
---@type table<integer, integer> highlight group by number of the core's group
local ids = {}
---@type table<integer, 'row'|'block'|'conceal'> those that are painted in another way
local kinds = {}

--- The window being painted: its buffer, the rows whose spans are loaded, and the place in them.
local buf, from, upto, at, step = 0, 0, 0, 1, few
---@type table<integer, integer>
local spans = {}
---@type table<integer, acp.CodeRow>
local coded = {}

---@param row integer
local function load_spans(row)
  spans = ask(buf, row, row + step)
  from, upto, at = row, row + step, 1
  step = math.min(step * 2, many)
end

---@param row integer
---@param col integer
---@param end_col integer
---@param group integer
local function paint_special(row, col, end_col, group)
  local kind = kinds[group]
  if kind == 'row' then
    whole.end_row, whole.hl_group = row + 1, ids[group]
    set_extmark(buf, namespace, row, col, whole)
  elseif kind == 'block' then
    block.end_col, block.hl_group = end_col, ids[group]
    set_extmark(buf, namespace, row, col, block)
  else
    hidden.end_col = end_col
    set_extmark(buf, namespace, row, col, hidden)
  end
end

---@param row integer
---@param place acp.CodeRow
local function paint_code(row, place)
  local marks = syntax.row(place.piece, place.index, code.may_look)
  if not marks then
    return code.late(buf, row)
  end
  local col = place.col
  for i = 1, #marks, 4 do
    colour.end_col, colour.hl_group, colour.priority =
      col + marks[i + 1], marks[i + 2], marks[i + 3]
    set_extmark(buf, namespace, row, col + marks[i], colour)
  end
end

---@param row integer
local function paint_row(_, _, _, row)
  if row < from or row >= upto then
    load_spans(row)
  elseif at > 1 and (spans[at] or math.huge) >= row and spans[at - 4] >= row then
    -- A row is drawn again when it did not fit at first.
    at = 1
  end
  while spans[at] and spans[at] < row do
    at = at + 4
  end
  while spans[at] == row do
    local group = spans[at + 3]
    if kinds[group] then
      paint_special(row, spans[at + 1], spans[at + 2], group)
    else
      mark.end_col, mark.hl_group = spans[at + 2], ids[group]
      set_extmark(buf, namespace, row, spans[at + 1], mark)
    end
    at = at + 4
  end
  local place = coded[row]
  if place then
    paint_code(row, place)
  end
end

---@param win integer
---@param which integer
---@param first integer
---@param last integer
---@return boolean whether rows of this window are to be painted
local function paint_window(_, win, which, first, last)
  if not surface.level(which) then
    return false
  end
  buf, from, upto, at, step, spans = which, 0, 0, 1, few, {}
  coded = code.rows(win, which, first, last + 1)
  return true
end

local attached = false

--- Paints from now on.
function M.attach()
  local native = require('acp.client').running()
  if attached or not native then
    return
  end
  attached = true
  ask = native.paint
  ids = require('acp.ui.highlights').ids(native.groups)
  for number, name in ipairs(native.groups) do
    kinds[number] = special[name]
  end
  vim.api.nvim_set_decoration_provider(namespace, {
    on_start = code.begin,
    on_win = paint_window,
    on_line = paint_row,
    on_end = code.finish,
  })
end

return M
