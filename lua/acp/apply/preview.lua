--- What would become of a buffer, shown in it: lines that go are marked, lines that come stand
--- below them. The text stays as it is.

local text = require('acp.text')
local words = require('acp.apply.words')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.apply')

--- The most lines of one change that are shown: nobody reads more, and Neovim draws all of them.
local most = 200

--- Takes away what is shown.
---@param buf integer
function M.clear(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- How one change looks.
---@class (exact) acp.EditLook
---@field removed string|false the group of the lines that go; false for none
---@field added string
---@field bare? boolean whether only the words of lines that come have their group

--- A line that comes, as wide as the window.
---@param line string
---@param tab integer
---@param width integer
---@param look acp.EditLook
---@return string[][]
local function row(line, tab, width, look)
  line = #line > 4 * width and line:sub(1, 4 * width) or line
  while line:find('\t', 1, true) do
    local before = line:match('^[^\t]*') or ''
    local fill = tab - vim.fn.strdisplaywidth(before) % tab
    line = before .. (' '):rep(fill) .. line:sub(#before + 2)
  end
  line = text.one_line(line)
  if look.bare then
    local indent, words_of_it = line:match('^( *)(.-) *$')
    return { { indent }, { words_of_it, look.added } }
  end
  local rest = math.max(width - vim.fn.strdisplaywidth(line), 0)
  return { { line .. (' '):rep(rest), look.added } }
end

---@type acp.EditLook
local wanted = { removed = 'AcpRemoved', added = 'AcpAdded' }

--- How wide lines that come are in a window.
---@param win integer
---@return integer
function M.width(win)
  local info = vim.fn.getwininfo(win)[1] or {}
  return math.max(vim.api.nvim_win_get_width(win) - (info.textoff or 0), 1)
end

--- Shows one change.
---@param buf integer
---@param edit acp.LineEdit
---@param width integer
---@param look? acp.EditLook
function M.show_edit(buf, edit, width, look)
  look = look or wanted
  if edit.first < edit.last and look.removed then
    vim.api.nvim_buf_set_extmark(buf, namespace, edit.first, 0, {
      end_row = edit.last,
      hl_group = look.removed,
      hl_eol = true,
      strict = false,
    })
  end
  local rows, tab = {}, vim.bo[buf].tabstop
  for _, line in ipairs(vim.list_slice(edit.lines, 1, most)) do
    table.insert(rows, row(line, tab, width, look))
  end
  if #edit.lines > most then
    table.insert(rows, { { words.count(#edit.lines - most, 'more line'), 'AcpMuted' } })
  end
  if rows[1] then
    local above = edit.last == 0
    vim.api.nvim_buf_set_extmark(buf, namespace, above and 0 or edit.last - 1, 0, {
      virt_lines = rows,
      virt_lines_above = above,
    })
  end
end

--- The row from which a change is seen.
---@param edit acp.LineEdit
---@return integer row where it begins, from 0
function M.start(edit)
  return edit.first < edit.last and edit.first or math.max(edit.first - 1, 0)
end

--- Shows hunks in a buffer, with words on how each was found.
---@param win integer
---@param hunks acp.PlacedHunk[]
---@param number? integer the first one's, of several
---@param count? integer
function M.show(win, hunks, number, count)
  local buf = vim.api.nvim_win_get_buf(win)
  local width = M.width(win)
  M.clear(buf)
  count = count or #hunks
  for i, hunk in ipairs(hunks) do
    for _, edit in ipairs(hunk.edits) do
      M.show_edit(buf, edit, width)
    end
    local label = count > 1 and ('%d of %d: '):format((number or 1) + i - 1, count) or ''
    local at = hunk.edits[1] and M.start(hunk.edits[1]) or 0
    vim.api.nvim_buf_set_extmark(buf, namespace, at, 0, {
      virt_text = { { ('  %s%s'):format(label, words.how(hunk.how, hunk.score)), 'AcpHint' } },
      hl_mode = 'combine',
    })
  end
end

--- Says something at the row of a change.
---@param buf integer
---@param edit acp.LineEdit
---@param said string
---@param group string
function M.say(buf, edit, said, group)
  vim.api.nvim_buf_set_extmark(buf, namespace, M.start(edit), 0, {
    virt_text = { { '  ' .. said, group } },
    hl_mode = 'combine',
    strict = false,
  })
end

--- Puts the cursor of a window on a change, near its upper edge: below is what one chooses from.
---@param win integer
---@param edit? acp.LineEdit
function M.go_to(win, edit)
  local at = edit and M.start(edit) or 0
  vim.api.nvim_win_call(win, function()
    vim.api.nvim_win_set_cursor(win, { at + 1, 0 })
    vim.cmd.normal({ args = { 'zv' }, bang = true })
    local fill = edit and edit.last == 0 and math.min(#edit.lines, 10) or 0
    vim.fn.winrestview({ topline = math.max(at - 2, 1), topfill = fill })
  end)
end

return M
