--- Whether what was typed fits a field of a form. Agents check again; this spares a round trip.

local M = {}

--- The core matches them: an agent's pattern must not be able to keep Neovim busy.
---@param value string
---@param pattern string
---@return boolean? fits nil where that can't be told
---@return string? why
local function matches(value, pattern)
  local native = require('acp.client').running()
  if not native then
    return nil, 'the core is not running'
  end
  return native.form_matches(pattern, value)
end

---@param text string
---@return boolean
local function is_date(text)
  local month, day = text:match('^%d%d%d%d%-(%d%d)%-(%d%d)$')
  -- Two digits each: their order is that of the numbers.
  return month ~= nil and month >= '01' and month <= '12' and day >= '01' and day <= '31'
end

---@type table<string, { fits: (fun(text: string): boolean), words: string }>
local formats = {
  email = {
    words = 'an e-mail address',
    fits = function(text)
      return text:match('^[^@%s]+@[^@%s]+$') ~= nil
    end,
  },
  uri = {
    words = 'an address such as https://example.com',
    fits = function(text)
      return text:match('^%a[%w+.-]*:%S+$') ~= nil
    end,
  },
  date = { words = 'a date such as 2026-11-30', fits = is_date },
  ['date-time'] = {
    words = 'a time such as 2026-11-30T12:00:00Z',
    fits = function(text)
      local date, zone = text:match('^(%S+)[Tt ]%d%d:%d%d:%d%d%.?%d*(%S+)$')
      local known = zone and (zone:match('^[Zz]$') or zone:match('^[+-]%d%d:%d%d$'))
      return known ~= nil and is_date(date or '')
    end,
  },
}

---@param field acp.Field
---@param size number
---@param unit string
---@return string?
local function outside(field, size, unit)
  if field.min and size < field.min then
    return vim.trim(('must be at least %s %s'):format(field.min, unit))
  elseif field.max and size > field.max then
    return vim.trim(('must be at most %s %s'):format(field.max, unit))
  end
end

---@param field acp.Field
---@param value string
---@return string?
local function text_problem(field, value)
  local format = formats[field.format or '']
  if format and not format.fits(value) then
    return 'must be ' .. format.words
  elseif field.pattern and matches(value, field.pattern) == false then
    return 'must match ' .. require('acp.text').shorten(field.pattern, 60)
  end
  return outside(field, vim.fn.strchars(value), 'characters')
end

--- What is wrong with a value; nil when nothing is.
---@param field acp.Field
---@param value acp.FieldValue?
---@return string?
function M.problem(field, value)
  if value == nil then
    return field.required and 'must be filled in' or nil
  elseif type(value) == 'table' then
    local some = #value > 0 or field.required
    return some and outside(field, #value, 'of the choices') or nil
  elseif type(value) == 'string' and field.type == 'text' then
    return text_problem(field, value)
  elseif type(value) == 'number' then
    return outside(field, value, '')
  end
end

--- A value from what was typed: nil for nothing, or nil and what is wrong.
---@param field acp.Field
---@param typed string
---@return acp.FieldValue?, string? problem
function M.parse(field, typed)
  local value ---@type acp.FieldValue?
  if field.type == 'text' then
    value = typed ~= '' and typed or nil
  elseif vim.trim(typed) ~= '' then
    local number = tonumber(vim.trim(typed))
    -- Neither of these has a form on the wire.
    if not number or number ~= number or math.abs(number) == math.huge then
      return nil, 'must be a number'
    elseif field.type == 'integer' and number % 1 ~= 0 then
      return nil, 'must be a whole number'
    end
    value = number
  end
  return value, M.problem(field, value)
end

--- What has to be known of a field before one types, such as "required, an e-mail address".
---@param field acp.Field
---@return string
function M.hints(field)
  local format = formats[field.format or '']
  local words = {}
  if field.description and field.description ~= '' then
    table.insert(words, field.description)
  end
  if field.required then
    table.insert(words, 'required')
  end
  if format then
    table.insert(words, format.words)
  end
  if field.pattern then
    local _, why = matches('', field.pattern)
    local pattern = require('acp.text').shorten(field.pattern, 40)
    local checked = ('matching %s'):format(pattern)
    table.insert(words, why and ('%s, not checked here: %s'):format(checked, why) or checked)
  end
  if field.min or field.max then
    table.insert(words, ('%s to %s'):format(field.min or '…', field.max or '…'))
  end
  return table.concat(words, ', ')
end

return M
