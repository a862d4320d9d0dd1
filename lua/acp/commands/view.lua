--- Subcommands about what is on the screen: layout, plan, usage, follow.

local here = require('acp.commands.here')
local notify = require('acp.notify')

---@type table<string, acp.Subcommand>
local M = {}

---@param words string[]
---@return fun(args: string[]): string[]
local function first_of(words)
  return function(args)
    return #args == 0 and words or {}
  end
end

---@param name acp.Layout
local function arrange(name)
  local layouts = require('acp.ui.layout').names
  if not vim.list_contains(layouts, name) then
    local message = ('no layout "%s", there are %s'):format(name, table.concat(layouts, ', '))
    return notify.show(message, 'error')
  end
  require('acp.ui.layout').choose(name)
  if not require('acp.ui.window').rearrange(name) then
    notify.show(('The next chat opens so: %s'):format(name))
  end
end

M.layout = {
  desc = 'arrange the chat otherwise, until Neovim ends',
  complete = function(args)
    return #args == 0 and require('acp.ui.layout').names or {}
  end,
  impl = function(args)
    if args[1] then
      return arrange(args[1] --[[@as acp.Layout]])
    end
    local layout = require('acp.ui.layout')
    require('acp.ui.select').open(layout.names, {
      prompt = 'Layout of the chat',
      kind = 'acp_layout',
      format_item = function(name)
        return (name == layout.current() and '* ' or '  ') .. name
      end,
    }, function(name)
      if name then
        arrange(name)
      end
    end)
  end,
}

M.plan = {
  desc = 'show the whole plan of the agent; off and on: whether it is kept in view',
  complete = function(args)
    return #args == 0 and vim.list_extend({ 'on', 'off' }, here.ids()) or {}
  end,
  impl = function(args)
    if args[1] == 'on' or args[1] == 'off' then
      return require('acp.ui.plan').keep(args[1] == 'on')
    end
    local info = here.session(args[1])
    if info then
      require('acp.ui.plan').open(info)
    end
  end,
}

M.usage = {
  desc = 'show how full the context is and what the session cost',
  complete = here.ids,
  impl = function(args)
    local info = here.session(args[1])
    if info then
      require('acp.ui.usage').open(info)
    end
  end,
}

M.follow = {
  desc = 'show the files the agent works on as it goes: on, off, or here (in this window)',
  complete = first_of({ 'on', 'off', 'here' }),
  impl = function(args)
    local follow = require('acp.follow')
    local what = args[1] or (follow.active() and 'off' or 'on')
    if what == 'on' then
      follow.start()
    elseif what == 'here' then
      follow.start(vim.api.nvim_get_current_win())
    elseif what == 'off' then
      follow.stop()
    else
      notify.show((':Acp follow: on, off or here, not "%s"'):format(what), 'error')
    end
  end,
}

return M
