--- What an agent is told when the user wants only a part of what it has proposed.

local diff = require('acp.review.diff')
local reason = require('acp.review.reason')

local M = {}

---@param part acp.ProposedPart
---@param old string[]
---@param new string[]
---@return string
local function quote(part, old, new)
  local it = { path = part.path, session = part.session, line = part.line, old = old, new = new }
  return diff.quote(it, reason.path_for(part.session, part.path))
end

---@param parts acp.ProposedPart[]
---@return acp.ProposedPart[] refused, acp.ProposedPart[] edited
local function sorted(parts)
  local refused, edited = {}, {} ---@type acp.ProposedPart[], acp.ProposedPart[]
  for _, part in ipairs(parts) do
    table.insert(part.edited and edited or refused, part)
  end
  return refused, edited
end

---@param words { refused: string, edited: string, ending: string }
---@param parts acp.ProposedPart[]
---@return string[]
local function body(words, parts)
  local refused, edited = sorted(parts)
  local all = {}
  if #refused > 0 then
    table.insert(all, words.refused)
  end
  for _, part in ipairs(refused) do
    table.insert(all, quote(part, part.old, part.new))
  end
  if #edited > 0 then
    table.insert(all, words.edited)
  end
  for _, part in ipairs(edited) do
    table.insert(all, quote(part, part.new, part.edited --[[@as string[] ]]))
  end
  table.insert(all, words.ending)
  return all
end

--- The change was made, and these parts are not in the file any more, or otherwise.
---@param parts acp.ProposedPart[]
---@return string
function M.reverted(parts)
  local all = body({
    refused = 'I have reverted this; the file is without it again:',
    edited = 'I have changed this, from what you wrote to what the file has now:',
    ending = 'Everything else of that change is as you wrote it. Read the file before you change'
      .. ' it again.',
  }, parts)
  table.insert(all, 1, 'I have allowed your change, but not all of it.')
  for _, part in ipairs(parts) do
    if part.on_disk then
      local path = reason.path_for(part.session, part.path)
      table.insert(all, reason.unsaved(path))
      break
    end
  end
  return table.concat(all, '\n\n')
end

--- The change was not made, because of these parts.
---@param parts acp.ProposedPart[]
---@return string
function M.rejected(parts)
  local all = body({
    refused = 'I do not want this part of it:',
    edited = 'This part I want otherwise, from what you proposed to what it should be:',
    ending = 'Everything else of it is fine: propose it again like that.',
  }, parts)
  table.insert(all, 1, 'I have rejected your change as a whole: nothing of it was made.')
  return table.concat(all, '\n\n')
end

return M
