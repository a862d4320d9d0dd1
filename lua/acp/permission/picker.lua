--- One permission on the screen: what is asked in one window, what can be chosen in another, and
--- what comes of the choice.

local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

---@param err acp.Err
local function tell(err)
  notify.after_picker(text.one_line(notify.format(err)), 'warn')
end

---@param id integer
---@param option? string
---@return boolean
local function respond(id, option)
  local ok, err = require('acp.permission').respond(id, option, 'user')
  if err then
    tell({ code = err.code, message = 'This was not asked any more: ' .. err.message })
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
---@param done fun(answered: boolean)
local function reject_with_reason(permission, option, done)
  local agent = text.one_line(require('acp.session').agent_of(permission.session))
  vim.ui.input({ prompt = ('What shall %s do instead? '):format(agent) }, function(words)
    if not words or vim.trim(words) == '' then
      return done(false)
    elseif not respond(permission.id, option) then
      keep(permission.session, words)
      return done(true)
    end
    local ok, err = require('acp.session').prompt(words, { session = permission.session })
    if not ok then
      keep(permission.session, words)
      tell(err --[[@as acp.Err]])
    end
    done(true)
  end)
end

---@param permission acp.Permission
---@param choice acp.PermissionChoice
---@param done fun(answered: boolean)
local function choose(permission, choice, done)
  if choice.reason then
    return reject_with_reason(permission, choice.reason.id, done)
  elseif choice.stop then
    local ok, err = require('acp.session').act('cancel', permission.session)
    if not ok then
      tell(err --[[@as acp.Err]])
    end
    return done(ok == true)
  end
  local option = choice.option
  local ok = respond(permission.id, option and option.id)
  if ok and option and option.kind == 'allow_always' and permission.rule then
    return require('acp.permission.always').offer(permission.rule, function()
      done(true)
    end)
  end
  done(true)
end

--- Opens both windows.
---@param id integer
---@param done fun(answered: boolean)
---@param moment acp.Moment
---@return acp.Choosing?
function M.open(id, done, moment)
  local permission = require('acp.permission').find(id)
  if not permission then
    done(true)
    return nil
  end
  local preview = require('acp.permission.preview').open(permission)
  local choices = require('acp.permission.choices')
  local choosing = require('acp.ui.select').open(choices.of(permission), {
    prompt = require('acp.permission').title(permission),
    kind = 'acp_permission',
    about = choices.about(permission),
    format_item = function(choice)
      return choice.label
    end,
    moment = {
      how = moment.how,
      later = function()
        preview.close()
        if moment.later then
          moment.later()
        end
      end,
    },
    place = preview.place,
    keys = preview.keys,
    partner = preview.owns,
  }, function(choice)
    preview.close()
    if choice then
      choose(permission, choice, done)
    else
      done(false)
    end
  end)
  preview.fit()
  return {
    focus = choosing.focus,
    close = function()
      choosing.close()
      preview.close()
    end,
  }
end

return M
