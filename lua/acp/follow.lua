--- `:Acp follow`: shows the file the agent works on in one window, while the user stays elsewhere.
--- It never takes the cursor, and never changes a window under the hands of the user.

local client = require('acp.client')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.follow')

--- How long no key must have been typed before the window with the cursor changes, how often that
--- is looked at, and how long the line is marked; in milliseconds.
local quiet, interval, marked = 1500, 300, 1500

--- What is bigger would hold up Neovim while it is read.
local most_bytes = 4 * 1024 * 1024

---@class acp.Following
---@field session integer
---@field win integer
---@field pending? acp.Touched the newest place, not shown yet
---@field timer? integer
---@field typed integer when a key was typed last

---@type acp.Following?
local following

--- Whether an agent is being followed.
---@return boolean
function M.active()
  return following ~= nil
end

--- Whether the chat in this window is the one being followed.
---@param win integer
---@return boolean
function M.shown(win)
  return following ~= nil
    and following.session == require('acp.session').of_buffer(vim.api.nvim_win_get_buf(win))
end

--- Whether a file is in a folder of the session: an agent can name any file, and to show it is to
--- read it.
---@param path string
---@param info acp.SessionInfo
---@return boolean
local function is_inside(path, info)
  local find = require('acp.files.find')
  local agent = require('acp.config').get().agents[info.agent] or {}
  local common = require('acp.config').get().directories
  local roots = require('acp.launch').folders(info.cwd, { info.cwd }, common, agent.directories)
  local real = find.resolved(path)
  for _, root in ipairs(roots) do
    local folder = find.resolved(root)
    if vim.startswith(real, folder == '/' and '/' or folder .. '/') then
      return true
    end
  end
  return false
end

--- The name of a file that can be shown. What Neovim or a plugin would take for something else than
--- a file, as it does with `term://`, never gets past here.
---@param effect acp.Touched
---@return string?
local function file_of(effect)
  local path, info = effect.path, require('acp.session').info(effect.session)
  if not path:match('^/') and not path:match('^%a:[\\/]') then
    path = vim.fs.joinpath(info and info.cwd or vim.fn.getcwd(), path)
  end
  path = vim.fs.normalize(path, { expand_env = false })
  if not info or not is_inside(path, info) then
    return nil
  end
  local stat = vim.uv.fs_stat(path)
  local shown = stat and stat.type == 'file' and stat.size <= most_bytes
  return shown and not path:find('://', 1, true) and vim.fn.fnamemodify(path, ':.') or nil
end

---@param win integer
---@return boolean whether nothing is lost or confused when the window shows something else now
local function may_change(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local hides = vim.o.hidden or vim.bo[buf].bufhidden == 'hide' or #vim.fn.win_findbuf(buf) > 1
  if vim.wo[win].winfixbuf or (vim.bo[buf].modified and not hides) then
    return false
  end
  if win ~= vim.api.nvim_get_current_win() then
    return true
  end
  local mode = vim.api.nvim_get_mode()
  return mode.mode == 'n'
    and not mode.blocking
    and vim.fn.reg_recording() == ''
    and vim.uv.now() - (following and following.typed or 0) >= quiet
end

--- Calls `fn`; what another Neovim has open meanwhile can only be read, and nobody is asked.
---@param fn fun()
local function without_questions(fn)
  local swap = vim.api.nvim_create_autocmd('SwapExists', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: look, do not ask',
    callback = function()
      vim.v.swapchoice = 'o'
    end,
  })
  client.guard('following', fn)
  vim.api.nvim_del_autocmd(swap)
end

---@param buf integer
---@param line integer from 1
local function mark(buf, line)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local id = vim.api.nvim_buf_set_extmark(buf, namespace, line - 1, 0, {
    line_hl_group = 'AcpFollow',
  })
  vim.defer_fn(function()
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_del_extmark(buf, namespace, id)
    end
  end, marked)
end

---@param win integer
---@param path string
---@param line integer?
local function show(win, path, line)
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].buflisted = true
  vim.api.nvim_win_call(win, function()
    -- The way back, for <C-o>.
    vim.cmd.normal({ args = { "m'" }, bang = true })
    if vim.api.nvim_get_current_buf() ~= buf then
      -- Other ways to load a buffer tell of its swap file, whatever autocommands say.
      vim.cmd.buffer({ args = { buf }, mods = { silent = true } })
    end
  end)
  if vim.o.autoread and not vim.bo[buf].modified then
    -- The agent may have changed it by itself.
    vim.cmd.checktime({ args = { buf }, mods = { silent = true } })
  end
  if line then
    line = math.max(math.min(line, vim.api.nvim_buf_line_count(buf)), 1)
    vim.api.nvim_win_set_cursor(win, { line, 0 })
    vim.api.nvim_win_call(win, function()
      vim.cmd.normal({ args = { 'zz' }, bang = true })
    end)
    mark(buf, line)
  end
end

---@param state acp.Following
local function stop_timer(state)
  if state.timer then
    vim.fn.timer_stop(state.timer)
    state.timer = nil
  end
end

--- Shows the newest place, or tries again soon.
local function catch_up()
  local state = following
  local effect = state and state.pending
  if not state or not effect or not vim.api.nvim_win_is_valid(state.win) then
    return
  end
  if not may_change(state.win) then
    state.timer = state.timer or vim.fn.timer_start(interval, catch_up, { ['repeat'] = -1 })
    return
  end
  state.pending = nil
  stop_timer(state)
  local path = file_of(effect)
  if path then
    without_questions(function()
      show(state.win, path, effect.line)
    end)
  end
end

--- The chat shows whether its agent is followed.
local function tell()
  require('acp.ui.winbar').refresh()
end

--- Stops following.
function M.stop()
  if following then
    stop_timer(following)
    vim.on_key(nil, namespace)
    following = nil
    tell()
  end
end

---@return integer win
local function some_window()
  local win = require('acp.ui.pair').outside()
  if win then
    return win
  end
  local buf = vim.api.nvim_create_buf(true, false)
  return vim.api.nvim_open_win(buf, false, { split = 'left', win = -1 })
end

---@param win integer
---@return boolean
local function usable(win)
  return vim.api.nvim_win_get_config(win).relative == '' and not vim.w[win].acp_role
end

local watching = false

--- Notices from now on when a window to follow in is gone.
local function watch()
  if watching then
    return
  end
  watching = true
  require('acp.autocmd').on('WinClosed', 'acp: the window to follow in is gone', function(event)
    if following and following.win == tonumber(event.match) then
      client.defer(M.stop)
    end
  end)
end

--- Follows the session that is meant now, in this window or in the one used last beside the chat.
---@param win? integer
function M.start(win)
  local session, err = require('acp.session').resolve()
  if not session then
    return require('acp.notify').err(err --[[@as acp.Err]])
  elseif win and not usable(win) then
    return require('acp.notify').show('The chat stays in this window: choose another one', 'warn')
  end
  M.stop()
  watch()
  following = { session = session, win = win or some_window(), typed = vim.uv.now() }
  vim.on_key(function()
    if following then
      following.typed = vim.uv.now()
    end
  end, namespace)
  tell()
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Touched
  client.subscribe('touched', function(effect)
    if following and following.session == effect.session then
      following.pending = effect
      catch_up()
    end
  end)
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    if following and following.session == effect.session then
      M.stop()
    end
  end)
end

return M
