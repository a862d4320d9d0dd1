--- Choosing with the picker the user has installed. It may call back never, late, or twice.

local keyboard = require('acp.keyboard')

local M = {}

--- How long after its windows have gone a picker may still call back, in milliseconds.
local grace = 300

--- Whether the user has a picker that is not Neovim's own.
---@return boolean
function M.installed()
  local info = assert(debug.getinfo(vim.ui.select, 'S'))
  return info.source:match('vim/ui%.lua$') == nil
end

--- Some call back with the item, some with its index.
---@param select acp.Select
---@param item any
---@param index? integer
---@return any
local function chosen(select, item, index)
  if item == nil then
    return nil
  end
  for _, each in ipairs(select.items) do
    if each == item then
      return each
    end
  end
  return index and select.items[index]
end

--- A picker that has gone without a word was dismissed.
---@param select acp.Select
---@param origin integer
local function watch_leaving(select, origin)
  local entered = false
  vim.api.nvim_create_autocmd('WinEnter', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: a picker may go without a word',
    callback = function()
      local here = vim.api.nvim_get_current_win()
      if select.over then
        return true
      elseif here ~= origin and vim.api.nvim_win_get_config(here).relative ~= '' then
        entered = true
      elseif entered then
        vim.defer_fn(function()
          local win = vim.api.nvim_get_current_win()
          if not select.over and vim.api.nvim_win_get_config(win).relative == '' then
            select.origin = nil
            select.finish()
          end
        end, grace)
      end
    end,
  })
end

--- What the picker has called back with.
---@param select acp.Select
---@param item any
---@param index? integer
local function take(select, item, index)
  if select.over then
    if item ~= nil then
      require('acp.notify').show('No longer pending: nothing was chosen', 'warn')
    end
    return
  end
  local choice = chosen(select, item, index)
  if select.origin and select.origin.mode == 'insert' then
    keyboard.give_back(select.origin)
  end
  if choice ~= nil then
    select.choose(choice)
  else
    select.finish()
  end
end

---@param select acp.Select
---@param origin acp.KeyboardOrigin
local function run(select, origin)
  local opts = select.opts
  local about = #(opts.about or {}) > 0 and ': ' .. table.concat(opts.about or {}, ', ') or ''
  watch_leaving(select, origin.win)
  vim.ui.select(select.items, {
    prompt = opts.prompt .. about,
    kind = opts.kind,
    format_item = select.label,
  }, function(item, index)
    -- A picker that is typed into may call back before its Insert mode has ended, and ours would
    -- not begin again.
    require('acp.client').defer(function()
      take(select, item, index)
    end)
  end)
end

--- Opens the picker.
---@param select acp.Select
function M.open(select)
  local origin = keyboard.take()
  select.origin = origin
  if origin.mode ~= 'insert' then
    return run(select, origin)
  end
  -- A picker that starts insert mode for itself would lose it to ours, which ends in a moment.
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    pattern = '*:n*',
    once = true,
    desc = 'acp: open a picker after insert mode',
    callback = function()
      require('acp.client').defer(function()
        if not select.over then
          run(select, origin)
        end
      end)
    end,
  })
end

return M
