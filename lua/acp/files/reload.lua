--- Keeps Neovim from reading files again by itself, as a whole, which would lose the marks of
--- their buffers. What is done instead is for others to know.

local nested = require('acp.files.nested')
local watch = require('acp.files.watch')

local M = {}

---@type table<integer, true> buffers that would reload by themselves, and do not now
local quiet = {}

---@param buf integer
local function hush(buf)
  local own = vim.bo[buf].autoread --[[@as boolean?]]
  if own or own == nil and vim.go.autoread then
    quiet[buf] = true
    vim.bo[buf].autoread = false
  end
end

---@param buf integer
local function wake(buf)
  quiet[buf] = nil
  if vim.api.nvim_buf_is_loaded(buf) then
    vim.api.nvim_buf_call(buf, function()
      vim.cmd(vim.go.autoread and 'set autoread<' or 'setlocal autoread')
    end)
  end
end

--- No buffer that is watched is read again from now on.
function M.hold()
  for _, buf in pairs(watch.buffers()) do
    hush(buf)
  end
end

--- All is as the user has set it.
function M.release()
  for buf in pairs(quiet) do
    wake(buf)
  end
end

--- Neovim would ask what to do with a file that has changed: it does not.
---@param buf integer
---@return fun() hear it does again
function M.ignore(buf)
  local id = vim.api.nvim_create_autocmd('FileChangedShell', {
    group = vim.api.nvim_create_augroup('acp.files.look', { clear = false }),
    buffer = buf,
    desc = 'acp: the buffer follows by itself',
    callback = function()
      vim.v.fcs_choice = ''
    end,
  })
  return function()
    -- It goes with its buffer.
    pcall(vim.api.nvim_del_autocmd, id)
  end
end

--- Neovim would read the file again or ask: this once it does neither.
---@param buf integer
---@param look fun()
local function undisturbed(buf, look)
  hush(buf)
  local hear = M.ignore(buf)
  look()
  hear()
  if quiet[buf] then
    wake(buf)
  end
end

--- Neovim remembers when it last looked at the file. It looks now, and says nothing.
---@param buf integer
---@param held boolean whether somebody holds back all reading, and hears of all changes
function M.look(buf, held)
  -- Where nobody hears of the change, it would ask the user.
  local function look()
    nested.run(function()
      vim.cmd.checktime({ args = { buf }, mods = { silent = true } })
    end)
  end
  if held then
    M.hold()
    look()
  else
    undisturbed(buf, look)
  end
end

return M
