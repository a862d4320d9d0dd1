--- Stands in for the core: it knows which hunks are pending because it was told, and says what the
--- core would say when they are accepted or rejected.

local lib = assert(require('acp.native').load())
require('acp.client').start()
local store = require('acp.review.store')

local core = { sent = {} }
local files = {}
local queue = {}

local drain = lib.drain
lib.drain = function()
  -- The real one each time: it has to know that it was called.
  local batch = drain()
  if #queue == 0 then
    return batch
  end
  batch = batch or {}
  batch.effects = vim.list_extend(batch.effects or {}, queue)
  queue = {}
  return batch
end

local function tell(effect)
  table.insert(queue, effect)
  lib.rearm()
end

local function loaded(path)
  local buf = vim.fn.bufnr(path)
  return buf > 0 and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

--- `{ id, first, last, removed = { text | { text, from, to } }, words = { { row, from, to } } }`
local function as_told(hunk, tick)
  return {
    id = hunk.id,
    session = hunk.session or 1,
    state = hunk.state or 'pending',
    first = hunk.first,
    last = hunk.last,
    tick = tick,
    words = hunk.words or {},
    removed = vim.tbl_map(function(line)
      if type(line) == 'string' then
        return { text = line, spans = {} }
      end
      return { text = line[1], spans = { { line[2], line[3] } } }
    end, hunk.removed or {}),
  }
end

--- Tells all hunks of a file, which is by its name in the project.
function core.add(name, kind, hunks, tick)
  local path = vim.fs.joinpath(vim.uv.cwd(), name)
  local buf = loaded(path)
  tick = tick or (buf and vim.api.nvim_buf_get_changedtick(buf)) or 0
  files[path] = { path = path, kind = kind, hunks = {} }
  for _, hunk in ipairs(hunks) do
    table.insert(files[path].hunks, as_told(hunk, tick))
  end
  tell({
    type = 'hunks',
    path = path,
    buf = buf,
    full = true,
    kind = kind,
    set = files[path].hunks,
    gone = {},
    count = #hunks,
  })
end

local function rows_of(path, hunk)
  local file = store.file(path)
  if file and file.hunks[hunk.id] then
    return store.rows(file, file.hunks[hunk.id])
  end
  return hunk.first, hunk.last
end

local function lines_of(path)
  local buf = loaded(path)
  if buf then
    return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  return vim.uv.fs_stat(path) and vim.fn.readfile(path) or {}
end

local function text_of(line)
  return line.text
end

lib.changes = function(session)
  local all = {}
  for path, file in pairs(files) do
    local lines, added, removed, hunks = lines_of(path), 0, 0, {}
    for _, hunk in ipairs(file.hunks) do
      if not session or hunk.session == session then
        local first, last = rows_of(path, hunk)
        local old, new = vim.tbl_map(text_of, hunk.removed), vim.list_slice(lines, first + 1, last)
        added, removed = added + #new, removed + #old
        table.insert(hunks, {
          id = hunk.id,
          session = hunk.session,
          state = hunk.state,
          start = first + 1,
          old = old,
          new = new,
        })
      end
    end
    if #hunks > 0 then
      table.insert(all, {
        path = path,
        kind = file.kind,
        session = hunks[1].session,
        added = added,
        removed = removed,
        hunks = hunks,
      })
    end
  end
  table.sort(all, function(a, b)
    return a.path < b.path
  end)
  return all
end

--- Hunks are no longer pending.
local function drop(path, ids)
  local file, gone = files[path], {}
  file.hunks = vim.tbl_filter(function(hunk)
    local out = not ids or vim.list_contains(ids, hunk.id)
    if out then
      table.insert(gone, hunk.id)
    end
    return not out
  end, file.hunks)
  tell({
    type = 'hunks',
    path = path,
    buf = loaded(path),
    full = false,
    kind = file.kind,
    set = {},
    gone = gone,
    count = #file.hunks,
  })
end

local function ids_in(path, rows)
  return vim.tbl_map(function(place)
    return place.hunk.id
  end, store.within(loaded(path), rows[1], rows[2]))
end

local actions = {}

function actions.accept(action)
  for path in pairs(files) do
    if not action.path or action.path == path then
      drop(path, action.rows and ids_in(path, action.rows) or action.hunks)
    end
  end
end

function actions.reject_file(action)
  if files[action.path].kind == 'made' and not action.hunks then
    os.remove(action.path)
  end
  drop(action.path, action.hunks)
  tell({ type = 'rejected', tag = action.tag, path = action.path, err = core.refuse })
end

function actions.merge(action)
  local path, reject, changes = action.path, action.reject, {}
  local ids = reject.hunks or reject.rows and ids_in(path, reject.rows)
  local places = store.places(store.file(path))
  for i = #places, 1, -1 do
    local place = places[i]
    if not ids or vim.list_contains(ids, place.hunk.id) then
      local lines = vim.tbl_map(text_of, place.hunk.removed)
      table.insert(changes, { first = place.first, last = place.last, lines = lines })
    end
  end
  tell({
    type = 'merged',
    tag = action.tag,
    tick = action.tick,
    changes = changes,
    eol = true,
    bom = false,
    clashes = {},
    marked = {},
    is_theirs = false,
  })
  drop(path, ids)
end

local send = lib.send
lib.send = function(action)
  local ours = actions[action.type]
  if not ours or action.type == 'merge' and not action.reject then
    return send(action)
  end
  local noted = { type = action.type, name = action.path and vim.fs.basename(action.path) }
  noted.hunks, noted.rows, noted.reject = action.hunks, action.rows, action.reject
  table.insert(core.sent, noted)
  ours(action)
  return true
end

_G.core = core
