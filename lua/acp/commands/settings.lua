--- Subcommands that set something: mode, model, config, title.

local here = require('acp.commands.here')
local notify = require('acp.notify')
local settings = require('acp.settings')
local text = require('acp.text')

---@type table<string, acp.Subcommand>
local M = {}

--- Tells what a setting is set to now: the agent may have taken something else than was wanted.
---@param info acp.SessionInfo
---@param before acp.Setting
---@param wanted string
local function tell(info, before, wanted)
  local setting = settings.by_id(settings.get(info.id), before.id)
  if setting and setting.current ~= wanted then
    local words = '%s is %s: %s did not take %s'
    local name = settings.current_name(setting)
    local message = words:format(setting.name, name, info.agent, settings.name_of(before, wanted))
    return notify.show(text.one_line(message), 'warn')
  end
  local name = settings.name_of(before, wanted)
  notify.show(text.one_line(('%s: %s'):format(before.name, name)))
end

---@param info acp.SessionInfo
---@param setting acp.Setting
---@param value string
local function set(info, setting, value)
  require('acp.session').ask(info.id, setting.ask(value), function(err)
    if err then
      return notify.err(err)
    end
    tell(info, setting, value)
  end)
end

---@param setting acp.Setting
---@return fun(value: acp.Value): string
local function formatter(setting)
  return function(value)
    local mark = value.id == setting.current and '* ' or '  '
    local name = text.label(value.name, value.id)
    local group = value.group and value.group .. ': ' or ''
    local detail = value.description and ('  (%s)'):format(value.description) or ''
    return text.one_line(mark .. group .. name .. detail)
  end
end

---@param info acp.SessionInfo
---@param setting acp.Setting
local function pick_value(info, setting)
  require('acp.ui.select').open(setting.values, {
    prompt = text.one_line(('%s of %s'):format(setting.name, info.agent)),
    kind = 'acp_setting',
    format_item = formatter(setting),
  }, function(value)
    if value then
      set(info, setting, value.id)
    end
  end)
end

--- Sets what was given, or lets the user choose.
---@param info acp.SessionInfo
---@param setting acp.Setting
---@param given string
local function change(info, setting, given)
  if given == '' then
    return pick_value(info, setting)
  end
  local value = settings.value_of(setting, given)
  if value then
    return set(info, setting, value)
  end
  local ids = vim.tbl_map(function(known)
    return known.id
  end, setting.values)
  local message = ('%s has no %s "%s", there are %s'):format(
    info.agent,
    setting.name,
    given,
    table.concat(ids, ', ')
  )
  notify.show(text.one_line(message), 'error')
end

---@param setting acp.Setting?
---@return string[]
local function value_ids(setting)
  return vim.tbl_map(function(value)
    return value.id
  end, setting and setting.values or {})
end

--- `:Acp mode` and `:Acp model`
---@param category 'mode'|'model'
---@return acp.Subcommand
local function for_category(category)
  return {
    desc = ('change the %s'):format(category),
    complete = function()
      local known = here.settings()
      return value_ids(known and settings.find(known, category))
    end,
    impl = function(args)
      local info = here.session()
      local known = info and settings.get(info.id)
      local setting = known and settings.find(known, category)
      if info and setting then
        change(info, setting, table.concat(args, ' '))
      elseif info then
        notify.show(('%s offers no choice of %ss'):format(info.agent, category), 'warn')
      end
    end,
  }
end

M.mode = for_category('mode')
M.model = for_category('model')

---@param info acp.SessionInfo
---@param list acp.Setting[]
local function pick_setting(info, list)
  require('acp.ui.select').open(list, {
    prompt = ('Options of %s'):format(text.one_line(info.agent)),
    kind = 'acp_setting',
    format_item = function(setting)
      return text.one_line(('%s: %s'):format(setting.name, settings.current_name(setting)))
    end,
  }, function(setting)
    if setting then
      pick_value(info, setting)
    end
  end)
end

M.config = {
  desc = 'change an option of the session',
  complete = function(args)
    local known = here.settings()
    if args[1] then
      return value_ids(settings.by_id(known, args[1]))
    end
    return vim.tbl_map(function(setting)
      return setting.id
    end, known and settings.list(known) or {})
  end,
  impl = function(args)
    local info = here.session()
    local known = info and settings.get(info.id)
    local list = known and settings.list(known) or {}
    local setting = args[1] and settings.by_id(known, args[1])
    if not info then
      return
    elseif setting then
      change(info, setting, table.concat(args, ' ', 2))
    elseif args[1] then
      notify.show(('%s has no option "%s"'):format(info.agent, args[1]), 'error')
    elseif #list == 0 then
      notify.show(('%s offers no options'):format(info.agent), 'warn')
    else
      pick_setting(info, list)
    end
  end,
}

M.title = {
  desc = 'give the session a title',
  impl = function(args)
    local info = here.session()
    if not info or not here.can(info, 'give a session a title', 'set_title') then
      return
    end
    local function set_title(title)
      if title and vim.trim(title) ~= '' then
        here.ask(info, { what = 'set_title', value = vim.trim(title) })
      end
    end
    if args[1] then
      return set_title(table.concat(args, ' '))
    end
    vim.ui.input({ prompt = 'Title: ', default = text.one_line(info.title) }, set_title)
  end,
}

return M
