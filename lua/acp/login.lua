--- Logins: lets the user choose how, and runs those that need a terminal in a real one.

local client = require('acp.client')
local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

---@param session integer
---@return string
local function key(session)
  return ('login %d'):format(session)
end

---@param action acp.Action
---@return boolean
local function send(action)
  local ok, err = client.send(action)
  if not ok then
    notify.err(err --[[@as acp.Err]])
  end
  return ok ~= nil
end

--- What the agent calls it, and the whole command that would be run, which is not shortened: nobody
--- can agree to what is not shown.
---@param method acp.AuthMethod
---@return string
local function label(method)
  local name = text.brief(text.label(method.name, method.id), 200)
  local detail = text.brief(method.description or '', 200)
  if method.kind == 'variables' then
    detail = 'set ' .. table.concat(method.variables or {}, ', ')
  elseif method.kind == 'terminal' then
    detail = 'in a terminal, but not from here'
  end
  local runs = method.command and (', runs in a terminal: %s'):format(method.command) or ''
  return text.one_line(name .. (detail ~= '' and (' (%s)'):format(detail) or '') .. runs)
end

---@param session integer
---@param method acp.AuthMethod
local function tell_variables(session, method)
  local names = method.variables or {}
  local example = names[1] and (':let $%s = "…"'):format(names[1]) or 'the variables'
  local agent = require('acp.session').agent_of(session)
  local need = ('%s reads %s from its environment'):format(agent, table.concat(names, ', '))
  require('acp.ui.float').open(text.one_line('Log in to ' .. agent), {
    text.one_line(need),
    ('Type %s, then :Acp restart %d'):format(example, session),
    'or set it in the `env` of the agent',
  })
end

---@type table<integer, integer> when a way to log in was chosen, by session
local chosen = {}

---@param session integer
---@param method acp.AuthMethod
---@return boolean whether that is all the user can do here
local function choose(session, method)
  if method.kind == 'variables' then
    tell_variables(session, method)
    return true
  end
  notify.show('Logging in: ' .. label(method), 'info', '. :Acp cancel stops it')
  chosen[session] = vim.uv.now()
  return send({ type = 'log_in', session = session, method = method.id })
end

--- Lets the user choose a way to log in.
---@param session integer
---@param methods acp.AuthMethod[]
---@param done fun(answered: boolean)
---@param moment? acp.Moment of a login that the agent waits for
---@return acp.Choosing
local function pick(session, methods, done, moment)
  ---@type { label: string, letter?: string, method?: acp.AuthMethod }[]
  local choices = vim.tbl_map(function(method)
    return { label = label(method), method = method }
  end, methods)
  if moment then
    table.insert(choices, { label = 'Do not log in', letter = 'n' })
  end
  return require('acp.ui.select').open(choices, {
    prompt = text.one_line(('Log in to %s'):format(require('acp.session').agent_of(session))),
    kind = 'acp_login',
    format_item = function(choice)
      return choice.label
    end,
    question = true,
    letter_of = function(choice)
      return choice.letter
    end,
    moment = moment,
  }, function(choice)
    if not choice then
      done(false)
    elseif choice.method then
      done(choose(session, choice.method))
    else
      done(send({ type = 'cancel', session = session }))
    end
  end)
end

---@param effect acp.LoginRequired
local function required(effect)
  local agent = require('acp.session').agent_of(effect.session)
  require('acp.questions').push({
    key = key(effect.session),
    what = text.one_line(agent .. ' wants you to log in'),
    command = ':Acp auth',
    session = effect.session,
    open = function(done, moment)
      return pick(effect.session, effect.methods, done, moment)
    end,
  })
end

--- `:Acp auth`: goes on with a login that waits, or begins one.
---@param session integer
function M.start(session)
  if require('acp.questions').ask(key(session)) then
    return
  end
  local settings = require('acp.settings').get(session)
  local methods = settings and settings.auth_methods or {}
  if #methods == 0 then
    local agent = require('acp.session').agent_of(session)
    return notify.show(text.one_line(agent .. ' names no way to log in'), 'warn')
  end
  pick(session, methods, function() end)
end

--- Runs a command in the terminal of the current window.
---@param effect acp.LoginInTerminal
---@param on_exit fun(job: integer, code: integer)
---@return boolean started, string? why_not
local function run_terminal(effect, on_exit)
  local opts = { env = effect.env, cwd = effect.cwd, on_exit = on_exit }
  if next(effect.env) == nil then
    opts.env = nil
  end
  local ok, job
  if vim.fn.has('nvim-0.11') == 1 then
    opts.term = true
    ok, job = pcall(vim.fn.jobstart, effect.command, opts)
  else
    ---@diagnostic disable-next-line: deprecated
    ok, job = pcall(vim.fn.termopen, effect.command, opts)
  end
  return ok and job > 0, not ok and tostring(job) or nil
end

--- Closes the window of a login, and goes back if the user is still in it.
---@param win integer
---@param buf integer
---@param origin integer
local function leave(win, buf, origin)
  if not vim.api.nvim_win_is_valid(win) or vim.api.nvim_win_get_buf(win) ~= buf then
    return
  end
  if vim.api.nvim_get_current_win() == win and vim.api.nvim_win_is_valid(origin) then
    vim.api.nvim_set_current_win(origin)
  end
  pcall(vim.api.nvim_win_close, win, true)
end

---@param effect acp.LoginInTerminal
local function in_terminal(effect)
  local session, origin = effect.session, vim.api.nvim_get_current_win()
  -- Whoever has gone on typing since the choice keeps the keyboard.
  local typed = require('acp.keyboard').idle() < vim.uv.now() - (chosen[session] or 0)
  vim.cmd('botright new')
  local buf, win = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  vim.bo[buf].bufhidden = 'wipe'
  local started, why = run_terminal(effect, function(_, code)
    send({ type = 'logged_in', session = session, ok = code == 0 })
    if code == 0 then
      client.defer(function()
        leave(win, buf, origin)
      end)
    else
      notify.show(('The login has ended with exit code %d'):format(code), 'warn')
    end
  end)
  if started then
    vim.b[buf].acp_login = session
    if typed then
      vim.api.nvim_set_current_win(origin)
      notify.show('The login is in the terminal below')
    else
      vim.cmd.startinsert()
    end
    return
  end
  pcall(vim.api.nvim_win_close, win, true)
  local program = text.one_line(effect.command[1] or '')
  notify.show(('The login could not be started: %s: %s'):format(program, why or 'no job'), 'error')
  send({ type = 'logged_in', session = session, ok = false })
end

---@param effect acp.OpenUrl
local function open_url(effect)
  local agent = require('acp.session').agent_of(effect.session)
  require('acp.questions').push({
    key = ('url %d'):format(effect.session),
    what = text.one_line(('%s wants to open %s'):format(agent, effect.url)),
    command = ':Acp permissions',
    session = effect.session,
    open = function(done, moment)
      return require('acp.visit').ask(agent .. ' wants to open', effect.url, function(outcome)
        done(outcome ~= nil)
      end, moment)
    end,
  })
end

--- Starts listening to the core.
function M.attach()
  client.subscribe('login_required', required)
  client.subscribe('login_in_terminal', in_terminal)
  client.subscribe('open_url', open_url)
  for _, over in ipairs({ 'ready', 'failed', 'closed' }) do
    ---@param effect acp.SessionEffect
    client.subscribe(over, function(effect)
      require('acp.questions').drop(key(effect.session))
      require('acp.questions').drop(('url %d'):format(effect.session))
    end)
  end
end

return M
