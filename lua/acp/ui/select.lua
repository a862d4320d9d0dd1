--- Lets the user choose: lists that were called for with the picker the user has installed, else,
--- and always where an agent asks something, in a small window of our own. Neovim's own picker is
--- never used: it waits for a key, and holds up all agents until it comes.

local picker = require('acp.ui.select.picker')
local text = require('acp.text')
local window = require('acp.ui.select.window')

local M = {}

--- "unasked" came by itself: for a moment it hands on whatever is typed to where the cursor was,
--- and goes; `later` is called and nothing else. "next" follows a choice: keys of the first moment
--- were meant for what was there before. "called" was called for.
---@alias acp.MomentHow 'unasked'|'next'|'called'

---@class (exact) acp.Moment
---@field how acp.MomentHow
---@field later? fun()
---@field keys? table<string, acp.SelectKey> what else can be done about the question
---@field about? string where it is among those that wait

---@class (exact) acp.SelectKey
---@field desc string
---@field run fun()

--- A second key that a choice needs, on purpose and after a moment.
---@class (exact) acp.Confirmation
---@field letter string another one than that of the choice
---@field label string
---@field item any what is chosen with it

--- As for `vim.ui.select`, and the rest for our own window.
---@class (exact) acp.SelectOpts
---@field prompt string
---@field kind? string for pickers, to tell one list from another
---@field format_item? fun(item: any): string
---@field about? string[] what there is to know before one chooses
---@field question? boolean choosing does something: letters instead of digits, nothing preselected
---@field letter_of? fun(item: any): string? the letter that an item has to have
---@field confirm? fun(item: any): acp.Confirmation[]? for choices that last
---@field moment? acp.Moment by default it was called for
---@field place? fun(room: acp.Room, rows: fun(width: integer): integer): acp.Box
---@field on_draw? fun() what is in our window has changed, and its size with it
---@field keys? table<string, acp.SelectKey>
---@field partner? fun(win: integer): boolean whether the cursor may go there and come back

--- What is on the screen to choose from.
---@class (exact) acp.Choosing
---@field close fun() it goes away, and nothing was chosen
---@field focus fun(): boolean it takes the keyboard now, where it can

---@class (exact) acp.Select
---@field items any[]
---@field opts acp.SelectOpts
---@field label fun(item: any): string
---@field own boolean whether it is in our own window
---@field over boolean
---@field finish fun(item?: any): boolean gone; the first call counts, and is true
---@field choose fun(item: any) finishes with it, or asks for the second key first
---@field give_up fun() the user goes on typing
---@field win? integer
---@field visited? integer the window beside it that the cursor is in
---@field deaf boolean whether keys choose nothing yet
---@field mapped? boolean
---@field uncatch? fun() keys are no longer handed on
---@field armed? acp.Armed
---@field origin? acp.KeyboardOrigin where the keyboard was taken

--- Whether the user has a picker that is not Neovim's own.
---@return boolean
function M.has_picker()
  return picker.installed()
end

--- Whether what agents ask is asked in a window of our own.
---@return boolean
function M.asks_in_window()
  return require('acp.config').get().permissions.picker == 'builtin' or not picker.installed()
end

--- The same moment, with something to be done first where the user goes on typing.
---@param moment acp.Moment
---@param fn fun()
---@return acp.Moment
function M.before_later(moment, fn)
  return vim.tbl_extend('force', moment, {
    later = function()
      fn()
      if moment.later then
        moment.later()
      end
    end,
  }) --[[@as acp.Moment]]
end

---@param select acp.Select
---@return boolean first whether it was there until now
local function close(select)
  local first = not select.over
  select.over = true
  if first then
    window.hide(select)
  end
  return first
end

--- What follows a choice may take the keyboard anew: by then the user is back in insert mode.
---@param select acp.Select
---@param fn fun()
local function after(select, fn)
  if select.origin and select.origin.mode ~= 'normal' then
    require('acp.client').defer(fn)
  else
    fn()
  end
end

---@param items any[]
---@param opts acp.SelectOpts
---@param on_choice fun(item: any)
---@return acp.Select
local function create(items, opts, on_choice)
  ---@type acp.Select
  local select = { ---@diagnostic disable-line: missing-fields
    items = items,
    opts = opts,
    own = not picker.installed() or opts.question == true and M.asks_in_window(),
    label = function(item)
      return text.one_line(tostring(opts.format_item and opts.format_item(item) or item))
    end,
    deaf = opts.moment ~= nil and opts.moment.how ~= 'called',
    over = false,
  }
  select.finish = function(item)
    local first = close(select)
    if first then
      after(select, function()
        on_choice(item)
      end)
    end
    return first
  end
  select.choose = function(item)
    local confirmations = opts.confirm and opts.confirm(item)
    if confirmations then
      window.arm(select, item, confirmations)
    else
      select.finish(item)
    end
  end
  select.give_up = function()
    local moment = opts.moment
    if close(select) and moment and moment.later then
      moment.later()
    end
  end
  return select
end

--- Shows what there is to choose from, and takes the keyboard. `on_choice` is called once, with nil
--- for nothing, unless it is closed before or the user goes on typing.
---@param items any[]
---@param opts acp.SelectOpts
---@param on_choice fun(item: any)
---@return acp.Choosing
function M.open(items, opts, on_choice)
  local select = create(items, opts, on_choice)
  if select.own then
    window.show(select)
    window.focus(select)
  else
    picker.open(select)
  end
  return {
    close = function()
      close(select)
    end,
    focus = function()
      return window.focus(select)
    end,
  }
end

return M
