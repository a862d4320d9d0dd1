--- A small window in the middle of the screen for text to read and dismiss.

local M = {}

---@param rows string[][]
---@return string[] lines with the columns aligned
local function align(rows)
  local widths = {} ---@type table<integer, integer>
  for _, row in ipairs(rows) do
    for column, cell in ipairs(row) do
      widths[column] = math.max(widths[column] or 0, vim.fn.strdisplaywidth(cell))
    end
  end
  return vim.tbl_map(function(row)
    local line = ''
    for column, cell in ipairs(row) do
      local pad = (widths[column] or 0) - vim.fn.strdisplaywidth(cell) + 2
      line = line .. cell .. (' '):rep(pad)
    end
    return (' ' .. line:gsub('%s+$', '') .. ' ')
  end, rows)
end

---@param buf integer
---@param win integer
local function closable(buf, win)
  local function close()
    pcall(vim.api.nvim_win_close, win, true)
  end
  for _, lhs in ipairs({ 'q', '<Esc>', 'g?' }) do
    vim.keymap.set('n', lhs, close, { buffer = buf, nowait = true, desc = 'acp: close' })
  end
  vim.api.nvim_create_autocmd('WinLeave', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    buffer = buf,
    once = true,
    desc = 'acp: close the float with its focus',
    callback = function()
      require('acp.client').defer(close)
    end,
  })
end

--- Shows lines; `q` or `<Esc>` closes.
---@param title string
---@param lines string[]
---@return integer buf
function M.open(title, lines)
  local width = vim.fn.strdisplaywidth(title) + 4
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.min(width, vim.o.columns - 4)
  local height = math.min(#lines, math.max(vim.o.lines - vim.o.cmdheight - 5, 1))
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = 'wipe'
  local win = vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(title),
    title_pos = 'center',
  })
  vim.wo[win][0].wrap = false
  closable(buf, win)
  return buf
end

--- Shows rows of cells as aligned columns.
---@param title string
---@param rows string[][]
---@return integer buf
function M.table(title, rows)
  return M.open(title, align(rows))
end

return M
