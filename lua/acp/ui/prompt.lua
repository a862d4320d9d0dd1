--- The prompt buffers: ordinary editing, sending, and the hint shown while one is empty.

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.prompt')

---@type table<integer, integer> buffer by session
local buffers = {}

---@param session integer
---@return integer? buf
function M.buffer(session)
  local buf = buffers[session]
  return buf and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

---@param buf integer
---@return string
local function text_of(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

---@param buf integer
---@return boolean
local function is_empty(buf)
  return vim.api.nvim_buf_line_count(buf) == 1 and text_of(buf) == ''
end

--- Whether nothing was typed.
---@param session integer
---@return boolean
function M.is_empty(session)
  local buf = M.buffer(session)
  return not buf or is_empty(buf)
end

---@param info acp.SessionInfo
---@return string
local function hint(info)
  local agent = require('acp.text').one_line(info.agent)
  local texts = {
    starting = ('%s is starting; you can type already'):format(agent),
    running = ('%s is working  <C-c> stops it'):format(agent),
    cancelling = ('%s is stopping'):format(agent),
    waiting = ('%s waits for your answer'):format(agent),
    failed = ('%s has ended; a prompt restarts it'):format(agent),
    closed = 'this session is closed  :AcpChat',
  }
  return texts[info.state] or ('Ask %s  <C-s> sends, g? shows keys'):format(agent)
end

---@param buf integer
local function decorate(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local session = require('acp.session')
  local info = session.info(session.of_buffer(buf) or -1)
  if info and is_empty(buf) then
    vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, {
      virt_text = { { hint(info), 'AcpPlaceholder' } },
      virt_text_pos = 'overlay',
    })
  end
end

--- Brings the hint and the height of the windows up to date with the text.
---@param buf integer
local function changed(buf)
  decorate(buf)
  require('acp.ui.window').fit_prompt(buf)
end

---@param info acp.SessionInfo
---@return integer buf
local function create(info)
  local buf = require('acp.ui.buffer').create(info, 'prompt')
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    desc = 'acp: fit the prompt to its text',
    callback = function()
      changed(buf)
    end,
  })
  return buf
end

--- The prompt buffer of a session, made when there is none.
---@param info acp.SessionInfo
---@return integer buf
function M.ensure(info)
  local buf = M.buffer(info.id)
  if not buf then
    buf = create(info)
    buffers[info.id] = buf
  end
  decorate(buf)
  return buf
end

--- Deletes the buffer of a session that is over, unless there is unsent text in it.
---@param session integer
function M.delete(session)
  local buf = M.buffer(session)
  if buf and is_empty(buf) then
    vim.api.nvim_buf_delete(buf, { force = true })
    buffers[session] = nil
  end
end

--- Sends what was typed and empties the buffer, as one step to undo.
---@param session integer
---@param steer? boolean into the running turn
function M.send(session, steer)
  local buf = M.buffer(session)
  local text = buf and vim.trim(text_of(buf)) or ''
  if not buf or text == '' then
    return
  end
  local opts = { session = session, steer = steer }
  local ok, err = require('acp.session').prompt(text, opts)
  if not ok then
    return require('acp.notify').err(err --[[@as acp.Err]])
  end
  -- A block of its own, also in the middle of an insert: undo brings the text back.
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  changed(buf)
  require('acp.ui.transcript').follow(session)
end

--- Adds lines at the end of what was typed, and an empty one to go on in.
---@param session integer
---@param lines string[]
function M.append(session, lines)
  local buf = M.buffer(session)
  if not buf then
    return
  end
  local last = vim.api.nvim_buf_line_count(buf)
  local before = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1]
  local start = before == '' and last - 1 or last
  vim.api.nvim_buf_set_lines(buf, start, -1, false, vim.list_extend(vim.deepcopy(lines), { '' }))
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
  changed(buf)
end

--- Starts listening to the core.
function M.attach()
  local client = require('acp.client')
  ---@param effect acp.SessionChanged
  client.subscribe('session', function(effect)
    local buf = M.buffer(effect.info.id)
    if buf and is_empty(buf) then
      decorate(buf)
    end
  end)
  ---@param effect acp.SessionEffect
  client.subscribe('closed', function(effect)
    local window = require('acp.ui.window')
    if #window.windows_of(effect.session) == 0 then
      require('acp.ui.transcript').delete(effect.session)
      M.delete(effect.session)
    end
  end)
end

return M
