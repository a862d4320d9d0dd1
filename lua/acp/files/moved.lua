--- Where a file is that is not where it was: a file keeps its number when it gets another name.

local M = {}

--- How many files and folders are looked at.
local most = 20000

--- Runs on another thread: knows nothing but its arguments.
---@param folders string the first ones to look in, one a line
---@param ino integer
---@param size integer
---@param limit integer
---@return string?
local function search(folders, ino, size, limit)
  local uv = vim.uv
  local queue, seen = {}, {}
  for folder in folders:gmatch('[^\n]+') do
    table.insert(queue, folder)
  end
  ---@param path string
  ---@return boolean
  local function is_it(path)
    local stat = uv.fs_stat(path)
    return stat ~= nil and stat.ino == ino and stat.size == size
  end
  ---@param folder string
  ---@return string?
  local function look_in(folder)
    local handle = not seen[folder] and uv.fs_scandir(folder) or nil
    seen[folder] = true
    while handle and limit > 0 do
      local name, kind = uv.fs_scandir_next(handle)
      if not name then
        return nil
      end
      limit = limit - 1
      if kind == 'directory' and name ~= '.git' and name ~= 'node_modules' then
        table.insert(queue, folder .. '/' .. name)
      elseif kind == 'file' and is_it(folder .. '/' .. name) then
        return folder .. '/' .. name
      end
    end
  end
  local at, found = 0, nil ---@type integer, string?
  while queue[at + 1] and limit > 0 and not found do
    at = at + 1
    found = look_in(queue[at])
  end
  return found
end

--- Looks for a file that is gone: in its folder, then in another one and all below.
---@param path string
---@param stamp acp.Stamp
---@param below string
---@param found fun(path?: string)
function M.find(path, stamp, below, found)
  local work = vim.uv.new_work(search --[[@as any]], function(result)
    require('acp.client').defer(function()
      found(result --[[@as string?]])
    end)
  end)
  local folders = vim.fs.dirname(path) .. '\n' .. below
  work:queue(folders, stamp.ino, stamp.size, most)
end

return M
