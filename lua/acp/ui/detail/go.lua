--- Where rows of a detail lead: to the next change, to the file and line they are about.

local jump = require('acp.ui.jump')

local M = {}

---@return acp.Native
local function native()
  return assert(require('acp.client').running())
end

--- Whether a row is changed, on either side.
---@param detail acp.Detail
---@param row integer
---@return boolean
local function is_changed(detail, row)
  for _, side in ipairs({ detail.left, detail.right }) do
    local _, _, _, _, sign = native().row(side.buf, row)
    if sign == 1 or sign == 2 then
      return true
    end
  end
  return false
end

--- Goes to the next or previous block of changed rows.
---@param detail acp.Detail
---@param direction 1|-1
---@param count integer
function M.hunk(detail, direction, count)
  local at = vim.api.nvim_win_get_cursor(0)[1] - 1
  local rows = vim.api.nvim_buf_line_count(detail.left.buf)
  local found
  local row = at + direction
  while row >= 0 and row < rows and count > 0 do
    if is_changed(detail, row) and (row == 0 or not is_changed(detail, row - 1)) then
      found, count = row, count - 1
    end
    row = row + direction
  end
  if found then
    vim.cmd.normal({ args = { "m'" }, bang = true })
    vim.api.nvim_win_set_cursor(0, { found + 1, 0 })
  end
end

--- The line of the new text at a row or near it: what is removed has none.
---@param buf integer
---@param row integer
---@return integer? owner, integer? line
local function line_at(buf, row)
  local owner = native().row(buf, row)
  for _, direction in ipairs({ 1, -1 }) do
    for distance = 0, 1000 do
      local other, _, _, new = native().row(buf, row + direction * distance)
      if other ~= owner then
        break
      elseif new > 0 then
        return owner, new
      end
    end
  end
  return owner > 0 and owner or nil, nil
end

--- A file that is named under the cursor, with a line after it or not.
---@param detail acp.Detail
---@return string? path, integer? line
local function named(detail)
  local name = vim.fn.expand('<cfile>') --[[@as string]]
  if name == '' then
    return nil
  end
  local path = jump.absolute(detail.opts.session, name)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' then
    return nil
  end
  local text = vim.api.nvim_get_current_line()
  local _, at = text:find(name, math.max(vim.fn.col('.') - #name, 1), true)
  local line = at and tonumber(text:match('^:(%d+)', at + 1))
  return path, line and math.floor(line) or nil
end

--- The file and line that the row under the cursor is about.
---@param detail acp.Detail
---@return string? path, integer? line
function M.target(detail)
  local head = detail.head
  if not head then
    return nil
  end
  local path, line
  if detail.tab == 'diff' then
    local right = detail.right
    local buf = right and right.win and right.buf or detail.left.buf
    local owner, new = line_at(buf, vim.api.nvim_win_get_cursor(0)[1] - 1)
    local file = head.files[owner or 1]
    path, line = file and file.path, new
  else
    path, line = named(detail)
    local place = head.locations[1]
    if not path and place then
      path, line = place.path, place.line
    end
  end
  return path and jump.absolute(detail.opts.session, path), line
end

--- What came with the tool call and is not text, under the cursor.
---@param detail acp.Detail
---@return acp.EntryHere?
local function attached(detail)
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local _, _, _, _, _, part = native().row(buf, row)
  local session, entry = detail.opts.session, detail.opts.entry
  if part == 0 or not entry then
    return nil
  end
  local kind = 'tool_call'
  return { buf = buf, session = session, row = row, entry = entry, part = part, kind = kind }
end

--- Opens the file that the row is about, in a window beside the chat, and closes the detail. What
--- came with the tool call is opened otherwise.
---@param detail acp.Detail
---@param split boolean
function M.jump(detail, split)
  local attachment = attached(detail)
  if attachment then
    return require('acp.ui.attachment').open(attachment)
  end
  local path, line = M.target(detail)
  if not path then
    return require('acp.notify').show('There is no file here')
  end
  require('acp.ui.float').close(vim.api.nvim_get_current_win())
  jump.to(path, line, split)
end

return M
