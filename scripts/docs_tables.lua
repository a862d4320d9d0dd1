--- The tables of the help, made from the Lua code they describe. They name what they list as links
--- to the text written by hand, so that a missing text is a broken link.

--- How wide a cell is on the screen, where the marks around links, tags and code are hidden.
---@param cell string
---@return integer
local function width(cell)
  return cell:find('^[|*`].*[|*`]$') and #cell - 2 or #cell
end

--- How wide a line of the help may be.
local line_width = 78

--- Words in lines of at most this width.
---@param words string
---@param room integer
---@return string[]
local function wrapped(words, room)
  local lines = { '' }
  for word in words:gmatch('%S+') do
    local last = lines[#lines]
    if last == '' or width(last) + 1 + width(word) <= room then
      lines[#lines] = last == '' and word or last .. ' ' .. word
    else
      table.insert(lines, word)
    end
  end
  return lines
end

--- Lays rows out in columns; the first row is the heading. The last column may take several lines.
---@param rows string[][]
---@return string[]
local function columns(rows)
  local widths = {} ---@type table<integer, integer>
  for _, row in ipairs(rows) do
    for column, cell in ipairs(row) do
      widths[column] = math.max(widths[column] or 0, width(cell))
    end
  end
  local lines = {}
  for number, row in ipairs(rows) do
    local line, used = '  ', 2
    for column = 1, #row - 1 do
      local cell, room = row[column] or '', widths[column] or 0
      line = line .. '  ' .. cell .. (' '):rep(room - width(cell))
      used = used + 2 + room
    end
    -- Marks are hidden on the screen, and count in the file.
    for _, words in ipairs(wrapped(row[#row] or '', line_width - math.max(used, #line) - 2)) do
      table.insert(lines, (('%s  %s'):format(line, words):gsub('%s+$', '')))
      line = (' '):rep(used)
    end
    if number == 1 then
      lines[#lines] = lines[#lines] .. ' ~'
    end
  end
  return lines
end

---@param map table<string, any>
---@return string[]
local function sorted_keys(map)
  local keys = vim.tbl_keys(map)
  table.sort(keys)
  return keys
end

---@param rows string[][]
---@param defaults table<string, any>
---@param prefix string
local function add_options(rows, defaults, prefix)
  for _, name in ipairs(sorted_keys(defaults)) do
    local value = defaults[name]
    local link = ('|acp-config-%s%s|'):format(prefix, name)
    if name == 'keys' then
      table.insert(rows, { link, 'see |acp-table-keys|' })
    elseif type(value) == 'table' and vim.islist(value) and next(value) then
      table.insert(rows, { link, 'see there' })
    elseif type(value) == 'table' and next(value) then
      add_options(rows, value, prefix .. name .. '.')
    else
      table.insert(rows, { link, ('`%s`'):format(vim.inspect(value)) })
    end
  end
end

---@param keys string|string[]|false|nil
---@return string
local function shown_keys(keys)
  return table.concat(type(keys) == 'table' and keys or { keys or nil }, ' ')
end

---@type table<string, fun(): string[]> by the end of the tag above the table
local M = {}

function M.config()
  local rows = { { 'Option', 'Default' } }
  add_options(rows, require('acp.config').defaults, '')
  return columns(rows)
end

function M.commands()
  local rows = { { 'Command', 'What it does' } }
  local subcommands = require('acp.commands').subcommands
  for _, name in ipairs(sorted_keys(subcommands)) do
    table.insert(rows, { ('|:Acp-%s|'):format(name), subcommands[name].desc })
  end
  return columns(rows)
end

---@class (exact) acp.KeyPlace
---@field name string
---@field typing? boolean whether there are keys in insert mode
---@field fits fun(roles: table<string, true>): boolean?

--- Where keys are set, by the roles of the buffers that have them.
---@type acp.KeyPlace[]
local places = {
  {
    name = 'In the whole chat',
    typing = true,
    fits = function(roles)
      return roles.prompt and roles.transcript
    end,
  },
  {
    name = 'In the prompt',
    typing = true,
    fits = function(roles)
      return roles.prompt and not roles.transcript
    end,
  },
  {
    name = 'In the transcript',
    fits = function(roles)
      return roles.transcript and not roles.prompt
    end,
  },
  {
    name = 'In a tool call',
    fits = function(roles)
      return roles.detail
    end,
  },
}

---@param place acp.KeyPlace
---@return string[]
local function keys_at(place)
  local rows = { { place.name, 'Normal mode', 'Insert mode', 'What it does' } }
  local keys, actions = require('acp.config').defaults.keys, require('acp.ui.keymaps').actions
  for _, name in ipairs(sorted_keys(keys)) do
    local modes, roles = keys[name] or {}, {} ---@type table<string, any>, table<string, true>
    for _, role in ipairs(actions[name].roles or {}) do
      roles[role] = true
    end
    if place.fits(roles) then
      table.insert(rows, { name, shown_keys(modes.n), shown_keys(modes.i), actions[name].desc })
    end
  end
  for _, row in ipairs(place.typing and {} or rows) do
    table.remove(row, 3)
  end
  return columns(rows)
end

function M.keys()
  local lines = {}
  for _, place in ipairs(places) do
    vim.list_extend(lines, keys_at(place))
  end
  return lines
end

function M.plug()
  local rows = { { 'Map', 'What it does' } }
  local actions = require('acp.ui.keymaps').actions
  for _, name in ipairs(sorted_keys(actions)) do
    local lhs = require('acp.ui.keymaps').plug(name)
    if vim.fn.maparg(lhs, 'n') ~= '' then
      table.insert(rows, { ('*%s*'):format(lhs), actions[name].desc })
    end
  end
  return columns(rows)
end

function M.highlights()
  local looks = {} ---@type table<string, string>
  for group, link in pairs(require('acp.ui.highlights').links) do
    looks[group] = link
  end
  for group in pairs(require('acp.ui.colours').all()) do
    looks[group] = 'no link'
  end
  local rows = { { 'Group', 'Linked to' } }
  for _, group in ipairs(sorted_keys(looks)) do
    local number = tonumber(group:match('^AcpAnsi(%d+)$'))
    if number == 0 then
      table.insert(rows, { ('*hl-%s*'):format(group), 'no link; there are 16, to AcpAnsi15' })
    elseif not number then
      table.insert(rows, { ('*hl-%s*'):format(group), looks[group] })
    end
  end
  return columns(rows)
end

function M.agents()
  local rows = { { 'Name', 'Command, how to install it, where to read more' } }
  local known = require('acp.agents.known')
  for _, name in ipairs(known.preference) do
    local agent = known.agents[name]
    table.insert(rows, { name, ('`%s`'):format(table.concat(agent.command or {}, ' ')) })
    table.insert(rows, { '', agent.install or '' })
    if agent.other_way then
      table.insert(rows, { '', ('or `%s`'):format(table.concat(agent.other_way.command, ' ')) })
      table.insert(rows, { '', agent.other_way.install })
    end
    table.insert(rows, { '', agent.home or '' })
  end
  return columns(rows)
end

return M
