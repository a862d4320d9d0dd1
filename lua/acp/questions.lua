--- What waits for an answer of the user. Nothing here takes a key that was typed for something
--- else: a question announces itself, and is opened by a key or command of the user. In the chat it
--- belongs to it may come by itself, when nobody types.

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
---@field session? integer whose chat it may come up in
---@field open fun(done: fun(answered: boolean), moment: acp.Moment): acp.Choosing?

--- One showing of a question: its picker may be given up and another one opened.
---@class (exact) acp.Showing
---@field question acp.Question
---@field settled boolean whether its answer is for nothing
---@field choosing? acp.Choosing

--- How often the moment is looked for, how long nobody must have typed once the user has typed
--- through a question, and what is at least between two announcements, in milliseconds.
local interval, patience, pause = 100, 5000, 5000

---@type acp.Question[] those that wait, in order
local waiting = {}
---@type table<string, true> those the user has looked at and left open, by key
local put_off = {}
---@type acp.Showing?
local current
---@type integer?
local timer
--- Whether the user has gone on typing when a question came.
local typed_through = false

--- Neovim's own input waits for a key, for ever when nobody is there to press it.
---@return boolean
local function nobody_there()
  return #vim.api.nvim_list_uis() == 0
end

---@param key string
---@return integer?
local function index_of(key)
  for i, question in ipairs(waiting) do
    if question.key == key then
      return i
    end
  end
end

--- How many wait for the user.
---@param session? integer nil for all
---@return integer
function M.count(session)
  return #vim.tbl_filter(function(question)
    return session == nil or question.session == session
  end, waiting)
end

--- Such as "2 of 3, Fix the parser": which one it is, and whose.
---@param question acp.Question
---@return string
local function position(question)
  local parts = {}
  if #waiting > 1 then
    table.insert(parts, ('%d of %d'):format(index_of(question.key) or 1, #waiting))
  end
  local info = question.session and require('acp.session').info(question.session)
  if info and info.title ~= '' then
    table.insert(parts, require('acp.text').brief(info.title, 40))
  elseif info and #require('acp.session').list() > 1 then
    table.insert(parts, ('session %d'):format(info.id))
  end
  return table.concat(parts, ', ')
end

---@param before string
---@param question acp.Question
---@return string message, string ending the part to be kept whole
local function message(before, question)
  local text = require('acp.text')
  local what = text.without_end(text.brief(question.what, 400))
  local where = position(question)
  local ending = (where ~= '' and (' (%s)'):format(where) or '') .. ': ' .. question.command
  return before .. what, ending
end

---@param question acp.Question
---@return boolean
local function in_its_chat(question)
  return question.session ~= nil and keyboard.chat() == question.session
end

local announcing, announced = false, -pause

--- Says that something waits, where the user does not see it: once for all that came together.
local function announce()
  if announcing then
    return
  end
  announcing = true
  vim.defer_fn(function()
    announcing = false
    local last = waiting[#waiting]
    if last and not current and not in_its_chat(last) then
      announced = vim.uv.now()
      local words, ending = message('', last)
      notify.show(words, 'warn', ending)
    end
  end, math.max(announced + pause - vim.uv.now(), interval) --[[@as integer]])
end

--- Whether the user is being asked.
---@return boolean
local function busy()
  return current ~= nil and not current.settled
end

local watch ---@type fun()

--- Takes what is on the screen away, where it lets itself be taken.
---@return boolean whether there was something
local function take_down()
  local showing = current
  current = nil
  if showing and showing.choosing then
    showing.choosing.close()
  end
  return showing ~= nil
end

---@param showing acp.Showing
---@param answered boolean? nil: the user went on typing
local function done(showing, answered)
  if current ~= showing then
    return
  end
  current = nil
  local question = showing.question
  if answered == nil then
    typed_through = true
  elseif not answered and not showing.settled and index_of(question.key) then
    -- Who leaves one open wants none of them now.
    for _, other in ipairs(waiting) do
      put_off[other.key] = true
    end
    -- Later, as insert mode may begin again and write over it.
    client.defer(function()
      local words, ending = message('Not answered yet: ', question)
      notify.show(words, 'info', ending)
    end)
  elseif answered then
    typed_through = false
    M.drop(question.key)
  end
  watch()
end

local show ---@type fun(question: acp.Question, how: acp.MomentHow)

--- Shows the question after or before this one.
---@param question acp.Question
---@param step integer
local function turn(question, step)
  local i = index_of(question.key)
  local other = i and waiting[(i - 1 + step) % #waiting + 1]
  if other and other ~= question then
    show(other, 'called')
  end
end

---@param question acp.Question
---@return table<string, acp.SelectKey>
local function keys(question)
  if #waiting < 2 then
    return {}
  end
  local function to(step)
    return function()
      turn(question, step)
    end
  end
  return {
    ['<C-n>'] = { desc = 'show the next question', run = to(1) },
    ['<C-p>'] = { desc = 'show the previous question', run = to(-1) },
  }
end

---@param question acp.Question
---@param how acp.MomentHow
local function open(question, how)
  put_off[question.key] = nil
  ---@type acp.Showing
  local showing = { question = question, settled = false }
  current = showing
  local where = position(question)
  local ok = client.guard('a question', function()
    local choosing = question.open(function(answered)
      done(showing, answered)
    end, {
      how = how,
      keys = keys(question),
      about = where ~= '' and where .. (#waiting > 1 and '   <C-n> shows the next' or '') or nil,
      later = function()
        done(showing, nil)
      end,
    })
    showing.choosing = choosing
  end)
  if not ok then
    done(showing, false)
  end
end

--- Shows a question in the place of what is on the screen.
---@param question acp.Question
---@param how acp.MomentHow
function show(question, how)
  if not take_down() then
    return open(question, how)
  end
  -- By then the user is back in insert mode, from which the next one takes the keyboard anew.
  client.defer(function()
    if not current and index_of(question.key) then
      open(question, how)
    end
  end)
end

--- The first that may come up by itself where the cursor is.
---@return acp.Question?
local function candidate()
  local options = require('acp.config').get().permissions
  if options.focus ~= 'chat' or not require('acp.ui.select').asks_in_window() then
    return nil
  end
  for _, question in ipairs(waiting) do
    if not put_off[question.key] and in_its_chat(question) then
      return question
    end
  end
end

local function look()
  if #waiting == 0 and timer then
    vim.fn.timer_stop(timer)
    timer = nil
  end
  local quiet = typed_through and patience or keyboard.quiet
  if busy() or keyboard.idle() < quiet or nobody_there() then
    return
  end
  local question = candidate()
  if question and keyboard.free() then
    show(question, 'unasked')
  end
end

--- Waits for the moment to ask.
function watch()
  if not timer and #waiting > 0 then
    timer = vim.fn.timer_start(interval, look, { ['repeat'] = -1 })
  end
end

--- Winbars and statuslines tell what waits.
local function changed()
  require('acp.ui.status').expire()
  require('acp.ui.winbar').refresh()
  vim.cmd.redrawstatus({ bang = true })
end

--- Something waits for the user from now on.
---@param question acp.Question
function M.push(question)
  M.drop(question.key)
  table.insert(waiting, question)
  announce()
  changed()
  watch()
end

--- The question needs no answer any more. Our own window goes; a picker of others can't be closed
--- from outside, and its answer is for nothing.
---@param key string
function M.drop(key)
  put_off[key] = nil
  local i = index_of(key)
  if i then
    table.remove(waiting, i)
    changed()
  end
  if #waiting == 0 then
    typed_through = false
  end
  if current and current.question.key == key then
    local showing = current
    showing.settled = true
    current = nil
    if showing.choosing then
      showing.choosing.close()
    end
  end
end

--- Opens a question now, as the user wants to answer it.
---@param question acp.Question
---@param how acp.MomentHow
local function ask(question, how)
  local showing = current
  if
    not (showing and showing.question == question and showing.choosing and showing.choosing.focus())
  then
    show(question, how)
  end
end

--- Opens one question.
---@param key string
---@param how? acp.MomentHow
---@return boolean whether there is such a question
function M.ask(key, how)
  local question = waiting[index_of(key) or 0]
  if question then
    ask(question, how or 'called')
  end
  return question ~= nil
end

--- Opens what waits: first what belongs to the chat one is in, then the oldest. Called once more,
--- the next one.
function M.ask_again()
  local first = waiting[1]
  if not first then
    return notify.show('Nothing waits for your answer')
  elseif vim.fn.getcmdwintype() ~= '' then
    return notify.show('Close the command-line window first', 'warn')
  elseif current and not current.settled and vim.bo.filetype == 'acp_select' then
    return turn(current.question, 1)
  end
  for _, question in ipairs(waiting) do
    if in_its_chat(question) then
      return ask(question, 'called')
    end
  end
  ask(first, 'called')
end

return M
