--- The prompts of the past, from all Neovims of this user: one JSON object a line, newest last.

local state_file = require('acp.state_file')

local M = {}

---@class (exact) acp.PastPrompt
---@field text string
---@field cwd string the project it was for
---@field at integer when, in seconds

--- Bytes of a prompt that is remembered, and of one that is also written.
local longest, longest_written = 1000000, 100000
--- The file may have so many bytes before old prompts are dropped from it.
local biggest = 4000000

---@type acp.PastPrompt[] oldest first
local entries = {}
---@type acp.PastPrompt[] those that are in no file
local unwritten = {}
---@type string? what the file looked like when it was read
local mark
---@type { cwd: string, texts: string[] }? the last answer of `list`
local listed

---@return string
function M.path()
  return state_file.path('history.jsonl')
end

---@return { size: integer, persist: boolean }
local function config()
  return require('acp.config').get().history
end

---@return string? mark nil when there is no file
local function stamp()
  local stat = vim.uv.fs_stat(M.path())
  return stat and ('%d %d %d.%d'):format(stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

---@return integer bytes of the file
local function size()
  local stat = vim.uv.fs_stat(M.path())
  return stat and stat.size or 0
end

---@param line string
---@return acp.PastPrompt? entry nil for what is not one of ours
local function parse(line)
  local ok, entry = pcall(vim.json.decode, line)
  local fits = ok
    and type(entry) == 'table'
    and type(entry.text) == 'string'
    and type(entry.cwd) == 'string'
    and type(entry.at) == 'number'
  return fits and { text = entry.text, cwd = entry.cwd, at = entry.at } or nil
end

---@param entry acp.PastPrompt
---@return string
local function key(entry)
  return entry.cwd .. '\0' .. entry.text
end

--- Of prompts that were sent several times the last one counts, and of all the newest.
---@param all acp.PastPrompt[] oldest first
---@return acp.PastPrompt[]
local function trimmed(all)
  local seen, newest_first = {}, {}
  for i = #all, 1, -1 do
    local name = key(all[i])
    if not seen[name] and #newest_first < config().size then
      seen[name] = true
      table.insert(newest_first, all[i])
    end
  end
  local result = {}
  for i = #newest_first, 1, -1 do
    table.insert(result, newest_first[i])
  end
  return result
end

---@param text string
---@return acp.PastPrompt[]
local function parse_all(text)
  local all = {}
  for line in text:gmatch('[^\n]+') do
    local entry = parse(line)
    if entry then
      table.insert(all, entry)
    end
  end
  return all
end

---@param text string
---@return string
local function shortened(text)
  local lines, bytes = {}, 0
  local kept = trimmed(parse_all(text))
  for i = #kept, 1, -1 do
    local line = vim.json.encode(kept[i])
    bytes = bytes + #line
    if bytes > biggest / 2 then
      break
    end
    table.insert(lines, 1, line .. '\n')
  end
  return table.concat(lines)
end

---@param all acp.PastPrompt[]
---@return acp.PastPrompt[]
local function sorted(all)
  local order = {}
  for i, entry in ipairs(all) do
    order[entry] = i
  end
  table.sort(all, function(a, b)
    if a.at ~= b.at then
      return a.at < b.at
    end
    return order[a] < order[b]
  end)
  return all
end

--- Reads the file again if somebody has changed it.
local function refresh()
  if not config().persist or config().size < 1 then
    return
  end
  local now = stamp()
  if now == mark then
    return
  end
  local text = state_file.read(M.path()) or ''
  local all = parse_all(text)
  if #all > 2 * config().size or #text > biggest then
    state_file.rewrite(M.path(), function(current)
      return current and shortened(current)
    end)
    now = stamp()
  end
  entries = trimmed(sorted(vim.list_extend(all, unwritten)))
  mark, listed = now, nil
end

--- Remembers a prompt.
---@param text string
---@param cwd string
function M.add(text, cwd)
  if vim.trim(text) == '' or #text > longest or config().size < 1 then
    return
  end
  refresh()
  local entry = { text = text, cwd = cwd, at = os.time() } ---@type acp.PastPrompt
  table.insert(entries, entry)
  entries, listed = trimmed(entries), nil
  local line = config().persist and #text <= longest_written and vim.json.encode(entry) .. '\n'
  local before = size()
  if not line or not state_file.append(M.path(), line) then
    table.insert(unwritten, entry)
  elseif size() == before + #line then
    mark = stamp()
  end
end

--- The texts of all prompts, newest first: those of this project, then those of others.
---@param cwd string
---@return string[]
function M.list(cwd)
  refresh()
  if listed and listed.cwd == cwd then
    return listed.texts
  end
  local texts, seen = {}, {}
  for _, here in ipairs({ true, false }) do
    for i = #entries, 1, -1 do
      local entry = entries[i]
      if (entry.cwd == cwd) == here and not seen[entry.text] then
        seen[entry.text] = true
        table.insert(texts, entry.text)
      end
    end
  end
  listed = { cwd = cwd, texts = texts }
  return texts
end

--- Those of the prompts that have all words of a query in them, however they are written.
---@param cwd string
---@param query string
---@return string[]
function M.search(cwd, query)
  local words = vim.split(query:lower(), '%s+', { trimempty = true })
  return vim.tbl_filter(function(text)
    local lower = text:lower()
    for _, word in ipairs(words) do
      if not lower:find(word, 1, true) then
        return false
      end
    end
    return true
  end, M.list(cwd))
end

return M
