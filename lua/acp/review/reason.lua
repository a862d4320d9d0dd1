--- Rejecting with words: the agent gets them as a prompt, with what was rejected.

local diff = require('acp.review.diff')
local notify = require('acp.notify')

local M = {}

--- A path as an agent knows it.
---@param session integer
---@param path string
---@return string # as seen from the session's project
function M.path_for(session, path)
  local info = require('acp.session').info(session)
  local root = info and info.cwd .. '/'
  return root and vim.startswith(path, root) and path:sub(#root + 1) or path
end

--- What an agent is told of a file that could not be put right.
---@param path string as the agent knows it
---@return string
function M.unsaved(path)
  return path .. ' is not saved: until I save it, the disk has your version of it.'
end

--- What an agent is told.
---@param hunks acp.HunkText[] of one session
---@param reason string
---@return string
local function prompt(hunks, reason)
  local what = #hunks == 1 and 'this change' or ('these %d changes'):format(#hunks)
  local parts = { ('I have rejected %s; the file is without it again.'):format(what) }
  if #hunks > 1 then
    parts[1] = ('I have rejected %s; the files are without them again.'):format(what)
  end
  local unsaved = {} ---@type table<string, true>
  for _, it in ipairs(hunks) do
    local path = M.path_for(it.session, it.path)
    table.insert(parts, diff.quote(it, path))
    unsaved[path] = it.on_disk
  end
  for path in vim.spairs(unsaved) do
    table.insert(parts, M.unsaved(path))
  end
  table.insert(parts, 'Why: ' .. reason)
  return table.concat(parts, '\n\n')
end

--- Tells each agent of what it had done and why it was not wanted, when it has time for it.
---@param hunks acp.HunkText[]
---@param reason string
function M.tell(hunks, reason)
  local by_session = {} ---@type table<integer, acp.HunkText[]>
  for _, it in ipairs(hunks) do
    by_session[it.session] = by_session[it.session] or {}
    table.insert(by_session[it.session], it)
  end
  for session, its in pairs(by_session) do
    local info = require('acp.session').info(session)
    local err ---@type acp.Err?
    if not info or info.state == 'closed' then
      err = { code = 'no_session', message = 'the session of this change is over: nobody was told' }
    else
      err = select(2, require('acp.session').prompt(prompt(its, reason), { session = session }))
    end
    if err then
      notify.err(err)
    end
  end
end

--- Asks for the reason. Without one nothing is done.
---@param fn fun(reason: string)
function M.ask(fn)
  vim.ui.input({ prompt = 'Why is it rejected? ' }, function(reason)
    reason = reason and vim.trim(reason)
    if reason and reason ~= '' then
      fn(reason)
    end
  end)
end

return M
