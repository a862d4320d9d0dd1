--- Whether the user is typing: the moment when something nobody called for may take the keyboard,
--- how it is given back, and how keys that were meant for something else get there.

local M = {}

--- How long no key must have been typed before something may take the keyboard by itself, and for
--- how long it then hands on what is typed, in milliseconds.
M.quiet = 1000

local namespace = vim.api.nvim_create_namespace('acp.keyboard')
-- As if a key had been typed just now: nobody knows.
local last_key = vim.uv.now()
---@type table<fun(typed: string), true>
local listeners = {}

vim.on_key(function(_, typed)
  -- Keys that plugins feed are not typed.
  if typed and typed ~= '' then
    last_key = vim.uv.now()
    for listener in pairs(listeners) do
      listener(typed)
    end
  end
end, namespace)

--- Milliseconds since the last key.
---@return integer
function M.idle()
  return vim.uv.now() - last_key
end

--- Calls `fn` with what is typed, before it has any effect.
---@param fn fun(typed: string)
---@return fun() stop
function M.listen(fn)
  listeners[fn] = true
  return function()
    listeners[fn] = nil
  end
end

--- A prompt of ours with nothing in it: what was typed has just been sent.
---@return boolean
local function in_empty_prompt()
  return vim.b.acp_role == 'prompt'
    and vim.api.nvim_buf_line_count(0) == 1
    and vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == ''
end

--- The session whose transcript or prompt the cursor is in.
---@return integer?
function M.chat()
  local role = vim.b.acp_role
  return (role == 'transcript' or role == 'prompt') and vim.b.acp_session or nil
end

--- Whether something may take the keyboard in the chat, but for keys that were typed just now.
---@return boolean
function M.free()
  local mode = vim.api.nvim_get_mode()
  return M.chat() ~= nil
    and (mode.mode == 'n' or mode.mode == 'i' and in_empty_prompt())
    and not mode.blocking
    and vim.fn.pumvisible() == 0
    -- Neither a mapping nor an operator, a register or a plugin waits for the rest of its keys.
    and vim.fn.state('moS') == ''
    and vim.fn.getcmdwintype() == ''
    -- What is typed next would become a part of the macro.
    and vim.fn.reg_recording() == ''
end

--- Whether a message can be shown without a word being overwritten or a key being waited for.
---@return boolean
function M.can_tell()
  local mode = vim.api.nvim_get_mode()
  return not mode.blocking and not mode.mode:match('^[cr!]')
end

---@class (exact) acp.KeyboardOrigin
---@field win integer
---@field mode 'insert'|'visual'|'normal'
---@field cursor integer[]

--- Takes the keyboard from where it is. Insert mode ends in a moment.
---@return acp.KeyboardOrigin
function M.take()
  local current = vim.api.nvim_get_mode().mode
  local mode = current:match('^[iRt]') and 'insert'
    or current:match('^[vVsS\22\19]') and 'visual'
    or 'normal'
  if mode == 'insert' then
    vim.cmd.stopinsert()
  elseif mode == 'visual' then
    vim.cmd.normal({ args = { vim.keycode('<Esc>') }, bang = true })
  end
  local win = vim.api.nvim_get_current_win()
  return { win = win, mode = mode, cursor = vim.api.nvim_win_get_cursor(win) }
end

--- Brings the keyboard back to where it was taken, insert mode and selection included.
---@param origin acp.KeyboardOrigin?
function M.give_back(origin)
  if not origin or not vim.api.nvim_win_is_valid(origin.win) then
    return
  end
  vim.api.nvim_set_current_win(origin.win)
  if origin.mode == 'visual' then
    vim.cmd.normal({ args = { 'gv' }, bang = true })
  elseif origin.mode == 'insert' then
    pcall(vim.api.nvim_win_set_cursor, origin.win, origin.cursor)
    local at_end = vim.fn.col('.') <= origin.cursor[2]
    vim.cmd.startinsert({ bang = at_end })
  end
end

--- Types keys where the cursor is now, before whatever is still to be read.
---@param keys string[] as they were typed, one by one
function M.retype(keys)
  local fed = vim.tbl_map(function(key)
    -- Special keys begin with this byte; in the middle of a character it would be taken for one.
    return key:sub(1, 1) == '\128' and key or (key:gsub('\128', '\128\254X'))
  end, keys)
  vim.api.nvim_feedkeys(table.concat(fed), 'mit', false)
end

---@return string[] every key that does something in a window by itself
local function all_keys()
  local keys = { '<Space>', '<lt>', '<Bar>', '<Bslash>', '<CR>', '<Tab>', '<S-Tab>', '<Esc>' }
  for byte = 33, 126 do
    local char = string.char(byte)
    if not char:find('[<|\\]') then
      table.insert(keys, char)
    end
  end
  for letter in ('abcdefghjklnopqrstuvwxyz'):gmatch('.') do
    table.insert(keys, ('<C-%s>'):format(letter))
  end
  for _, name in ipairs({ 'Up', 'Down', 'Left', 'Right', 'Home', 'End', 'PageUp', 'PageDown' }) do
    vim.list_extend(
      keys,
      { ('<%s>'):format(name), ('<S-%s>'):format(name), ('<C-%s>'):format(name) }
    )
  end
  for _, name in ipairs({ 'BS', 'Del', 'Insert', 'C-]', 'C-^', 'C-_', 'C-Bslash' }) do
    table.insert(keys, ('<%s>'):format(name))
  end
  for number = 1, 12 do
    table.insert(keys, ('<F%d>'):format(number))
  end
  return keys
end

--- Calls `fn` before something is pasted.
---@param fn fun()
---@return fun() stop
local function before_paste(fn)
  local paste = vim.paste
  local function ours(...)
    fn()
    return paste(...)
  end
  vim.paste = ours -- luacheck: ignore 122
  return function()
    if vim.paste == ours then
      vim.paste = paste -- luacheck: ignore 122
    end
  end
end

--- Keeps typed keys from doing anything in a buffer, and calls `fn` with all of them soon after the
--- first. The mouse is not the keyboard.
---@param buf integer
---@param fn fun(keys: string[])
---@return fun() stop
function M.catch(buf, fn)
  local keys = all_keys()
  for _, lhs in ipairs(keys) do
    vim.api.nvim_buf_set_keymap(buf, 'n', lhs, '', { callback = function() end, nowait = true })
  end
  local caught, over = {}, false
  local deafen, unpaste ---@type fun(), fun()
  local function stop()
    if over then
      return
    end
    over = true
    deafen()
    unpaste()
    for _, lhs in ipairs(vim.api.nvim_buf_is_valid(buf) and keys or {}) do
      pcall(vim.api.nvim_buf_del_keymap, buf, 'n', lhs)
    end
  end
  unpaste = before_paste(function()
    if not over then
      stop()
      fn(caught)
    end
  end)
  deafen = M.listen(function(typed)
    local name = vim.fn.keytrans(typed)
    if name:find('Mouse') or name:find('ScrollWheel') or name:find('Focus') then
      return
    end
    table.insert(caught, typed)
    if #caught == 1 then
      require('acp.client').defer(function()
        if not over then
          stop()
          fn(caught)
        end
      end)
    end
  end)
  return stop
end

return M
