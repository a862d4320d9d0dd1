-- Commands and <Plug> maps. Nothing of the plugin is loaded before one of them is used.
if vim.g.loaded_acp then
  return
end
vim.g.loaded_acp = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('acp.nvim needs Neovim 0.10 or later', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('AcpChat', function(args)
  require('acp.commands').chat(args)
end, {
  nargs = '?',
  bang = true,
  range = true,
  desc = 'Open the chat; with ! a new session; a range is added to the prompt',
  complete = function(lead)
    return require('acp.commands').complete_agents(lead)
  end,
})

vim.api.nvim_create_user_command('Acp', function(args)
  require('acp.commands').run(args)
end, {
  nargs = '*',
  range = true,
  desc = 'Everything else of acp.nvim: :Acp {subcommand}',
  complete = function(lead, line)
    return require('acp.commands').complete(lead, line)
  end,
})

-- The same as in lua/acp/ui/keymaps.lua.
local actions = 'agents cancel chat close context follow help hide history history-next '
  .. 'history-prev history-search insert mode model new permission permissions plan '
  .. 'queue restart rules send sessions steer usage '
  .. 'open save visit apply toggle expand collapse expand-all collapse-all message-next '
  .. 'message-prev tab-next tab-prev hunk-next hunk-prev jump jump-split split changes '
  .. 'review-next review-previous review-accept review-reject review-reason review-edit '
  .. 'review-accept-file review-reject-file review-toggle review-list'
-- Those that are about the selected lines too, or are needed wherever one is.
local visual = { ['review-accept'] = 'x', ['review-reject'] = 'x', ['review-reason'] = 'x' }
visual.permission, visual.permissions = 'x', 'x'
for action in actions:gmatch('%S+') do
  local modes = { 'n', 'i', visual[action], action:match('^permission') and 't' or nil }
  vim.keymap.set(modes, ('<Plug>(acp-%s)'):format(action), function()
    require('acp.ui.keymaps').run(action)
  end, { desc = 'acp: ' .. action })
end
vim.keymap.set('x', '<Plug>(acp-chat)', ':AcpChat<CR>', { desc = 'acp: chat about the selection' })

vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = vim.api.nvim_create_augroup('acp', { clear = false }),
  desc = 'acp: a chat is not restored with its windows',
  callback = function()
    require('acp.client').defer(require('acp.ui.pair').sweep)
  end,
})
