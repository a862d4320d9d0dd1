--- Runs cargo and installs what it made. Used by path, see `init.lua`.

local M = {}

---@alias acp.BuiltFiles table<string, string> path of each file by its name in lib/

---@param root string
---@return string
local function library_name(root)
  return dofile(root .. '/lua/acp/native.lua').file_name
end

---@return string?
local function find_cargo()
  local path = vim.fn.exepath('cargo')
  if path == '' then
    -- Where rustup puts it; a desktop's Neovim often lacks the shell's PATH.
    path = vim.fn.exepath(vim.fs.normalize('~/.cargo/bin/cargo'))
  end
  return path ~= '' and path or nil
end

--- Notes the files that a message of cargo announces.
---@param line string
---@param library string
---@param files acp.BuiltFiles
local function note_artifact(line, library, files)
  if not line:find('"compiler-artifact"', 1, true) then
    return
  end
  local ok, message = pcall(vim.json.decode, line, { luanil = { object = true } })
  if not ok then
    return
  end
  if message.executable then
    files[vim.fs.basename(message.executable)] = message.executable
  end
  for _, path in ipairs(message.filenames or {}) do
    if message.target.name == 'acp_nvim' and (path:match('%.so$') or path:match('%.dylib$')) then
      files[library] = path
    end
  end
end

--- Calls `fn` for each whole line of a stream that arrives in pieces.
---@param fn fun(line: string)
---@return fun(err: string?, data: string?)
local function by_line(fn)
  local rest = ''
  return function(_, data)
    rest = rest .. (data or '\n')
    while true do
      local line, after = rest:match('^([^\n]*)\n(.*)$')
      if not line or not after then
        break
      end
      rest = after
      if line ~= '' then
        fn((line:gsub('\r', '')))
      end
    end
  end
end

---@param tail string[]
---@return string
local function failure(tail)
  return 'acp.nvim: cargo build failed:\n' .. table.concat(tail, '\n')
end

--- Builds in the background.
---@param root string
---@param on_line fun(line: string)
---@param on_done fun(err: string?, files: acp.BuiltFiles?)
function M.build(root, on_line, on_done)
  local cargo = find_cargo()
  if not cargo then
    return on_done(
      'acp.nvim: cargo was not found. Install Rust (https://rustup.rs), then run :Acp build'
    )
  end
  local files, tail, library = {}, {}, library_name(root)
  local command = { cargo, 'build', '--release', '--color', 'never' }
  vim.list_extend(command, { '--message-format', 'json-render-diagnostics' })
  if vim.uv.fs_stat(root .. '/Cargo.lock') then
    table.insert(command, '--locked')
  end
  local ok, err = pcall(
    vim.system,
    command,
    {
      cwd = root,
      stdout = by_line(function(line)
        note_artifact(line, library, files)
      end),
      stderr = by_line(function(line)
        on_line(line)
        table.insert(tail, line)
        if #tail > 20 then
          table.remove(tail, 1)
        end
      end),
    },
    vim.schedule_wrap(function(result)
      on_done(result.code ~= 0 and failure(tail) or nil, files)
    end)
  )
  if not ok then
    on_done('acp.nvim: cargo cannot be run: ' .. tostring(err))
  end
end

---@param from string
---@param to string
---@param check fun(path: string)
local function replace(from, to, check)
  -- Beside its place, so that the rename is one step: a running Neovim has the old file mapped.
  local temporary = ('%s.%d.tmp'):format(to, vim.uv.os_getpid())
  local ok, err = pcall(function()
    assert(vim.uv.fs_copyfile(from, temporary))
    assert(vim.uv.fs_chmod(temporary, 493)) -- rwxr-xr-x
    check(temporary)
    assert(vim.uv.fs_rename(temporary, to))
  end)
  if not ok then
    vim.uv.fs_unlink(temporary)
    error(('acp.nvim: %s cannot be installed: %s'):format(to, err), 0)
  end
end

--- Puts the built files into lib/, the library last and only if it loads.
---@param root string
---@param files acp.BuiltFiles
function M.install(root, files)
  local library = library_name(root)
  local suffix = library:match('dll$') and '.exe' or ''
  vim.fn.mkdir(root .. '/lib', 'p')
  for _, name in ipairs({ 'acp-guard' .. suffix, 'acp-tutor' .. suffix, library }) do
    local from = files[name]
    if not from then
      error(('acp.nvim: cargo did not make %s'):format(name), 0)
    end
    replace(from, ('%s/lib/%s'):format(root, name), function(path)
      if name == library then
        assert(package.loadlib(path, 'luaopen_acp_nvim'))
      end
    end)
  end
end

return M
