--- The line above the prompt: what will be sent along, and which prompts wait. There is none while
--- there is nothing to tell.

local text = require('acp.text')

local M = {}

--- Milliseconds between a change of the text and a look at what it mentions.
local delay = 150
--- Bytes of a prompt that are looked through while it is typed.
local longest = 200000

---@type table<integer, string[]> labels by buffer
local chips = {}
---@type table<integer, integer> timers by buffer
local timers = {}

local expression = "%{%v:lua.require'acp.ui.prompt.chips'.render()%}"

---@param buf integer
---@return acp.SessionInfo?
local function info_of(buf)
  local session = require('acp.session')
  return session.info(session.of_buffer(buf) or -1)
end

---@param prompts acp.Queued[]
---@param room integer
---@return string such as "2 wait: run the tests", empty when none does
local function waiting(prompts, room)
  local first = prompts[1]
  if not first then
    return ''
  end
  local count = ('%d wait%s'):format(#prompts, #prompts == 1 and 's' or '')
  local words = text.shorten(vim.trim(first.text), room - #count - 3)
  return (words ~= '' and ('%s: %s '):format(count, words) or count .. ' ')
end

---@param buf integer
---@return acp.Queued[]
local function queued(buf)
  local session = require('acp.session').of_buffer(buf)
  return session and require('acp.ui.queue').list(session) or {}
end

--- What the 'winbar' of a prompt window evaluates.
---@return string
function M.render()
  local win = vim.g.statusline_winid or vim.api.nvim_get_current_win()
  if not vim.api.nvim_win_is_valid(win) then
    return ''
  end
  local buf = vim.api.nvim_win_get_buf(win)
  local room = vim.api.nvim_win_get_width(win)
  local left = text.shorten(table.concat(chips[buf] or {}, '  '), room - 2)
  local right = waiting(queued(buf), room - vim.fn.strdisplaywidth(left) - 4)
  return table.concat({
    '%#AcpChip#',
    text.statusline(left),
    '%#AcpWinbar#%=%#AcpWinbarQueue#',
    text.statusline(right),
  })
end

--- 'winbar' for the windows of a prompt buffer.
---@param buf integer
---@return string
function M.winbar(buf)
  return (#(chips[buf] or {}) > 0 or #queued(buf) > 0) and expression or ''
end

---@param win integer
---@param winbar string
local function set(win, winbar)
  if winbar ~= '' and vim.api.nvim_win_get_height(win) < 2 then
    -- There has to be room for it before it is there.
    pcall(vim.api.nvim_win_set_height, win, 2)
  end
  -- On a screen that is too small Neovim has none to give.
  pcall(vim.api.nvim_set_option_value, 'winbar', winbar, { win = win, scope = 'local' })
end

--- Shows what is known.
---@param buf integer
function M.apply(buf)
  local winbar = M.winbar(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.wo[win].winbar ~= winbar then
      set(win, winbar)
      require('acp.ui.window').fit_prompt(buf)
    elseif winbar ~= '' then
      pcall(vim.api.nvim__redraw, { win = win, winbar = true })
    end
  end
end

---@param buf integer
local function look(buf)
  if not vim.api.nvim_buf_is_loaded(buf) then
    chips[buf] = nil
    return
  elseif vim.fn.pumvisible() == 1 then
    -- A window that changes its size takes the menu with it.
    return
  end
  local info = info_of(buf)
  local bytes = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  local labels = {}
  if info and bytes <= longest then
    labels = require('acp.context').labels(info, require('acp.ui.prompt').text(buf))
  end
  if not vim.deep_equal(labels, chips[buf] or {}) then
    chips[buf] = labels
    M.apply(buf)
  end
end

--- The text of a prompt has changed.
---@param buf integer
function M.changed(buf)
  if timers[buf] then
    vim.fn.timer_stop(timers[buf])
  end
  timers[buf] = vim.fn.timer_start(delay, function()
    timers[buf] = nil
    require('acp.client').guard('the line above the prompt', look, buf)
  end)
end

--- Nothing is typed any more.
---@param buf integer
function M.clear(buf)
  if #(chips[buf] or {}) > 0 then
    chips[buf] = nil
    M.apply(buf)
  end
end

return M
