--- The files of a project, to choose from: listed beside the main loop, kept for a while, and
--- matched a little at a time, so that typing goes on in the biggest of projects.

local M = {}

---@class (exact) acp.Listing
---@field paths string[] relative to the project
---@field lower string[] the same for comparing
---@field at integer milliseconds, when it was made
---@field whole boolean

--- Milliseconds after which a list is made anew while the old one is used.
local fresh = 5000
--- Paths that are kept.
local most = 200000
--- Paths that are compared at once.
local slice = 2000
--- Matches with the query in one piece that are enough to leave it at that.
local enough = 5
--- Matches that are put in order.
local ranked = 1000

---@type table<string, acp.Listing> by project
local listings = {}
---@type table<string, acp.Listing> being made
local making = {}
---@type table<string, fun()[]> who wants to know when a list is made
local waiting = {}

---@param listing acp.Listing
---@param path string
local function add(listing, path)
  local count = #listing.paths
  if count < most and not path:find('%c') then
    listing.paths[count + 1], listing.lower[count + 1] = path, path:lower()
  end
end

---@param cwd string
---@param listing acp.Listing
local function made(cwd, listing)
  listing.whole = true
  making[cwd], listings[cwd] = nil, listing
  local fns = waiting[cwd] or {}
  waiting[cwd] = nil
  require('acp.client').defer(function()
    for _, fn in ipairs(fns) do
      fn()
    end
  end)
end

--- Folders with much in them that nobody has written.
---@type table<string, true>
local skipped = { node_modules = true, target = true, __pycache__ = true, venv = true }

---@param listing acp.Listing
---@param folder string relative, empty for the project itself
---@param entries userdata what fs_scandir has handed over
---@return string[] folders in it
local function scan(listing, folder, entries)
  local folders = {}
  local prefix = folder == '' and '' or folder .. '/'
  while true do
    local name, kind = vim.uv.fs_scandir_next(entries)
    if not name then
      return folders
    end
    local hidden = name:sub(1, 1) == '.'
    if kind == 'directory' and not hidden and not skipped[name] then
      table.insert(folders, prefix .. name)
    elseif kind == 'file' or kind == 'link' then
      add(listing, prefix .. name)
    end
  end
end

--- Lists a project that git knows nothing of, the nearest folders first.
---@param cwd string
---@param listing acp.Listing
local function walk(cwd, listing)
  local folders, next_one = { '' }, 1
  local function step()
    local folder = folders[next_one]
    next_one = next_one + 1
    if not folder or #listing.paths >= most then
      return made(cwd, listing)
    end
    local path = folder == '' and cwd or cwd .. '/' .. folder
    vim.uv.fs_scandir(path, function(_, entries)
      for _, found in ipairs(entries and scan(listing, folder, entries) or {}) do
        table.insert(folders, found)
      end
      step()
    end)
  end
  step()
end

---@param cwd string
---@param listing acp.Listing
local function ask_git(cwd, listing)
  require('acp.git').files(cwd, function(names)
    for path in names:gmatch('[^%z]+') do
      add(listing, path)
    end
  end, function(known)
    if known then
      made(cwd, listing)
    else
      walk(cwd, listing)
    end
  end)
end

--- The files known now, without waiting. A missing or old list is made beside; `fn` is called when
--- it is there, and not at all when this one is fresh.
---@param cwd string
---@param fn? fun()
---@return acp.Listing
local function get(cwd, fn)
  local known = listings[cwd]
  if known and vim.uv.now() - known.at < fresh then
    return known
  end
  if fn then
    waiting[cwd] = waiting[cwd] or {}
    table.insert(waiting[cwd], fn)
  end
  if not making[cwd] then
    local listing = { paths = {}, lower = {}, at = vim.uv.now(), whole = false }
    making[cwd] = listing
    ask_git(cwd, listing)
  end
  return known or making[cwd] or listings[cwd]
end

---@param paths string[]
---@param query string
---@return string[] the best first
local function rank(paths, query)
  local best = vim.fn.matchfuzzy(vim.list_slice(paths, 1, ranked), query)
  local lower = query:lower()
  local first, second = {}, {}
  for _, path in ipairs(best) do
    -- Who types the beginning of a file's name means that one.
    local name = vim.fs.basename(path --[[@as string]]):lower()
    table.insert(vim.startswith(name, lower) and first or second, path)
  end
  return vim.list_extend(first, second)
end

---@param listing acp.Listing
---@param query string
---@return string[]
local function containing(listing, query)
  local lower, found = query:lower(), {}
  for i, path in ipairs(listing.lower) do
    if path:find(lower, 1, true) then
      table.insert(found, listing.paths[i])
    end
  end
  return found
end

---@type integer the number of the last search; older ones end
local search = 0
---@type { listing: acp.Listing, query: string, found: string[] }? all that the last one found
local last

---@param listing acp.Listing
---@param query string
---@return string[] paths outside of which nothing can match
local function candidates(listing, query)
  local narrower = last
    and listing.whole
    and last.listing == listing
    and vim.startswith(query, last.query)
  return narrower and last and last.found or listing.paths
end

--- Looks for a query whose letters may be far apart, a slice at a time.
---@param listing acp.Listing
---@param query string
---@param fn fun(paths: string[])
local function spread(listing, query, fn)
  local mine, found, from = search, {}, 1
  local whole = listing.whole
  local paths = candidates(listing, query)
  local function step()
    if mine ~= search then
      return
    end
    local part = vim.list_slice(paths, from, from + slice - 1)
    vim.list_extend(found, vim.fn.matchfuzzy(part, query))
    from = from + slice
    if from <= #paths then
      return require('acp.client').defer(step)
    end
    if whole then
      last = { listing = listing, query = query, found = found }
    end
    fn(rank(found, query))
  end
  step()
end

--- Finds files. `fn` gets them, the best first: at once, or soon when there are many to look
--- through; it is not called any more when something else is searched for. `again` is called when
--- more files are known.
---@param cwd string
---@param query string
---@param fn fun(paths: string[])
---@param again? fun()
function M.match(cwd, query, fn, again)
  search = search + 1
  local listing = get(cwd, again)
  if query == '' then
    return fn(vim.list_slice(listing.paths, 1, ranked))
  end
  local found = containing(listing, query)
  if #found >= enough then
    return fn(rank(found, query))
  end
  spread(listing, query, fn)
end

--- The same without waiting: only what is found at once.
---@param cwd string
---@param query string
---@return string[]
function M.match_now(cwd, query)
  local listing = get(cwd)
  if query == '' then
    return vim.list_slice(listing.paths, 1, ranked)
  end
  local found = containing(listing, query)
  if #found < enough and #listing.paths <= 4 * slice then
    found = vim.fn.matchfuzzy(listing.paths, query)
  end
  return rank(found, query)
end

return M
