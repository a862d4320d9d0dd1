--- Subcommands about what agents may do: permissions, rules.

---@type table<string, acp.Subcommand>
local M = {}

M.permissions = {
  desc = 'answer what waits for you',
  impl = function()
    require('acp.questions').ask_again()
  end,
}

--- The folder that is meant: the one named, else that of the session, else the current one.
---@param argument? string
---@return string
local function project(argument)
  if argument then
    return (vim.fs.normalize(vim.fn.fnamemodify(argument, ':p')):gsub('(.)/$', '%1'))
  end
  local client = package.loaded['acp.client']
  local session = client and client.running() and require('acp.session')
  local id = session and session.resolve()
  local info = id and session.info(id)
  return info and info.cwd or vim.fn.getcwd()
end

M.rules = {
  desc = 'show and edit the rules of this project, or of the folder given',
  complete = function(args)
    return args[1] and {} or require('acp.rules').projects()
  end,
  impl = function(args)
    require('acp.rules.editor').open(project(args[1] and table.concat(args, ' ')))
  end,
}

return M
