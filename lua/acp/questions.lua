--- What waits for an answer of the user: one question at a time, and only at a moment when it can't
--- swallow a key that was meant for something else.

local client = require('acp.client')
local keyboard = require('acp.keyboard')
local notify = require('acp.notify')

local M = {}

--- `open` shows it, for `select`, and calls `done` when it is gone from the screen, with whether it
--- was answered. What it returns, if anything, closes it without a word, or gives it the keyboard.
---@class (exact) acp.Question
---@field key string
---@field what string one line, for messages and lists
---@field command string what to type to be asked again
---@field manual? boolean it never comes by itself
---@field open fun(done: fun(answered: boolean), moment: acp.Moment): acp.Choosing?

---@type acp.Question[] to be asked, in order
local waiting = {}
---@type acp.Question[] looked at and left open
local put_off = {}
--- One showing of a question: its picker may be given up and another one opened.
---@class (exact) acp.Showing
---@field question acp.Question
---@field settled boolean whether its answer is for nothing
---@field how acp.MomentHow
---@field choosing? acp.Choosing

---@type acp.Showing?
local current
--- Whether the user knows that something waits.
local announced = false
---@type fun()?
local stop_watching

--- Neovim's own input waits for a key, for ever when nobody is there to press it.
---@return boolean
local function nobody_there()
  return #vim.api.nvim_list_uis() == 0 and not require('acp.ui.select').has_picker()
end

---@param before string
---@param question acp.Question
---@param after string
---@return string
local function message(before, question, after)
  local what = question.what:gsub('[.%s]+$', '')
  return notify.fitting(before .. what, ('. %s %s'):format(question.command, after))
end

--- Says once that something waits; a second message at once might wait for a key.
---@param question acp.Question
local function announce(question)
  if not announced and keyboard.can_tell() then
    announced = true
    notify.show(message('', question, 'answers'), 'warn')
  end
end

---@param list acp.Question[]
---@param key string
---@return acp.Question?
local function remove(list, key)
  for i, question in ipairs(list) do
    if question.key == key then
      return table.remove(list, i)
    end
  end
end

--- Whether the user is being asked. A picker whose question is settled does not count: it may
--- never say that it has gone.
---@return boolean
local function busy()
  return current ~= nil and not current.settled
end

local watch ---@type fun()
local go_on ---@type fun()

--- Takes what is on the screen away, where it lets itself be taken.
---@return acp.Showing?
local function take_down()
  local showing = current
  current = nil
  if showing and showing.choosing then
    showing.choosing.close()
  end
  return showing
end

--- Makes room for another question.
local function interrupt()
  local showing = take_down()
  if showing and not showing.settled then
    table.insert(showing.how == 'called' and put_off or waiting, 1, showing.question)
  end
end

---@param showing acp.Showing
---@param answered boolean? nil: the user went on typing
local function done(showing, answered)
  if current ~= showing then
    return
  end
  current = nil
  if answered == nil and not showing.settled then
    table.insert(waiting, 1, showing.question)
  elseif not answered and not showing.settled then
    table.insert(put_off, showing.question)
    -- Later, as insert mode may begin again and write over it.
    client.defer(function()
      notify.after_picker(message('Still open: ', showing.question, 'asks again'))
    end)
  end
  watch()
  if answered then
    client.defer(go_on)
  end
end

---@param question acp.Question
---@param how acp.MomentHow
local function show(question, how)
  interrupt()
  remove(waiting, question.key)
  remove(put_off, question.key)
  announced = false
  ---@type acp.Showing
  local showing = { question = question, settled = false, how = how }
  current = showing
  local ok = client.guard('a question', function()
    showing.choosing = question.open(function(answered)
      done(showing, answered)
    end, {
      how = how,
      later = function()
        done(showing, nil)
      end,
    })
  end)
  if not ok then
    done(showing, false)
  end
end

---@return acp.Question? the first that comes by itself
local function next_question()
  for _, question in ipairs(waiting) do
    if not question.manual then
      return question
    end
  end
end

--- Waits for the moment to ask.
function watch()
  if stop_watching or busy() or not next_question() then
    return
  end
  stop_watching = keyboard.when_quiet(function()
    stop_watching = nil
    local question = next_question()
    if question and not busy() and not nobody_there() then
      show(question, 'unasked')
    end
  end, function()
    local question = next_question()
    if busy() or not question then
      stop_watching = nil
      return true
    end
    announce(question)
  end)
end

--- The user is answering questions: the next one need not wait.
function go_on()
  local question = next_question()
  if question and not busy() and keyboard.free() and not nobody_there() then
    show(question, 'next')
  end
end

--- Asks as soon as the user is free. Where that is not now, says so once.
---@param question acp.Question
function M.push(question)
  M.drop(question.key)
  table.insert(waiting, question)
  if question.manual or not busy() and not keyboard.free() then
    announce(question)
  end
  watch()
end

--- The question needs no answer any more. Our own window goes; a picker of others can't be closed
--- from outside, and its answer is for nothing.
---@param key string
function M.drop(key)
  remove(waiting, key)
  remove(put_off, key)
  if not waiting[1] then
    announced = false
  end
  if current and current.question.key == key then
    current.settled = true
    if current.choosing then
      current.choosing.close()
    end
    watch()
  end
end

--- Questions that wait, those put off first.
---@return acp.Question[]
local function all()
  local result = vim.list_extend({}, put_off)
  vim.list_extend(result, waiting)
  if current and not current.settled then
    table.insert(result, 1, current.question)
  end
  return result
end

--- Asks a question now, as the user wants to answer it.
---@param question acp.Question
local function ask(question)
  if current and current.question == question and not current.settled and current.choosing then
    current.how = 'called'
    current.choosing.focus()
  else
    show(question, 'called')
  end
end

--- Asks one question now.
---@param key string
---@return boolean whether there is such a question
function M.ask(key)
  for _, question in ipairs(all()) do
    if question.key == key then
      ask(question)
      return true
    end
  end
  return false
end

--- Asks what is open, now; with several questions the user chooses one.
function M.ask_again()
  local list = all()
  local first = list[1]
  if not first then
    return notify.show('Nothing waits for your answer')
  elseif #list == 1 then
    return ask(first)
  end
  interrupt()
  require('acp.ui.select').open(list, {
    prompt = 'Waiting for your answer',
    kind = 'acp_question',
    format_item = function(question)
      return question.what
    end,
  }, function(question)
    if question and vim.list_contains(all(), question) then
      ask(question)
    else
      watch()
    end
  end)
end

return M
