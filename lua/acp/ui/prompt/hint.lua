--- Words in a prompt that are not typed: what to do while it is empty, and what a command wants.

local text = require('acp.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.prompt')

---@param info acp.SessionInfo
---@return string
local function for_state(info)
  local agent = text.one_line(info.agent)
  local texts = {
    starting = ('%s is starting; you can type already'):format(agent),
    running = ('%s is working  <C-c> stops it'):format(agent),
    cancelling = ('%s is stopping'):format(agent),
    waiting = ('%s is waiting for your answer  :Acp permissions'):format(agent),
    failed = ('%s has ended; a prompt restarts it'):format(agent),
    closed = 'this session is closed  :AcpChat',
  }
  return texts[info.state] or ('Ask %s  <C-s> sends, g? shows keys'):format(agent)
end

--- What the agent's command that was typed, and nothing else, is waiting for.
---@param session integer
---@param line string
---@return string?
local function for_command(session, line)
  local name = line:match('^/(%S+)%s?$')
  local settings = name and require('acp.settings').get(session)
  for _, command in ipairs(settings and settings.commands or {}) do
    if command.name == name and command.hint and command.hint ~= '' then
      return (line:match('%s$') and '' or ' ') .. text.shorten(command.hint, 60)
    end
  end
end

---@param buf integer
---@param col integer
---@param words string
---@param position 'overlay'|'inline'
local function put(buf, col, words, position)
  vim.api.nvim_buf_set_extmark(buf, namespace, 0, col, {
    virt_text = { { words, 'AcpPlaceholder' } },
    virt_text_pos = position,
  })
end

--- Brings the hint up to date with the text.
---@param buf integer
function M.show(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local session = require('acp.session')
  local info = session.info(session.of_buffer(buf) or -1)
  if not info or vim.api.nvim_buf_line_count(buf) > 1 then
    return
  end
  local line = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] or ''
  if line == '' then
    return put(buf, 0, for_state(info), 'overlay')
  end
  local hint = for_command(info.id, line)
  if hint then
    put(buf, #line, hint, 'inline')
  end
end

return M
