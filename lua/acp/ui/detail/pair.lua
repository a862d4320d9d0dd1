--- Keeps two windows side by side at the same rows. Neovim's 'scrollbind' would do it too, but with
--- every other window that has it set.

local M = {}

---@param from integer
---@param to integer
local function follow(from, to)
  local view = vim.api.nvim_win_call(from, vim.fn.winsaveview)
  local rows = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(to))
  vim.api.nvim_win_call(to, function()
    local now = vim.fn.winsaveview()
    local same = now.topline == view.topline and now.leftcol == view.leftcol
    if not same or now.lnum ~= view.lnum then
      vim.fn.winrestview({
        lnum = math.min(view.lnum, rows),
        topline = math.min(view.topline, rows),
        leftcol = view.leftcol,
      })
    end
  end)
end

---@param detail acp.Detail
---@param from integer
local function moved(detail, from)
  local left, right = detail.left.win, detail.right and detail.right.win
  if not left or not right then
    return
  end
  local to = from == left and right or left
  if vim.api.nvim_win_is_valid(from) and vim.api.nvim_win_is_valid(to) then
    follow(from, to)
  end
end

--- Goes to the other side, or where the key would go.
---@param detail acp.Detail
---@param key string
local function cross(detail, key)
  local here = vim.api.nvim_get_current_win()
  local left, right = detail.left.win, detail.right and detail.right.win
  local to = key == 'h' and right == here and left or key == 'l' and left == here and right
  if to and vim.api.nvim_win_is_valid(to) then
    vim.api.nvim_set_current_win(to)
  else
    vim.cmd.wincmd(key)
  end
end

---@param detail acp.Detail
---@param buf integer
local function map_keys(detail, buf)
  for _, key in ipairs({ 'h', 'l' }) do
    for _, lhs in ipairs({ '<C-w>' .. key, ('<C-w><C-%s>'):format(key) }) do
      vim.keymap.set('n', lhs, function()
        cross(detail, key)
      end, { buffer = buf, desc = 'acp: to the other side' })
    end
  end
end

--- Binds the two sides of a detail, for as long as there is a right one.
---@param detail acp.Detail
function M.bind(detail)
  local right = assert(detail.right)
  local group = vim.api.nvim_create_augroup(('acp.detail.%d'):format(right.buf), {})
  vim.api.nvim_create_autocmd('WinScrolled', {
    group = group,
    desc = 'acp: scroll both sides of a diff',
    callback = function()
      for key in pairs(vim.v.event) do
        local win = tonumber(key)
        if win and (win == detail.left.win or win == right.win) then
          return moved(detail, win)
        end
      end
    end,
  })
  for _, side in ipairs({ detail.left, right }) do
    map_keys(detail, side.buf)
    vim.api.nvim_create_autocmd('CursorMoved', {
      group = group,
      buffer = side.buf,
      desc = 'acp: move the cursor on both sides of a diff',
      callback = function()
        moved(detail, vim.api.nvim_get_current_win())
      end,
    })
  end
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = right.buf,
    once = true,
    desc = 'acp: one side of a diff is gone',
    callback = function()
      require('acp.client').defer(function()
        vim.api.nvim_del_augroup_by_id(group)
      end)
    end,
  })
end

return M
