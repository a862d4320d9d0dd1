--- The subcommand that puts code of the chat into a buffer.

---@type table<string, acp.Subcommand>
local M = {}

M.apply = {
  desc = 'apply a diff or code of the chat to a buffer, after it was shown where',
  complete = function(args)
    return #args == 0 and require('acp.apply.target').names() or {}
  end,
  range = true,
  impl = function(args, range)
    local name = args[1] and table.concat(args, ' ') or nil
    local ok, err = require('acp.apply').run({ name = name, range = range })
    if not ok then
      require('acp.notify').err(err --[[@as acp.Err]])
    end
  end,
}

return M
