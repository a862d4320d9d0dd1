--- What a session can be set to, however its agent offers it: as options, or as the older modes and
--- models.

local client = require('acp.client')
local text = require('acp.text')

local M = {}

---@class (exact) acp.Setting
---@field id string "mode" and "model" for the older kind
---@field name string
---@field description? string
---@field current string
---@field values acp.Value[]
---@field ask fun(value: string): acp.Ask

--- What was fetched last, by session. There may be thousands of values, and several ask for them
--- with each change.
---@type table<integer, { settings: acp.Settings, revision: integer }>
local fetched = {}

--- What the agent has told of a session, nil when nothing yet. To be read, not to be changed.
---@param session integer
---@return acp.Settings?
function M.get(session)
  local native = client.running()
  if not native then
    return nil
  end
  local known = fetched[session]
  local settings, revision = native.settings(session, known and known.revision)
  if not revision then
    fetched[session] = nil
  elseif settings then
    fetched[session] = { settings = settings, revision = revision }
  end
  return fetched[session] and fetched[session].settings
end

---@type acp.Value[]
local switch = { { id = 'true', name = 'on' }, { id = 'false', name = 'off' } }

---@param option acp.ConfigOption
---@return acp.Setting
local function of_option(option)
  local is_switch = option.type == 'boolean'
  return {
    id = option.id,
    name = text.label(option.name, option.id),
    description = option.description,
    current = tostring(option.current),
    values = is_switch and switch or option.values or {},
    ask = function(value)
      if is_switch then
        return { what = 'set_switch', id = option.id, value = value == 'true' }
      end
      return { what = 'set_option', id = option.id, value = value }
    end,
  }
end

---@param id 'mode'|'model'
---@param choice acp.Choice
---@return acp.Setting
local function of_choice(id, choice)
  return {
    id = id,
    name = id,
    current = choice.current,
    values = choice.values,
    ask = function(value)
      return { what = id == 'mode' and 'set_mode' or 'set_model', id = value }
    end,
  }
end

---@param settings acp.Settings
---@param category 'mode'|'model'
---@return acp.ConfigOption?
local function option_for(settings, category)
  local id = settings.option_for[category]
  for _, option in ipairs(settings.options) do
    if option.id == id then
      return option
    end
  end
end

--- The mode or the model. Where an agent has options, they stand for the older kind too.
---@param settings acp.Settings
---@param category 'mode'|'model'
---@return acp.Setting?
function M.find(settings, category)
  local option = option_for(settings, category)
  local choice = settings.models
  if category == 'mode' then
    choice = settings.modes
  end
  if option then
    return of_option(option)
  elseif choice and #choice.values > 0 then
    return of_choice(category, choice)
  end
end

--- All that can be set, in the agent's order.
---@param settings acp.Settings
---@return acp.Setting[]
function M.list(settings)
  local list = {}
  for _, category in ipairs({ 'mode', 'model' }) do
    local setting = not option_for(settings, category) and M.find(settings, category)
    if setting then
      table.insert(list, setting)
    end
  end
  return vim.list_extend(list, vim.tbl_map(of_option, settings.options))
end

--- The setting with this id.
---@param settings acp.Settings?
---@param id string
---@return acp.Setting?
function M.by_id(settings, id)
  for _, setting in ipairs(settings and M.list(settings) or {}) do
    if setting.id == id then
      return setting
    end
  end
end

--- The name of a value that a setting has or could have.
---@param setting acp.Setting
---@param id string
---@return string
function M.name_of(setting, id)
  for _, value in ipairs(setting.values) do
    if value.id == id then
      return text.label(value.name, value.id)
    end
  end
  return text.one_line(id)
end

--- The name of what a setting is set to.
---@param setting acp.Setting
---@return string
function M.current_name(setting)
  return M.name_of(setting, setting.current)
end

--- The id of a value that was given by id or by name.
---@param setting acp.Setting
---@param given string
---@return string?
function M.value_of(setting, given)
  for _, value in ipairs(setting.values) do
    if value.id == given then
      return value.id
    end
  end
  for _, value in ipairs(setting.values) do
    if value.name:lower() == given:lower() then
      return value.id
    end
  end
end

return M
