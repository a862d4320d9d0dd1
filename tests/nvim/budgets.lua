--- Runs inside Neovim: how long the main loop is busy between two looks at what the user typed.
--- Counted in CPU time of the main thread, so that a busy machine does not spoil it.

local M = {}

local ffi = require('ffi')
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } acp_test_time;
  int clock_gettime(int clock, acp_test_time *time);
]])
local thread_clock = 3
local time = ffi.new('acp_test_time')

---@return number milliseconds of CPU that this thread has used
local function cpu()
  ffi.C.clock_gettime(thread_clock, time)
  return tonumber(time.seconds) * 1e3 + tonumber(time.nanoseconds) / 1e6
end

local began ---@type number?
local longest = 0

--- Begins to measure, from the next time the loop waits.
function M.start()
  longest, began = 0, nil
  M.check, M.prepare = assert(vim.uv.new_check()), assert(vim.uv.new_prepare())
  M.check:start(function()
    began = cpu()
  end)
  M.prepare:start(function()
    longest = math.max(longest, began and cpu() - began or 0)
  end)
end

---@return number milliseconds, the longest that the loop was busy
function M.stop()
  M.check:close()
  M.prepare:close()
  return longest
end

return M
