--- Colours that no group of a colour scheme stands for: those of terminals, and of changed lines
--- where the scheme marks these by the colour of the text, which code needs for itself.

local M = {}

--- The 16 colours of terminals where the user has set none, readable on either background.
---@type table<'dark'|'light', string[]>
local terminal = {
  dark = {
    '#5c6370',
    '#f07178',
    '#98c379',
    '#e5c07b',
    '#6cb6ff',
    '#c792ea',
    '#56c8d8',
    '#c8ccd4',
    '#7f848e',
    '#ff8b92',
    '#b5e890',
    '#ffd98a',
    '#8ccaff',
    '#ddb3ff',
    '#80e8f5',
    '#ffffff',
  },
  light = {
    '#24292f',
    '#b3202a',
    '#116329',
    '#7a4f00',
    '#0550ae',
    '#7d2fa8',
    '#1b6f7a',
    '#57606a',
    '#424a53',
    '#a40e26',
    '#1a7f37',
    '#633c01',
    '#0969da',
    '#8250df',
    '#0f5d66',
    '#24292f',
  },
} -- stylua: ignore

---@param background 'dark'|'light'
---@param number integer from 0
---@return vim.api.keyset.highlight
local function ansi(background, number)
  local given = vim.g[('terminal_color_%d'):format(number)]
  local colour = type(given) == 'string' and given:match('^#%x%x%x%x%x%x$')
  return { fg = colour or terminal[background][number + 1], ctermfg = number }
end

---@param name string
---@return vim.api.keyset.get_hl_info
local function look_of(name)
  return vim.api.nvim_get_hl(0, { name = name, link = false })
end

--- A colour laid thinly over another one.
---@param over integer
---@param under integer
---@param share number of the first
---@return integer
local function blend(over, under, share)
  local mixed = 0
  for shift = 16, 0, -8 do
    local a = bit.band(bit.rshift(over, shift), 255)
    local b = bit.band(bit.rshift(under, shift), 255)
    mixed = bit.bor(mixed, bit.lshift(math.floor(a * share + b * (1 - share) + 0.5), shift))
  end
  return mixed
end

---@class (exact) acp.ChangeLook
---@field row string the group of a scheme for such lines
---@field hue string a group whose colour says the same
---@field plain integer the colour where the scheme has none
---@field dark integer[] for terminals with few colours: of rows, of words
---@field light integer[]

---@type table<'Added'|'Removed', acp.ChangeLook>
local changes = {
  Added = {
    row = 'DiffAdd',
    hue = 'Added',
    plain = 0x2da44e,
    dark = { 22, 28 },
    light = { 194, 157 },
  },
  Removed = {
    row = 'DiffDelete',
    hue = 'Removed',
    plain = 0xd1242f,
    dark = { 52, 88 },
    light = { 224, 217 },
  },
}

---@param background 'dark'|'light'
---@param change acp.ChangeLook
---@return vim.api.keyset.highlight row, vim.api.keyset.highlight word
local function changed(background, change)
  local few = background == 'dark' and change.dark or change.light
  local under = look_of('Normal').bg or (background == 'dark' and 0x16161e or 0xffffff)
  local scheme = look_of(change.row)
  local row = blend(change.plain, under, background == 'dark' and 0.28 or 0.2)
  if scheme.bg and not scheme.reverse then
    row = scheme.bg --[[@as integer]]
  end
  local word = blend(look_of(change.hue).fg or change.plain, row, 0.3)
  return { bg = row, ctermbg = few[1] }, { bg = word, ctermbg = few[2], bold = true }
end

--- All of these groups, for the scheme and background there are now.
---@return table<string, vim.api.keyset.highlight>
function M.all()
  local background = vim.o.background == 'light' and 'light' or 'dark'
  local all = {
    AcpBold = { bold = true },
    AcpItalic = { italic = true },
    AcpUnderline = { underline = true },
    AcpReverse = { reverse = true },
    AcpStrikeout = { strikethrough = true },
  }
  for number = 0, 15 do
    all['AcpAnsi' .. number] = ansi(background, number)
  end
  for name, change in pairs(changes) do
    all['Acp' .. name], all[('Acp%sWord'):format(name)] = changed(background, change)
  end
  return all
end

return M
