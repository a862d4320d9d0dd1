--- "Always": a choice that lasts needs a second key, and may become a rule of this project as well.

local notify = require('acp.notify')

local M = {}

---@param rule acp.Rule
local function store(rule)
  local ok, err = require('acp.rules').add(rule)
  if ok then
    notify.show(
      'Rule stored: ' .. require('acp.rules').words(rule),
      'info',
      '. :Acp rules shows it'
    )
  elseif err then
    notify.show('Rule not stored: ' .. err.message, 'error')
  end
end

--- The rule that would allow the same from now on, where it may be stored and is not.
---@param permission acp.Permission
---@param option acp.PermissionOption
---@return acp.Rule?
local function new_rule(permission, option)
  if option.kind ~= 'allow_always' or not permission.rule then
    return nil
  end
  local rule = vim.tbl_extend('force', permission.rule, { action = 'allow' }) --[[@as acp.Rule]]
  return require('acp.rules').is_new(rule) and rule or nil
end

--- What has to be pressed before such a choice counts, nil where one key is enough. An option of
--- unknown meaning may last too.
---@param permission acp.Permission
---@param choice acp.PermissionChoice
---@return acp.Confirmation[]?
function M.confirmations(permission, choice)
  local option = choice.option
  if not option or option.kind == 'allow_once' or option.kind == 'reject_once' then
    return nil
  end
  local rule = new_rule(permission, option)
  local wish = require('acp.config').get().permissions.store
  local stored = vim.tbl_extend('force', choice, { rule = rule })
  local words = rule and 'store the rule: ' .. require('acp.rules').words(rule)
  if not rule or wish == 'never' then
    return { { letter = 'Y', label = 'Yes', item = choice } }
  elseif wish == 'always' then
    return { { letter = 'Y', label = 'Yes, and ' .. words, item = stored } }
  end
  return {
    { letter = 'Y', label = 'Yes, in the agent only', item = choice },
    { letter = 'S', label = 'Yes, and ' .. words, item = stored },
  }
end

--- Stores the rule that was confirmed with a choice.
---@param choice acp.PermissionChoice
function M.chosen(choice)
  if choice.rule then
    store(choice.rule)
  end
end

return M
