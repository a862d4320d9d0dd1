--- Forms that an agent wants filled in, and addresses it wants visited. Nothing is sent before the
--- user has seen all of it and said so.

local check = require('acp.elicitation.check')
local client = require('acp.client')
local input = require('acp.elicitation.input')
local text = require('acp.text')

local M = {}

---@class (exact) acp.Form
---@field ask integer
---@field heading string who asks and what for
---@field fields acp.Field[]
---@field values table<string, acp.FieldValue?>
---@field moment? acp.Moment of the whole, when it comes up
---@field choosing? acp.Choosing what is on the screen

---@type table<integer, true> asked and not settled
local open = {}

---@param ask integer
---@return string
local function key(ask)
  return ('elicitation %d'):format(ask)
end

---@param ask integer
---@param kind 'accept'|'decline'
---@param value? table<string, acp.FieldValue>
---@return boolean sent
local function answer(ask, kind, value)
  if not open[ask] then
    require('acp.notify').show('No longer pending: nothing was sent', 'warn')
    return true
  end
  local action = { type = 'answer', ask = ask, kind = kind, value = value }
  local ok, err = client.send(action)
  if not ok then
    require('acp.notify').err(err --[[@as acp.Err]])
  end
  return ok ~= nil
end

---@param form acp.Form
---@return string? problem of the first field that has one
local function problem_of(form)
  for _, field in ipairs(form.fields) do
    local problem = check.problem(field, form.values[field.name])
    if problem then
      return ('%s %s'):format(text.label(field.title, field.name), problem)
    end
  end
end

local review ---@type fun(form: acp.Form, done: fun(answered: boolean))

--- What comes after the first thing was called for by it.
---@param form acp.Form
---@return acp.Moment?
local function take_moment(form)
  local moment = form.moment
  form.moment = nil
  return moment
end

--- Asks for the fields from this one on, then shows the whole.
---@param form acp.Form
---@param index integer
---@param done fun(answered: boolean)
local function fill(form, index, done)
  local field = form.fields[index]
  if not field or not open[form.ask] then
    return review(form, done)
  end
  local before = index == 1 and form.heading .. ' — ' or ''
  -- One question at a time is on the screen, also with Neovim's own picker.
  vim.cmd.redraw()
  local choosing = input.ask(field, form.values[field.name], before, function(went_on, value)
    if not went_on then
      return review(form, done)
    end
    form.values[field.name] = value
    fill(form, index + 1, done)
  end)
  -- Where there is none, the next thing may be on the screen already.
  form.choosing = choosing or form.choosing
end

---@class (exact) acp.FormChoice
---@field label string
---@field letter? string
---@field run fun()

---@param form acp.Form
---@param done fun(answered: boolean)
---@return acp.FormChoice[]
local function choices(form, done)
  local list = {}
  if #form.fields > 0 then
    table.insert(list, {
      label = 'Fill in',
      letter = 'f',
      run = function()
        fill(form, 1, done)
      end,
    })
  end
  if not problem_of(form) then
    table.insert(list, {
      label = #form.fields > 0 and 'Send' or 'Accept',
      letter = #form.fields > 0 and 's' or 'a',
      run = function()
        done(answer(form.ask, 'accept', form.values --[[@as table<string, acp.FieldValue>]]))
      end,
    })
  end
  for _, field in ipairs(form.fields) do
    local words = input.words(field, form.values[field.name])
    local title = text.label(field.title, field.name)
    table.insert(list, {
      label = ('Change %s: %s'):format(title, words),
      run = function()
        local choosing = input.ask(field, form.values[field.name], '', function(went_on, value)
          if went_on then
            form.values[field.name] = value
          end
          review(form, done)
        end)
        form.choosing = choosing or form.choosing
      end,
    })
  end
  table.insert(list, {
    label = 'Decline',
    letter = 'd',
    run = function()
      done(answer(form.ask, 'decline'))
    end,
  })
  return list
end

function review(form, done)
  if not open[form.ask] then
    return done(true)
  end
  local problem = problem_of(form)
  vim.cmd.redraw()
  form.choosing = require('acp.ui.select').open(choices(form, done), {
    prompt = text.one_line(form.heading .. (problem and (' — ' .. problem) or '')),
    kind = 'acp_form',
    format_item = function(choice)
      return choice.label
    end,
    question = true,
    letter_of = function(choice)
      return choice.letter
    end,
    moment = take_moment(form),
  }, function(choice)
    if choice then
      choice.run()
    else
      done(false)
    end
  end)
end

--- Closes, or gives the keyboard to, whatever is on the screen of a form.
---@param form acp.Form
---@return acp.Choosing
local function whole(form)
  return {
    close = function()
      if form.choosing then
        form.choosing.close()
      end
    end,
    focus = function()
      return form.choosing ~= nil and form.choosing.focus()
    end,
  }
end

---@param effect acp.AskedElicitation
---@param heading string
---@return fun(done: fun(answered: boolean), moment: acp.Moment): acp.Choosing?
local function form_opener(effect, heading)
  ---@type acp.Form
  local form = {
    ask = effect.ask,
    heading = heading,
    fields = effect.fields or {},
    values = {},
  }
  for _, field in ipairs(form.fields) do
    form.values[field.name] = field.default
  end
  return function(done, moment)
    form.moment = moment
    review(form, done)
    return whole(form)
  end
end

---@param effect acp.AskedElicitation
---@param heading string
---@return fun(done: fun(answered: boolean), moment: acp.Moment): acp.Choosing?
local function url_opener(effect, heading)
  return function(done, moment)
    return require('acp.visit').ask(heading, effect.url --[[@as string]], function(outcome)
      if outcome then
        done(answer(effect.ask, outcome == 'visited' and 'accept' or 'decline'))
      else
        done(false)
      end
    end, moment)
  end
end

---@param effect acp.AskedElicitation
local function asked(effect)
  open[effect.ask] = true
  local agent = require('acp.session').agent_of(effect.session)
  local heading = text.one_line(('%s asks: %s'):format(agent, effect.message))
  require('acp.questions').push({
    key = key(effect.ask),
    what = heading,
    command = ':Acp permissions',
    session = effect.session,
    open = effect.url and url_opener(effect, heading) or form_opener(effect, heading),
  })
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Asked
  client.subscribe('asked', function(effect)
    if effect.kind == 'elicitation' then
      asked(effect --[[@as acp.AskedElicitation]])
    end
  end)
  ---@param effect acp.Settled
  client.subscribe('settled', function(effect)
    if open[effect.ask] then
      open[effect.ask] = nil
      require('acp.questions').drop(key(effect.ask))
    end
  end)
end

return M
