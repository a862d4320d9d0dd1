--- Subcommands about who agents know: auth, logout.

local here = require('acp.commands.here')

---@type table<string, acp.Subcommand>
local M = {}

M.auth = {
  desc = 'log in to the agent',
  complete = here.ids,
  impl = function(args)
    local info = here.session(args[1])
    if info then
      require('acp.login').start(info.id)
    end
  end,
}

M.logout = {
  desc = 'log out of the agent',
  complete = here.ids,
  impl = function(args)
    local info = here.session(args[1])
    if info and here.can(info, 'log out', 'logout') then
      here.ask(info, { what = 'log_out' }, ('Logged out of %s'):format(info.agent))
    end
  end,
}

return M
