--- What sessions have used: tokens of the context, and money.

local look = require('acp.ui.look')
local text = require('acp.text')

local M = {}

local bar_width = 30

---@param number number
---@return string such as "12 345"
local function grouped(number)
  local digits = ('%d'):format(number)
  return (digits:reverse():gsub('(%d%d%d)', '%1 '):reverse():gsub('^ ', ''))
end

---@param share number from 0 to 1
---@return string
local function bar(share)
  local glyphs = look.glyphs()
  local full = math.floor(math.max(math.min(share, 1), 0) * bar_width + 0.5)
  return glyphs.full:rep(full) .. glyphs.empty:rep(bar_width - full)
end

---@param cost acp.Cost
---@return string
local function money(cost)
  return text.one_line(('%.4g %s'):format(cost.amount, cost.currency))
end

---@param info acp.SessionInfo
---@return string[]
local function block(info)
  local title = info.title ~= '' and info.title or '(no title yet)'
  local lines =
    { (' #%d  %s  %s '):format(info.id, text.one_line(info.agent), text.shorten(title, 60)) }
  local usage = info.usage
  if not usage then
    table.insert(lines, '   has not said what it used ')
  elseif usage.size > 0 then
    local share = usage.used / usage.size
    local tokens = ('%s of %s tokens'):format(grouped(usage.used), grouped(usage.size))
    local percent = math.floor(100 * share + 0.5)
    table.insert(lines, ('   %s %3d%%  %s '):format(bar(share), percent, tokens))
  else
    table.insert(lines, ('   %s tokens '):format(grouped(usage.used)))
  end
  if usage and usage.cost then
    table.insert(lines, ('   cost: %s '):format(money(usage.cost)))
  end
  return lines
end

--- Shows what a session has used, and after it the others that run.
---@param info acp.SessionInfo
function M.open(info)
  local lines = block(info)
  for _, other in ipairs(require('acp.session').list()) do
    if other.id ~= info.id and other.usage and other.state ~= 'closed' then
      table.insert(lines, '')
      vim.list_extend(lines, block(other))
    end
  end
  require('acp.ui.float').open('Usage', lines)
end

return M
