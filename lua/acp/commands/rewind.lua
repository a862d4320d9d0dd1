--- The subcommand that goes back to before a turn.

local here = require('acp.commands.here')
local notify = require('acp.notify')
local text = require('acp.text')

---@type table<string, acp.Subcommand>
local M = {}

--- How many files are named before one chooses.
local most = 12

---@param count integer
---@param word string
---@return string
local function counted(count, word)
  return ('%d %s%s'):format(count, word, count == 1 and '' or 's')
end

---@param added? integer
---@param removed? integer
---@return string
local function amount(added, removed)
  return added and ('+%d −%d'):format(added, removed or 0) or 'binary'
end

---@param turn acp.RewindTurn
---@return string
local function line(turn)
  local files = turn.count == 0 and 'no files'
    or ('%s %s'):format(counted(turn.count, 'file'), amount(turn.added, turn.removed))
  local when = os.date('%H:%M', turn.time) --[[@as string]]
  if os.date('%x', turn.time) ~= os.date('%x') then
    when = os.date('%Y-%m-%d ', turn.time) .. when
  end
  local what = turn.rewind and ('before the rewind (%s)'):format(turn.prompt)
    or ('before turn %s: %s'):format(turn.id, turn.prompt)
  return text.one_line(('%s  %s  %s'):format(when, files, text.shorten(what, 60)))
end

--- What a rewind would undo: the files of this turn and of all since.
---@param turns acp.RewindTurn[] newest first
---@param turn acp.RewindTurn
---@return string[]
local function about(turns, turn)
  local lines, seen, more, partly = {}, {}, 0, false
  for _, each in ipairs(turns) do
    partly = partly or not each.complete or each.interrupted
    for _, file in ipairs(each.files) do
      if not seen[file.path] then
        seen[file.path] = true
        if #lines < most then
          local name = text.shorten(vim.fn.fnamemodify(file.path, ':~:.'), 50)
          local lines_of = amount(file.added, file.removed)
          table.insert(lines, ('%s  %s %s'):format(name, file.kind, lines_of))
        else
          more = more + 1
        end
      end
    end
    more = more + each.count - #each.files
    if each == turn then
      break
    end
  end
  if more > 0 then
    table.insert(lines, ('and %s more'):format(counted(more, 'file')))
  end
  if #lines == 0 then
    table.insert(lines, 'No file was changed since')
  end
  if partly then
    table.insert(lines, 'Not everything is known of these turns: see :help acp-rewind')
  end
  return lines
end

---@param session integer
---@param turn string
local function go(session, turn)
  local rewind = require('acp.rewind')
  rewind.rewind({ session = session, turn = turn, on_done = rewind.report })
end

---@param session integer
---@param turn acp.RewindTurn
local function confirm(session, turn)
  local name = turn.rewind and 'the rewind' or 'turn ' .. turn.id
  local yes, no = 'Rewind to before ' .. name, 'Leave everything as it is'
  require('acp.ui.select').open({ yes, no }, {
    prompt = 'This will be undone',
    kind = 'acp_confirm',
    question = true,
    about = about(require('acp.rewind').turns(session), turn),
    moment = { how = 'next' },
  }, function(choice)
    if choice == yes then
      go(session, turn.id)
    end
  end)
end

M.rewind = {
  desc = 'take files back to before a turn; without a number, choose one',
  complete = function(args)
    local client = package.loaded['acp.client']
    local id = client and client.running() and require('acp.session').resolve()
    return not args[1]
        and id
        and vim.tbl_map(function(turn)
          return turn.id
        end, require('acp.rewind').turns(id))
      or {}
  end,
  impl = function(args)
    local info = here.session()
    if not info then
      return
    elseif args[1] then
      return go(info.id, args[1])
    end
    local turns = require('acp.rewind').turns(info.id)
    if #turns == 0 then
      local off = not require('acp.config').get().rewind.enabled
      local why = off and 'Turns are not recorded: rewind.enabled is false'
      return notify.show(why or 'No turn of this session is recorded', 'warn')
    end
    require('acp.ui.select').open(turns, {
      prompt = 'Rewind to',
      kind = 'acp_rewind',
      format_item = line,
    }, function(turn)
      if turn then
        confirm(info.id, turn)
      end
    end)
  end,
}

return M
