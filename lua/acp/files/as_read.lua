--- Has Neovim take a file for the one that it read last, when its buffer has all that is in the
--- file by now. Otherwise it would ask the user before the next write.

local nested = require('acp.files.nested')
local watch = require('acp.files.watch')

local M = {}

---@param buf integer
---@return string
local function group_of(buf)
  return ('acp.files.%d'):format(buf)
end

--- Whether somebody else writes the file of a buffer: then Neovim asks nothing.
---@param buf integer
---@return boolean
local function has_writer(buf)
  if vim.api.nvim_get_autocmds({ event = 'BufWriteCmd', buffer = buf })[1] then
    return true
  end
  local name = vim.api.nvim_buf_get_name(buf)
  local names = { name, vim.fn.fnamemodify(name, ':.'), vim.fs.basename(name) }
  for _, it in ipairs(vim.api.nvim_get_autocmds({ event = 'BufWriteCmd' })) do
    local pattern = not it.buflocal and it.pattern
    if pattern and vim.fn.match(names, vim.fn.glob2regpat(pattern)) >= 0 then
      return true
    end
  end
  return false
end

--- Where an autocommand writes the file Neovim believes it, and looks at the time of the file. Ours
--- writes nothing; and where it is not called, by 'eventignore', a buffer of this type is not
--- written at all.
---@param buf integer
---@return boolean done
local function pretend(buf)
  local done = false
  local id = vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    desc = 'acp: the buffer has all that the file has',
    callback = function()
      done = true
    end,
  })
  pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('noautocmd setlocal buftype=acwrite')
    nested.run(function()
      vim.cmd('silent lockmarks keepalt write!')
    end)
    vim.cmd('noautocmd setlocal buftype=')
  end)
  vim.api.nvim_del_autocmd(id)
  return done
end

--- The buffer has all that its file has, which has this stamp.
---@param buf integer
---@param stamp acp.Stamp
function M.take(buf, stamp)
  M.forget(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  local function is_it()
    return vim.deep_equal(watch.stamp(path), stamp)
  end
  if has_writer(buf) or is_it() and pretend(buf) then
    return
  end
  -- At the last moment, then.
  vim.api.nvim_create_autocmd('BufWritePre', {
    group = vim.api.nvim_create_augroup(group_of(buf), { clear = true }),
    buffer = buf,
    once = true,
    nested = true,
    desc = 'acp: the buffer has all that the file has',
    callback = function(event)
      if event.match == path and is_it() then
        pretend(buf)
      end
    end,
  })
end

--- The file has been written from its buffer, or there is none any more.
---@param buf integer
function M.forget(buf)
  pcall(vim.api.nvim_del_augroup_by_name, group_of(buf))
end

return M
