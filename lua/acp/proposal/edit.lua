--- A part of a proposal in a buffer of its own, to be edited: `:w` takes it.

local M = {}

local last = 0

--- What was written, where no line and one empty line look alike.
---@param buf integer
---@param before string[]
---@return string[]
local function written(buf, before)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local empty = #lines == 1 and lines[1] == ''
  local was_blank = #before == 1 and before[1] == ''
  return empty and not was_blank and {} or lines
end

--- Opens it in a split. `take` gets the lines at each `:w`, and says whether they are of use.
---@param lines string[]
---@param like integer the buffer it is for
---@param take fun(lines: string[]): boolean
---@return integer buf
function M.open(lines, like, take)
  last = last + 1
  local buf = vim.api.nvim_create_buf(false, false)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(like), ':t')
  vim.api.nvim_buf_set_name(buf, ('acp://proposal/%d/%s'):format(last, name))
  local bo = vim.bo[buf]
  bo.buftype, bo.bufhidden, bo.swapfile = 'acwrite', 'wipe', false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for _, option in ipairs({ 'expandtab', 'shiftwidth', 'tabstop', 'softtabstop', 'filetype' }) do
    vim.bo[buf][option] = vim.bo[like][option]
  end
  bo.modified = false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: take the edited part of a proposal',
    callback = function()
      if take(written(buf, lines)) then
        vim.bo[buf].modified = false
      end
    end,
  })
  local height = math.max(math.min(#lines + 2, math.floor(vim.o.lines / 3)), 5)
  vim.api.nvim_open_win(buf, true, { split = 'below', win = 0, height = height })
  return buf
end

--- Closes it, unless there is something in it that was not taken.
---@param buf? integer
function M.close(buf)
  if buf and vim.api.nvim_buf_is_valid(buf) and not vim.bo[buf].modified then
    pcall(vim.api.nvim_buf_delete, buf, {})
  end
end

return M
