--- How a proposed change looks in its file: lines that go and lines that come, those that are
--- refused struck out, and a bar at the foot of the window that says what can be done.

local keys = require('acp.proposal.keys')
local preview = require('acp.apply.preview')
local text = require('acp.text')

local M = {}

--- Where each part is, as the text moves.
local namespace = vim.api.nvim_create_namespace('acp.proposal')

---@type acp.EditLook
local refused = { removed = false, added = 'AcpRefused', bare = true }

--- Where a part is now.
---@param buf integer
---@param hunk acp.ProposedHunk
---@return integer first, integer last
function M.rows(buf, hunk)
  if hunk.mark and vim.api.nvim_buf_is_loaded(buf) then
    local opts = { details = true }
    local at = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, hunk.mark, opts)
    if at[1] then
      return at[1], math.max(at[3] and at[3].end_row or at[1], at[1])
    end
  end
  return hunk.first, hunk.last
end

---@param buf integer
---@param hunk acp.ProposedHunk
---@return acp.LineEdit
function M.edit_of(buf, hunk)
  local first, last = M.rows(buf, hunk)
  return { first = first, last = last, lines = hunk.edited or hunk.new }
end

--- What is said of a part.
---@param hunk acp.ProposedHunk
---@param number integer
---@param count integer
---@return string words, string group
local function label(hunk, number, count)
  local place = ('%d of %d'):format(number, count)
  if hunk.refused then
    return place .. ': refused', 'AcpWarning'
  elseif hunk.edited then
    return place .. ': with your edits', 'AcpHint'
  elseif hunk.how ~= 'exact' and hunk.how ~= 'moved' and hunk.how ~= 'whole' then
    return ('%s: %s'):format(place, require('acp.apply.words').how(hunk.how, hunk.score)), 'AcpHint'
  end
  return place, 'AcpHint'
end

--- Shows the parts of a file as they are decided.
---@param file acp.ProposedFile
---@param win integer
function M.show(file, win)
  local buf = file.buf --[[@as integer]]
  local hunks = file.hunks or {}
  local width, count = preview.width(win), vim.api.nvim_buf_line_count(buf)
  preview.clear(buf)
  for number, hunk in ipairs(hunks) do
    local edit = M.edit_of(buf, hunk)
    preview.show_edit(buf, edit, width, hunk.refused and refused or nil)
    local said, group = label(hunk, number, #hunks)
    preview.say(buf, edit, said, group)
    hunk.mark = vim.api.nvim_buf_set_extmark(buf, namespace, math.min(edit.first, count), 0, {
      id = hunk.mark,
      end_row = math.min(edit.last, count),
      end_col = 0,
      end_right_gravity = false,
      right_gravity = edit.first ~= edit.last,
      strict = false,
    })
  end
end

--- Takes all of it away.
---@param buf integer
function M.clear(buf)
  preview.clear(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- What the bar says.
---@param it acp.Proposal
---@param width integer
---@return string[]
local function bar_words(it, width)
  local file = it.files[it.at]
  local all, wanted = 0, 0
  for _, hunk in ipairs(file and file.hunks or {}) do
    all, wanted = all + 1, wanted + (hunk.refused and 0 or 1)
  end
  local words = (' %d of %d accepted'):format(wanted, all)
  if #it.files > 1 then
    words = words .. (', file %d of %d'):format(it.at, #it.files)
  end
  local lacking = file and #(file.missing or {}) or 0
  if lacking > 0 then
    words = words .. (', %d not shown'):format(lacking)
  end
  return vim.tbl_map(text.one_line, keys.in_words(words, width))
end

--- Shows the bar, or brings it up to date.
---@param it acp.Proposal
function M.bar(it)
  if not it.win or not vim.api.nvim_win_is_valid(it.win) then
    return
  end
  local width = vim.api.nvim_win_get_width(it.win)
  local rows = bar_words(it, width)
  local buf = it.bar and vim.api.nvim_win_is_valid(it.bar) and vim.api.nvim_win_get_buf(it.bar)
  if not buf then
    buf = vim.api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = 'wipe'
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, rows)
  ---@type vim.api.keyset.win_config
  local config = {
    relative = 'win',
    win = it.win,
    row = math.max(vim.api.nvim_win_get_height(it.win) - #rows, 0),
    col = 0,
    width = width,
    height = #rows,
    focusable = false,
    style = 'minimal',
    zindex = 40,
  }
  if it.bar and vim.api.nvim_win_is_valid(it.bar) then
    return vim.api.nvim_win_set_config(it.bar, config)
  end
  config.noautocmd = true
  it.bar = vim.api.nvim_open_win(buf, false, config)
  vim.w[it.bar].acp_role = 'proposal'
  vim.wo[it.bar].winhighlight = 'Normal:AcpProposalBar,NormalFloat:AcpProposalBar'
  vim.wo[it.bar].wrap = false
end

--- Takes the bar away.
---@param it acp.Proposal
function M.close_bar(it)
  if it.bar then
    pcall(vim.api.nvim_win_close, it.bar, true)
    it.bar = nil
  end
end

return M
