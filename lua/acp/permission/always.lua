--- "Always": whether what was allowed for good is to be a rule of this project as well.

local notify = require('acp.notify')

local M = {}

---@param rule acp.Rule
local function store(rule)
  local ok, err = require('acp.rules').add(rule)
  if ok then
    local message = 'Rule stored: ' .. require('acp.rules').words(rule)
    notify.after_picker(notify.fitting(message, '. :Acp rules shows it'))
  elseif err then
    notify.after_picker(notify.fitting('Rule not stored: ' .. err.message), 'error')
  end
end

--- Offers to store a rule, as configured. `done` is called when the user has decided.
---@param rule acp.Rule what the core proposes
---@param done fun()
function M.offer(rule, done)
  local wish = require('acp.config').get().permissions.store
  rule = vim.tbl_extend('force', rule, { action = 'allow' })
  if wish == 'never' or not require('acp.rules').is_new(rule) then
    return done()
  elseif wish == 'always' then
    store(rule)
    return done()
  end
  local words = require('acp.rules').words(rule)
  require('acp.ui.select').open({ false, true }, {
    prompt = 'Allowed. In this project from now on?',
    kind = 'acp_rule',
    format_item = function(stored)
      return stored and 'Also store a rule for this project: ' .. words or 'Only now, in the agent'
    end,
    moment = { how = 'next' },
  }, function(stored)
    if stored then
      store(rule)
    end
    done()
  end)
end

return M
