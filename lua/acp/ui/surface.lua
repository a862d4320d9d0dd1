--- Buffers that the core renders into: takes its patches, keeps windows where they are or at the
--- tail, and starts again from a full render where buffer and core disagree. What is in the buffers
--- is nobody's business here.

local tail = require('acp.ui.tail')

local M = {}

--- What its owner says about a surface.
---@class (exact) acp.SurfaceOpts
---@field render fun() asks the core for a full render
---@field lost? fun() the buffer is gone
---@field settled? fun() patches have been taken
---@field follow? boolean windows at the tail stay there
---@field keep? boolean the others stay where they are when everything is rendered anew

---@class (exact) acp.Surface
---@field opts acp.SurfaceOpts
---@field stale boolean nothing but a full render is of use
---@field version integer counts the patches
---@field changed table<integer, number> the first row that has changed since a window was looked at
---@field following? integer[] windows to keep at the tail, during one drain
---@field views table<integer, { view: vim.fn.winsaveview.ret, at: integer }> where windows were

--- How long the rows of a full render may take, in milliseconds.
local patience = 2000

---@type table<integer, acp.Surface> by buffer
local surfaces = {}
---@type table<integer, acp.Surface> written to in this drain
local touched = {}
---@type table<integer, true> buffers whose end we hear of
local watched = {}

---@param buf integer
---@param name string
---@param value any
local function set(buf, name, value)
  vim.api.nvim_set_option_value(name, value, { buf = buf })
end

--- Asks the core for a full render; patches made before it are of no use.
---@param buf integer
function M.refresh(buf)
  local surface = surfaces[buf]
  if surface then
    surface.stale = true
    surface.opts.render()
  end
end

--- Stops rendering into a buffer.
---@param buf integer
function M.remove(buf)
  if surfaces[buf] then
    surfaces[buf], touched[buf] = nil, nil
    require('acp.client').send({ type = 'hide', surface = buf })
  end
end

--- `:edit` and the like empty a buffer but keep it.
---@param buf integer
local function unloaded(buf)
  local surface = surfaces[buf]
  if not surface then
    return
  end
  M.remove(buf)
  require('acp.client').defer(function()
    if not vim.api.nvim_buf_is_loaded(buf) then
      watched[buf] = nil
      if surface.opts.lost then
        surface.opts.lost()
      end
    elseif not surfaces[buf] then
      M.add(buf, surface.opts)
    end
  end)
end

---@param buf integer
local function watch(buf)
  if watched[buf] then
    return
  end
  watched[buf] = true
  vim.api.nvim_create_autocmd('BufUnload', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    desc = 'acp: stop rendering into a lost buffer',
    callback = function()
      unloaded(buf)
    end,
  })
end

--- Renders into a buffer from now on.
---@param buf integer
---@param opts acp.SurfaceOpts
function M.add(buf, opts)
  set(buf, 'undolevels', -1)
  set(buf, 'modifiable', false)
  watch(buf)
  surfaces[buf] = { opts = opts, stale = true, version = 0, changed = {}, views = {} }
  require('acp.ui.highlights').attach()
  M.refresh(buf)
end

--- The surface in a buffer, nil while its rows are not those the core knows.
---@param buf integer
---@return acp.Surface?
function M.level(buf)
  local surface = surfaces[buf]
  return surface and not surface.stale and surface or nil
end

--- Draws rows again whose text has not changed.
---@param buf integer
---@param first integer
---@param last integer exclusive
function M.redraw(buf, first, last)
  last = math.min(last, vim.api.nvim_buf_line_count(buf))
  -- Not at once, which is what newer versions do when nothing is said: more may come.
  local opts = { buf = buf, range = { first, last }, flush = false }
  if last > first and not pcall(vim.api.nvim__redraw, opts) then
    vim.cmd('redraw!')
  end
end

---@param buf integer
---@param surface acp.Surface
local function touch(buf, surface)
  touched[buf] = surface
  local wins = surface.opts.follow and vim.fn.win_findbuf(buf) or {}
  surface.following = vim.tbl_filter(tail.is_at, wins)
  set(buf, 'modifiable', true)
end

---@param buf integer
---@param patch acp.Patch
local function change(buf, patch)
  if patch.col then
    vim.api.nvim_buf_set_text(buf, patch.first, patch.col, patch.first, patch.col, patch.lines)
  else
    vim.api.nvim_buf_set_lines(buf, patch.first, patch.last or -1, false, patch.lines)
  end
end

--- Remembers where the windows are that are not at the tail: everything is about to be replaced.
---@param buf integer
---@param surface acp.Surface
local function keep_views(buf, surface)
  for _, win in ipairs(surface.opts.keep and vim.fn.win_findbuf(buf) or {}) do
    if not vim.list_contains(surface.following or {}, win) then
      local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
      surface.views[win] = { view = view, at = vim.uv.now() }
    end
  end
end

--- Brings windows back to where they were, as soon as there are enough rows.
---@param buf integer
---@param surface acp.Surface
local function restore_views(buf, surface)
  local rows = vim.api.nvim_buf_line_count(buf)
  for win, kept in pairs(surface.views) do
    local shown = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf
    -- Rows that come much later are others.
    local wait = shown and rows < kept.view.lnum and vim.uv.now() - kept.at < patience
    if not wait then
      surface.views[win] = nil
      if shown and rows >= kept.view.lnum then
        vim.api.nvim_win_call(win, function()
          vim.fn.winrestview(kept.view)
        end)
      end
    end
  end
end

---@param surface acp.Surface
---@param patch acp.Patch
local function note(surface, patch)
  if patch.col and not patch.repaint and not patch.code then
    -- What streams is code only when it is finished, and moves none.
    return
  end
  local first = patch.repaint or patch.first
  surface.version = surface.version + 1
  for win, row in pairs(surface.changed) do
    surface.changed[win] = math.min(row, first)
  end
  if patch.repaint then
    M.redraw(patch.surface, patch.repaint, patch.first)
  end
end

---@param patch acp.Patch
local function apply_one(patch)
  local buf = patch.surface
  local surface = surfaces[buf]
  local full = patch.first == 0 and patch.last == -1
  if not surface or (surface.stale and not full) or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  if not touched[buf] then
    touch(buf, surface)
  end
  if full then
    keep_views(buf, surface)
  end
  local ok, err = pcall(change, buf, patch)
  note(surface, patch)
  if not ok then
    if not full then
      -- Buffer and core disagree. The core is right: start again from what it says.
      M.refresh(buf)
    end
    error(err, 0)
  end
  if full then
    surface.stale = false
    -- From now on there is something to paint.
    require('acp.ui.paint').attach()
  end
end

--- Applies patches in order; one that fails costs nothing but itself.
---@param patches acp.Patch[]
function M.apply(patches)
  local guard = require('acp.client').guard
  for _, patch in ipairs(patches) do
    guard('a patch', apply_one, patch)
  end
end

---@param buf integer
---@param surface acp.Surface
local function settle(buf, surface)
  set(buf, 'modifiable', false)
  set(buf, 'modified', false)
  for _, win in ipairs(surface.following or {}) do
    local shown = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf
    if shown and not tail.is_selecting(win) then
      tail.go_to(win)
    end
  end
  restore_views(buf, surface)
  if surface.opts.settled then
    surface.opts.settled()
  end
end

--- Ends a drain: nobody else can write, and the windows that were at the tail when it began are
--- there again.
function M.settle()
  local all = touched
  touched = {}
  for buf, surface in pairs(all) do
    if vim.api.nvim_buf_is_loaded(buf) then
      require('acp.client').guard('the end of a drain', settle, buf, surface)
    end
  end
end

return M
