--- What waits for an answer of the user: one question at a time, and only at a moment when it can't
--- swallow a key that was meant for something else.

local client = require('acp.client')
local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

--- `open` shows it and calls `done` when it is gone from the screen, with whether it was answered.
---@class (exact) acp.Question
---@field key string
---@field what string one line, for messages and lists
---@field command string what to type to be asked again
---@field open fun(done: fun(answered: boolean))

--- How long no key must have been typed, and how often that is looked at, in milliseconds.
local quiet, interval = 300, 100

---@type acp.Question[] to be asked, in order
local waiting = {}
---@type acp.Question[] looked at and left open
local put_off = {}
--- One showing of a question: its picker may be given up and another one opened.
---@class (exact) acp.Showing
---@field question acp.Question
---@field settled boolean whether its answer is for nothing

---@type acp.Showing?
local current

local namespace = vim.api.nvim_create_namespace('acp.questions')
local last_key = 0
---@type integer?
local timer

--- Neovim's own picker waits for a key, for ever when nobody is there to press it.
---@return boolean
local function nobody_there()
  local picker = assert(debug.getinfo(vim.ui.select, 'S'))
  return #vim.api.nvim_list_uis() == 0 and picker.source:match('vim/ui%.lua$') ~= nil
end

--- Whether a question may take the keyboard, but for keys that were typed just now.
---@return boolean
local function may_open()
  local mode = vim.api.nvim_get_mode()
  return mode.mode == 'n'
    and not mode.blocking
    and vim.fn.state('m') == ''
    and vim.fn.getcmdwintype() == ''
    -- The answer would become a part of the macro.
    and vim.fn.reg_recording() == ''
    and not nobody_there()
end

--- Fits in one line: a longer message would wait for a key itself.
---@param format string
---@param question acp.Question
---@return string
local function message(format, question)
  local rest = #format:format('', question.command)
  local what = question.what:gsub('[.%s]+$', '')
  what = text.shorten(what, math.max(vim.o.columns - rest - 14, 20))
  return format:format(what, question.command)
end

local function stop()
  if timer then
    vim.fn.timer_stop(timer)
    vim.on_key(nil, namespace)
    timer = nil
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

---@param question acp.Question
local function show(question)
  if current and not current.settled then
    -- Its picker has gone without a word, or is still somewhere on the screen.
    table.insert(put_off, current.question)
  end
  remove(waiting, question.key)
  remove(put_off, question.key)
  ---@type acp.Showing
  local showing = { question = question, settled = false }
  current = showing
  ---@param answered boolean
  local function done(answered)
    if current ~= showing then
      return
    end
    current = nil
    if not answered and not showing.settled then
      table.insert(put_off, question)
      notify.after_picker(message('Still open: %s. %s asks again', question))
    end
    watch()
  end
  if not client.guard('a question', question.open, done) then
    done(false)
  end
end

local function tick()
  if busy() or not waiting[1] then
    stop()
  elseif may_open() and vim.uv.now() - last_key >= quiet then
    stop()
    show(waiting[1])
  end
end

--- Waits for the moment to ask.
function watch()
  if timer or busy() or not waiting[1] then
    return
  end
  -- As if a key had been typed: the question shall not come in the middle of a word.
  last_key = vim.uv.now()
  vim.on_key(function()
    last_key = vim.uv.now()
  end, namespace)
  timer = vim.fn.timer_start(interval, tick, { ['repeat'] = -1 })
end

--- Asks as soon as the user is free. Where that is not now, says so once.
---@param question acp.Question
function M.push(question)
  M.drop(question.key)
  table.insert(waiting, question)
  if not busy() and not may_open() then
    notify.show(message('%s. %s answers', question), 'warn')
  end
  watch()
end

--- The question needs no answer any more. What is on the screen stays there, and its answer is
--- for nothing: a picker can't be closed from outside.
---@param key string
function M.drop(key)
  remove(waiting, key)
  remove(put_off, key)
  if current and current.question.key == key then
    current.settled = true
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

--- Asks one question now, as the user wants to answer it.
---@param key string
---@return boolean whether there is such a question
function M.ask(key)
  for _, question in ipairs(all()) do
    if question.key == key then
      show(question)
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
    return show(first)
  end
  vim.ui.select(list, {
    prompt = 'Waiting for your answer',
    kind = 'acp_question',
    format_item = function(question)
      return question.what
    end,
  }, function(question)
    if question and vim.list_contains(all(), question) then
      show(question)
    end
  end)
end

return M
