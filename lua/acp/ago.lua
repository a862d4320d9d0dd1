--- Times of others, as people say them: "5 min ago".

local M = {}

--- Seconds since 1970.
---@type fun(): integer
M.now = os.time

--- Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that the
--- day that not every year has is the last.
---@param year integer
---@param month integer
---@param day integer
---@return integer
local function days(year, month, day)
  if month <= 2 then
    year, month = year - 1, month + 12
  end
  local leap = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return 365 * year + leap + math.floor((153 * (month - 3) + 2) / 5) + day - 719469
end

--- A time as agents write it, in seconds since 1970: in ISO 8601, or as a number of seconds or
--- milliseconds.
---@param written string
---@return number?
local function seconds(written)
  local number = tonumber(written)
  if number then
    return math.floor(number > 1e11 and number / 1000 or number)
  end
  local pattern = '^(%d%d%d%d)-(%d%d)-(%d%d)[T ](%d%d):(%d%d):?(%d*)[%.,]?%d*(.*)$'
  local all = { written:match(pattern) }
  if not all[1] then
    return nil
  end
  local function field(at)
    return math.floor(tonumber(all[at]) or 0)
  end
  local time = days(field(1), field(2), field(3)) * 86400 ---@type number
  time = time + field(4) * 3600 + field(5) * 60 + field(6)
  local sign, hours, minutes = (all[7] or ''):match('^([+-])(%d%d):?(%d*)$')
  if sign then
    local offset = (tonumber(hours) or 0) * 3600 + (tonumber(minutes) or 0) * 60
    time = time - (sign == '+' and offset or -offset)
  end
  return time
end

--- How long ago a time is; the date where that is long. What is no time is told as it is.
---@param written string
---@return string
function M.words(written)
  local time = seconds(written)
  if not time then
    return written
  end
  local passed = M.now() - time
  if passed < 60 then
    return 'just now'
  elseif passed < 3600 then
    return ('%d min ago'):format(passed / 60)
  elseif passed < 86400 then
    return ('%d h ago'):format(passed / 3600)
  elseif passed < 2 * 86400 then
    return 'yesterday'
  elseif passed < 14 * 86400 then
    return ('%d days ago'):format(passed / 86400)
  end
  return os.date('%Y-%m-%d', math.floor(time)) --[[@as string]]
end

return M
