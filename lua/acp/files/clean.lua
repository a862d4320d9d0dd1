--- Undo brings back whether a buffer was modified. What was not once is now, when the file has
--- changed since, until it is saved.

local client = require('acp.client')

local M = {}

---@type table<integer, integer> the state of each buffer that is what its file is; 0 if none is
local in_file = {}
---@type table<integer, boolean> buffers whose changes are told
local listening = {}

---@param buf integer
local function check(buf)
  local state = in_file[buf]
  if state and vim.api.nvim_buf_is_loaded(buf) and not vim.bo[buf].modified then
    vim.bo[buf].modified = vim.api.nvim_buf_get_changedtick(buf) ~= state
  end
end

--- The file has changed, and its buffer has followed.
---@param buf integer
---@param clean? integer the state of the buffer that is what the file is
function M.expect(buf, clean)
  in_file[buf] = clean or 0
  if listening[buf] then
    return
  end
  local function forget()
    in_file[buf], listening[buf] = nil, nil
  end
  -- An autocommand would tell of the current buffer only.
  listening[buf] = vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      if not in_file[buf] then
        forget()
        return true
      end
      client.defer(function()
        check(buf)
      end)
    end,
    on_reload = forget,
    on_detach = forget,
  })
end

--- The buffer was saved: Neovim knows by itself again.
---@param buf integer
function M.forget(buf)
  in_file[buf] = nil
end

return M
