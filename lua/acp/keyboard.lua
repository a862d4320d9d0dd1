--- Whether the user is typing: the moment when something nobody called for may take the keyboard,
--- and how it is given back.

local M = {}

--- How long no key must have been typed, and how often that is looked at, in milliseconds.
M.quiet = 300
local interval = 50

local namespace = vim.api.nvim_create_namespace('acp.keyboard')
local last_key = 0
local watching = 0

--- A prompt of ours with nothing in it: what was typed has just been sent.
---@return boolean
local function in_empty_prompt()
  return vim.b.acp_role == 'prompt'
    and vim.api.nvim_buf_line_count(0) == 1
    and vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == ''
end

--- Pickers and menus of others: they close when the cursor leaves them.
---@return boolean
local function in_popup()
  local floating = vim.api.nvim_win_get_config(0).relative ~= ''
  return floating and vim.bo.buftype ~= '' and vim.b.acp_role == nil
end

--- Whether something may take the keyboard, but for keys that were typed just now.
---@return boolean
function M.free()
  local mode = vim.api.nvim_get_mode()
  return (mode.mode:match('^nt?$') ~= nil or mode.mode == 'i' and in_empty_prompt())
    and not mode.blocking
    -- Neither a mapping nor an operator, a register or a plugin waits for the rest of its keys.
    and vim.fn.state('moS') == ''
    and vim.fn.getcmdwintype() == ''
    -- What is typed next would become a part of the macro.
    and vim.fn.reg_recording() == ''
    and not in_popup()
end

--- Whether a message can be shown without a word being overwritten or a key being waited for.
---@return boolean
function M.can_tell()
  local mode = vim.api.nvim_get_mode()
  return not mode.blocking and not mode.mode:match('^[cr!]')
end

local function note_key(_, typed)
  -- Keys that plugins feed are not typed.
  if typed ~= '' then
    last_key = vim.uv.now()
  end
end

---@param count integer
local function watch(count)
  watching = watching + count
  vim.on_key(watching > 0 and note_key or nil, namespace)
end

--- Calls `fn` once the keyboard is free and no key was typed for a while, from now on. Where it is
--- not free, `taken` is called: true from it gives up.
---@param fn fun()
---@param taken? fun(): boolean?
---@return fun() stop
function M.when_quiet(fn, taken)
  local timer ---@type integer?
  local function stop()
    if timer then
      vim.fn.timer_stop(timer)
      timer = nil
      watch(-1)
    end
  end
  -- As if a key had been typed: nothing comes in the middle of a word.
  last_key = vim.uv.now()
  watch(1)
  timer = vim.fn.timer_start(interval, function()
    if not timer then
      return
    elseif not M.free() then
      if taken and taken() then
        stop()
      end
    elseif vim.uv.now() - last_key >= M.quiet then
      stop()
      fn()
    end
  end, { ['repeat'] = -1 })
  return stop
end

---@class (exact) acp.KeyboardOrigin
---@field win integer
---@field insert boolean
---@field cursor integer[]

--- Takes the keyboard from where it is. Insert mode ends in a moment.
---@return acp.KeyboardOrigin
function M.take()
  local insert = vim.api.nvim_get_mode().mode:match('^[iR]') ~= nil
  if insert then
    vim.cmd.stopinsert()
  end
  local win = vim.api.nvim_get_current_win()
  return { win = win, insert = insert, cursor = vim.api.nvim_win_get_cursor(win) }
end

--- Brings the keyboard back to where it was taken, insert mode included.
---@param origin acp.KeyboardOrigin?
function M.give_back(origin)
  if not origin or not vim.api.nvim_win_is_valid(origin.win) then
    return
  end
  vim.api.nvim_set_current_win(origin.win)
  if origin.insert then
    pcall(vim.api.nvim_win_set_cursor, origin.win, origin.cursor)
    local at_end = vim.fn.col('.') <= origin.cursor[2]
    vim.cmd.startinsert({ bang = at_end })
  end
end

return M
