--- Whether what was typed fits a field of a form. Agents check again; this spares a round trip.

local M = {}

--- Classes of JavaScript's patterns, as they are within brackets.
---@type table<string, string>
local classes = { w = [[0-9A-Za-z_]], d = '0-9', s = [[ \t\n\r]] }

---@param char string what stands after a backslash
---@param bracket boolean whether that is within brackets
---@return string?
local function escaped(char, bracket)
  if char:match('[WDSbBpPux0-9k]') then
    return nil
  end
  local class = classes[char]
  if class then
    return bracket and class or '[' .. class .. ']'
  end
  return '\\' .. char
end

--- A pattern of JavaScript as one of Vim's, nil where it uses what Vim writes another way.
---@param pattern string
---@return string?
local function translate(pattern)
  if pattern:find('(?', 1, true) and pattern:gsub('%(%?:', ''):find('(?', 1, true) then
    return nil
  end
  local out, bracket, i = { [[\v\C]] }, false, 1
  while i <= #pattern do
    local char = pattern:sub(i, i)
    if char == '\\' then
      local escape = escaped(pattern:sub(i + 1, i + 1), bracket)
      if not escape then
        return nil
      end
      table.insert(out, escape)
      i = i + 1
    elseif bracket then
      bracket = char ~= ']'
      table.insert(out, char)
    elseif pattern:sub(i, i + 2) == '(?:' then
      table.insert(out, '%(')
      i = i + 2
    elseif char:match('[*+}?]') and pattern:sub(i + 1, i + 1) == '?' then
      return nil
    else
      bracket = char == '['
      -- What is special to Vim alone.
      table.insert(out, char:match('[@%%<>=&~]') and '\\' .. char or char)
    end
    i = i + 1
  end
  return table.concat(out)
end

---@param text string
---@param pattern string
---@return boolean matches or can't be told
local function matches(text, pattern)
  local translated = translate(pattern)
  local ok, regex = pcall(vim.regex, translated or '')
  return not translated or not ok or regex:match_str(text) ~= nil
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
  elseif field.pattern and not matches(value, field.pattern) then
    return 'must match ' .. field.pattern
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
  if field.min or field.max then
    table.insert(words, ('%s to %s'):format(field.min or '…', field.max or '…'))
  end
  return table.concat(words, ', ')
end

return M
