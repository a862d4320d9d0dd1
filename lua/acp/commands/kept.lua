--- Subcommands about sessions as wholes: those an agent has kept, branches, and copies.

local here = require('acp.commands.here')
local notify = require('acp.notify')
local text = require('acp.text')

---@type table<string, acp.Subcommand>
local M = {}

--- A kept session in a line: the folder only where it is another than that of the session from
--- which one looks.
---@param info acp.SessionInfo
---@return fun(kept: acp.Kept): string
local function line_from(info)
  local here_folder = vim.fs.normalize(info.cwd)
  return function(kept)
    local parts = { text.label(kept.title, kept.id) }
    if kept.updated then
      table.insert(parts, require('acp.ago').words(kept.updated))
    end
    if kept.cwd ~= '' and vim.fs.normalize(kept.cwd) ~= here_folder then
      table.insert(parts, vim.fn.fnamemodify(kept.cwd, ':~'))
    end
    return text.one_line(table.concat(parts, '  '))
  end
end

--- A session through which the agent can be asked, opened where there is none.
---@param fn fun(info: acp.SessionInfo, opened: boolean)
local function with_session(fn)
  local session = require('acp.session')
  local id = session.resolve()
  local info = id and session.info(id)
  if info and info.state ~= 'failed' then
    return fn(info, false)
  end
  session.open({
    agent = info and info.agent,
    new = true,
    focus = false,
    on_ready = function(err, opened)
      if opened then
        fn(opened, true)
      else
        notify.err(err or { code = 'failed', message = 'there is no agent to ask' })
      end
    end,
  })
end

--- Lets the user choose among the sessions that the agent has kept. `fn` gets nil for none.
---@param info acp.SessionInfo
---@param prompt string
---@param fn fun(kept: acp.Kept?)
local function pick(info, prompt, fn)
  if not here.can(info, 'list sessions', 'list') then
    return fn(nil)
  end
  require('acp.session').ask(info.id, { what = 'list_sessions' }, function(err, sessions)
    if err then
      notify.err(err)
    elseif #(sessions or {}) == 0 then
      notify.show(('%s has kept no session'):format(text.one_line(info.agent)))
    end
    if err or #(sessions or {}) == 0 then
      return fn(nil)
    end
    require('acp.ui.select').open(sessions or {}, {
      prompt = text.one_line(('%s of %s'):format(prompt, info.agent)),
      kind = 'acp_kept_session',
      format_item = line_from(info),
    }, fn)
  end)
end

--- Shows a kept session: the one that is open already, or a new one that takes it up.
---@param info acp.SessionInfo of the agent that keeps it
---@param remote string
---@param cwd? string
local function load(info, remote, cwd)
  local session = require('acp.session')
  for _, open in ipairs(session.list()) do
    if open.remote == remote and open.agent == info.agent and open.state ~= 'closed' then
      local ok, err = require('acp.ui.window').show(open.id)
      return not ok and notify.err(err --[[@as acp.Err]])
    end
  end
  cwd = cwd ~= '' and cwd or info.cwd
  local _, err = session.open({ agent = info.agent, cwd = cwd, load = remote })
  if err then
    notify.err(err)
  end
end

M.load = {
  desc = 'take up a session that the agent has kept',
  impl = function(args)
    with_session(function(info, opened)
      local function finish(remote, cwd)
        if remote then
          load(info, remote, cwd)
        end
        if opened then
          require('acp.session').act('close', info.id)
        end
      end
      if not here.can(info, 'take up a session again', 'load', 'resume') then
        return finish()
      elseif args[1] then
        return finish(args[1])
      end
      pick(info, 'Sessions', function(kept)
        if kept then
          finish(kept.id, kept.cwd)
        else
          finish()
        end
      end)
    end)
  end,
}

M.delete = {
  desc = 'make the agent forget a session it has kept',
  impl = function()
    local info = here.session()
    if not info or not here.can(info, 'delete sessions', 'delete') then
      return
    end
    pick(info, 'Delete a session', function(kept)
      if not kept then
        return
      end
      require('acp.ui.select').open({ 'Delete permanently', 'Keep it' }, {
        prompt = line_from(info)(kept),
        kind = 'acp_confirm',
        question = true,
        moment = { how = 'next' },
      }, function(choice)
        if choice == 'Delete permanently' then
          here.ask(
            info,
            { what = 'delete_session', id = kept.id },
            'Deleted: ' .. line_from(info)(kept)
          )
        end
      end)
    end)
  end,
}

M.fork = {
  desc = 'branch off a session',
  complete = here.ids,
  impl = function(args)
    local info = here.session(args[1])
    if not info or not here.can(info, 'branch off a session', 'fork') then
      return
    end
    local _, err = require('acp.session').open({ fork = info.id })
    if err then
      notify.err(err)
    end
  end,
}

M.export = {
  desc = 'copy the chat into a new buffer',
  complete = here.ids,
  impl = function(args)
    local info = here.session(args[1])
    local markdown = info and require('acp.session').transcript(info.id)
    if not info or not markdown then
      return
    end
    vim.cmd('botright new')
    local buf = vim.api.nvim_get_current_buf()
    local lines = vim.split(markdown:gsub('\n$', ''), '\n', { plain = true })
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    vim.bo[buf].buftype = 'nofile'
    vim.bo[buf].bufhidden = 'wipe'
    vim.bo[buf].swapfile = false
    vim.bo[buf].modified = false
    vim.bo[buf].filetype = 'markdown'
  end,
}

return M
