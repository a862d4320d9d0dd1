--- Which loaded buffer has a file, and what may be done with it.

local M = {}

---@param path string
---@return string path with symbolic links resolved, as far as it exists
function M.resolved(path)
  local real = vim.uv.fs_realpath(path)
  if real then
    return real
  end
  path = vim.fs.normalize(path, { expand_env = false })
  -- A file that is yet to be written, in a folder that may be a link.
  local folder = vim.uv.fs_realpath(vim.fs.dirname(path))
  return folder and vim.fs.joinpath(folder, vim.fs.basename(path)) or path
end

--- Whether two names that differ in the case of letters alone lead to one file, as they do where
--- the file system does not tell them apart.
---@param one string
---@param other string
---@return boolean
local function same_file(one, other)
  if vim.fn.tolower(vim.fs.basename(one)) ~= vim.fn.tolower(vim.fs.basename(other)) then
    return false
  end
  local here, there = vim.uv.fs_stat(one), vim.uv.fs_stat(other)
  return here ~= nil and there ~= nil and here.ino == there.ino and here.dev == there.dev
end

---@param buf integer
---@param path string
---@param real string the same, resolved
---@return number rank 0: another file; higher is nearer to what the agent means
local function rank(buf, path, real)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' or name:match('^%a[%w+.-]+://') then
    return 0
  end
  if name ~= path and M.resolved(name) ~= real and not same_file(name, path) then
    return 0
  end
  local ordinary = vim.bo[buf].buftype == '' and 4 or 0
  return 1 + ordinary + (vim.bo[buf].modified and 2 or 0) + (name == path and 1 or 0)
end

--- The loaded buffer of a file.
---@param path string
---@return integer? buf
function M.find(path)
  local real = M.resolved(path)
  local best, highest = nil, 0 ---@type integer?, number
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local height = vim.api.nvim_buf_is_loaded(buf) and rank(buf, path, real) or 0
    if height > highest then
      best, highest = buf, height
    end
  end
  return best
end

--- The same for a file that was resolved before and decided upon: nothing that has come into its
--- place since is followed, be it the file or what a buffer is named after.
---@param path string with no link in it
---@return integer? buf
function M.find_resolved(path)
  local buf = M.resolved(path) == path and M.find(path) or nil
  local name = buf and vim.api.nvim_buf_get_name(buf)
  if name and (M.resolved(name) == path or same_file(name, path)) then
    return buf
  end
end

--- Why a buffer must not be written to. A change to a read-only one would also make Neovim wait.
---@param buf integer
---@return string?
function M.protected(buf)
  local bo = vim.bo[buf]
  if bo.buftype ~= '' then
    return ('the file is open in a special buffer (buftype=%s)'):format(bo.buftype)
  elseif not bo.modifiable then
    return "the user's buffer of this file is not modifiable"
  elseif bo.readonly then
    return "the user's buffer of this file is read-only"
  end
end

--- The file of an ordinary buffer that is loaded, else nothing.
---@param buf integer
---@return string?
function M.file_of(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  return name ~= '' and not name:match('^%a[%w+.-]+://') and name or nil
end

--- The words of an error in one line, without where it was raised.
---@param err any
---@return string
function M.words_of(err)
  local line = tostring(err):gsub('\n.*', '')
  return line:match('E%d+:.*') or line
end

return M
