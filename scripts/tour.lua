--- The tour of `make chat` where there is no terminal: talks to the tutor, prints the chat.

local acp = require('acp')

--- Waits for what a callback brings; the tour has no other way to go on.
---@param what string
---@param start fun(done: fun(err?: acp.Err, value?: any))
---@return any
local function await(what, start)
  local finished, err, value = false, nil, nil
  start(function(e, v)
    finished, err, value = true, e, v
  end)
  if not vim.wait(20000, function()
    return finished
  end, 10) then
    error(what .. ': no answer within 20 s')
  end
  if err then
    error(('%s: %s %s'):format(what, err.message, err.hint or ''))
  end
  return value
end

acp.setup({ agents = { tutor = { pace = 0.05 } } })
local session = await('open', function(done)
  acp.open({ agent = 'tutor', new = true, focus = true, on_ready = done })
end)

---@param text string
---@param cancel_at? string cancels the turn when the chat has this text
local function say(text, cancel_at)
  await(text, function(done)
    acp.prompt(text, { session = session.id, on_done = done })
    if cancel_at then
      vim.wait(10000, function()
        return (acp.transcript(session.id) or ''):find(cancel_at, 1, true) ~= nil
      end, 5)
      acp.cancel(session.id)
    end
  end)
end

say('hello')
say('count', '3 ')
vim.api.nvim_create_autocmd('User', {
  pattern = 'AcpPermissionRequested',
  desc = 'the tour allows what the tutor asks for',
  callback = function()
    for _, permission in ipairs(acp.permissions()) do
      local first = permission.options[1]
      acp.respond(permission.id, first and first.id)
    end
  end,
})
say('work')
say('more')

io.stdout:write(acp.transcript(session.id) or '')
vim.cmd('qa!')
