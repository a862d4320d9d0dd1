--- How big the chat windows are: fitted to screen and text, until the user decides otherwise.

local M = {}

---@param win? integer
---@return integer
function M.width(win)
  local wish = win and vim.w[win].acp_ratio or require('acp.config').get().chat.width
  local columns = vim.o.columns
  if wish >= 1 then
    return math.max(math.min(math.floor(wish), columns - 10), 1)
  end
  local least = math.min(40, math.floor(columns / 2))
  return math.max(math.floor(columns * wish), least)
end

---@param prompt integer
---@param transcript integer
---@return integer
local function prompt_height(prompt, transcript)
  local chat = require('acp.config').get().chat
  local room = vim.api.nvim_win_get_height(prompt) + vim.api.nvim_win_get_height(transcript)
  local text = vim.api.nvim_win_text_height(prompt, {}).all
  local least = vim.w[prompt].acp_least or chat.prompt_height ---@type integer
  local most = math.min(math.max(chat.prompt_max_height, least), math.floor(room / 2))
  return math.floor(math.max(math.min(math.max(text, least), most), 1))
end

--- Fits the prompt to its text; alone it has all the room anyway.
---@param pair acp.Pair
function M.fit_height(pair)
  local prompt, transcript = pair.prompt, pair.transcript
  if not prompt or not transcript then
    return
  end
  local height = prompt_height(prompt, transcript)
  vim.w[prompt].acp_height = height
  if vim.api.nvim_win_get_height(prompt) ~= height then
    vim.api.nvim_win_set_height(prompt, height)
  end
  if vim.api.nvim_win_text_height(prompt, {}).all <= height then
    -- The cursor has scrolled it while there was less room.
    vim.api.nvim_win_call(prompt, function()
      vim.fn.winrestview({ topline = 1 })
    end)
  end
end

--- Fits both windows.
---@param pair acp.Pair
function M.fit(pair)
  local win = pair.transcript or pair.prompt
  if not win then
    return
  end
  local width = M.width(win)
  vim.w[win].acp_width = width
  vim.w[win].acp_screen = { vim.o.columns, vim.o.lines }
  if vim.api.nvim_win_get_width(win) ~= width then
    vim.api.nvim_win_set_width(win, width)
  end
  M.fit_height(pair)
end

---@param win integer
---@return boolean whether the screen has the size it was fitted to
local function same_screen(win)
  return vim.deep_equal(vim.w[win].acp_screen, { vim.o.columns, vim.o.lines })
end

--- Fits both windows if the screen has another size than before.
---@param pair acp.Pair
function M.refit(pair)
  local win = pair.transcript
  if win and not same_screen(win) then
    M.fit(pair)
  end
end

--- Remembers sizes that differ from what was fitted: the user has given them.
---@param pair acp.Pair
function M.remember(pair)
  local win, prompt = pair.transcript, pair.prompt
  if not win or not prompt or not same_screen(win) then
    return
  end
  local width = vim.api.nvim_win_get_width(win)
  if width ~= vim.w[win].acp_width then
    vim.w[win].acp_width, vim.w[win].acp_ratio = width, width / vim.o.columns
  end
  local height = vim.api.nvim_win_get_height(prompt)
  if height ~= vim.w[prompt].acp_height then
    vim.w[prompt].acp_height, vim.w[prompt].acp_least = height, height
  end
end

return M
