--- Asks for the value of one field of a form, with whatever picker and input the user has.

local check = require('acp.elicitation.check')
local text = require('acp.text')

local M = {}

--- Gets whether the user went on, and the value; nil leaves the field empty.
---@alias acp.OnField fun(went_on: boolean, value: acp.FieldValue?)

---@param field acp.Field
---@param before string
---@return string
local function prompt(field, before)
  local hints = check.hints(field)
  local title = text.label(field.title, field.name)
  return text.one_line(before .. title .. (hints ~= '' and (' (%s)'):format(hints) or ''))
end

---@param field acp.Field
---@param value string
---@return string
local function title_of(field, value)
  for _, choice in ipairs(field.values or {}) do
    if choice.value == value then
      return text.label(choice.title, value)
    end
  end
  return value
end

--- A value in words, for people.
---@param field acp.Field
---@param value acp.FieldValue?
---@return string
function M.words(field, value)
  if value == nil then
    return '(empty)'
  elseif type(value) == 'boolean' then
    return value and 'yes' or 'no'
  elseif type(value) == 'table' then
    local titles = vim.tbl_map(function(item)
      return title_of(field, item)
    end, value)
    return #titles > 0 and text.one_line(table.concat(titles, ', ')) or '(none)'
  end
  return text.one_line(type(value) == 'string' and title_of(field, value) or tostring(value))
end

---@param field acp.Field
---@param value acp.FieldValue?
---@param before string
---@param fn acp.OnField
local function typed(field, value, before, fn)
  local shown = value ~= nil and text.one_line(tostring(value)) or ''
  vim.ui.input({ prompt = prompt(field, before) .. ': ', default = shown }, function(line)
    if not line then
      return fn(false)
    elseif value ~= nil and line == shown and check.problem(field, value) == nil then
      return fn(true, value)
    end
    local parsed, problem = check.parse(field, line)
    if not problem then
      return fn(true, parsed)
    end
    typed(field, line, ('%s. '):format(problem), fn)
  end)
end

---@param field acp.Field
---@param value acp.FieldValue?
---@param before string
---@param fn acp.OnField
---@return acp.Choosing
local function chosen(field, value, before, fn)
  ---@type { value?: string|boolean, title: string }[]
  local choices = field.type == 'boolean'
      and { { value = true, title = 'Yes' }, { value = false, title = 'No' } }
    or vim.list_extend({}, field.values or {})
  if not field.required then
    table.insert(choices, { title = 'Leave it empty' })
  end
  return require('acp.ui.select').open(choices, {
    prompt = prompt(field, before),
    kind = 'acp_field',
    question = true,
    moment = { how = 'next' },
    format_item = function(choice)
      local now = choice.value ~= nil and choice.value == value and '  (now)' or ''
      return text.label(choice.title, tostring(choice.value)) .. now
    end,
  }, function(choice)
    if choice then
      fn(true, choice.value)
    else
      fn(false)
    end
  end)
end

---@param field acp.Field
---@param value string[]
---@param before string
---@param fn acp.OnField
---@return acp.Choosing
local function several(field, value, before, fn)
  ---@type { value?: string, title: string }[]
  local choices = vim.list_extend({}, field.values or {})
  table.insert(choices, { title = 'Done' })
  return require('acp.ui.select').open(choices, {
    prompt = prompt(field, before),
    kind = 'acp_field',
    question = true,
    moment = { how = 'next' },
    format_item = function(choice)
      if not choice.value then
        return choice.title
      end
      local mark = vim.list_contains(value, choice.value) and '[x] ' or '[ ] '
      return mark .. text.label(choice.title, choice.value)
    end,
  }, function(choice)
    if not choice then
      return fn(false)
    elseif not choice.value then
      local problem = check.problem(field, value)
      if not problem then
        return fn(true, value)
      end
      several(field, value, problem .. '. ', fn)
      return
    end
    -- In the agent's order, whatever the order of choosing.
    local next_value = vim.tbl_filter(
      function(item)
        local had = vim.list_contains(value, item)
        return had ~= (item == choice.value)
      end,
      vim.tbl_map(function(item)
        return item.value
      end, field.values or {})
    )
    several(field, next_value, before, fn)
  end)
end

--- Asks for a field until the value fits.
---@param field acp.Field
---@param value acp.FieldValue?
---@param before string words for the beginning of the prompt
---@param fn acp.OnField
---@return acp.Choosing?
function M.ask(field, value, before, fn)
  if field.type == 'multiselect' then
    return several(field, type(value) == 'table' and value or {}, before, fn)
  elseif field.type == 'select' or field.type == 'boolean' then
    return chosen(field, value, before, fn)
  end
  typed(field, value, before, fn)
  return nil
end

return M
