--- Which buffer something is applied to, and the window that shows it.

local M = {}

---@param path string
---@return string
local function shown(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

---@param code string
---@param message string
---@return nil, acp.Err
local function refuse(code, message)
  return nil, { code = code, message = require('acp.text').one_line(message) }
end

--- What to call a buffer.
---@param buf integer
---@return string
function M.name(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return require('acp.text').one_line(name == '' and '[No Name]' or shown(name))
end

--- The names of ordinary buffers, for completion.
---@return string[]
function M.names()
  local names = {}
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    if info.name ~= '' and vim.bo[info.bufnr].buftype == '' then
      table.insert(names, shown(info.name))
    end
  end
  table.sort(names)
  return names
end

--- A file of the project that a diff names. One that is to be made need not be there.
---@param session integer
---@param file acp.PlacedFile
---@return string?
local function in_project(session, file)
  local info = require('acp.session').info(session)
  if not info or not file.path or file.path:find('://', 1, true) then
    return nil
  end
  local resolved = require('acp.files.find').resolved
  local path = resolved(require('acp.ui.jump').absolute(session, file.path))
  local stat = vim.uv.fs_stat(path)
  local exists = stat ~= nil and stat.type == 'file'
  local inside = vim.startswith(path, resolved(info.cwd):gsub('/*$', '/'))
  return inside and (exists or (not stat and file.kind == 'made')) and path or nil
end

---@param path string
---@return integer buf
local function buffer_of(path)
  return require('acp.files.find').find(path) or vim.fn.bufadd(path)
end

--- The buffer that the user names: by number, name or file.
---@param name string
---@return integer? buf, acp.Err?
local function named(name)
  local number = tonumber(name) --[[@as integer?]]
  if number and vim.api.nvim_buf_is_valid(number) then
    return number
  end
  local path = vim.fn.fnamemodify(name, ':p')
  if vim.fn.bufexists(path) == 1 or vim.uv.fs_stat(path) then
    return buffer_of(path)
  end
  return refuse('no_buffer', ('There is no buffer or file "%s"'):format(name))
end

--- The buffer that is meant: the one named, the file the diff is for, or the one used last.
---@param session integer
---@param file acp.PlacedFile
---@param name? string
---@return integer? buf, acp.Err?
function M.find(session, file, name)
  if name then
    return named(name)
  end
  local path = in_project(session, file)
  if path then
    return buffer_of(path)
  end
  local buf = require('acp.context.origin').buffer()
  if not buf then
    return refuse('no_buffer', 'There is no buffer to apply this to: name one, :Acp apply {file}')
  end
  return buf
end

--- Why a buffer can't be changed.
---@param buf integer
---@return acp.Err?
function M.protected(buf)
  local bo, why = vim.bo[buf], nil
  if bo.buftype ~= '' then
    why = ('is a special buffer (buftype=%s)'):format(bo.buftype)
  elseif not bo.modifiable then
    why = 'is not modifiable'
  elseif bo.readonly then
    why = 'is read-only'
  end
  return why and { code = 'protected', message = ('%s %s'):format(M.name(buf), why) } or nil
end

---@param buf integer
---@return integer win
local function window_for(buf)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf and vim.api.nvim_win_get_config(win).relative == '' then
      return win
    end
  end
  return require('acp.ui.window').outside()
    or vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), false, {
      split = 'left',
      win = -1,
    })
end

---@param buf integer
---@return integer win
local function show(buf)
  local win = window_for(buf)
  if vim.api.nvim_win_get_buf(win) ~= buf then
    vim.bo[buf].buflisted = true
    vim.api.nvim_win_call(win, function()
      vim.cmd.normal({ args = { "m'" }, bang = true })
      vim.cmd.buffer({ args = { buf } })
    end)
  end
  local chat = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_config(chat).relative ~= '' then
    -- A floating chat would cover what is shown.
    vim.api.nvim_set_current_win(win)
  end
  return win
end

--- Shows a buffer in an ordinary window. What another Neovim has open can only be read, and nobody
--- is asked.
---@param buf integer
---@return integer? win, acp.Err?
function M.show(buf)
  local swap = vim.api.nvim_create_autocmd('SwapExists', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: look, do not ask',
    callback = function()
      vim.v.swapchoice = 'o'
    end,
  })
  local ok, result = pcall(show, buf)
  vim.api.nvim_del_autocmd(swap)
  if not ok then
    return refuse('not_shown', require('acp.files.find').words_of(result))
  end
  return result
end

return M
