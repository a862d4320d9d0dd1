--- Hunks as text: for lists, previews and prompts.

local store = require('acp.review.store')
local text = require('acp.text')

local M = {}

--- The lines of a hunk before and after.
---@class (exact) acp.HunkText
---@field id? integer
---@field path string
---@field session integer
---@field line integer the first one, from 1
---@field old string[]
---@field new string[]
---@field on_disk? boolean it was rejected, and the file still has it

---@return string
function M.minus()
  return require('acp.ui.look').ascii() and '-' or '−'
end

--- What waits, as the core has it.
---@param session? integer
---@return acp.ChangedFile[]
function M.changes(session)
  local native = require('acp.client').running()
  -- A library of another version has none.
  return native and native.changes and native.changes(session) or {}
end

--- A hunk of a loaded buffer as it is now.
---@param file acp.ReviewFile
---@param hunk acp.ReviewHunk
---@return acp.HunkText
local function of_buffer(file, hunk)
  local first, last = store.rows(file, hunk)
  return {
    id = hunk.id,
    path = file.path,
    session = hunk.session,
    line = first + 1,
    old = vim.tbl_map(function(line)
      return line.text
    end, hunk.removed),
    new = vim.api.nvim_buf_get_lines(file.buf --[[@as integer]], first, last, false),
  }
end

--- Hunks of a file, in order.
---@param file acp.ReviewFile
---@param ids? integer[] by default all
---@return acp.HunkText[]
function M.of(file, ids)
  local found = {}
  if file.buf then
    for _, place in ipairs(store.places(file)) do
      if not ids or vim.list_contains(ids, place.hunk.id) then
        table.insert(found, of_buffer(file, place.hunk))
      end
    end
    return found
  end
  for _, changed in ipairs(M.changes()) do
    for _, hunk in ipairs(changed.path == file.path and changed.hunks or {}) do
      if not ids or vim.list_contains(ids, hunk.id) then
        local session, line = hunk.session, hunk.start
        local it = { path = file.path, session = session, line = line, old = hunk.old }
        it.new, it.id = hunk.new, hunk.id
        table.insert(found, it)
      end
    end
  end
  return found
end

--- The first line of a hunk that says something, with how much has changed.
---@param old string[]
---@param new string[]
---@return string counts, string words
function M.summary(old, new)
  local words = ''
  for _, lines in ipairs({ new, old }) do
    for _, line in ipairs(lines) do
      if words == '' then
        words = vim.trim(text.brief(line, 200))
      end
    end
  end
  return ('+%d %s%d'):format(#new, M.minus(), #old), words
end

--- Rows of a diff, at most so many.
---@param old string[]
---@param new string[]
---@param most integer
---@return string[] rows, string[] groups
function M.rows(old, new, most)
  local rows, groups = {}, {}
  for _, side in ipairs({
    { lines = old, sign = '-', group = 'AcpReviewDelete' },
    { lines = new, sign = '+', group = 'AcpReviewAdd' },
  }) do
    for _, line in ipairs(side.lines) do
      if #rows < most then
        line = #line > 1000 and line:sub(1, 1000) or line
        table.insert(rows, side.sign .. text.one_line((line:gsub('\t', '  '))))
        table.insert(groups, side.group)
      end
    end
  end
  return rows, groups
end

--- A hunk as Markdown: where it is, and a fenced diff that nothing in it can end.
---@param it acp.HunkText
---@param path string as the agent knows it
---@return string
function M.quote(it, path)
  local lines, longest = {}, 2
  for _, side in ipairs({ { '-', it.old }, { '+', it.new } }) do
    for _, line in
      ipairs(side[2] --[[@as string[] ]])
    do
      table.insert(lines, side[1] .. line)
      for run in line:gmatch('`+') do
        longest = math.max(longest, #run)
      end
    end
  end
  local last = it.line + math.max(#it.new, 1) - 1
  local where = last > it.line and ('lines %d-%d'):format(it.line, last)
    or ('line %d'):format(it.line)
  local fence = ('`'):rep(longest + 1)
  return ('%s, %s:\n\n%sdiff\n%s\n%s'):format(path, where, fence, table.concat(lines, '\n'), fence)
end

return M
