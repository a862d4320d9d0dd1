--- Gives the chat windows their sizes, and learns from those that the user gives them.

local size = require('acp.ui.size')

local M = {}

---@class (exact) acp.WholePair
---@field transcript integer
---@field prompt integer

---@class (exact) acp.WinSize
---@field width integer
---@field height integer

---@class (exact) acp.Fitted what there was when the windows were fitted last
---@field columns integer of the screen
---@field lines integer
---@field count integer of ordinary windows
---@field transcript acp.WinSize
---@field prompt acp.WinSize

---@param pair acp.Pair
---@return acp.WholePair?
local function whole(pair)
  return pair.transcript and pair.prompt and pair --[[@as acp.WholePair]] or nil
end

---@param win integer
---@param width integer
local function set_width(win, width)
  if vim.api.nvim_win_get_width(win) ~= width then
    vim.api.nvim_win_set_width(win, width)
  end
end

---@param win integer
---@param height integer
local function set_height(win, height)
  if vim.api.nvim_win_get_height(win) ~= height then
    vim.api.nvim_win_set_height(win, height)
  end
end

---@param win integer
---@return acp.WinSize
local function size_of(win)
  return { width = vim.api.nvim_win_get_width(win), height = vim.api.nvim_win_get_height(win) }
end

---@param pair acp.WholePair
---@return acp.Fitted
local function measure(pair)
  local ordinary = vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_config(win).relative == ''
  end, vim.api.nvim_tabpage_list_wins(0))
  return {
    columns = vim.o.columns,
    lines = vim.o.lines,
    count = #ordinary,
    transcript = size_of(pair.transcript),
    prompt = size_of(pair.prompt),
  }
end

--- The cursor has scrolled the prompt while there was less room.
---@param prompt integer
local function unscroll(prompt)
  local rows = vim.api.nvim_win_get_height(prompt) - (vim.wo[prompt].winbar ~= '' and 1 or 0)
  if vim.api.nvim_win_text_height(prompt, {}).all <= rows then
    vim.api.nvim_win_call(prompt, function()
      vim.fn.winrestview({ topline = 1 })
    end)
  end
end

---@param pair acp.WholePair
local function fit_bottom(pair)
  local height = size.height()
  if vim.w[pair.prompt].acp_beside then
    set_height(pair.transcript, height)
    set_width(pair.prompt, size.prompt_width())
    return
  end
  local rows = size.prompt_rows('bottom', pair.prompt, height)
  -- As both have a fixed height, rows come from other windows before they come from each other.
  set_height(pair.prompt, rows)
  set_height(pair.transcript, math.max(height - rows, 1))
  set_height(pair.prompt, rows)
end

---@param pair acp.WholePair
local function fit_float(pair)
  local float = require('acp.ui.float')
  float.fit(pair.transcript)
  float.fit(pair.prompt)
end

---@param pair acp.WholePair
---@param layout acp.Layout
local function fit_rows(pair, layout)
  local transcript, prompt = pair.transcript, pair.prompt
  local room = vim.api.nvim_win_get_height(prompt) + vim.api.nvim_win_get_height(transcript)
  set_height(prompt, size.prompt_rows(layout, prompt, room))
end

--- Fits the prompt to its text, and the transcript to what that leaves.
---@param pair acp.Pair
function M.prompt(pair)
  local both = whole(pair)
  if not both then
    return
  end
  local layout = vim.w[both.transcript].acp_layout
  if layout == 'float' then
    fit_float(both)
  elseif layout == 'bottom' then
    fit_bottom(both)
  else
    fit_rows(both, layout)
  end
  unscroll(both.prompt)
  vim.w[both.transcript].acp_fitted = measure(both)
end

--- Fits both windows; one alone has all the room anyway.
---@param pair acp.Pair
function M.both(pair)
  local transcript = pair.transcript
  local layout = transcript and vim.w[transcript].acp_layout
  if transcript and (layout == 'right' or layout == 'left') then
    set_width(transcript, size.width(layout))
  end
  M.prompt(pair)
end

---@param pair acp.Pair
---@return acp.Fitted?
local function fitted(pair)
  local both = whole(pair)
  return both and vim.w[both.transcript].acp_fitted
end

---@param before acp.Fitted
---@return boolean whether the screen has the size it had then
local function same_screen(before)
  return before.columns == vim.o.columns and before.lines == vim.o.lines
end

--- Fits both windows if the screen has another size than before.
---@param pair acp.Pair
function M.to_screen(pair)
  local before = fitted(pair)
  if before and not same_screen(before) then
    M.both(pair)
  end
end

---@param before acp.Fitted
---@param now acp.Fitted
local function learn_float(before, now)
  local kept, room = size.kept.float, require('acp.ui.place').room({})
  for _, role in ipairs({ 'transcript', 'prompt' }) do
    if before[role].width ~= now[role].width then
      kept.width = now[role].width / room.width
    end
  end
  if before.prompt.height ~= now.prompt.height then
    kept.rows = now.prompt.height
  elseif before.transcript.height ~= now.transcript.height then
    kept.height = (now.transcript.height + now.prompt.height + 2) / room.height
  end
end

---@param before acp.Fitted
---@param now acp.Fitted
local function learn_bottom_row(before, now)
  local kept = size.kept.bottom
  if before.transcript.height ~= now.transcript.height then
    kept.height = now.transcript.height / vim.o.lines
  end
  if before.prompt.width ~= now.prompt.width then
    kept.prompt = now.prompt.width / vim.o.columns
  end
end

---@param before acp.Fitted
---@param now acp.Fitted
---@param layout acp.Layout
local function learn_column(before, now, layout)
  local kept = size.kept[layout]
  local height = now.transcript.height + now.prompt.height
  if layout == 'bottom' and before.transcript.height + before.prompt.height ~= height then
    kept.height = height / vim.o.lines
  elseif layout ~= 'tab' and before.transcript.width ~= now.transcript.width then
    kept.width = now.transcript.width / vim.o.columns
  end
  if before.prompt.height ~= now.prompt.height then
    kept.rows = now.prompt.height
  end
end

--- Keeps sizes that differ from what was fitted: the user has given them. Where windows have come
--- or gone, nobody has meant the new sizes, and the old ones are restored.
---@param pair acp.Pair
function M.learn(pair)
  local both, before = whole(pair), fitted(pair)
  local now = both and measure(both)
  if not both or not now or not before or not same_screen(before) then
    return
  elseif vim.deep_equal(now, before) then
    return
  end
  local layout = vim.w[both.transcript].acp_layout
  if now.count == before.count then
    if layout == 'float' then
      learn_float(before, now)
    elseif vim.w[both.prompt].acp_beside then
      learn_bottom_row(before, now)
    else
      learn_column(before, now, layout)
    end
  end
  M.both(pair)
end

return M
