--- Answers of the user to a permission, wherever they were given: they may come too late, and what
--- was written is never lost.

local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

---@param err acp.Err
function M.tell(err)
  notify.show(notify.format(err), 'warn')
end

--- Answers with an option, or with none.
---@param id integer
---@param option? string
---@return boolean
function M.respond(id, option)
  local ok, err = require('acp.permission').respond(id, option, 'user')
  if err then
    M.tell({ code = err.code, message = 'No longer pending: ' .. err.message })
  end
  return ok == true
end

--- Words that nobody waits for any more are not thrown away.
---@param session integer
---@param words string
local function keep(session, words)
  require('acp.ui.prompt').append(session, vim.split(words, '\n', { plain = true }))
end

--- Says no, and why: the reason is the next prompt.
---@param permission acp.Permission
---@param option string
---@param words string
function M.reject(permission, option, words)
  if not M.respond(permission.id, option) then
    return keep(permission.session, words)
  end
  local ok, err = require('acp.session').prompt(words, { session = permission.session })
  if not ok then
    keep(permission.session, words)
    M.tell(err --[[@as acp.Err]])
  end
end

--- Asks why, and says no. Without a reason nothing is answered.
---@param permission acp.Permission
---@param option string
---@param done fun(answered: boolean)
function M.reject_with_reason(permission, option, done)
  local agent = text.one_line(require('acp.session').agent_of(permission.session))
  vim.ui.input({ prompt = ('What should %s do instead? '):format(agent) }, function(words)
    if not words or vim.trim(words) == '' then
      return done(false)
    end
    M.reject(permission, option, words)
    done(true)
  end)
end

--- The first option of these kinds, in the order of the kinds.
---@param permission acp.Permission
---@param kinds string[]
---@return string? id
function M.option(permission, kinds)
  for _, kind in ipairs(kinds) do
    for _, option in ipairs(permission.options) do
      if option.kind == kind then
        return option.id
      end
    end
  end
end

return M
