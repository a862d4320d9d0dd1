--- The prompt buffers: ordinary editing, and sending what was typed. What helps with the typing is
--- in `acp.ui.prompt.*`.

local M = {}

---@type table<integer, integer> buffer by session
local buffers = {}
---@type table<integer, string> project by buffer
local projects = {}

---@param session integer
---@return integer? buf
function M.buffer(session)
  local buf = buffers[session]
  return buf and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

--- What was typed.
---@param buf integer
---@return string
function M.text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

---@param buf integer
---@return boolean
local function is_huge(buf)
  return vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)) > 1000000
end

--- What was typed in all prompts of a project, if it is not beyond all measure.
---@param cwd string
---@return string[]
function M.texts(cwd)
  local texts = {}
  for buf, project in pairs(projects) do
    if project == cwd and vim.api.nvim_buf_is_loaded(buf) and not is_huge(buf) then
      table.insert(texts, M.text(buf))
    end
  end
  return texts
end

---@param buf integer
---@return boolean
local function is_empty(buf)
  return vim.api.nvim_buf_line_count(buf) == 1 and M.text(buf) == ''
end

--- Whether nothing was typed.
---@param session integer
---@return boolean
function M.is_empty(session)
  local buf = M.buffer(session)
  return not buf or is_empty(buf)
end

--- Brings everything around the text up to date with it.
---@param buf integer
local function changed(buf)
  require('acp.ui.prompt.hint').show(buf)
  require('acp.ui.prompt.chips').changed(buf)
  require('acp.ui.prompt.drafts').changed(projects[buf])
  require('acp.ui.window').fit_prompt(buf)
end

--- Puts another text in place of what was typed, as one step to undo.
---@param buf integer
---@param text string
function M.set_text(buf, text)
  -- A block of its own, also in the middle of an insert.
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
  changed(buf)
end

--- Puts the cursors of all windows behind the text.
---@param buf integer
function M.cursor_to_end(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ''
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_set_cursor(win, { last, #line })
  end
end

--- A buffer that goes away leaves its text to the next chat of the project; `:edit` and the like
--- empty the buffer but keep it.
---@param buf integer
local function unloaded(buf)
  local cwd = projects[buf]
  local drafts = require('acp.ui.prompt.drafts')
  drafts.keep(cwd, is_huge(buf) and '' or M.text(buf))
  require('acp.ui.prompt.recall').reset(buf)
  require('acp.client').defer(function()
    if vim.api.nvim_buf_is_loaded(buf) and is_empty(buf) then
      M.set_text(buf, drafts.take(cwd) or '')
    elseif not vim.api.nvim_buf_is_valid(buf) then
      projects[buf] = nil
    end
  end)
end

---@param buf integer
local function watch(buf)
  local on = require('acp.autocmd').on
  local typed = { 'TextChanged', 'TextChangedI', 'TextChangedP' }
  on(typed, 'acp: fit the prompt to its text', function()
    changed(buf)
  end, buf)
  on('CompleteDone', 'acp: show what was chosen above the prompt', function()
    require('acp.ui.prompt.chips').changed(buf)
  end, buf)
  on('BufUnload', 'acp: keep what was not sent', function()
    unloaded(buf)
  end, buf)
end

---@param info acp.SessionInfo
---@return integer buf
local function create(info)
  local drafts = require('acp.ui.prompt.drafts')
  local buf = require('acp.ui.buffer').create(info, 'prompt')
  projects[buf] = info.cwd
  require('acp.ui.prompt.paste').attach()
  require('acp.ui.prompt.complete').attach(buf)
  drafts.attach()
  watch(buf)
  local draft = drafts.take(info.cwd)
  if draft then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(draft, '\n', { plain = true }))
    require('acp.ui.prompt.chips').changed(buf)
  end
  return buf
end

--- The prompt buffer of a session, made when there is none.
---@param info acp.SessionInfo
---@return integer buf
function M.ensure(info)
  require('acp.context.origin').attach()
  local buf = M.buffer(info.id)
  local made = not buf
  if not buf then
    buf = create(info)
    buffers[info.id] = buf
  end
  require('acp.ui.prompt.hint').show(buf)
  -- The windows are about to be arranged.
  require('acp.client').defer(function()
    require('acp.ui.prompt.chips').apply(buf)
    if made then
      M.cursor_to_end(buf)
    end
  end)
  return buf
end

--- Deletes the buffer of a session that is over. Unsent text goes to the next chat, unless it is
--- on the screen.
---@param session integer
function M.delete(session)
  local buf = M.buffer(session)
  if buf and (is_empty(buf) or #vim.fn.win_findbuf(buf) == 0) then
    vim.api.nvim_buf_delete(buf, { force = true })
    buffers[session] = nil
  end
end

--- What was sent has not arrived: the user gets it back.
---@param buf integer
---@param text string
local function give_back(buf, text)
  if vim.api.nvim_buf_is_loaded(buf) and is_empty(buf) then
    M.set_text(buf, text)
    M.cursor_to_end(buf)
  end
end

--- Sends what was typed and empties the buffer, as one step to undo.
---@param session integer
---@param steer? boolean into the running turn
function M.send(session, steer)
  local buf = M.buffer(session)
  local info = require('acp.session').info(session)
  local text = buf and vim.trim(M.text(buf)) or ''
  if not buf or not info or text == '' then
    return
  end
  local emptied, failed = false, false
  require('acp.ui.prompt.outgoing').send(info, text, steer, function(err)
    failed = true
    if emptied then
      give_back(buf, text)
    end
    require('acp.notify').err(err)
  end)
  if failed then
    return
  end
  emptied = true
  require('acp.history').add(text, info.cwd)
  require('acp.ui.prompt.recall').reset(buf)
  M.set_text(buf, '')
  require('acp.ui.prompt.chips').clear(buf)
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
  M.cursor_to_end(buf)
  changed(buf)
end

--- Adds words at the end of what was typed, set off by blanks.
---@param session integer
---@param words string
function M.insert(session, words)
  local buf = M.buffer(session)
  if not buf then
    return
  end
  local last = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ''
  local blank = (line == '' or line:match('%s$')) and '' or ' '
  vim.api.nvim_buf_set_lines(buf, last - 1, last, false, { ('%s%s%s '):format(line, blank, words) })
  M.cursor_to_end(buf)
  changed(buf)
end

---@param session integer
local function refresh(session)
  local buf = M.buffer(session)
  if buf then
    require('acp.ui.prompt.hint').show(buf)
  end
end

--- Starts listening to the core.
function M.attach()
  local client = require('acp.client')
  ---@param effect acp.SessionChanged
  client.subscribe('session', function(effect)
    refresh(effect.info.id)
  end)
  ---@param effect acp.SessionEffect
  client.subscribe('settings', function(effect)
    refresh(effect.session)
    local buf = M.buffer(effect.session)
    if buf then
      require('acp.ui.prompt.complete').refresh(buf)
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
