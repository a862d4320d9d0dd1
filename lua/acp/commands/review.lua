--- Subcommands about changes that wait for the user: review, changes, accept, reject.

local here = require('acp.commands.here')
local notify = require('acp.notify')

---@type table<string, acp.Subcommand>
local M = {}

---@param words string[]
---@return fun(args: string[]): string[]
local function first_of(words)
  return function(args)
    return #args == 0 and vim.list_extend(vim.list_extend({}, words), here.ids()) or {}
  end
end

--- The session that is named, if one is.
---@param argument? string
---@return boolean ok, integer? session
local function session_of(argument)
  if not argument then
    return true, nil
  end
  local info = here.session(argument)
  return info ~= nil, info and info.id
end

M.review = {
  desc = 'list all changes that wait for you; with "toggle", show them in their files or do not',
  complete = first_of({ 'toggle' }),
  impl = function(args)
    if args[1] == 'toggle' then
      return require('acp.review').toggle()
    end
    local ok, session = session_of(args[1])
    if ok then
      require('acp.review.quickfix').open(session)
    end
  end,
}

M.changes = {
  desc = 'show the files with changes that wait for you',
  complete = here.ids,
  impl = function(args)
    local ok, session = session_of(args[1])
    if ok then
      require('acp.review.files').open(session)
    end
  end,
}

--- What is meant: rows, the file, everything, or the change under the cursor.
---@param name string
---@param args string[]
---@param range? acp.LineRange
---@return acp.ReviewTarget?, acp.Err?
local function target(name, args, range)
  local review, what = require('acp.review'), args[1]
  if range then
    return review.here({ range.first - 1, range.last })
  elseif not what then
    return review.here()
  elseif what == 'file' then
    return review.here_file()
  elseif what == 'all' then
    return require('acp.review.api').target({
      session = tonumber(args[2]) --[[@as integer?]],
    })
  end
  return nil,
    {
      code = 'bad_option',
      message = (':Acp %s: file or all, not "%s"'):format(name, what),
      hint = 'Without a word it is the change under the cursor, with a range these lines',
    }
end

---@param name 'accept'|'reject'
---@param desc string
---@return acp.Subcommand
local function verb(name, desc)
  return {
    desc = desc,
    range = true,
    complete = function(args)
      return #args == 0 and { 'all', 'file' } or (args[1] == 'all' and here.ids() or {})
    end,
    impl = function(args, range)
      local ok, err = require('acp.review')[name](target(name, args, range))
      if not ok and err then
        notify.err(err)
      end
    end,
  }
end

M.accept = verb('accept', 'keep the change under the cursor, the lines given, the file, or all')
M.reject =
  verb('reject', 'take back the change under the cursor, the lines given, the file, or all')

return M
