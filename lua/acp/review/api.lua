--- What programs do with pending changes: by path, place and session instead of by cursor.

local diff = require('acp.review.diff')

local M = {}

---@class (exact) acp.ReviewOpts
---@field session? integer
---@field path? string without it all files
---@field hunk? integer its place in `changes`, from 1; without it the whole file
---@field id? integer instead of `hunk`
---@field reason? string for `reject`: what the agent is told

---@param code string
---@param message string
---@return nil, acp.Err
local function fail(code, message)
  return nil, { code = code, message = message, hint = 'acp.changes() has what is pending' }
end

---@param path string
---@param session? integer
---@return acp.ChangedFile?
local function file_of(path, session)
  local full = vim.fs.normalize(vim.fn.fnamemodify(path, ':p'), { expand_env = false })
  local real ---@type string?
  for _, file in ipairs(diff.changes(session)) do
    if file.path == path or file.path == full then
      return file
    end
    real = real or require('acp.files.find').resolved(full)
    if require('acp.files.find').resolved(file.path) == real then
      return file
    end
  end
end

---@param file acp.ChangedFile
---@param opts acp.ReviewOpts
---@return integer[]? ids nil for all
---@return acp.Err?
local function ids_of(file, opts)
  if not opts.hunk and not opts.id then
    local ids = {}
    for _, hunk in ipairs(file.hunks) do
      if not opts.session or hunk.session == opts.session then
        table.insert(ids, hunk.id)
      end
    end
    return opts.session and ids or nil
  end
  for place, hunk in ipairs(file.hunks) do
    if hunk.id == opts.id or not opts.id and place == opts.hunk then
      return { hunk.id }
    end
  end
  local which = opts.id and ('with the id %s'):format(opts.id) or tostring(opts.hunk)
  return fail('no_hunk', ('there is no change %s in %s'):format(which, file.path))
end

--- What the options mean.
---@param opts? acp.ReviewOpts
---@return acp.ReviewTarget?, acp.Err?
function M.target(opts)
  opts = opts or {}
  -- What was pending may outlive its session.
  if opts.session and #diff.changes(opts.session) == 0 then
    local _, err = require('acp.session').resolve(opts.session)
    if err then
      return nil, err
    end
  end
  if not opts.path then
    if opts.hunk or opts.id then
      return fail('bad_option', 'a hunk needs the path of its file')
    elseif #diff.changes(opts.session) == 0 then
      return fail('no_change', 'there is nothing to review')
    end
    return { session = opts.session }
  end
  local file = file_of(opts.path, opts.session)
  if not file then
    return fail('no_change', ('there is nothing to review in %s'):format(opts.path))
  end
  local ids, err = ids_of(file, opts)
  if err then
    return nil, err
  end
  return { path = file.path, ids = ids, session = opts.session }
end

return M
