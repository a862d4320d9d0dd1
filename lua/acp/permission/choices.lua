--- What can be chosen when an agent asks for permission: its options in its own words and order,
--- and what we add to them.

local text = require('acp.text')

local M = {}

--- One of `option`, `reason`, `stop`, `cancel` and `preview` says what it does.
---@class (exact) acp.PermissionChoice
---@field label string
---@field option? acp.PermissionOption answers with this option
---@field reason? acp.PermissionOption answers with it too, and sends words after it
---@field cancel? boolean answers with no option at all
---@field stop? boolean stops the agent
---@field preview? boolean shows the change in its file
---@field letter? string the key that chooses it
---@field rule? acp.Rule to be stored with it

--- What an option does, whatever it is called: nobody but us draws these.
---@type table<'unicode'|'ascii', table<string, string>>
local icons = {
  unicode = {
    allow_once = '✓ ',
    allow_always = '✓✓',
    reject_once = '✗ ',
    reject_always = '✗✗',
    stop = '■ ',
    preview = '» ',
    unknown = '? ',
  },
  ascii = {
    allow_once = '+ ',
    allow_always = '++',
    reject_once = '- ',
    reject_always = '--',
    stop = '# ',
    preview = '> ',
    unknown = '? ',
  },
}

---@param kind string
---@param words string
---@return string
local function label(kind, words)
  local set = icons[require('acp.ui.look').ascii() and 'ascii' or 'unicode']
  return ('%s %s'):format(set[kind] or set.unknown, words)
end

--- The option that says no, for this once where there is a choice.
---@param options acp.PermissionOption[]
---@return acp.PermissionOption?
local function rejecting(options)
  for _, kind in ipairs({ 'reject_once', 'reject_always' }) do
    for _, option in ipairs(options) do
      if option.kind == kind then
        return option
      end
    end
  end
end

--- What it is about, as far as the title does not say it where it can be seen: whatever else is
--- shown, this is what will be run, touched or visited.
---@param permission acp.Permission|acp.AskedPermission
---@return string[]
function M.about(permission)
  -- Each command of several has a row of its own.
  local all = permission.command and vim.split(permission.command, '\n', { trimempty = true }) or {}
  vim.list_extend(all, permission.paths)
  if permission.url then
    table.insert(all, permission.url)
  end
  local rows, left_out = {}, 0
  local seen = text.brief(permission.title, 50)
  for _, item in ipairs(all) do
    if not seen:find(item, 1, true) then
      if #rows < 5 then
        table.insert(rows, text.brief(item, 150))
      else
        left_out = left_out + 1
      end
    end
  end
  if left_out > 0 then
    table.insert(rows, ('and %d more'):format(left_out))
  end
  if permission.cut then
    table.insert(rows, 'more than fits here: read it all before you answer')
  end
  return rows
end

--- Whether it shows changes to files, which can be looked at there.
---@param permission acp.Permission
---@return boolean
function M.has_preview(permission)
  return (permission.changes or 0) > 0
end

--- All that can be chosen. Where no option of the agent is a no, there is one all the same.
---@param permission acp.Permission
---@return acp.PermissionChoice[]
function M.of(permission)
  local list = {} ---@type acp.PermissionChoice[]
  for i, option in ipairs(permission.options) do
    local letter = permission.letters[i] ~= '' and permission.letters[i] or nil
    local words = text.brief(text.label(option.name, option.id), 200)
    table.insert(list, { label = label(option.kind, words), option = option, letter = letter })
  end
  local reject = rejecting(permission.options)
  if reject then
    local ellipsis = require('acp.ui.look').glyphs().ellipsis
    local words = label('reject_once', 'Reject with a reason' .. ellipsis)
    table.insert(list, { label = words, reason = reject, letter = 'w' })
  else
    local words = label('reject_once', 'No (cancels the request)')
    table.insert(list, { label = words, cancel = true, letter = 'n' })
  end
  table.insert(list, { label = label('stop', 'Stop the agent'), stop = true, letter = 's' })
  if M.has_preview(permission) then
    local words = label('preview', 'Preview in the file')
    table.insert(list, { label = words, preview = true, letter = 'p' })
  end
  return list
end

return M
