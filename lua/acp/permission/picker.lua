--- One permission on the screen: what is asked in one window, what can be chosen in another, and
--- what comes of the choice.

local answer = require('acp.permission.answer')

local M = {}

---@param permission acp.Permission
---@param choice acp.PermissionChoice
---@param done fun(answered: boolean)
local function choose(permission, choice, done)
  if choice.reason then
    return answer.reject_with_reason(permission, choice.reason.id, done)
  elseif choice.stop then
    local ok, err = require('acp.session').act('cancel', permission.session)
    if not ok then
      answer.tell(err --[[@as acp.Err]])
    end
    return done(ok == true)
  end
  local option = choice.option
  if answer.respond(permission.id, option and option.id) then
    require('acp.permission.always').chosen(choice)
  end
  done(true)
end

--- What is on the screen: the choices, or the file.
---@class (exact) acp.PermissionScreen
---@field now? acp.Choosing

--- Shows the change in its file; where it has no place there, the list comes back.
---@param permission acp.Permission
---@param done fun(answered: boolean)
---@param screen acp.PermissionScreen
local function preview_in_file(permission, done, screen)
  -- The window that chooses has given the keyboard back, insert mode included.
  vim.cmd.stopinsert()
  screen.now = require('acp.proposal').open(permission, done, function()
    M.show(permission.id, done, { how = 'next' }, screen)
  end)
end

--- Opens both windows.
---@param id integer
---@param done fun(answered: boolean)
---@param moment acp.Moment
---@param screen acp.PermissionScreen
function M.show(id, done, moment, screen)
  local permission = require('acp.permission').find(id)
  if not permission then
    screen.now = nil
    return done(true)
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
    question = true,
    letter_of = function(choice)
      return choice.letter
    end,
    confirm = function(choice)
      return require('acp.permission.always').confirmations(permission, choice)
    end,
    moment = require('acp.ui.select').before_later(moment, preview.close),
    place = preview.place,
    on_draw = preview.fit,
    keys = preview.keys,
    partner = preview.owns,
  }, function(choice)
    preview.close()
    if choice and choice.preview then
      preview_in_file(permission, done, screen)
    elseif choice then
      choose(permission, choice, done)
    else
      done(false)
    end
  end)
  screen.now = {
    focus = choosing.focus,
    close = function()
      choosing.close()
      preview.close()
    end,
  }
end

--- Asks on the screen.
---@param id integer
---@param done fun(answered: boolean)
---@param moment acp.Moment
---@return acp.Choosing?
function M.open(id, done, moment)
  local screen = {} ---@type acp.PermissionScreen
  M.show(id, done, moment, screen)
  return screen.now
    and {
      focus = function()
        return screen.now ~= nil and screen.now.focus()
      end,
      close = function()
        if screen.now then
          screen.now.close()
        end
      end,
    }
end

return M
