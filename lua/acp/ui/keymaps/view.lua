--- What the keys do in a transcript and in the detail of a tool call.

---@param direction 1|-1
---@return fun()
local function message(direction)
  return function()
    require('acp.ui.entry').go_to_message(direction, vim.v.count1)
  end
end

---@param open? boolean
---@return fun()
local function toggle(open)
  return function()
    require('acp.ui.entry').toggle(open)
  end
end

---@param open boolean
---@return fun()
local function toggle_all(open)
  return function()
    require('acp.ui.entry').toggle_all(open)
  end
end

---@param fn fun(detail: acp.Detail)
---@return fun()
local function detail(fn)
  return function()
    local here = require('acp.ui.detail').of()
    if here then
      fn(here)
    end
  end
end

--- Shows the tab so many places further. As with tab pages, a count is the number of one.
---@param distance integer
---@return fun()
local function tab_by(distance)
  return detail(function(it)
    local tabs = it.head and it.head.tabs or {}
    local counted = tabs[vim.v.count]
    if counted then
      return require('acp.ui.detail').show_tab(it, counted.id)
    end
    for i, tab in ipairs(tabs) do
      if tab.id == it.tab then
        local other = tabs[(i - 1 + distance) % #tabs + 1]
        return other and require('acp.ui.detail').show_tab(it, other.id)
      end
    end
  end)
end

---@param direction 1|-1
---@return fun()
local function hunk(direction)
  return detail(function(it)
    require('acp.ui.detail.go').hunk(it, direction, vim.v.count1)
  end)
end

---@param split boolean
---@return fun()
local function jump(split)
  return detail(function(it)
    require('acp.ui.detail.go').jump(it, split)
  end)
end

local split = detail(function(it)
  if it.tab == 'diff' then
    require('acp.ui.detail').set_split(it, it.right and 'unified' or 'split')
  end
end)

local function open()
  require('acp.ui.entry').open()
end

local function visit()
  require('acp.ui.link').open()
end

local function save()
  require('acp.ui.entry').save()
end

local function apply()
  require('acp.commands.apply').apply.impl({})
end

local transcript, in_detail = { 'transcript' }, { 'detail' }

---@type table<string, acp.KeyAction>
local actions = {
  open = { desc = 'open what is under the cursor', roles = transcript, run = open },
  save = { desc = 'save the attachment under the cursor', roles = transcript, run = save },
  apply = { desc = 'apply the code under the cursor to a buffer', roles = transcript, run = apply },
  visit = { desc = 'open the link under the cursor', roles = transcript, run = visit },
  toggle = { desc = 'expand or collapse it', roles = transcript, run = toggle() },
  expand = { desc = 'expand it', roles = transcript, run = toggle(true) },
  collapse = { desc = 'collapse it', roles = transcript, run = toggle(false) },
  expand_all = { desc = 'expand everything', roles = transcript, run = toggle_all(true) },
  collapse_all = { desc = 'collapse everything', roles = transcript, run = toggle_all(false) },
  message_next = { desc = 'go to your next message', roles = transcript, run = message(1) },
  message_prev = { desc = 'go to your message before', roles = transcript, run = message(-1) },
  tab_next = { desc = 'show the next tab', roles = in_detail, run = tab_by(1) },
  tab_prev = { desc = 'show the tab before', roles = in_detail, run = tab_by(-1) },
  hunk_next = { desc = 'go to the next change', roles = in_detail, run = hunk(1) },
  hunk_prev = { desc = 'go to the change before', roles = in_detail, run = hunk(-1) },
  jump = { desc = 'go to the file and line', roles = in_detail, run = jump(false) },
  jump_split = { desc = 'go there in a new window', roles = in_detail, run = jump(true) },
  split = { desc = 'show a diff in one column or in two', roles = in_detail, run = split },
}

return actions
