--- Subcommands about what is going to be said: history, queue, context.

local here = require('acp.commands.here')
local notify = require('acp.notify')
local text = require('acp.text')

---@type table<string, acp.Subcommand>
local M = {}

--- Shows the prompt of a session with the cursor in it, ready to type.
---@param info acp.SessionInfo
---@return boolean
local function show(info)
  local ok, err = require('acp.ui.window').show(info.id)
  if not ok then
    notify.err(err --[[@as acp.Err]])
  end
  return ok == true
end

M.history = {
  desc = 'choose a past prompt to send again; with words, among those that have them',
  impl = function(args)
    local info = here.session()
    local prompts = info and require('acp.history').search(info.cwd, table.concat(args, ' ')) or {}
    if not info then
      return
    elseif #prompts == 0 then
      return notify.show('there is no such prompt in the history')
    end
    require('acp.ui.select').open(prompts, {
      prompt = 'Past prompts',
      kind = 'acp_history',
      format_item = function(prompt)
        return text.shorten(vim.trim(prompt), 200)
      end,
    }, function(prompt)
      if prompt and show(info) then
        require('acp.ui.prompt.recall').put(info.id, prompt)
      end
    end)
  end,
}

M.queue = {
  desc = 'show the prompts that wait, to change or remove them',
  complete = here.ids,
  impl = function(args)
    local info = here.session(args[1])
    if info then
      require('acp.ui.queue').open(info.id)
    end
  end,
}

---@return string
local function project()
  local client = package.loaded['acp.client']
  local session = require('acp.session')
  local id = client and client.running() and session.resolve()
  local info = id and session.info(id)
  return info and info.cwd or vim.fn.getcwd()
end

---@param info acp.SessionInfo
---@param mention string
local function add(info, mention)
  if show(info) then
    require('acp.ui.prompt').insert(info.id, mention)
  end
end

M.context = {
  desc = 'mention a file, the buffer, the selection … in the prompt',
  complete = function()
    return vim.tbl_map(function(choice)
      return (choice.word:gsub('^@"?', ''):gsub('"$', ''))
    end, require('acp.context.choices').find_now(project(), ''))
  end,
  impl = function(args)
    local info = here.session()
    if not info then
      return
    end
    local name = table.concat(args, ' ')
    local mention = require('acp.context.mentions').write(name)
    if name ~= '' then
      return mention and add(info, mention)
    end
    local choices = require('acp.context.choices').find_now(info.cwd, '')
    require('acp.ui.select').open(choices, {
      prompt = 'Mention',
      kind = 'acp_context',
      format_item = function(choice)
        return choice.about == '' and choice.word or ('%s  (%s)'):format(choice.word, choice.about)
      end,
    }, function(choice)
      if choice then
        add(info, choice.word)
      end
    end)
  end,
}

return M
