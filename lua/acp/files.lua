--- Files as the user has them: agents read and write through loaded buffers, so that unsaved text
--- counts and every change can be undone. What no buffer holds is left to the core and the disk.

local client = require('acp.client')

local M = {}

---@class (exact) acp.FileAnswer
---@field kind 'text'|'not_loaded'|'done'|'failed'
---@field value? string

---@type acp.FileAnswer
local not_loaded = { kind = 'not_loaded' }

---@param path string
---@return string path with symbolic links resolved, as far as it exists
local function resolved(path)
  local real = vim.uv.fs_realpath(path)
  if real then
    return real
  end
  path = vim.fs.normalize(path, { expand_env = false })
  -- A file that is yet to be written, in a folder that may be a link.
  local folder = vim.uv.fs_realpath(vim.fs.dirname(path))
  return folder and vim.fs.joinpath(folder, vim.fs.basename(path)) or path
end

---@param buf integer
---@param path string
---@param real string the same, resolved
---@return number rank 0: another file; higher is nearer to what the agent means
local function rank(buf, path, real)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' or name:match('^%a[%w+.-]+://') then
    return 0
  end
  if name ~= path and resolved(name) ~= real then
    return 0
  end
  local ordinary = vim.bo[buf].buftype == '' and 4 or 0
  return 1 + ordinary + (vim.bo[buf].modified and 2 or 0) + (name == path and 1 or 0)
end

--- The loaded buffer of a file.
---@param path string
---@return integer? buf
local function find(path)
  local real = resolved(path)
  local best, highest = nil, 0 ---@type integer?, number
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local height = vim.api.nvim_buf_is_loaded(buf) and rank(buf, path, real) or 0
    if height > highest then
      best, highest = buf, height
    end
  end
  return best
end

--- Whether the disk has the same text or a newer one: then it is read there, off the main loop.
---@param buf integer
---@return boolean
local function disk_has_it(buf)
  local bo = vim.bo[buf]
  local plain = (bo.fileencoding == '' or bo.fileencoding == 'utf-8') and not bo.bomb
  return plain and not bo.modified and vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf)) ~= nil
end

---@type table<string, string>
local newline = { unix = '\n', dos = '\r\n', mac = '\r' }

--- Lines of a buffer as they would be on the disk if it were saved now.
---@param buf integer
---@param line? integer the first one, from 1
---@param limit? integer how many
---@return string
local function text_of(buf, line, limit)
  local bo, count = vim.bo[buf], vim.api.nvim_buf_line_count(buf)
  local first = math.max(line or 1, 1) - 1
  local last = limit and math.min(first + limit, count) or count
  if first >= last then
    return ''
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first, last, false)
  if count == 1 and lines[1] == '' then
    return ''
  end
  local ending = newline[bo.fileformat] or '\n'
  local ended = last < count or bo.endofline or (bo.fixendofline and not bo.binary)
  return table.concat(lines, ending) .. (ended and ending or '')
end

---@param effect acp.AskedRead
---@return acp.FileAnswer
local function read(effect)
  local buf = find(effect.path)
  if not buf or vim.bo[buf].buftype ~= '' or disk_has_it(buf) then
    return not_loaded
  end
  return { kind = 'text', value = text_of(buf, effect.line, effect.limit) }
end

--- Why a buffer must not be written to. A change to a read-only one would also make Neovim wait.
---@param buf integer
---@return string?
local function protected(buf)
  local bo = vim.bo[buf]
  if bo.buftype ~= '' then
    return ('the file is open in a special buffer (buftype=%s)'):format(bo.buftype)
  elseif not bo.modifiable then
    return "the user's buffer of this file is not modifiable"
  elseif bo.readonly then
    return "the user's buffer of this file is read-only"
  end
end

---@param text string
---@param format string the buffer's 'fileformat'
---@return string[] lines, boolean ended whether the last one is ended
local function split(text, format)
  if format == 'dos' then
    text = text:gsub('\r\n', '\n')
  elseif format == 'mac' then
    text = text:gsub('\r\n?', '\n')
  end
  if text == '' then
    return {}, true
  end
  local lines = vim.split(text, '\n', { plain = true })
  local ended = lines[#lines] == ''
  if ended then
    table.remove(lines)
  end
  return lines, ended
end

--- What is typed before and after is another step to undo.
---@param buf integer
local function close_undo_block(buf)
  local levels = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = levels
end

--- Makes `text` the buffer's text, touching only the lines between the first and the last
--- difference: marks, folds and cursors elsewhere stay.
---@param buf integer
---@param text string
local function replace(buf, text)
  local old = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local new, ended = split(text, vim.bo[buf].fileformat)
  -- An empty buffer has a line too; it is not the empty line of a file.
  local shorter = (#old == 1 and old[1] == '') and 0 or math.min(#old, #new)
  local head, tail = 0, 0
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  if head < #old or head < #new then
    close_undo_block(buf)
    local lines = vim.list_slice(new, head + 1, #new - tail)
    vim.api.nvim_buf_set_lines(buf, head, #old - tail, false, lines)
    close_undo_block(buf)
  end
  if vim.bo[buf].endofline ~= ended then
    vim.bo[buf].endofline = ended
  end
end

---@param err any
---@return string its words in one line, without where it was raised
local function words_of(err)
  local line = tostring(err):gsub('\n.*', '')
  return line:match('E%d+:.*') or line
end

--- Saves like `:write`, with all its autocommands. `!` is for the questions it would ask, such as
--- whether to overwrite a file that has changed: the agent has just been told to.
---@param buf integer
---@return string? err
local function save(buf)
  local bo = vim.bo[buf]
  -- A line ending that the agent left out is not for us to add.
  local fix = bo.fixendofline
  bo.fixendofline = fix and bo.endofline
  local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('silent keepalt write! ++p')
  end)
  if vim.api.nvim_buf_is_valid(buf) then
    bo.fixendofline = fix
  end
  return not ok and words_of(err) or nil
end

---@param effect acp.AskedWrite
---@return acp.FileAnswer
local function write(effect)
  local buf = find(effect.path)
  if not buf then
    return not_loaded
  end
  local reason = protected(buf)
  if reason then
    return { kind = 'failed', value = reason }
  end
  replace(buf, effect.text)
  if require('acp.config').get().files.after_write == 'save' then
    local err = save(buf)
    if err then
      return { kind = 'failed', value = 'changed in the buffer, but not saved: ' .. err }
    end
  end
  return { kind = 'done' }
end

--- Answers exactly once, whatever happens here.
---@param effect acp.AskedRead|acp.AskedWrite
---@param handler fun(effect: any): acp.FileAnswer
local function answer(effect, handler)
  local ok, result = pcall(handler, effect)
  if not ok then
    result = { kind = 'failed', value = words_of(result) }
  end
  client.send({ type = 'answer', ask = effect.ask, kind = result.kind, value = result.value })
end

M.find, M.text_of = find, text_of

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Asked
  client.subscribe('asked', function(effect)
    if effect.kind == 'read' then
      answer(effect --[[@as acp.AskedRead]], read)
    elseif effect.kind == 'write' then
      answer(effect --[[@as acp.AskedWrite]], write)
    end
  end)
end

return M
