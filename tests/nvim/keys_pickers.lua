--- Stand-ins for pickers that people have as `vim.ui.select`. They take keys the way the real ones
--- do: some start Insert mode, some choose the first item with <CR>, some never call back when they
--- are closed. `_G.pickers_opened` counts how often one came up.

local name = ...
_G.pickers_opened = 0

---@param lines string[]
---@param on_close fun()
---@return integer buf, fun() close
local function float(lines, on_close)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].filetype = 'picker_' .. name
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  local win = vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = 3,
    col = 10,
    width = 60,
    height = math.max(#lines, 1),
    border = 'single',
  })
  local closed = false
  local function close()
    if not closed then
      closed = true
      if vim.api.nvim_win_is_valid(win) then
        vim.api.nvim_win_close(win, true)
      end
      on_close()
    end
  end
  return buf, close
end

---@class Picker
---@field insert boolean whether it is typed into
---@field calls_back boolean whether closing it says so
---@field later boolean whether the choice is told after it has gone

---@type table<string, Picker>
local kinds = {
  snacks = { insert = true, calls_back = true, later = true },
  telescope = { insert = true, calls_back = false, later = false },
  dressing = { insert = false, calls_back = true, later = false },
  ['fzf-lua'] = { insert = true, calls_back = false, later = true },
}

local kind = kinds[name]

vim.ui.select = function(items, opts, on_choice)
  _G.pickers_opened = _G.pickers_opened + 1
  local lines = vim.tbl_map(opts.format_item or tostring, items)
  local chosen ---@type integer?
  local buf, close = float(kind.insert and { '' } or lines, function()
    if kind.insert then
      vim.cmd.stopinsert()
    end
    local function tell()
      on_choice(items[chosen], chosen)
    end
    if chosen or kind.calls_back then
      if kind.later then
        vim.schedule(tell)
      else
        tell()
      end
    end
  end)
  local mode = kind.insert and 'i' or 'n'
  vim.keymap.set(mode, '<CR>', function()
    chosen = kind.insert and 1 or vim.api.nvim_win_get_cursor(0)[1]
    close()
  end, { buffer = buf })
  for _, lhs in ipairs({ '<Esc>', '<C-c>' }) do
    vim.keymap.set(mode, lhs, close, { buffer = buf })
  end
  if kind.insert then
    vim.cmd.startinsert()
  end
end
