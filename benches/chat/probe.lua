--- Runs inside the measured Neovim: drives one contestant through some turns and writes down what
--- that cost. Knows drivers by their functions and nothing of what is behind them.
---
--- Times are net: what the scheduler gave to others while our main thread could have run is taken
--- off, so that a busy machine does not spoil them. All times are in nanoseconds until they are
--- written down in milliseconds.

local M = {}

---@class bench.Driver
---@field setup fun(command: string[]) loads the contestant; the command is the agent's
---@field open fun(ready: fun()) opens a chat; `ready` is called when it can be prompted
---@field prompt fun(text: string, done: fun()) `done` is called when the turn is over
---@field text fun(): string the whole chat, wherever the contestant keeps it
---@field buf fun(): integer the buffer that shows the chat

---@class (exact) bench.Turn
---@field prompt string
---@field marker string the last line of the answer
---@field expected string name of the file with the whole answer

---@class (exact) bench.File
---@field path string
---@field edits { row: integer, text: string }[] what the user changes and does not save
---@field after string path to write the buffer to when the turns are over
---@field undone string path to write it to after one undo

---@class (exact) bench.Spec
---@field file? bench.File what the agent will work on
---@field driver string path of the driver
---@field command string[] the agent's
---@field turns bench.Turn[]
---@field limit_ms integer how long a turn may take
---@field result string path to write to

local tick_ms = 5
--- Long enough for what a contestant puts off until after it has opened.
local settle_ms = 300
local pause_ms = 100
local open_limit_ms = 20000

---@return number milliseconds of CPU this process has used, all threads together
local function cpu_ms()
  local usage = assert(vim.uv.getrusage())
  local user, system = usage.utime, usage.stime
  return (user.sec + system.sec) * 1e3 + (user.usec + system.usec) / 1e3
end

---@return number kibibytes of memory the process had at most
local function peak_rss_kb()
  for line in io.lines('/proc/self/status') do
    local peak = line:match('^VmHWM:%s+(%d+)')
    if peak then
      return tonumber(peak) --[[@as number]]
    end
  end
  error('/proc/self/status has no VmHWM')
end

local schedstat = vim.uv.fs_open('/proc/self/schedstat', 'r', 0)

---@return number nanoseconds for which the main thread could have run but had no CPU
local function waited()
  local text = schedstat and vim.uv.fs_read(schedstat, 64, 0)
  local wait = type(text) == 'string' and text:match('^%d+ (%d+)')
  return tonumber(wait) or 0
end

---@class bench.Clock
---@field time number
---@field waited number

---@return bench.Clock
local function read_clock()
  return { time = vim.uv.hrtime(), waited = waited() }
end

---@param from bench.Clock
---@param to bench.Clock
---@return number
local function net(from, to)
  return math.max(0, to.time - from.time - (to.waited - from.waited))
end

---@class bench.Watch
---@field began bench.Clock
---@field ticked bench.Clock
---@field framed bench.Clock
---@field cpu number
---@field late number[] how late each tick came: a key press would have waited as long
---@field no_frame number the longest time between two frames
---@field frames integer
---@field timer uv.uv_timer_t

---@type bench.Watch?
local watch

vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('bench'), {
  on_end = function()
    if watch then
      local now = read_clock()
      watch.frames = watch.frames + 1
      watch.no_frame = math.max(watch.no_frame, net(watch.framed, now))
      watch.framed = now
    end
  end,
})

---@param self bench.Watch
local function tick(self)
  local now = read_clock()
  table.insert(self.late, math.max(0, net(self.ticked, now) - tick_ms * 1e6))
  self.ticked = now
end

local function start_watch()
  local now = read_clock()
  ---@type bench.Watch
  local started = {
    began = now,
    ticked = now,
    framed = now,
    cpu = cpu_ms(),
    late = {},
    no_frame = 0,
    frames = 0,
    timer = assert(vim.uv.new_timer()),
  }
  started.timer:start(tick_ms, tick_ms, function()
    tick(started)
  end)
  watch = started
end

---@return table<string, number> what one turn cost
local function stop_watch()
  local self = assert(watch)
  watch = nil
  tick(self)
  self.timer:stop()
  self.timer:close()
  local now = self.ticked
  table.sort(self.late)
  local late = self.late
  ---@param share number
  ---@return number
  local function quantile(share)
    return (late[math.ceil(#late * share)] or 0) / 1e6
  end
  return {
    wall_ms = (now.time - self.began.time) / 1e6,
    wall_net_ms = net(self.began, now) / 1e6,
    cpu_ms = cpu_ms() - self.cpu,
    stall_ms = quantile(1),
    stall_p99_ms = quantile(0.99),
    no_frame_ms = math.max(self.no_frame, net(self.framed, now)) / 1e6,
    frames = self.frames,
    peak_rss_kb = peak_rss_kb(),
  }
end

---@param path string
---@return string
local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

---@param path string
---@param text string
local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

---@param where string
---@param text string
---@param answers string[]
local function assert_complete(where, text, answers)
  local from = 1
  for number, answer in ipairs(answers) do
    local _, last = text:find(answer, from, true)
    if not last then
      error(('turn %d: the %s does not have exactly what was streamed'):format(number, where), 0)
    end
    from = last + 1
  end
end

--- A contestant that loses text, or stops following, has not done the work.
---@param driver bench.Driver
---@param turns bench.Turn[]
local function check(driver, turns)
  local buf = driver.buf()
  local answers = vim.tbl_map(function(turn)
    return read(turn.expected)
  end, turns)
  assert_complete('chat', driver.text(), answers)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  assert_complete('buffer', table.concat(lines, '\n'), answers)
  local win = vim.fn.bufwinid(buf)
  if win == -1 or vim.fn.line('w$', win) < #lines then
    error('the end of the chat is not on the screen', 0)
  end
end

---@param buf integer
---@param marker string
---@return boolean
local function has_marker(buf, marker)
  return vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1] == marker
end

-- One Neovim, one run: what follows is about the one that is under way.
---@type bench.Spec
local spec
---@type bench.Driver
local driver
local result = { turns = {} }
local finished = false
local limit = assert(vim.uv.new_timer())

---@param failure? string
local function finish(failure)
  if finished then
    return
  end
  finished = true
  limit:close()
  result.failure = failure
  write(spec.result .. '.new', vim.json.encode(result))
  -- Whoever waits for the file must not see half of it.
  assert(os.rename(spec.result .. '.new', spec.result))
end

---@param work fun()
---@return fun()
local function guarded(work)
  return function()
    if not finished then
      local ok, failure = xpcall(work, debug.traceback)
      if not ok then
        finish(tostring(failure))
      end
    end
  end
end

---@param work fun()
---@param delay_ms integer
local function later(work, delay_ms)
  vim.defer_fn(guarded(work), delay_ms)
end

---@param what string
---@param limit_ms integer
local function allow(what, limit_ms)
  limit:start(limit_ms, 0, function()
    vim.schedule(function()
      finish(('%s was not over after %d ms'):format(what, limit_ms))
    end)
  end)
end

---@type integer the buffer of the file
local file_buf

---@param file bench.File
local function open_file(file)
  vim.cmd.edit(file.path)
  file_buf = vim.api.nvim_get_current_buf()
  for _, edit in ipairs(file.edits) do
    vim.fn.setline(edit.row + 1, edit.text)
  end
end

---@param file bench.File
local function keep_file(file)
  ---@return string
  local function text()
    return table.concat(vim.api.nvim_buf_get_lines(file_buf, 0, -1, false), '\n') .. '\n'
  end
  write(file.after, text())
  vim.api.nvim_buf_call(file_buf, function()
    vim.cmd('silent undo')
  end)
  write(file.undone, text())
end

---@param number integer
local function play(number)
  local turn = spec.turns[number]
  if not turn then
    if number > 1 then
      check(driver, spec.turns)
    end
    if spec.file then
      keep_file(spec.file)
    end
    return finish()
  end
  local buf = driver.buf()
  local function await_marker()
    if not has_marker(buf, turn.marker) then
      return later(await_marker, 1)
    end
    vim.cmd.redraw()
    table.insert(result.turns, stop_watch())
    later(function()
      play(number + 1)
    end, pause_ms)
  end
  allow('turn ' .. number, spec.limit_ms)
  collectgarbage()
  start_watch()
  driver.prompt(turn.prompt, vim.schedule_wrap(guarded(await_marker)))
end

local function open()
  if spec.file then
    open_file(spec.file)
  end
  local began = read_clock()
  driver.setup(spec.command)
  local loaded = read_clock()
  result.load_ms = net(began, loaded) / 1e6
  allow('opening', open_limit_ms)
  driver.open(vim.schedule_wrap(guarded(function()
    vim.cmd.redraw()
    result.open_ms = net(loaded, read_clock()) / 1e6
    later(function()
      play(1)
    end, settle_ms)
  end)))
  result.blocking_ms = net(loaded, read_clock()) / 1e6
end

--- Starts the run; the file named in it appears when it is over.
---@param wanted bench.Spec
function M.run(wanted)
  spec = wanted
  driver = dofile(spec.driver)
  later(open, pause_ms)
end

return M
