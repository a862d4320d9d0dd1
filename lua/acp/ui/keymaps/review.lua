--- What the keys do with changes that wait for the user: in their files by the options of the
--- review, in the detail of a tool call by ours.

---@param ok true?
---@param err acp.Err?
local function report(ok, err)
  if not ok and err then
    require('acp.notify').err(err)
  end
end

--- What is meant here: the selected lines, what the diff of a tool call shows, or the change under
--- the cursor.
---@return acp.ReviewTarget?, acp.Err?
local function target()
  local detail = package.loaded['acp.ui.detail']
  local it = detail and detail.of()
  if it then
    return require('acp.ui.detail.review').target(it)
  end
  local review, mode = require('acp.review'), vim.fn.mode()
  if not mode:match('^[vV\22]') then
    return review.here()
  end
  local from, to = vim.fn.line('v'), vim.fn.line('.')
  vim.cmd.normal({ args = { vim.keycode('<Esc>') }, bang = true })
  return review.here({ math.min(from, to) - 1, math.max(from, to) })
end

---@param direction 1|-1
---@return fun()
local function go(direction)
  return function()
    require('acp.review.go').by(direction, vim.v.count1)
  end
end

---@param name 'accept'|'reject'|'reject_with_reason'
---@return fun()
local function verb(name)
  return function()
    local ok, err = require('acp.review')[name](target())
    report(ok, err)
  end
end

---@param name 'accept'|'reject'
---@return fun()
local function whole(name)
  return function()
    local review = require('acp.review')
    local ok, err = review[name](review.here_file())
    report(ok, err)
  end
end

local function edit()
  report(require('acp.review').edit())
end

local function toggle()
  require('acp.review').toggle()
end

local function list()
  require('acp.review.quickfix').open()
end

local function changes()
  require('acp.review.files').open()
end

local detail = { 'detail' }

---@type table<string, acp.KeyAction>
return {
  review_next = { desc = 'go to the next pending change', run = go(1) },
  review_previous = { desc = 'go to the pending change before', run = go(-1) },
  review_accept = { desc = 'accept this change', roles = detail, run = verb('accept') },
  review_reject = { desc = 'reject this change', roles = detail, run = verb('reject') },
  review_reason = { desc = 'reject this change and say why', run = verb('reject_with_reason') },
  review_edit = { desc = 'accept this change and edit it', run = edit },
  review_accept_file = { desc = 'accept all changes of this file', run = whole('accept') },
  review_reject_file = { desc = 'reject all changes of this file', run = whole('reject') },
  review_toggle = { desc = 'show changes in their files, or do not', run = toggle },
  review_list = { desc = 'list all pending changes', run = list },
  changes = { desc = 'show the files with pending changes', run = changes },
}
