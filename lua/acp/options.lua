--- Tells the core what the options say: about files, reviews and rewinds. It has to know before
--- anything is done, while those who hear of what is done may be loaded later.

local client = require('acp.client')

local M = {}

--- Where the snapshots of turns are.
---@return string
function M.snapshots()
  return require('acp.state_file').path('snapshots')
end

--- Tells all of it to a core that runs.
function M.send()
  if not client.running() then
    return
  end
  local config = require('acp.config').get()
  local files, review, rewind = config.files, config.review, config.rewind
  ---@type table<string, any>[]
  local actions = {
    { type = 'private', patterns = files.private },
    { type = 'max_read', bytes = math.floor(files.max_read * 1024 * 1024) },
    {
      type = 'review_options',
      state = require('acp.state_file').path('reviews'),
      keep = math.floor(review.keep),
      days = math.floor(review.days),
    },
    {
      type = 'rewind_options',
      enabled = rewind.enabled,
      look = review.unopened,
      state = M.snapshots(),
      keep = math.floor(rewind.keep),
      days = math.floor(rewind.days),
      bytes = math.floor(rewind.max_mb * 1024 * 1024),
      wait_ms = math.floor(rewind.wait_ms),
    },
  }
  for _, action in ipairs(actions) do
    client.send(action --[[@as acp.Action]])
  end
end

--- Starts: from now on the core knows.
function M.attach()
  M.send()
end

return M
