--- Lists to look at or choose from.

local text = require('acp.text')

local M = {}

--- The agents, what is installed, and how to get the rest.
function M.agents()
  local agents = require('acp.agents')
  local default = agents.default()
  local rows = {}
  for _, name in ipairs(agents.names()) do
    local agent = agents.get(name) --[[@as acp.Agent]]
    local path = agents.find(agent)
    local mark = name == default and '*' or ' '
    local detail
    if agent.embedded then
      detail = 'built in'
    elseif path then
      detail = path
    else
      detail = agent.install or agent.home or (agent.command or {})[1]
    end
    local state = agent.url and 'remote' or (path and 'found' or 'missing')
    table.insert(rows, { mark .. ' ' .. name, state, text.one_line(detail or '') })
  end
  require('acp.ui.float').table('Agents (* is the default)', rows)
end

---@param info acp.SessionInfo
---@return string
local function session_line(info)
  local title = info.title ~= '' and info.title or '(no title yet)'
  local where = vim.fn.fnamemodify(info.cwd, ':~')
  return text.one_line(
    ('#%d  %s  %s  %s  %s'):format(info.id, info.agent, info.state, title, where)
  )
end

--- Lets the user choose a session to show here.
function M.sessions()
  local infos = vim.tbl_filter(function(info)
    return info.state ~= 'closed'
  end, require('acp.session').list())
  if #infos == 0 then
    return require('acp.notify').show('there is no session yet: type :AcpChat')
  end
  require('acp.ui.select').open(infos, {
    prompt = 'Sessions',
    kind = 'acp_session',
    format_item = session_line,
  }, function(info)
    if info then
      local ok, err = require('acp.ui.window').show(info.id)
      if not ok then
        require('acp.notify').err(err --[[@as acp.Err]])
      end
    end
  end)
end

return M
