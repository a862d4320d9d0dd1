--- Lets the user choose: with the picker the user has installed, else in a small window of our own.
--- Neovim's own picker is never used: it waits for a key, and holds up all agents until it comes.

local keyboard = require('acp.keyboard')
local text = require('acp.text')
local window = require('acp.ui.select.window')

local M = {}

--- "unasked" came by itself: it is shown at once, and takes the keyboard when nobody types; where
--- the user goes on typing instead, `later` is called and nothing else. "next" follows a choice:
--- keys of the first moment were meant for what was there before. "called" was called for.
---@alias acp.MomentHow 'unasked'|'next'|'called'

---@class (exact) acp.Moment
---@field how acp.MomentHow
---@field later? fun()

--- As for `vim.ui.select`, and the rest for our own window.
---@class (exact) acp.SelectOpts
---@field prompt string
---@field kind? string for pickers, to tell one list from another
---@field format_item? fun(item: any): string
---@field about? string[] what there is to know before one chooses
---@field moment? acp.Moment by default it was called for
---@field place? fun(room: acp.Room, rows: fun(width: integer): integer): acp.Box
---@field keys? table<string, fun()>
---@field partner? fun(win: integer): boolean whether the cursor may go there and come back

--- What is on the screen to choose from.
---@class (exact) acp.Choosing
---@field close fun() it goes away, and nothing was chosen
---@field focus fun() it takes the keyboard now

---@class (exact) acp.Select
---@field items any[]
---@field opts acp.SelectOpts
---@field label fun(item: any): string
---@field own boolean whether it is in our own window
---@field tab integer the tabpage it came up in
---@field over boolean
---@field stop? fun() ends the waiting for a free keyboard
---@field finish fun(index?: integer): boolean gone; the first call counts, and is true
---@field header string[] what stands above the items in our own window
---@field win? integer
---@field visited? integer the window beside it that the cursor is in
---@field deaf boolean whether keys choose nothing yet
---@field origin? acp.KeyboardOrigin where the keyboard was taken

--- Whether the user has a picker that is not Neovim's own.
---@return boolean
function M.has_picker()
  local picker = assert(debug.getinfo(vim.ui.select, 'S'))
  return picker.source:match('vim/ui%.lua$') == nil
end

--- With the picker of the user. It may call back never, or twice.
---@param select acp.Select
local function run_picker(select)
  local opts = select.opts
  local about = #(opts.about or {}) > 0 and ': ' .. table.concat(opts.about or {}, ', ') or ''
  vim.ui.select(select.items, {
    prompt = opts.prompt .. about,
    kind = opts.kind,
    format_item = select.label,
  }, function(item, index)
    for i, each in ipairs(index and {} or select.items) do
      index = each == item and i or index
    end
    if not select.finish(item ~= nil and index or nil) and item ~= nil then
      require('acp.notify').after_picker('This was not asked any more: nothing was chosen', 'warn')
    end
    if select.origin and select.origin.insert then
      keyboard.give_back(select.origin)
    end
  end)
end

---@param select acp.Select
local function pick(select)
  select.origin = keyboard.take()
  if not select.origin.insert then
    return run_picker(select)
  end
  -- A picker that starts insert mode for itself would lose it to ours, which ends in a moment.
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    pattern = '*:n',
    once = true,
    desc = 'acp: open a picker after insert mode',
    callback = function()
      require('acp.client').defer(function()
        if not select.over then
          run_picker(select)
        end
      end)
    end,
  })
end

--- Takes it off the screen.
---@param select acp.Select
---@return boolean first whether it was there until now
local function close(select)
  local first = not select.over
  select.over = true
  if first then
    if select.stop then
      select.stop()
    end
    window.hide(select)
  end
  return first
end

--- The user goes on typing.
---@param select acp.Select
---@return true
local function give_up(select)
  local moment = select.opts.moment
  if close(select) and moment and moment.later then
    moment.later()
  end
  return true
end

---@param select acp.Select
local function take(select)
  select.stop = nil
  if vim.api.nvim_get_current_tabpage() ~= select.tab then
    give_up(select)
  elseif select.own then
    window.focus(select)
  else
    pick(select)
  end
end

---@param items any[]
---@param opts acp.SelectOpts
---@param on_choice fun(item: any, index?: integer)
---@return acp.Select
local function create(items, opts, on_choice)
  ---@type acp.Select
  local select = { ---@diagnostic disable-line: missing-fields
    items = items,
    opts = opts,
    own = not M.has_picker(),
    tab = vim.api.nvim_get_current_tabpage(),
    header = {},
    label = function(item)
      return text.one_line(tostring(opts.format_item and opts.format_item(item) or item))
    end,
    deaf = opts.moment ~= nil and opts.moment.how == 'next',
    over = false,
  }
  select.finish = function(index)
    local first = close(select)
    if first and index and select.own and select.origin and select.origin.insert then
      -- By then the user is back in insert mode, and what comes next can take it anew.
      require('acp.client').defer(function()
        on_choice(items[index], index)
      end)
    elseif first then
      on_choice(index and items[index], index)
    end
    return first
  end
  return select
end

--- Shows what there is to choose from. `on_choice` is called once, with nil for nothing, unless it
--- is closed before or comes later.
---@param items any[]
---@param opts acp.SelectOpts
---@param on_choice fun(item: any, index?: integer)
---@return acp.Choosing
function M.open(items, opts, on_choice)
  local select = create(items, opts, on_choice)
  if select.own then
    window.show(select)
  end
  if opts.moment and opts.moment.how == 'unasked' then
    select.stop = keyboard.when_quiet(function()
      take(select)
    end, function()
      return give_up(select)
    end)
  else
    take(select)
  end
  return {
    close = function()
      close(select)
    end,
    focus = function()
      local waiting = select.stop
      if waiting then
        waiting()
      end
      if waiting or select.own then
        take(select)
      end
    end,
  }
end

return M
