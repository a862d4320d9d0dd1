--- From a row of a tool call's diff to the pending change it is about.

local store = require('acp.review.store')

local M = {}

--- How far a hunk may be from the row, in lines: what was changed since moves it.
local near = 200

---@param place acp.ReviewPlace
---@param row integer
---@return integer
local function distance(place, row)
  if row < place.first then
    return place.first - row
  end
  return math.max(row - math.max(place.last - 1, place.first), 0)
end

--- The pending hunk that is nearest to the row under the cursor.
---@param detail acp.Detail
---@return acp.ReviewTarget?, acp.Err?
function M.target(detail)
  local path, line = require('acp.ui.detail.go').target(detail)
  local file = path and (store.file(path) or store.file(require('acp.files.find').resolved(path)))
  local best, least ---@type acp.ReviewPlace?, integer?
  for _, place in ipairs(file and store.places(file) or {}) do
    local away = distance(place, (line or 1) - 1)
    if away <= near and (not least or away < least) then
      best, least = place, away
    end
  end
  if not file or not best then
    return nil,
      {
        code = 'no_change',
        message = 'no change here waits for you: it is reviewed already, or was never made',
      }
  end
  return { path = file.path, ids = { best.hunk.id }, session = best.hunk.session }
end

return M
