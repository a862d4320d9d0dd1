--- What stands in the window to choose from: what is asked, the items with their keys, and what the
--- keys do.

local text = require('acp.text')

local M = {}

---@class (exact) acp.SelectContent
---@field lines string[]
---@field header integer how many of them are no items
---@field keys table<integer, string?> what chooses each item
---@field footer string

---@param opts acp.SelectOpts
---@return boolean
local function fits_title(opts)
  return opts.place ~= nil or vim.fn.strdisplaywidth(opts.prompt) <= vim.o.columns - 6
end

--- The title of the window, unless it is too long for one.
---@param opts acp.SelectOpts
---@return string?
function M.title(opts)
  return fits_title(opts) and opts.prompt or nil
end

--- What there is to know, and a prompt that is too long for the title of the window, whole.
---@param opts acp.SelectOpts
---@return string[]
local function header(opts)
  local rows = {}
  local most = math.max(math.floor(vim.o.lines / 3) * (vim.o.columns - 6), 1)
  for _, line in ipairs(opts.about or {}) do
    table.insert(rows, ' ' .. text.shorten(line, most))
  end
  if not fits_title(opts) then
    table.insert(rows, 1, ' ' .. text.shorten(opts.prompt, most))
    table.insert(rows, '')
  end
  if opts.question then
    -- The cursor starts here: on nothing that can be chosen.
    local moment = opts.moment
    local about = moment and moment.about or 'Press a letter, or move and press <CR>'
    table.insert(rows, ' ' .. text.shorten(about, vim.o.columns - 6))
  end
  return rows
end

--- Digits for lists that were called for, letters where a choice does something.
---@param select acp.Select
---@param labels string[]
---@return table<integer, string?>
local function keys_for(select, labels)
  local opts, keys = select.opts, {}
  if not opts.question then
    for i = 1, math.min(#labels, 9) do
      keys[i] = tostring(i)
    end
    return keys
  end
  local wanted = {}
  for i, item in ipairs(select.items) do
    wanted[i] = opts.letter_of and opts.letter_of(item)
  end
  local taken = vim.tbl_keys(opts.keys or {})
  return require('acp.ui.select.letters').assign(labels, wanted, taken)
end

---@param key string?
---@param label string
---@return string
local function row(key, label)
  return (' %s  %s '):format(key or ' ', label)
end

---@param select acp.Select
---@param armed acp.Armed
---@return acp.SelectContent
local function second(select, armed)
  local lines = { (' %s'):format(select.label(armed.item)), '' }
  local keys = {}
  for i, confirmation in ipairs(armed.confirmations) do
    keys[i] = confirmation.letter
    table.insert(lines, row(confirmation.letter, confirmation.label))
  end
  local letters = table.concat(keys, ' or ')
  local footer = armed.ready and ('%s confirms, any other key goes back'):format(letters)
    or ('%s confirms in a moment'):format(letters)
  return { lines = lines, header = 2, keys = keys, footer = footer }
end

---@param select acp.Select
---@return acp.SelectContent
local function list(select)
  local labels = vim.tbl_map(select.label, select.items)
  local keys = keys_for(select, labels)
  local lines = header(select.opts)
  local above = #lines
  for i, label in ipairs(labels) do
    table.insert(lines, row(keys[i], label))
  end
  local footer ---@type string
  if select.opts.question then
    footer = 'a letter chooses, <Esc> leaves it open'
  else
    local last = math.min(#labels, 9)
    footer = (last > 1 and ('1-%d'):format(last) or '1') .. ' or <CR> chooses, <Esc> does not'
  end
  return { lines = lines, header = above, keys = keys, footer = footer }
end

--- What stands in the window now.
---@param select acp.Select
---@return acp.SelectContent
function M.of(select)
  return select.armed and second(select, select.armed) or list(select)
end

--- Rows that lines take when they are wrapped at this width.
---@param lines string[]
---@param width integer
---@return integer
function M.rows(lines, width)
  local count = 0
  for _, line in ipairs(lines) do
    count = count + math.max(math.ceil(vim.fn.strdisplaywidth(line) / math.max(width, 1)), 1)
  end
  return count
end

return M
