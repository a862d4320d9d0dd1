--- The highlight groups, all links that a colour scheme or the user may override.

local M = {}

---@type table<string, string>
M.links = {
  AcpUser = 'Title',
  AcpAgent = 'Function',
  AcpThought = 'Comment',
  AcpError = 'DiagnosticError',
  AcpHint = 'DiagnosticHint',
  AcpMuted = 'Comment',
  AcpTool = 'Special',
  AcpCode = '@markup.raw',
  AcpPlaceholder = 'Comment',
  AcpWinbar = 'Normal',
  AcpWinbarAgent = 'Title',
  AcpWinbarBusy = 'DiagnosticInfo',
  AcpWinbarWaiting = 'DiagnosticWarn',
}

---@param extra? string[] groups the core names that are not known here
local function apply(extra)
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { link = target, default = true })
  end
  for _, group in ipairs(extra or {}) do
    if not M.links[group] then
      vim.api.nvim_set_hl(0, group, { link = 'Normal', default = true })
    end
  end
end

local attached = false

--- Defines the groups, now and whenever the colour scheme changes.
function M.attach()
  if attached then
    return
  end
  attached = true
  local native = require('acp.client').running()
  local extra = native and native.groups
  apply(extra)
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = vim.api.nvim_create_augroup('acp', { clear = false }),
    desc = 'acp: define the highlight groups again',
    callback = function()
      apply(extra)
    end,
  })
end

--- Numbers of groups, in the order given.
---@param names string[]
---@return integer[]
function M.ids(names)
  return vim.tbl_map(vim.api.nvim_get_hl_id_by_name, names)
end

return M
