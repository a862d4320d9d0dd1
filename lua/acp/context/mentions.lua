--- What is pointed at in the text of a prompt: `@path`, `@"path with spaces"`, `@path:10-20`, and
--- the words `@buffer`, `@selection`, `@diagnostics` and `@diff`. What names nothing is just text.

local M = {}

---@class acp.Mention
---@field kind 'file'|'buffer'|'selection'|'diagnostics'|'diff'

---@class (exact) acp.FileMention: acp.Mention kind "file"
---@field path string absolute
---@field range? { first: integer, last: integer } lines of it
---@field size? integer bytes on the disk
---@field folder? boolean

--- Words that are no paths.
---@type table<string, acp.Mention>
local words = {
  buffer = { kind = 'buffer' },
  selection = { kind = 'selection' },
  diagnostics = { kind = 'diagnostics' },
  diff = { kind = 'diff' },
}

--- Names that are looked up for one prompt: a pasted log may be full of what looks like them.
local most = 200

--- Bytes of a prompt that are looked through.
local longest = 1000000

--- Characters that a mention may follow.
local opening = '[%s%(%[{<"\'`,;]'

---@param path string
---@param cwd string
---@return string
function M.absolute(path, cwd)
  path = vim.fs.normalize(path, { expand_env = false })
  local rooted = path:match('^/') or path:match('^%a:/')
  return rooted and path or vim.fs.normalize(vim.fs.joinpath(cwd, path), { expand_env = false })
end

---@param name string
---@param cwd string
---@return acp.FileMention?
local function file(name, cwd)
  local path = name ~= '' and M.absolute(name, cwd)
  if not path then
    return nil
  end
  local stat = vim.uv.fs_stat(path)
  if stat and (stat.type == 'file' or stat.type == 'directory') then
    local folder = stat.type == 'directory'
    return { kind = 'file', path = path, size = stat.size, folder = folder }
  elseif vim.fn.bufloaded(path) == 1 then
    return { kind = 'file', path = path }
  end
end

--- Splits the lines off a name such as "main.rs:10-20".
---@param name string
---@return string? path, integer first, integer last
local function split_range(name)
  local path, first, last = name:match('^(.-):(%d+)%-(%d+)$')
  if not path then
    path, first = name:match('^(.-):(%d+)$')
  end
  local from = math.floor(tonumber(first) or 0)
  local to = math.floor(tonumber(last) or from)
  return path, math.min(from, to), math.max(from, to)
end

---@param name string
---@param cwd string
---@return acp.Mention?
local function named(name, cwd)
  local found = words[name] or file(name, cwd)
  if found then
    return found
  end
  local path, first, last = split_range(name)
  local part = path and file(path, cwd)
  if part and not part.folder then
    part.range = { first = math.max(first, 1), last = math.max(last, 1) }
    return part
  end
end

--- What may be meant by a word, the longest first: a sentence puts its own marks behind it.
---@param word string
---@return string[]
local function readings(word)
  local list = { word }
  while #list < 5 and word:match('[.,;:!?%)%]}>\'"`]$') do
    word = word:sub(1, -2)
    table.insert(list, word)
  end
  return list
end

--- Names at this place of a line, the likeliest first.
---@param line string
---@param at integer where the `@` is
---@return string[]
local function names_at(line, at)
  local quoted = line:match('^@"([^"]+)"', at)
  if not quoted then
    local word = line:match('^@(%S+)', at)
    return word and readings(word) or {}
  end
  local range = line:match('^@"[^"]+"(:%d+%-?%d*)', at)
  return range and { quoted .. range, quoted } or { quoted }
end

---@class (exact) acp.MentionScan
---@field cwd string
---@field left integer names that may still be looked up
---@field seen table<string, true>
---@field found acp.Mention[]

---@param mention acp.Mention
---@return string
local function key(mention)
  local named_file = mention --[[@as acp.FileMention]]
  local range = named_file.range or { first = 0, last = 0 }
  local path = named_file.path or ''
  return ('%s %s %d-%d'):format(mention.kind, path, range.first, range.last)
end

---@param scan acp.MentionScan
---@param line string
---@param at integer
local function look(scan, line, at)
  for _, name in ipairs(names_at(line, at)) do
    if scan.left <= 0 then
      return
    end
    scan.left = scan.left - 1
    local mention = named(name, scan.cwd)
    if mention then
      if not scan.seen[key(mention)] then
        scan.seen[key(mention)] = true
        table.insert(scan.found, mention)
      end
      return
    end
  end
end

---@param scan acp.MentionScan
---@param line string
local function scan_line(scan, line)
  local at = line:find('@', 1, true)
  while at do
    if at == 1 or line:sub(at - 1, at - 1):match(opening) then
      look(scan, line, at)
    end
    at = line:find('@', at + 1, true)
  end
end

--- All mentions in a text, each once, in order. Quoted code has none.
---@param text string
---@param cwd string
---@return acp.Mention[]
function M.parse(text, cwd)
  local scan = { cwd = cwd, left = most, seen = {}, found = {} } ---@type acp.MentionScan
  text = text:sub(1, longest)
  if not text:find('@', 1, true) then
    return scan.found
  end
  local fence ---@type string?
  for line in vim.gsplit(text, '\n', { plain = true }) do
    local run = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    if fence then
      fence = not (run and vim.startswith(run, fence)) and fence or nil
    elseif run then
      fence = run
    else
      scan_line(scan, line)
    end
  end
  return scan.found
end

--- How a path is written as a mention, nil when it can't be.
---@param path string
---@return string?
function M.write(path)
  if path:find('[%c"]') then
    return nil
  end
  return path:find('%s') and ('@"%s"'):format(path) or '@' .. path
end

return M
