--- Files that are kept for the user from one Neovim to the next, readable by nobody else. Several
--- Neovims may write them at the same time.

local M = {}

local private = 384 -- 0600

--- A path among our files.
---@param ... string
---@return string
function M.path(...)
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'acp', ...)
end

--- Makes the folder that a file is to be in. The core and other Neovims make folders there too, and
--- `mkdir` stumbles over each that appears while it works its way down: hence more than one try.
---@param path string
---@return boolean
function M.make_room(path)
  local folder = vim.fs.dirname(path)
  for _ = 1, 4 do
    if vim.fn.isdirectory(folder) == 1 or pcall(vim.fn.mkdir, folder, 'p', '0o700') then
      return true
    end
  end
  return false
end

---@param fd integer
---@param from integer
---@return string
local function read_from(fd, from)
  local stat = vim.uv.fs_fstat(fd)
  local rest = stat and stat.size - from or 0
  return rest > 0 and vim.uv.fs_read(fd, rest, from) or ''
end

--- The whole text of a file, nil when there is none.
---@param path string
---@return string?
function M.read(path)
  local fd = vim.uv.fs_open(path, 'r', private)
  if not fd then
    return nil
  end
  local text = read_from(fd, 0)
  vim.uv.fs_close(fd)
  return text
end

--- Makes `text` the whole of a file. Whoever reads it sees the old text or the new one.
---@param path string
---@param text string
---@return boolean
function M.write(path, text)
  local new = ('%s.%d.new'):format(path, vim.uv.os_getpid())
  local fd = M.make_room(path) and vim.uv.fs_open(new, 'w', private)
  if not fd then
    return false
  end
  local written = vim.uv.fs_write(fd, text, 0)
  vim.uv.fs_close(fd)
  if written == #text and vim.uv.fs_rename(new, path) then
    return true
  end
  vim.uv.fs_unlink(new)
  return false
end

--- Adds a line at the end of a file.
---@param path string
---@param line string with its end
---@return boolean
function M.append(path, line)
  if not M.make_room(path) then
    return false
  end
  -- A file that was rewritten between opening and writing is not the one others read: once more.
  for _ = 1, 5 do
    local fd = vim.uv.fs_open(path, 'a+', private)
    local stat = fd and vim.uv.fs_fstat(fd)
    if not fd or not stat then
      return false
    end
    -- Somebody may have been killed in the middle of a line.
    local whole = stat.size == 0 or vim.uv.fs_read(fd, 1, stat.size - 1) == '\n'
    local written = vim.uv.fs_write(fd, (whole and '' or '\n') .. line, -1)
    local now = vim.uv.fs_stat(path)
    vim.uv.fs_close(fd)
    if not written or (now and now.ino == stat.ino) then
      return written ~= nil
    end
  end
  return false
end

--- Whether whoever made a lock is gone without having removed it.
---@param path string
---@return boolean
local function is_abandoned(path)
  local pid = tonumber(M.read(path) or '')
  if pid then
    local _, _, name = vim.uv.kill(pid, 0)
    return name == 'ESRCH'
  end
  -- It is about to write its number.
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and os.time() - stat.mtime.sec > 60
end

--- Waits until nobody else rewrites a file, but not for long: that takes others milliseconds.
---@param path string
---@return boolean
local function lock(path)
  for _ = 1, 50 do
    local fd, _, name = vim.uv.fs_open(path, 'wx', private)
    if fd then
      vim.uv.fs_write(fd, tostring(vim.uv.os_getpid()), 0)
      vim.uv.fs_close(fd)
      return true
    elseif name ~= 'EEXIST' then
      return false
    elseif is_abandoned(path) then
      vim.uv.fs_unlink(path)
    else
      vim.uv.sleep(5)
    end
  end
  return false
end

--- Replaces the text of a file to which others may be adding lines: none of those is lost. Whoever
--- else rewrites it comes before or after. `change` gets the text, or nil where there is no file;
--- nil from it leaves the file as it is.
---@param path string
---@param change fun(text: string?): string?
---@return boolean
function M.rewrite(path, change)
  local locked = path .. '.lock'
  if not M.make_room(path) or not lock(locked) then
    return false
  end
  local fd = vim.uv.fs_open(path, 'r', private)
  local text = fd and read_from(fd, 0) or nil
  local new = (fd or not vim.uv.fs_lstat(path)) and change(text) or nil
  local ok = new ~= nil and M.write(path, new)
  if fd then
    local late = ok and read_from(fd, #text) or ''
    if late ~= '' then
      M.append(path, late)
    end
    vim.uv.fs_close(fd)
  end
  vim.uv.fs_unlink(locked)
  return ok
end

return M
