--- The reference: the least a chat in pure Lua can do. It decodes where the bytes arrive and adds
--- all that has come to a plain buffer once in 8 ms. Files are read and written where they are
--- open, and nowhere else. No highlighting, no states, no second thread.

local M = {}

local frame_ms = 8

---@type string[]
local agent
---@type integer, integer
local buf, win
---@type uv.uv_pipe_t
local stdin
---@type string the agent's name for the session
local session

---@type table<integer, fun(result: table)> what to do with the answer, by request
local waiting = {}
local last_request = 0

---@type string[] text that is not in the buffer yet
local unshown = {}
local timer = assert(vim.uv.new_timer())

---@param method string
---@param params table
---@param answered fun(result: table)
local function request(method, params, answered)
  last_request = last_request + 1
  waiting[last_request] = answered
  local message = { jsonrpc = '2.0', id = last_request, method = method, params = params }
  stdin:write(vim.json.encode(message) .. '\n')
end

local function show()
  if #unshown == 0 then
    return
  end
  local lines = vim.split(table.concat(unshown), '\n', { plain = true })
  unshown = {}
  local before = vim.api.nvim_buf_line_count(buf)
  local following = vim.api.nvim_win_get_cursor(win)[1] == before
  vim.api.nvim_buf_set_text(buf, before - 1, -1, before - 1, -1, lines)
  if following then
    vim.api.nvim_win_set_cursor(win, { before + #lines - 1, 0 })
  end
end

local show_soon = vim.schedule_wrap(show)

---@param text string
local function add(text)
  if #unshown == 0 then
    timer:start(frame_ms, 0, show_soon)
  end
  table.insert(unshown, text)
end

---@param params { path: string, line?: integer, limit?: integer }
---@return table
local function read_file(params)
  local from = (params.line or 1) - 1
  local to = params.limit and from + params.limit or -1
  local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr(params.path), from, to, false)
  table.insert(lines, '')
  return { content = table.concat(lines, '\n') }
end

--- Replaces what is between the first and the last line that differ.
---@param params { path: string, content: string }
---@return table
local function write_file(params)
  local file = vim.fn.bufnr(params.path)
  local new = vim.split((params.content:gsub('\n$', '')), '\n', { plain = true })
  local old = vim.api.nvim_buf_get_lines(file, 0, -1, false)
  local shorter = math.min(#old, #new)
  local above, below = 0, 0
  while above < shorter and old[above + 1] == new[above + 1] do
    above = above + 1
  end
  while below < shorter - above and old[#old - below] == new[#new - below] do
    below = below + 1
  end
  local changed = vim.list_slice(new, above + 1, #new - below)
  vim.api.nvim_buf_set_lines(file, above, #old - below, false, changed)
  return vim.empty_dict()
end

local served = {
  ['fs/read_text_file'] = read_file,
  ['fs/write_text_file'] = write_file,
}

---@param message { id: integer, method: string, params: table }
local function serve(message)
  local result = assert(served[message.method], message.method)(message.params)
  local answer = { jsonrpc = '2.0', id = message.id, result = result }
  stdin:write(vim.json.encode(answer) .. '\n')
end

---@param line string
local function on_message(line)
  local message = vim.json.decode(line)
  if message.method == 'session/update' then
    local update = message.params.update
    if update.sessionUpdate == 'agent_message_chunk' then
      add(update.content.text)
    elseif update.sessionUpdate == 'tool_call' then
      add(('\n[%s]\n'):format(update.title))
    end
  elseif message.method then
    vim.schedule(function()
      serve(message)
    end)
  elseif waiting[message.id] then
    local answered = waiting[message.id]
    waiting[message.id] = nil
    vim.schedule(function()
      answered(message.result)
    end)
  end
end

---@return fun(bytes: string) each call takes what came, however it was cut
local function line_reader()
  local rest = ''
  return function(bytes)
    local from = 1
    while true do
      local newline = bytes:find('\n', from, true)
      if not newline then
        break
      end
      on_message(rest .. bytes:sub(from, newline - 1))
      rest, from = '', newline + 1
    end
    rest = rest .. bytes:sub(from)
  end
end

local function spawn()
  stdin = assert(vim.uv.new_pipe())
  local stdout = assert(vim.uv.new_pipe())
  local options = { args = vim.list_slice(agent, 2), stdio = { stdin, stdout } }
  ---@type uv.uv_process_t?
  local process
  process = vim.uv.spawn(assert(agent[1]), options, function()
    if process then
      process:close()
    end
  end)
  assert(process, 'the agent does not start')
  local take = line_reader()
  stdout:read_start(function(_, bytes)
    if bytes then
      take(bytes)
    end
  end)
end

---@param command string[]
function M.setup(command)
  agent = command
end

---@param ready fun()
function M.open(ready)
  buf = vim.api.nvim_create_buf(false, true)
  -- As wide as the plugin's chat, so that the same text wraps alike.
  local width = math.floor(vim.o.columns * 0.4)
  win = vim.api.nvim_open_win(buf, true, { split = 'right', win = -1, width = width })
  spawn()
  local fs = { readTextFile = true, writeTextFile = true }
  local about = { protocolVersion = 1, clientCapabilities = { fs = fs } }
  request('initialize', about, function()
    local params = { cwd = vim.fn.getcwd(), mcpServers = {} }
    request('session/new', params, function(result)
      session = result.sessionId
      ready()
    end)
  end)
end

---@param text string
---@param done fun()
function M.prompt(text, done)
  add(('\n\n# You\n\n%s\n\n# Agent\n\n'):format(text))
  local params = { sessionId = session, prompt = { { type = 'text', text = text } } }
  request('session/prompt', params, function()
    show()
    done()
  end)
end

---@return string
function M.text()
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

---@return integer
function M.buf()
  return buf
end

return M
