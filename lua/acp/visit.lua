--- Addresses that an agent wants to be visited: shown in full, opened only with consent.

local text = require('acp.text')

local M = {}

--- The host of a web address as a browser takes it, nil when it is no web address. What stands
--- before an `@` is not the host, however much it looks like one.
---@param url string
---@return string?
function M.host(url)
  local authority = url:match('^[hH][tT][tT][pP][sS]?://([^/?#\\]*)')
  local host = authority and authority:gsub('^.*@', ''):gsub(':%d*$', '')
  return host ~= '' and host or nil
end

---@param url string
---@return boolean
local function browse(url)
  local ok, process, why = pcall(vim.ui.open, url)
  if ok and process then
    return true
  end
  local reason = tostring(ok and why or process)
  require('acp.notify').show(('%s could not be opened: %s'):format(url, reason), 'error')
  return false
end

---@param url string
---@return boolean
local function copy(url)
  vim.fn.setreg('"', url)
  if vim.fn.has('clipboard') == 1 then
    vim.fn.setreg('+', url)
  end
  return true
end

--- Asks whether to visit an address. `fn` gets what came of it; nil when the user decided nothing.
---@param message string who asks and why
---@param url string
---@param fn fun(outcome: 'visited'|'declined'|nil)
---@param moment? acp.Moment
---@return acp.Choosing?
function M.ask(message, url, fn, moment)
  local host = M.host(url)
  if not host then
    require('acp.notify').show(text.one_line(message .. ': not a web address: ' .. url), 'warn')
    fn('declined')
    return nil
  end
  ---@type { label: string, letter: string, run?: fun(url: string): boolean }[]
  local choices = {
    { label = ('Open %s in the browser'):format(text.one_line(host)), letter = 'o', run = browse },
    { label = 'Copy the address', letter = 'c', run = copy },
    { label = 'No', letter = 'n' },
  }
  return require('acp.ui.select').open(choices, {
    prompt = text.one_line(('%s: %s (host: %s)'):format(message, url, host)),
    kind = 'acp_url',
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
      fn(nil)
    elseif not choice.run then
      fn('declined')
    else
      fn(choice.run(url) and 'visited' or nil)
    end
  end)
end

return M
